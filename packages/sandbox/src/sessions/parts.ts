import { enableBranchHints, engine, METER_VERSION, type WasmModule } from "@bursar/wasm-fuel";
import type { PackageFigure } from "../analysis/package-figure.js";
import { packageTable } from "../analysis/packages.js";
import type { FuelBasis } from "../analysis/result.js";
import type { GuestFuel } from "../guests/guest-fuel.js";
import { type JavaScriptImage, javascriptImage } from "../javascript/image.js";
import { compileQuickjs, LARGE_STACK, meterQuickjs, meterQuickjsVersion } from "../javascript/metered-quickjs.js";
import { npmQuickjs, quickjsFile, quickjsOf } from "../javascript/quickjs-manifest.js";
import { baseOf, type PythonImage, pythonBasis, pythonImage, pythonModule } from "../python/python-image.js";
import { builtPython, installedPython, npmPython, type PythonManifest } from "../python/python-manifest.js";
import { cached } from "../wasm/cache.js";
import type { Setup } from "./options.js";

/** What guests of one kind share. It is sent to a thread once. */
export type GuestParts =
  | ({
      readonly language: "python";
      readonly manifest: PythonManifest;
      readonly module: WasmModule;
      readonly image: PythonImage;
      readonly base: Uint8Array;
      readonly basis: FuelBasis;
    } & Figures)
  | ({
      readonly language: "javascript";
      readonly image: JavaScriptImage;
      readonly basis: FuelBasis;
    } & Figures);

/** What is known about the fuel of a guest. */
interface Figures {
  readonly fuel: GuestFuel | null;
  /** Its table of packages when all of them are compiled. */
  readonly packages: readonly PackageFigure[];
}

const WASM_PAGE = 65_536;

/** Makes the parts of guests, each once for the whole process, from the cache where that is possible. */
export class PartsMaker {
  private readonly folder: string;
  private readonly npm: string;
  private readonly guests: string | null;
  private readonly quickjs: string;
  private readonly installed: string | null;
  private readonly made = new Map<string, Promise<GuestParts>>();
  private manifest: Promise<PythonManifest> | null = null;
  private python: Promise<{ readonly image: PythonImage; readonly base: Uint8Array }> | null = null;

  /** `guests` is where faster builds may be, and `installed` where one from npm is; null when none is wanted, or there. */
  constructor(
    folder: string,
    python: string,
    guests: string | null,
    quickjs: string = quickjsFile(),
    installed: string | null = null,
  ) {
    this.folder = folder;
    this.npm = python;
    this.guests = guests;
    this.quickjs = quickjs;
    this.installed = installed;
    enableBranchHints();
  }

  keyOf({ language, memoryLimit }: Setup): string {
    return language === "python" ? `python ${pagesOf(memoryLimit)}` : "javascript";
  }

  make(setup: Setup): Promise<GuestParts> {
    const key = this.keyOf(setup);
    const known = this.made.get(key);
    if (known !== undefined) return known;
    const made = setup.language === "python" ? this.makePython(pagesOf(setup.memoryLimit)) : this.makeJavaScript();
    this.made.set(key, made);
    // What failed once may work later, after a disk was freed, for example.
    made.catch(() => this.made.delete(key));
    return made;
  }

  private async makePython(pages: number): Promise<GuestParts> {
    const manifest = await this.chosen();
    this.python ??= pythonImage(manifest, this.folder).then((image) => ({ image, base: baseOf(image) }));
    const [{ image, base }, basis, module] = await Promise.all([
      this.python,
      pythonBasis(manifest),
      pythonModule(manifest, this.folder, pages).then((bytes) => engine.compile(bytes)),
    ]);
    // The base holds the bytes; only where they are has to travel.
    const light = { ...image, pages: { ...image.pages, bytes: new Uint8Array() } };
    const { fuel } = manifest;
    return { language: "python", manifest, module, image: light, base, basis, fuel, packages: packageTable(fuel) };
  }

  private chosen(): Promise<PythonManifest> {
    if (this.manifest === null) {
      this.manifest = this.choose();
      this.manifest.catch(() => {
        this.manifest = null;
      });
    }
    return this.manifest;
  }

  /**
   * The fast build when there is one: it is the same language, two or three times as fast. One that was built on this machine
   * comes before one that was installed, because somebody has made it on purpose.
   */
  private async choose(): Promise<PythonManifest> {
    const built = this.guests === null ? null : await builtPython(this.guests);
    if (built !== null) return built;
    return this.installed === null ? npmPython(this.npm) : installedPython(this.installed);
  }

  private async makeJavaScript(): Promise<GuestParts> {
    const manifest = npmQuickjs(this.quickjs);
    const key = { what: "quickjs-module", source: manifest.sha256, version: meterQuickjsVersion(LARGE_STACK) };
    const metered = await cached(this.folder, key, () => meterQuickjs(quickjsOf(manifest), LARGE_STACK));
    const image = await javascriptImage(compileQuickjs(metered, LARGE_STACK), this.folder, manifest);
    const basis = {
      guest: `${manifest.name} ${manifest.version}`,
      guest_sha256: manifest.sha256,
      meter: METER_VERSION,
      boot_sha256: image.hash,
      argv: [],
      env: {},
    };
    return { language: "javascript", image, basis, fuel: manifest.fuel, packages: [] };
  }
}

export function pagesOf(memoryLimit: number): number {
  return Math.floor(memoryLimit / WASM_PAGE);
}

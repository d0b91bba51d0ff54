import { execFileSync } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import type { GuestFuel, GuestManifest } from "@bursar/sandbox/guests";
import { javascriptImage } from "../../../packages/sandbox/dist/javascript/image.js";
import {
  compileQuickjs,
  LARGE_STACK,
  meterQuickjs,
} from "../../../packages/sandbox/dist/javascript/metered-quickjs.js";
import { npmQuickjs, quickjsOf } from "../../../packages/sandbox/dist/javascript/quickjs-manifest.js";
import { pythonImage } from "../../../packages/sandbox/dist/python/python-image.js";
import { npmPython, type PythonManifest } from "../../../packages/sandbox/dist/python/python-manifest.js";
import type { Bar, Bench, Report } from "../report.js";
import { measureGuest } from "./measure-guest.js";
import { fastPython } from "./python-parts.js";

/** Both are kept between runs: fetching and compiling is not what is measured. */
const KEPT = fileURLToPath(new URL("../../../node_modules/.cache/bursar-bench/sandbox", import.meta.url));
const CACHE = `${KEPT}/cache`;
const SANDBOX = fileURLToPath(new URL("../../../packages/sandbox/", import.meta.url));
const WIDTH = 58;
/** A guest that boots a little differently moves figures in their third digit, and small ones by a little more. */
const TOLERANCE = 0.05;
const SMALL_FUEL = 20_000;

/** A guest whose figures are to be measured, and where its manifest has them from. */
interface Measured {
  readonly title: string;
  readonly manifest: GuestManifest;
  readonly guest: "fast" | "npm";
  readonly start: () => Promise<number>;
  readonly write: (fuel: GuestFuel) => Promise<void>;
}

/** The fuel of imports and of familiar work. There is no time in it: whoever runs it gets the same figures. */
export const figures: Bench = {
  name: "sandbox-figures",
  about: "the fuel of imports and of familiar work, as documents and the manifests of guests give it",
  async run(): Promise<Report> {
    const bars: Bar[] = [];
    for (const each of await guests()) {
      const fuel = await measure(each);
      console.log(render(each.title, fuel));
      bars.push(...barsOf(each, fuel));
    }
    return { tables: [], bars };
  },
};

async function guests(): Promise<readonly Measured[]> {
  const fast = await fastPython();
  if (fast === null) console.log("no fast guest was built here, so its figures are not measured");
  return [
    ofPython(npmPython(), "npm", (fuel) => writeSource("npm-python-fuel", "NPM_PYTHON_FUEL", fuel)),
    ...(fast === null ? [] : [ofPython(fast, "fast", (fuel) => writeJson("guest/build/fuel.json", fuel))]),
    ofQuickjs(),
  ];
}

function ofPython(manifest: PythonManifest, guest: Measured["guest"], write: Measured["write"]): Measured {
  const { name, version } = manifest;
  return {
    title: `${name} ${version}`,
    manifest,
    guest,
    write,
    start: async () => (await pythonImage(manifest, CACHE)).fuel,
  };
}

function ofQuickjs(): Measured {
  const manifest = npmQuickjs();
  const { name, version } = manifest;
  return {
    title: `${name} ${version}`,
    manifest,
    guest: "npm",
    start: async () => {
      const engine = compileQuickjs(meterQuickjs(quickjsOf(manifest), LARGE_STACK), LARGE_STACK);
      return (await javascriptImage(engine, CACHE, manifest)).fuel;
    },
    write: (fuel) => writeSource("quickjs-fuel", "QUICKJS_FUEL", fuel),
  };
}

async function measure({ manifest, guest, start }: Measured): Promise<GuestFuel> {
  const places = { cacheFolder: CACHE, packagesFolder: `${KEPT}/packages`, guest };
  const { costs, empty, work, imports } = await measureGuest(manifest.language, places);
  return { costs, start: await start(), empty, work, imports };
}

/** Whether what the manifest says is still true. */
function barsOf({ title, manifest: { fuel: said } }: Measured, measured: GuestFuel): readonly Bar[] {
  if (said === null) return [{ name: `${title} says what it burns`, measured: "it does not", met: false }];
  const wrong = differences(said, measured);
  const told = wrong.length === 0 ? "as its manifest says" : wrong.join("; ");
  return [{ name: `${title} burns what its manifest says`, measured: told, met: wrong.length === 0 }];
}

function differences(said: GuestFuel, measured: GuestFuel): readonly string[] {
  const [before, now] = [flat(said), flat(measured)];
  const names = new Set([...before.keys(), ...now.keys()]);
  return [...names].flatMap((name) => {
    const [was, is] = [before.get(name), now.get(name)];
    const near = was !== undefined && is !== undefined && Math.abs(was - is) <= Math.max(SMALL_FUEL, was * TOLERANCE);
    return near ? [] : [`${name}: ${is ?? "gone"}, not ${was ?? "said"}`];
  });
}

/** Every figure under a name. */
function flat({ start, empty, work, imports }: GuestFuel): ReadonlyMap<string, number> {
  return new Map([
    ["its own start, which no program pays", start],
    ["an empty program", empty],
    ...work.map(({ name, fuel }) => [name, fuel] as const),
    ...imports.flatMap(({ code, first, uncompiled, cached }): readonly (readonly [string, number])[] => [
      [code, first],
      [`not compiled: ${code}`, uncompiled],
      [`again: ${code}`, cached],
    ]),
  ]);
}

function render(title: string, fuel: GuestFuel): string {
  const lines = [...flat(fuel)].map(
    ([name, figure]) => `  ${name.slice(0, WIDTH - 3).padEnd(WIDTH - 2)}${figure.toLocaleString("en-US").padStart(16)}`,
  );
  return `${title.padEnd(WIDTH)}${"fuel".padStart(16)}\n${lines.join("\n")}\n`;
}

/** Manifests of the guests on npm are code. */
async function writeSource(name: string, constant: string, fuel: GuestFuel): Promise<void> {
  const file = `${SANDBOX}src/guests/${name}.ts`;
  const lines = [
    'import type { GuestFuel } from "./guest-fuel.js";',
    "",
    "/** Measured, and written by `node bench/dist/sandbox/figures.js --write`; tests compare it with the guest. */",
    `export const ${constant}: GuestFuel = ${JSON.stringify(fuel, null, 2).replace(/\b\d{4,}\b(?=,?$)/gm, grouped)};`,
  ];
  await writeFile(file, `${lines.join("\n")}\n`);
  execFileSync("npx", ["biome", "check", "--write", file], { stdio: "inherit" });
}

function grouped(digits: string): string {
  return Number(digits).toLocaleString("en-US").replaceAll(",", "_");
}

/** The recipe of the fast guest brings its figures along. */
async function writeJson(name: string, fuel: GuestFuel): Promise<void> {
  await writeFile(SANDBOX + name, `${JSON.stringify(fuel, null, 2)}\n`);
  execFileSync("npx", ["biome", "check", "--write", SANDBOX + name], { stdio: "inherit" });
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { values } = parseArgs({ options: { write: { type: "boolean" } } });
  for (const each of await guests()) {
    const fuel = await measure(each);
    console.log(render(each.title, fuel));
    if (values.write === true) await each.write(fuel);
  }
}

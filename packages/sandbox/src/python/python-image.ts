import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { deserialize, serialize } from "node:v8";
import {
  ADDITIONS,
  engine,
  Fuel,
  METER_VERSION,
  meter,
  type Profile,
  readProfile,
  type WasmGlobal,
  type WasmInstance,
  type WasmMemory,
  type WasmTable,
} from "@bursar/wasm-fuel";
import { WRITABLE_FOLDERS } from "../guests/guest-folders.js";
import { ProcExit } from "../wasi/proc-exit.js";
import type { SavedHost } from "../wasi/saved-host.js";
import { Vfs } from "../wasi/vfs.js";
import { WasiHost } from "../wasi/wasi-host.js";
import { ZipTree } from "../wasi/zip-tree.js";
import { cached } from "../wasm/cache.js";
import { unwrap, wrap } from "../wasm/container.js";
import { differing, lay, type Pages } from "../wasm/pages.js";
import { Control } from "./control.js";
import { findZip } from "./find-zip.js";
import type { PythonManifest } from "./python-manifest.js";
import { readReply } from "./reply.js";

/** An interpreter as it is right after its boot code has run: what every new session starts from. */
export interface PythonImage {
  /** Names the build, the meter and the boot code: saved guests fit this image alone. */
  readonly name: string;
  readonly pages: Pages;
  readonly stackPointer: number;
  /** The address of the function that serves requests, and its place in the table; zeros when there is an export for it. */
  readonly serve: number;
  readonly slot: number;
  readonly host: SavedHost;
  readonly stdlib: Uint8Array;
  /** What starting the interpreter has burnt; no session pays for it. */
  readonly fuel: number;
}

export interface PythonBasis {
  readonly guest: string;
  readonly guest_sha256: string;
  readonly meter: string;
  readonly boot_sha256: string;
  readonly argv: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

/** Deep enough for every sensible program, and for V8's own stack on a thread of ours. */
const DEPTH = 2500;
const ARGV = ["python", "-X", "frozen_modules=on", "/boot.py"];
/** The seed of hashes is fixed with the image; it decides the order of sets, and so the fuel. */
const ENV = { PYTHONDONTWRITEBYTECODE: "1", PYTHONHASHSEED: "0", PYTHONNOUSERSITE: "1" };
/** Guests get their memory from outside, so that it can be used again. */
export const MEMORY = { module: "bursar", name: "memory" } as const;
const BOOTED = 77;
const BOOT_FUEL = 20_000_000_000;
const IMAGE_VERSION = "3";

/** Runs once in every image: what is done for the first time costs more, and here nobody waits for it. */
const WARM_UP = [
  "print(end='')",
  "try:\n    1 / 0\nexcept ZeroDivisionError:\n    pass",
  "import sys, traceback\ntry:\n    1 / 0\nexcept ZeroDivisionError:\n    traceback.format_exc()\ndel sys, traceback",
  "[str(i) + repr({i: [i, (i, 1.5)]}) for i in range(3)]",
  "import gc\ngc.collect()\ngc.freeze()\ndel gc",
];

/** The image of a build, from the cache if it is there. Making it takes a few seconds, once. */
export async function pythonImage(manifest: PythonManifest, folder: string): Promise<PythonImage> {
  const boot = await readFile(manifest.boot);
  const version = `${IMAGE_VERSION}.${meterOf(manifest)}.${DEPTH}.${sha256(boot)}`;
  const key = { what: "python-image", source: manifest.sha256, version };
  const image = readImage(await cached(folder, key, async () => writeImage(await makeImage(manifest, boot))));
  return { ...image, name: `${manifest.sha256}.${version}` };
}

/** The module that is filled from an image, for memories of at most so many pages. */
export async function pythonModule(
  manifest: PythonManifest,
  folder: string,
  maximumPages: number,
): Promise<Uint8Array> {
  const key = {
    what: "python-module",
    source: manifest.sha256,
    version: `${meterOf(manifest)}.${DEPTH}.${maximumPages}.${MEMORY.name}.${ADDITIONS}`,
  };
  const options = { depth: DEPTH, maximumPages, dropData: true, importMemory: MEMORY, expose: exposed(manifest) };
  return cached(folder, key, async () =>
    meter(await wasmOf(manifest), { ...options, profile: await profileOf(manifest) }),
  );
}

/** What defines the fuel of this guest's programs. */
export async function pythonBasis(manifest: PythonManifest): Promise<PythonBasis> {
  const boot_sha256 = sha256(await readFile(manifest.boot));
  const { name, version, sha256: guest_sha256 } = manifest;
  return {
    guest: `${name} ${version}`,
    guest_sha256,
    meter: meterOf(manifest),
    boot_sha256,
    argv: ARGV,
    env: envOf(manifest),
  };
}

/** Where the standard library is found in a guest. */
export function stdlibPath({ home, version }: PythonManifest): string {
  return `${home}/lib/python${version.split(".").slice(0, 2).join(".")}`;
}

/** How the function that serves requests is called. It tells whether the function came back, or raised an exception. */
export function entryOf(
  instance: WasmInstance,
  manifest: PythonManifest,
  image: Pick<PythonImage, "serve" | "slot">,
): () => boolean {
  const { entry } = manifest;
  if (entry.kind === "export") {
    const run = instance.exports[entry.name] as () => number;
    return () => run() === 0;
  }
  const call = (instance.exports.__indirect_function_table as WasmTable).get(image.slot) as (
    ...args: number[]
  ) => unknown;
  return () => call(image.serve, 0, 0, 0) !== 0;
}

function envOf({ home }: PythonManifest): Readonly<Record<string, string>> {
  return { PYTHONHOME: home, ...ENV };
}

/** The bytes of a build, if they are what its manifest says. */
async function wasmOf({ wasm, sha256: expected }: PythonManifest): Promise<Uint8Array> {
  const bytes = await readFile(wasm);
  if (sha256(bytes) === expected) return bytes;
  throw new Error(`${wasm} is not the build that its manifest names; install it again`);
}

/** What counts the fuel. Totals are the same with every profile, but not where a budget ends within a run. */
function meterOf({ profile }: PythonManifest): string {
  return profile === null ? METER_VERSION : `${METER_VERSION}+${profile.sha256}`;
}

async function profileOf({ profile }: PythonManifest): Promise<Profile | null> {
  if (profile === null) return null;
  const bytes = await readFile(profile.file);
  if (sha256(bytes) === profile.sha256) return readProfile(bytes);
  throw new Error(`${profile.file} is not the profile that its manifest names; build the guest again`);
}

async function makeImage(manifest: PythonManifest, boot: Uint8Array): Promise<Nameless> {
  const [wasm, profile] = [await wasmOf(manifest), await profileOf(manifest)];
  const module = new engine.Module(meter(wasm, { depth: DEPTH, expose: exposed(manifest), profile }));
  const vfs = new Vfs();
  for (const folder of [...WRITABLE_FOLDERS, "/data"]) vfs.mkdir(folder);
  vfs.writeFile("/boot.py", boot);
  let fuel: Fuel | null = null;
  const control = new Control(() => fuel?.consumed ?? 0);
  const host = new WasiHost({
    args: ARGV,
    env: envOf(manifest),
    vfs,
    preopens: { "/": "/" },
    clock: FIXED_CLOCK,
    random: { kind: "seeded", seed: "image" },
    devices: { "/dev/control": control },
    charge: (units) => fuel?.charge(units),
  });
  const instance = new engine.Instance(module, { wasi_snapshot_preview1: host.imports });
  const memory = instance.exports.memory as WasmMemory;
  host.bind(memory);
  const embedded = manifest.stdlib.kind === "embedded" ? findZip(new Uint8Array(memory.buffer)) : null;
  // A copy, because the guest is about to use its memory.
  const stdlib = embedded === null ? await stdlibOf(manifest) : Uint8Array.from(embedded.bytes);
  vfs.mount(stdlibPath(manifest), { kind: "tree", tree: new ZipTree(stdlib) });
  fuel = new Fuel(instance);
  fuel.begin({ budget: BOOT_FUEL });
  start(instance, host);
  const burnt = fuel.consumed;
  const { serve, slot } = placeOf(control, memory);
  vfs.remove("/boot.py");
  const entry = entryOf(instance, manifest, { serve, slot });
  for (const code of WARM_UP) warmUp(code, control, fuel, entry);
  // The guest reads its library from the host's files, so its own copy need not be kept for every session.
  if (embedded !== null) new Uint8Array(memory.buffer).fill(0, embedded.at, embedded.at + stdlib.length);
  const stackPointer = (instance.exports.__stack_pointer as WasmGlobal<number>).value;
  const pages = differing(new Uint8Array(memory.buffer));
  return { pages, stackPointer, serve, slot, host: started(host.save()), stdlib, fuel: burnt };
}

export const FIXED_CLOCK = { kind: "fixed", startNs: 1_700_000_000_000_000_000n, stepNs: 1000n } as const;

function exposed({ stackPointer }: PythonManifest) {
  return [
    { name: "__indirect_function_table", kind: "table", index: 0 },
    { name: "__stack_pointer", kind: "global", index: stackPointer },
  ] as const;
}

/** Runs the interpreter until its boot code leaves it. The frames it leaves behind are never returned to. */
function start(instance: WasmInstance, host: WasiHost): void {
  try {
    (instance.exports._start as () => void)();
  } catch (error) {
    if (error instanceof ProcExit && error.code === BOOTED) return;
    const said = host.stderr.text().trim();
    throw new Error(`the interpreter did not start: ${said === "" ? String(error) : said}`, { cause: error });
  }
  throw new Error("the interpreter ended before its boot code did");
}

/**
 * What an interpreter has that has been started. It never comes back to the boot file, so nobody in there would close it.
 * It has its environment and its folders, too: the linker lets its C library start anew with every call of an export, and
 * what the library were given again, it would keep beside what it has, for as long as the session lasts.
 */
function started(saved: SavedHost): SavedHost {
  const descriptors = saved.descriptors
    .filter(({ target, preopen }) => target.kind !== "inode" || preopen !== null)
    .map((descriptor) => ({ ...descriptor, preopen: null }));
  // What starting has written is nobody's: a program may write as much as its limit says.
  return { ...saved, env: {}, descriptors, vfs: { ...saved.vfs, bytesWritten: 0 } };
}

/** Where the boot code's function is, and through which place of the table it is called. */
function placeOf(control: Control, memory: WasmMemory): { serve: number; slot: number } {
  const [serve, type] = control.entry ?? [0, 0];
  if (serve === 0) return { serve, slot: 0 };
  const view = new DataView(memory.buffer);
  // PyTypeObject.tp_vectorcall_offset, which says where a function keeps its vectorcall.
  return { serve, slot: view.getUint32(serve + view.getUint32(type + 28, true), true) };
}

function warmUp(code: string, control: Control, fuel: Fuel, entry: () => unknown): void {
  control.ask({ op: "begin", code, name: "<image>" });
  fuel.begin({ budget: BOOT_FUEL });
  entry();
  const { outcome } = readReply(control.reply());
  if (outcome.kind !== "ended" || outcome.exit_code !== 0) throw new Error("the interpreter does not run programs");
}

async function stdlibOf({ stdlib }: PythonManifest): Promise<Uint8Array> {
  if (stdlib.kind === "zip") return readFile(stdlib.file);
  throw new Error("the module holds no standard library");
}

type Nameless = Omit<PythonImage, "name">;
type Facts = Omit<Nameless, "pages" | "host" | "stdlib"> & { readonly size: number };

function writeImage({ pages, host, stdlib, ...rest }: Nameless): Uint8Array {
  const runs = new Uint8Array(pages.runs.buffer, pages.runs.byteOffset, pages.runs.byteLength);
  return wrap({ ...rest, size: pages.size }, [runs, pages.bytes, serialize(host), stdlib]);
}

function readImage(bytes: Uint8Array): Nameless {
  const { data, parts } = unwrap<Facts>(bytes);
  const [runs, content, host, stdlib] = parts as [Uint8Array, Uint8Array, Uint8Array, Uint8Array];
  const { size, ...rest } = data;
  const pages = { size, runs: new Uint32Array(Uint8Array.from(runs).buffer), bytes: content };
  return { ...rest, pages, host: deserialize(host) as SavedHost, stdlib };
}

/** The image as a whole memory, to compare with. */
export function baseOf({ pages }: PythonImage): Uint8Array {
  const memory = new Uint8Array(new SharedArrayBuffer(pages.size * 65_536));
  lay(pages, memory);
  return memory;
}

function sha256(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex");
}

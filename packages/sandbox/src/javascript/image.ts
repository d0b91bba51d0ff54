import { createHash } from "node:crypto";
import { Fuel } from "@bursar/wasm-fuel";
import type { GuestManifest } from "../guests/guest-manifest.js";
import { cached } from "../wasm/cache.js";
import { unwrap, wrap } from "../wasm/container.js";
import type { Box } from "./exports.js";
import { BOOT_MODULE, guestCodeFolder, readGuestCode, resolveGuestCode } from "./guest-code.js";
import type { MeteredQuickjs } from "./metered-quickjs.js";
import { EVALUATE, type Hooks, type ModuleReply, Quickjs, type Reply, Thrown } from "./quickjs.js";

const FUNCTIONS = ["settle", "nextTimer", "fireTimer", "show", "isOutOfMemory", "prepare", "feed", "finish"] as const;
const HOST_FUNCTIONS = [
  "call",
  "collect_garbage",
  "decode",
  "encode",
  "environment",
  "evaluate",
  "exit",
  "expose",
  "files",
  "kind_of",
  "milliseconds",
  "promise_result",
  "promise_state",
  "proxy_target",
  "sleep",
  "write",
] as const;
/** The time at which every image is made, so that the same code makes the same image to the last bit. */
const BOOT_NS = 1_700_000_000_123_456_000n;
const BOOT_FUEL = 10_000_000_000;
/** Larger than either of the engine's two structures. */
const STRUCTURE_BYTES = 4096;
const LONGEST_MESSAGE = 10_000;

/** An initialised engine at rest: everything a new guest starts from. It is plain data and can be posted to other threads. */
export interface JavaScriptImage {
  readonly engine: MeteredQuickjs;
  readonly memory: Uint8Array;
  /** The guest's own functions for the host to call, by the boxes that hold them. */
  readonly functions: Readonly<Record<(typeof FUNCTIONS)[number], Box>>;
  /** Where the engine keeps what it has no functions for: the state of `Math.random`, and the list of reactions to promises. */
  readonly places: { readonly seed: number; readonly reactions: number };
  /** Names the engine and this image: only snapshots of the same one fit. */
  readonly hash: string;
  /** What starting the engine has burnt; no session pays for it. */
  readonly fuel: number;
}

/** Starts an engine, loads the guest's own code into it, and takes its memory. */
export function createImage(
  engine: MeteredQuickjs,
  code: GuestCode = readGuestCode(guestCodeFolder()),
): JavaScriptImage {
  const boot = new Boot(code);
  const quickjs = new Quickjs(engine.module, boot);
  const fuel = new Fuel(quickjs.instance);
  fuel.begin({ budget: BOOT_FUEL });
  boot.quickjs = quickjs;
  quickjs.initialize(engine.stack.engineBytes);
  for (const name of HOST_FUNCTIONS) quickjs.expose(`bursar_${name}`);
  runBootModule(quickjs);
  const burnt = fuel.consumed;
  const places = { seed: findSeed(quickjs), reactions: findReactions(quickjs) };
  // What is set up at the first run of a program is in the image then, and in no snapshot.
  for (const code of ["1 + 1", "await 1"]) run(quickjs, code, EVALUATE.asyncScript);
  quickjs.collectGarbage();
  const memory = quickjs.memory.slice();
  const functions = Object.fromEntries(FUNCTIONS.map((name) => [name, boot.take(name)]));
  const hash = createHash("sha256").update(engine.hash).update(memory).digest("hex");
  return { engine, memory, functions: functions as JavaScriptImage["functions"], places, hash, fuel: burnt };
}

const IMAGE_VERSION = "2";

/** The source of its modules by their full names. */
type GuestCode = ReadonlyMap<string, string>;

type Facts = Pick<JavaScriptImage, "functions" | "places" | "hash" | "fuel">;

/** The image of an engine, from the cache if it is there: making one is the longest part of a start. */
export async function javascriptImage(
  engine: MeteredQuickjs,
  folder: string,
  { boot }: Pick<GuestManifest, "boot">,
): Promise<JavaScriptImage> {
  const code = readGuestCode(boot);
  const hashed = createHash("sha256")
    .update(JSON.stringify([...code]))
    .digest("hex");
  const key = { what: "quickjs-image", source: engine.hash, version: `${IMAGE_VERSION}.${hashed}` };
  const bytes = await cached(folder, key, () => {
    const { memory, functions, places, hash, fuel } = createImage(engine, code);
    return wrap({ functions, places, hash, fuel } satisfies Facts, [memory]);
  });
  const { data, parts } = unwrap<Facts>(bytes);
  return { engine, memory: parts[0] as Uint8Array, ...data };
}

function runBootModule(quickjs: Quickjs): void {
  try {
    run(quickjs, `import "${BOOT_MODULE}";`, EVALUATE.module);
  } catch (error) {
    if (!(error instanceof Thrown)) throw error;
    throw new Error(`the guest's own code does not run: ${describe(quickjs, quickjs.takeException())}`);
  }
}

function run(quickjs: Quickjs, code: string, flags: number): void {
  const promise = quickjs.evaluate(code, "<boot>", flags);
  while (quickjs.hasReaction) quickjs.runReaction();
  const { state } = quickjs.promise(promise);
  if (state !== "fulfilled") {
    const reason = state === "rejected" ? describe(quickjs, quickjs.promiseResult(promise)) : "it waits for something";
    throw new Error(`the guest's own code does not run: ${reason}`);
  }
  quickjs.free(promise);
}

/** An error of the guest's own code, whose parts cannot be read before that code runs. */
function describe(quickjs: Quickjs, error: Box): string {
  const [message, stack] = ["message", "stack"].map((key) =>
    quickjs.text(quickjs.property(error, key), LONGEST_MESSAGE),
  );
  return `${message}\n${stack}`;
}

/** The state of `Math.random` is what changes in the engine's context when it is called, and only then. */
function findSeed(quickjs: Quickjs): number {
  const { context } = quickjs.places;
  const changedBy = (code: string) => {
    const before = quickjs.memory.slice(context, context + STRUCTURE_BYTES);
    quickjs.free(quickjs.evaluate(code, "<boot>", EVALUATE.script));
    const [was, is] = [new DataView(before.buffer), new DataView(quickjs.memory.buffer, context, STRUCTURE_BYTES)];
    return offsets().filter((offset) => was.getUint32(offset, true) !== is.getUint32(offset, true));
  };
  const always = changedBy("1 + 1");
  const found = changedBy("Math.random()").filter((offset) => !always.includes(offset));
  const [first = 0] = found;
  return context + only(found.length === 2 && found[1] === first + 4 ? [first] : [], "the state of Math.random");
}

/** A list that is empty points at itself; the one that does so no more when a reaction waits, and only then, holds the reactions. */
function findReactions(quickjs: Quickjs): number {
  const { runtime } = quickjs.places;
  const empty = () => {
    const words = new DataView(quickjs.memory.buffer);
    return offsets().filter((offset) => {
      const at = runtime + offset;
      return words.getUint32(at, true) === at && words.getUint32(at + 4, true) === at;
    });
  };
  const before = empty();
  quickjs.free(quickjs.evaluate("Promise.resolve().then(() => {})", "<boot>", EVALUATE.script));
  const waiting = empty();
  const candidates = before.filter((offset) => !waiting.includes(offset));
  const found = candidates.filter((offset) => isReactionList(quickjs, runtime + offset));
  while (quickjs.hasReaction) quickjs.runReaction();
  return runtime + only(found, "the list of reactions to promises");
}

/** Tries whether the engine has none left when this list is made empty, and puts it back. */
function isReactionList(quickjs: Quickjs, at: number): boolean {
  const words = new DataView(quickjs.memory.buffer);
  const kept = words.getBigUint64(at, true);
  words.setUint32(at, at, true);
  words.setUint32(at + 4, at, true);
  const isEmpty = !quickjs.hasReaction;
  words.setBigUint64(at, kept, true);
  return isEmpty;
}

function offsets(): readonly number[] {
  return Array.from({ length: STRUCTURE_BYTES / 4 }, (_, index) => index * 4);
}

function only(found: readonly number[], what: string): number {
  const [first] = found;
  if (first === undefined || found.length > 1) {
    throw new Error(`this build of QuickJS keeps ${what} in another place; use the version that is pinned`);
  }
  return first;
}

/** What the host is while an image is made: there are the guest's own modules, and nothing else. */
class Boot implements Hooks {
  quickjs: Quickjs | null = null;
  private readonly code: GuestCode;
  private readonly exposed = new Map<string, Box>();

  constructor(code: GuestCode) {
    this.code = code;
  }

  take(name: string): Box {
    const box = this.exposed.get(name);
    if (box === undefined) throw new Error(`the guest's own code has no function ${name}`);
    return box;
  }

  call(name: string, [title, value]: readonly Box[]): Reply {
    const text = title === undefined ? null : this.quickjs?.text(title, LONGEST_MESSAGE);
    if (name !== "bursar_expose" || typeof text !== "string" || value === undefined) {
      return { kind: "error", message: `${name} is not there while an image is made` };
    }
    this.exposed.set(text, this.quickjs?.keep(value) ?? 0);
    return { kind: "plain", value: undefined };
  }

  rejected(): void {}

  resolve(_importer: string, specifier: string): ModuleReply {
    return { kind: "found", text: specifier === BOOT_MODULE ? specifier : resolveGuestCode(specifier) };
  }

  load(name: string): ModuleReply {
    const text = this.code.get(name);
    return text === undefined ? { kind: "error", message: `there is no ${name}` } : { kind: "found", text };
  }

  nanoseconds(isWall: boolean): bigint {
    return isWall ? BOOT_NS : 0n;
  }
}

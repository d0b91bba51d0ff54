import { createHash } from "node:crypto";
import { ADDITIONS, engine, METER_VERSION, meter, type WasmModule } from "@bursar/wasm-fuel";

/**
 * How deep calls may go. Both bounds are the same everywhere, so that a program ends at the same place everywhere; the thread
 * has to have a stack for them.
 */
export interface StackBounds {
  /** Beyond so many bytes of the engine's own stack the guest gets a RangeError, which it can catch. */
  readonly engineBytes: number;
  /** Beyond so many open calls of the engine's functions, where these take little of that stack, the guest is stopped. */
  readonly depth: number;
}

/** For threads with Node's default stack. */
export const SMALL_STACK: StackBounds = { engineBytes: 96 * 1024, depth: 600 };
/** For threads with a stack of at least 8 MB. */
export const LARGE_STACK: StackBounds = { engineBytes: 512 * 1024, depth: 10_000 };

/** All that WebAssembly can address; each guest has a limit of its own. */
const MOST_PAGES = 65_536;

/** The engine as it runs here. It can be posted to other threads. */
export interface MeteredQuickjs {
  readonly module: WasmModule;
  readonly stack: StackBounds;
  /** Names the engine, the cost table and the rewriter: images and snapshots of another one do not fit. */
  readonly hash: string;
}

/** Names what `meterQuickjs` gives for an engine, for whoever keeps it. */
export function meterQuickjsVersion({ depth }: StackBounds): string {
  return `${METER_VERSION}-${depth}-${MOST_PAGES}-${ADDITIONS}`;
}

/** The engine rewritten so that it counts its fuel and its depth. */
export function meterQuickjs(wasm: Uint8Array, { depth }: StackBounds): Uint8Array {
  return meter(wasm, { depth, maximumPages: MOST_PAGES });
}

export function compileQuickjs(metered: Uint8Array, stack: StackBounds): MeteredQuickjs {
  const version = `${meterQuickjsVersion(stack)}-${stack.engineBytes}`;
  const hash = createHash("sha256").update(version).update(metered).digest("hex");
  return { module: new engine.Module(metered), stack, hash };
}

import type { WasmInstance } from "./engine.js";
import { setHook } from "./hook.js";
import { type MeterOptions, type Rewritten, rewrite } from "./meter.js";
import { type Profile, profileOf } from "./profile.js";
import { RecordingEmitter } from "./rewriter/record.js";

/**
 * Rewrites a module so that it tells of every edge it takes, for a `Recorder`. It is many times as slow as a metered one, and
 * nothing stops it: it is for programs of ours.
 */
export function recording(wasm: Uint8Array, options: Pick<MeterOptions, "expose" | "maximumPages"> = {}): Rewritten {
  return rewrite(wasm, options, RecordingEmitter);
}

/**
 * Counts what an instance of a recording module does.
 *
 * ```ts
 * const { wasm, edges } = recording(bytes);
 * const recorder = new Recorder(instanceOf(wasm), edges);
 * train();
 * const metered = meter(bytes, { profile: recorder.profile() });
 * ```
 */
export class Recorder {
  private readonly counts: Float64Array;

  constructor(instance: WasmInstance, edges: number) {
    const counts = new Float64Array(edges);
    setHook(instance, (edge) => {
      const index = Number(edge);
      counts[index] = (counts[index] as number) + 1;
    });
    this.counts = counts;
  }

  /** Forgets what was counted, such as a start that is not what matters. */
  clear(): void {
    this.counts.fill(0);
  }

  profile(): Profile {
    return profileOf(this.counts);
  }
}

import type { Store } from "../ports/store.js";
import type { Effected, Gate, Gated, GatedCall } from "../runtime/gate.js";
import { checkHints, type ExecutionHints, hintedExtensions } from "./hints.js";
import type { Principal } from "./principal.js";

export interface HostCallOptions {
  /** Whose call it is; the program itself unless it says otherwise. */
  readonly by?: Principal;
  /** Execution hints. A program cannot give any. */
  readonly hints?: ExecutionHints;
}

const PROGRAM: Principal = { name: "the program", role: "agent" };

/**
 * A governed host call, for hosts that bring a way of their own to run programs: looks at its hints and its budget, and only then
 * lets it be made. It decides nothing by itself: it ends in `Gate.call`, which is the one way to an effect. The programs that Bursar
 * runs do not come through here, but through that very method (see the performer of a run): their hints are given when a run is started.
 *
 * @example
 * ```ts
 * const call = { budget: "run-7", capability_id: "search", asked: { cost_usd: 0.005 } };
 * const outcome = await handleHostCallGoverned({ gate, store }, call, (signal) => search(query, signal));
 * for (const { dimension, percent } of outcome.warnings) console.warn(`${dimension} is at ${percent} %`);
 * ```
 */
export async function handleHostCallGoverned<Value>(
  { gate, store }: { readonly gate: Gate; readonly store: Store },
  call: GatedCall,
  effect: (signal: AbortSignal) => Promise<Effected<Value>>,
  { by = PROGRAM, hints }: HostCallOptions = {},
): Promise<Gated<Value>> {
  if (hints !== undefined) {
    checkHints(hints, by);
    await store.apply(hintedExtensions(hints, call.budget, by.name, store.dimensions));
  }
  return gate.call(call, effect);
}

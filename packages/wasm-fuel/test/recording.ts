import { type Profile, profileOf } from "../src/profile.js";
import { Recorder, recording } from "../src/record-profile.js";
import { Random } from "./generator/random.js";
import { type Ending, endingOf } from "./running.js";

/** Runs `main` of a generated module, and gives how it ended and which ways it took. */
export function recordedEndingOf(wasm: Uint8Array): Ending & { readonly profile: Profile } {
  const { wasm: telling, edges } = recording(wasm);
  const recorders: Recorder[] = [];
  const ending = endingOf(telling, (instance) => {
    recorders.push(new Recorder(instance, edges));
  });
  return { ...ending, profile: recorders[0]?.profile() ?? profileOf(new Float64Array()) };
}

/** A profile that has nothing to do with the module but its size. */
export function randomProfile({ levels }: Profile, seed: number): Profile {
  const random = new Random(seed);
  return { levels: levels.map(() => (random.chance(40) ? 0 : 1 + random.below(128))) };
}

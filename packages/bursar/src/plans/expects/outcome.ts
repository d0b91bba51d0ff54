import { joined, type Spend, type Value } from "./value.js";

/** It surely fails: nothing that stands behind it is done. */
export const FAILS: unique symbol = Symbol("fails");

/** Goes back to the beginning of a loop. */
export class Again {
  readonly items: readonly Value[];
  /** What may be given back instead; nothing when it surely goes back. */
  readonly ends: readonly Value[];

  constructor(items: readonly Value[], ends: readonly Value[] = []) {
    this.items = items;
    this.ends = ends;
  }
}

/** What comes of an expression. */
export type Outcome = Value | Again | typeof FAILS;

/** What comes of one of several, and nobody knows of which. */
export function outcomeOf(outcomes: readonly Outcome[], spend: Spend): Outcome {
  const usual = outcomes.filter((outcome) => outcome !== FAILS) as readonly (Value | Again)[];
  if (usual.length === 0) return FAILS;
  const rounds = usual.filter((outcome) => outcome instanceof Again);
  const values = usual.filter((outcome): outcome is Value => !(outcome instanceof Again));
  const [first] = rounds;
  if (first === undefined) return joined(values, spend);
  const items = first.items.map((_, index) =>
    joined(
      rounds.map((round) => round.items[index] as Value),
      spend,
    ),
  );
  const ends = [...values, ...rounds.flatMap((round) => round.ends)];
  return new Again(items, ends.length === 0 ? [] : [joined(ends, spend)]);
}

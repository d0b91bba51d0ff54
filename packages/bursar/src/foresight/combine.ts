import { isAmount } from "../core/amount.js";
import type { Dimensions } from "../core/dimensions.js";
import type { Opinion } from "../ports/foresight.js";
import type { Estimate, Expected, Source, SourcedOpinion } from "./estimate.js";
import { isDecisive, whole } from "./from-history.js";

/**
 * Makes one estimate of what several say. A past that is long enough decides alone; until then the widest counts, so that nothing is
 * guessed in the agent's favour. Null when nobody says anything.
 */
export function combine(opinions: readonly SourcedOpinion[], dimensions: Dimensions, made: number): Estimate | null {
  if (opinions.length === 0) return null;
  const past = opinions.find(isDecisive);
  const heard = past === undefined ? opinions : [past];
  const expected: Record<string, Expected> = {};
  for (const { id } of dimensions.all) {
    for (const { source, dimensions: said } of heard) {
      const prediction = said[id];
      const before = expected[id];
      if (prediction === undefined || (before !== undefined && before.upper >= prediction.upper)) continue;
      expected[id] = { median: prediction.median, upper: prediction.upper, source };
    }
  }
  return { dimensions: expected, opinions, made };
}

/** An opinion from outside, as far as it makes sense: what is no dimension, or no figure, is left out. Null when nothing is left. */
export function sourced(opinion: Opinion, source: Source, dimensions: Dimensions): SourcedOpinion | null {
  const sound = Object.entries(opinion.dimensions).flatMap(([id, { median, upper }]) => {
    if (!dimensions.has(id) || ![median, upper].every((value) => value >= 0)) return [];
    const figures = whole({ median: Math.min(median, upper), upper: Math.max(median, upper) });
    return isAmount(figures.median) && isAmount(figures.upper) ? [[id, figures] as const] : [];
  });
  if (sound.length === 0) return null;
  return { source, samples: 0, dimensions: Object.fromEntries(sound), about: readable(opinion.about) };
}

/** What somebody says goes into the chain and before people: so much of it, and nothing that cannot be written. */
const LONGEST_TEXT = 500;

export function readable(text: string): string {
  return String(text)
    .slice(0, LONGEST_TEXT)
    .replace(/[\0\p{Cs}]/gu, "\ufffd");
}

import { MAX_AMOUNT } from "../core/amount.js";
import type { Prediction } from "../ports/foresight.js";
import { boundOf, ENOUGH, type Figure } from "./bound.js";
import type { SourcedOpinion } from "./estimate.js";
import { isFar, levelled } from "./level.js";
import { nearOf, type Past } from "./near.js";
import type { Sample } from "./sample.js";

/**
 * What a program's past says about a run to come, from samples of which the latest come first. Null without any. Dimensions that none
 * of them has used are left out. `samples` counts those that are like it and came to their end.
 */
export function fromHistory(samples: readonly Sample[], digest: string, input_bytes: number): SourcedOpinion | null {
  const near = nearOf(samples, digest, input_bytes);
  if (near.length === 0) return null;
  const own = near.filter(({ sample }) => sample.digest === digest);
  const ids = new Set(near.flatMap(({ sample }) => Object.keys(sample.used)));
  const dimensions: Record<string, Prediction> = {};
  for (const id of ids) {
    const figures = levelled(near, id, input_bytes);
    if (figures.every(({ value }) => value === 0)) continue;
    const mine = own.length === 0 || own.length === near.length ? null : boundOf(figuresOf(own, near, figures));
    // While a version is young, what it did itself and what the others did before are both believed: the larger counts.
    const [wider] = [boundOf(figures), mine].filter((each) => each !== null).sort((a, b) => b.upper - a.upper);
    if (wider !== undefined) dimensions[id] = whole(wider);
  }
  const alike = isFar(near, input_bytes) ? 0 : own.filter(({ sample }) => !sample.cut).length;
  const about = aboutOf(samples, near, own, input_bytes);
  const few = near.length < ENOUGH ? { least: leastOf(near, ids, input_bytes) } : {};
  return { source: "history", samples: alike, dimensions, about, spare: largest(near), ...few };
}

/** What half of the runs with no larger an input have taken, or would have taken at the least. Nothing of what none of them shows. */
function leastOf(
  near: readonly Past[],
  ids: ReadonlySet<string>,
  input_bytes: number,
): Readonly<Record<string, number>> {
  const shown = near.filter(({ sample }) => sample.input_bytes <= input_bytes);
  const least: Record<string, number> = {};
  for (const id of ids) {
    const taken = shown.map(({ sample: { used, cut } }) => (used[id] ?? 0) + (cut ? 1 : 0)).sort((a, b) => a - b);
    least[id] = taken[(taken.length - 1) >> 1] ?? 0;
  }
  return least;
}

function largest(near: readonly Past[]): Readonly<Record<string, number>> {
  const spare: Record<string, number> = {};
  for (const { sample } of near) {
    for (const [id, amount] of Object.entries(sample.spare ?? {})) spare[id] = Math.max(spare[id] ?? 0, amount);
  }
  return spare;
}

/** Whether a program's past alone tells what it will take. */
export function isDecisive({ source, samples }: SourcedOpinion): boolean {
  return source === "history" && samples >= ENOUGH;
}

function figuresOf(own: readonly Past[], near: readonly Past[], figures: readonly Figure[]): readonly Figure[] {
  const wanted = new Set(own);
  return figures.filter((_, at) => wanted.has(near[at] as Past));
}

/** Ledgers count whole units, and nothing beyond what they can count. */
export function whole({ median, upper }: Prediction): Prediction {
  const count = (value: number) => Math.min(MAX_AMOUNT, Math.ceil(value));
  return { median: count(median), upper: count(upper) };
}

function aboutOf(samples: readonly Sample[], near: readonly Past[], own: readonly Past[], bytes: number): string {
  const runs = (count: number) => `${count} run${count === 1 ? "" : "s"}`;
  const some =
    near.length === samples.length
      ? `the last ${runs(samples.length)}`
      : `${near.length} of the last ${runs(samples.length)}, those most like it`;
  const version = own.length === near.length ? "" : `; ${own.length === 0 ? "none" : own.length} of this version`;
  const cut = near.filter(({ sample }) => sample.cut).length;
  const stopped = cut === 0 ? "" : `; ${cut} ended early and would have taken more`;
  return `${some}${version}${stopped}${isFar(near, bytes) ? "; none had nearly as large an input" : ""}`;
}

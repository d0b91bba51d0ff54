import { writeAmount } from "../core/dimension.js";
import type { Dimensions } from "../core/dimensions.js";
import type { SourcedOpinion } from "../foresight/estimate.js";
import type { Preflight } from "../foresight/preflight.js";
import type { EstimateView, OpinionView } from "./shapes.js";

/** What a run would be expected to take, and where the figures come from, in edge units. */
export function estimateView({ program, estimate, dimensions, fits, notes }: Preflight, all: Dimensions): EstimateView {
  const opinions = (estimate?.opinions ?? []).map((opinion) => opinionView(opinion, all));
  return { program, fits, dimensions, opinions, notes };
}

function opinionView({ source, samples, about, dimensions }: SourcedOpinion, all: Dimensions): OpinionView {
  const expected = all.all.flatMap((dimension) => {
    const prediction = dimensions[dimension.id];
    if (prediction === undefined) return [];
    const edge = (amount: number) => writeAmount(dimension, Math.ceil(amount));
    return [[dimension.id, { median: edge(prediction.median), upper: edge(prediction.upper) }] as const];
  });
  return { source, samples, about, dimensions: Object.fromEntries(expected) };
}

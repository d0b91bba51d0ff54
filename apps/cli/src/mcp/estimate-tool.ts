import { type EstimateView, estimateView } from "bursar/views";
import { z } from "zod";
import type { Driving } from "./driving.js";
import { WISH, wishOf } from "./run-tools.js";
import type { Offer } from "./said.js";

const PREDICTION = {
  median: z.number().describe("As many runs take more as take less."),
  upper: z.number().describe("What 95 of 100 runs do not pass."),
};

const ESTIMATE = z.object({
  program: z.string(),
  fits: z.boolean().describe("Whether the 95 % of every dimension fits whose limit does more than warn."),
  dimensions: z.array(
    z.object({
      dimension: z.string(),
      unit: z.string(),
      ...PREDICTION,
      source: z.string().describe("Whose word it is: program, history or model."),
      limit: z.number().nullable(),
      policy: z.string().nullable(),
      missing: z.number().describe("By how much the 95 % is above the limit."),
    }),
  ),
  opinions: z.array(
    z.object({
      source: z.string(),
      samples: z.number(),
      about: z.string(),
      dimensions: z.record(z.string(), z.object(PREDICTION)),
    }),
  ),
  notes: z.array(z.string()),
});

/** Offers the tool that tells what a run would take. */
export function offerEstimate(offer: Offer, driving: Driving): void {
  const { settings, peer } = driving;
  offer("run_estimate", {
    title: "Estimate a run",
    description:
      "Tells what a run would take of every dimension before anything is spent: the median, what 95 of 100 runs do not pass, " +
      "the limit, and whether it fits. It takes what run_start takes. Nothing is started. Ask before something large, and " +
      "give it limits that suffice, or less to do.",
    input: z.strictObject(WISH),
    output: ESTIMATE,
    annotations: { readOnlyHint: true, openWorldHint: true },
    run: async (args) => {
      const wish = wishOf(driving, args);
      const { program, input, ...terms } = wish;
      const asked = settings.estimate?.(wish, peer.principal);
      const preflight = await (asked ?? settings.bursar.estimate(program, input, { ...terms, by: peer.principal }));
      const view = estimateView(preflight, settings.bursar.store.dimensions);
      return { structured: { ...view }, text: textOf(view) };
    },
  });
}

function textOf({ program, fits, dimensions, opinions, notes }: EstimateView): string {
  const name = JSON.stringify(program);
  if (dimensions.length === 0) return [`Nobody can say what ${name} will take.`, ...notes].join("\n");
  const lines = dimensions.map(({ dimension, median, upper, limit, missing }) => {
    const allowed = limit === null ? "no limit" : `limit ${limit}`;
    return `${dimension}: about ${median}, up to ${upper} (${allowed}${missing > 0 ? `, ${missing} missing` : ""})`;
  });
  const whence = opinions.map(({ source, about }) => `${source}: ${about}`);
  const head = fits ? `${name} is expected to fit.` : `${name} is expected not to fit into its limits.`;
  return [head, ...lines, ...whence, ...notes].join("\n");
}

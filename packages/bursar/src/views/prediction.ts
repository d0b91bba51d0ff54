import type { Json, JsonObject } from "../core/chain/canonical.js";
import type { Dimensions } from "../core/dimensions.js";
import { STANDARD } from "../core/dimensions.js";
import type { Source } from "../foresight/estimate.js";
import type { ApprovalRequest } from "../runs/approval.js";
import type { PredictedView, PredictionView } from "./shapes.js";

/** What is asked about a run before it begins, and not about one that has run out of something. */
const PREFLIGHT = "preflight";

/** What a run was predicted to take when a human was asked whether it may begin; null for all other requests. */
export function predictionIn(
  { kind, exhausted_dimension, action }: Pick<ApprovalRequest, "kind" | "exhausted_dimension" | "action">,
  dimensions: Dimensions = STANDARD,
): PredictionView | null {
  if (kind !== "budget_extension" || exhausted_dimension !== null || action.name !== PREFLIGHT) return null;
  const rows = Object.entries(objectIn(action.dimensions));
  const order = dimensions.all.map(({ id }) => id);
  return {
    dimensions: rows
      .map(([id, row]) => predicted(id, objectIn(row), dimensions))
      .sort((a, b) => order.indexOf(a.dimension) - order.indexOf(b.dimension)),
    sources: listIn(action.sources).map((each) => {
      const { source, samples, about } = objectIn(each);
      return { source: source as Source, samples: numberIn(samples), about: String(about) };
    }),
    notes: listIn(action.notes).map(String),
  };
}

function predicted(dimension: string, row: JsonObject, dimensions: Dimensions): PredictedView {
  const { median, upper, source, limit, missing } = row;
  return {
    dimension,
    unit: dimensions.has(dimension) ? dimensions.get(dimension).unit : "",
    median: numberIn(median),
    upper: numberIn(upper),
    source: source as Source,
    limit: typeof limit === "number" ? limit : null,
    missing: numberIn(missing),
  };
}

function objectIn(value: Json | undefined): JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as JsonObject) : {};
}

function listIn(value: Json | undefined): readonly Json[] {
  return Array.isArray(value) ? (value as readonly Json[]) : [];
}

function numberIn(value: Json | undefined): number {
  return typeof value === "number" ? value : 0;
}

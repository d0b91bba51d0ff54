import type { Json, JsonObject } from "bursar/chain";
import type { ApprovalView, PredictionView } from "bursar/views";
import { formatAmount, formatRough, percentOf } from "../format/amount.js";
import { labelOf, nounOf } from "../format/dimension.js";

/** What is asked, in a sentence. */
export function questionOf(approval: ApprovalView): string {
  const who = approval.program ?? (approval.run === null ? clientOf(approval) : `Run ${approval.run}`);
  switch (approval.kind) {
    case "budget_extension":
      if (approval.prediction !== null) return `${who} asks to begin`;
      return `${who} asks for more ${subjectOf(approval)}`;
    case "capability_execution":
      return `${who} asks to use ${capabilityOf(approval) ?? "a capability"}`;
    case "server_discovery":
      return `${who} asks to use a server it has found`;
  }
}

/** Who asks through the gateway, by the label of the key that was shown. */
function clientOf({ action: { key } }: ApprovalView): string {
  return typeof key === "string" ? `The key ${key}` : "A client of the gateway";
}

function subjectOf({ exhausted_dimension, suggested_extension }: ApprovalView): string {
  const dimension = exhausted_dimension ?? Object.keys(suggested_extension)[0];
  return dimension === undefined ? "budget" : nounOf(dimension);
}

/** Why it is asked: what did not fit. */
export function reasonOf(approval: ApprovalView): string {
  const { kind, exhausted_dimension: dimension, consumed, held, limits, action } = approval;
  if (typeof action.reason === "string" && action.reason !== "") return action.reason;
  if (kind !== "budget_extension") return "Its policy demands a human's answer before this is done.";
  if (approval.prediction !== null) return unfitIn(approval.prediction);
  if (dimension === null) return "Its budget does not suffice for what it wants to do next.";
  const used = Number(consumed[dimension] ?? 0);
  const limit = Number(limits[dimension] ?? 0);
  const share = `${formatAmount(dimension, used)} of ${formatAmount(dimension, limit)} (${percentOf(used, limit)} %)`;
  const others = Number(held[dimension] ?? 0);
  const holding = others > 0 ? `, ${formatAmount(dimension, others)} is held for calls under way` : "";
  if (approval.message !== "") return `${share} is used${holding}. ${approval.message}`;
  const next = capabilityOf(approval);
  return `${share} is used${holding}, and the rest does not suffice for ${next === null ? "its next step" : `its next step, “${next}”`}.`;
}

/** What a run that has not begun is expected to be short of. */
function unfitIn({ dimensions }: PredictionView): string {
  const parts = dimensions
    .filter(({ missing }) => missing > 0)
    .map(({ dimension, upper, limit }) => {
      return `${labelOf(dimension).toLowerCase()} up to ${formatRough(dimension, upper)}, allowed ${formatAmount(dimension, limit ?? 0)}`;
    });
  return `It has not begun, and is expected not to fit: ${parts.join("; ")}.`;
}

/** What is waiting, by the name that its program knows it by: a tool's, a program's, or that of the effect itself. */
function capabilityOf({ action }: ApprovalView): string | null {
  const { name, args } = action;
  const within = isObject(args) ? [args.name, args.program, args.language] : [];
  const words = [action.capability_id, action.capability, action.tool, ...within, name];
  return words.find((word): word is string => typeof word === "string" && word !== "") ?? null;
}

function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

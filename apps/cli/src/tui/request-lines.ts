import type { ApprovalView, DimensionView, PredictionView } from "bursar/views";
import { actionText } from "../render/approval.js";
import { dimensionLines } from "../render/dimension-lines.js";
import { predictedTable } from "../render/estimate.js";
import { counted, spanLeft } from "../render/quantities.js";
import { runFigures } from "../render/run-figures.js";
import { clip, harmless, pad, type Style, wrap } from "../render/style.js";

const LABEL = 11;

/** A request, as whoever decides about it wants to see it: what ran out, how all limits stand, and what is suggested. */
export function requestLines(request: ApprovalView, now: number, columns: number, style: Style): readonly string[] {
  const fact = (label: string, text: string, most = 2): readonly string[] => {
    const lines = wrap(text, Math.max(1, columns - LABEL - 2));
    const shown = lines.length > most ? [...lines.slice(0, most - 1), lines.slice(most - 1).join(" ")] : lines;
    return shown.map((line, index) => clip(`  ${style.dim(pad(index === 0 ? label : "", LABEL))}${line}`, columns));
  };
  const { exhausted_dimension: dimension, run, program, budget, suggested_extension: suggested } = request;
  const whose = budget === null || budget === run ? "" : ` of budget ${harmless(budget)}`;
  const { prediction } = request;
  const isAction = prediction === null && Object.keys(request.action).length > 0;
  const what = isAction ? fact("waits", actionText(request)) : [];
  return [
    ...(prediction === null ? [] : predictionLines(prediction, columns, style, fact)),
    ...(prediction !== null
      ? []
      : dimension === null
        ? fact("asks for", KINDS[request.kind])
        : fact("exhausted", style.warn(`${harmless(dimension)}${whose}`), 1)),
    ...(dimension === null ? what : []),
    ...(request.message === "" ? [] : fact("needs", harmless(request.message))),
    ...(prediction !== null ? [] : consumptionLines(request, columns, style)),
    ...(Object.keys(suggested).length === 0 ? [] : fact("suggested", style.bold(`+ ${runFigures(suggested)}`), 1)),
    ...(dimension === null ? [] : what),
    ...(run === null ? [] : fact("run", `${harmless(run)}${program === null ? "" : `, ${harmless(program)}`}`, 1)),
    ...fact("expires", expiryText(request, now), 1),
  ];
}

/** A run that is asked about before it begins: what it is predicted to take, what does not fit first. */
function predictionLines(
  { dimensions, sources }: PredictionView,
  columns: number,
  style: Style,
  fact: (label: string, text: string, most?: number) => readonly string[],
): readonly string[] {
  const sorted = [...dimensions].sort((a, b) => Number(b.missing > 0) - Number(a.missing > 0));
  return [
    ...fact("asks for", style.warn("leave to begin, though it is expected not to fit"), 1),
    ...predictedTable(sorted, columns, style).trimEnd().split("\n"),
    ...sources.flatMap(({ source, about }) => fact(source, harmless(about), 2)),
  ];
}

const KINDS: Readonly<Record<ApprovalView["kind"], string>> = {
  budget_extension: "more of a budget",
  capability_execution: "leave to do something, this once",
  server_discovery: "leave to use a server that it has found",
};

/** In two words, for a list. */
export function topicOf({ exhausted_dimension, kind, action, prediction }: ApprovalView): string {
  if (prediction !== null) return "leave to begin";
  if (exhausted_dimension !== null) return harmless(exhausted_dimension);
  const { capability_id, name } = action;
  const what = capability_id ?? name;
  return typeof what === "string" ? harmless(what) : kind;
}

/** Where nothing is known of thresholds, a bar stands out when it is full. */
const FULL = [100];

/** How every limit stood when it was asked, what is exhausted first. */
function consumptionLines(request: ApprovalView, columns: number, style: Style): readonly string[] {
  const { consumed, held, limits, exhausted_dimension: first } = request;
  const ids = Object.keys(limits).filter((id) => typeof limits[id] === "number");
  const isTouched = (id: string) => Number(consumed[id] ?? 0) > 0 || Number(held[id] ?? 0) > 0;
  const sorted = [...ids.filter((id) => id === first), ...ids.filter((id) => id !== first && isTouched(id))];
  const views = sorted.map((dimension): DimensionView => {
    const taken = { used: Number(consumed[dimension] ?? 0), held: Number(held[dimension] ?? 0) };
    return {
      dimension,
      ...taken,
      limit: Number(limits[dimension]),
      unit: "",
      policy: "",
      thresholds: FULL,
      exhausted_at: null,
    };
  });
  const untouched = ids.length - sorted.length;
  const rest = untouched === 0 ? [] : [style.dim(`nothing is used of ${counted(untouched, "further limit")}`)];
  return [...dimensionLines(views, columns - 2, style), ...rest].map((line) => clip(`  ${line}`, columns));
}

export function expiryText({ expires, run }: ApprovalView, now: number): string {
  if (expires > now) return `in ${spanLeft(expires - now)}`;
  return run === null ? "it has; the next call that does not fit asks anew" : "it has; r asks anew";
}

import type { Json, JsonObject, Link } from "bursar";
import { roundFigure } from "./estimate.js";
import { objectOf } from "./object.js";
import { runFigure, runFigures } from "./run-figures.js";
import { clip, harmless } from "./style.js";

const LONGEST = 60;

/** What was decided to spend less, in a sentence each; null for all other links. */
export function foresightText({ action_type, data }: Pick<Link, "action_type" | "data">): string | null {
  return TEXTS[action_type]?.(data) ?? null;
}

const TEXTS: Readonly<Record<string, (data: JsonObject) => string>> = {
  RunEstimated: estimated,
  TierSwitched: ({ from, to, reason, step }) => {
    const before = from === null || from === undefined ? "" : `${tier(from)} → `;
    return `model ${before}${tier(to)}${ofStep(step)}${because(reason)}`;
  },
  TierPinned: ({ to, reason, step }) => `model ${tier(to)}${ofStep(step)}${because(reason)}`,
  CostUnknown: ({ capability_id }) => `${short(capability_id)} has no price, so its cost is unknown and not counted`,
  AnswerDearer: ({ capability_id, priced_usd, charged_usd, answered }) => {
    const said = answeredText(answered);
    return `${short(capability_id)} is charged ${bare("cost_usd", charged_usd)} instead of ${bare("cost_usd", priced_usd)}: the answer says ${said}`;
  },
  AnswerUnpriced: ({ capability_id, answered }) =>
    `${short(capability_id)} was answered with ${answeredText(answered)}, which has no price; it is charged as it was asked`,
  Batched: ({ model, quote_usd, full_quote_usd }) => {
    if (quote_usd === null) return `a call to ${short(model)} waits in a batch of the provider; it has no price`;
    const prices = `up to ${bare("cost_usd", quote_usd)} instead of ${bare("cost_usd", full_quote_usd)}`;
    return `a call to ${short(model)} waits in a batch of the provider, ${prices}`;
  },
  Saved: ({ kind, saved_usd }) => {
    const how = HOW[String(kind)] ?? "";
    return saved_usd === 0 ? `a request is saved${how}` : `saved ${bare("cost_usd", saved_usd)}${how}`;
  },
};

/** What an answer says of its price, member by member. */
function answeredText(answered: Json | undefined): string {
  const parts = Object.entries(objectOf(answered)).map(([name, value]) =>
    name === "cost_usd"
      ? `cost ${bare(name, value)}`
      : `${harmless(name.replaceAll("_", " "))} ${short(listed(value))}`,
  );
  return parts.join(", ");
}

function listed(value: Json): Json {
  return Array.isArray(value) ? value.join(", ") : value;
}

/** Which calls stay together. */
function ofStep(step: Json | undefined): string {
  return typeof step === "string" ? ` for all of ${short(step)}` : "";
}

/** What has made a call cheaper, or unnecessary. */
const HOW: Readonly<Record<string, string>> = {
  in_flight: ": the same call was under way, and both got its answer",
  cache: ": the answer was kept from before",
  batch: ": it could wait, at the price of a batch",
  embeddings: ": sent together with others",
};

function estimated({ run_id, parent, program, dimensions, fits, preflight, notes }: JsonObject): string {
  const rows = Object.entries(objectOf(dimensions)).map(([id, value]) => ({ id, ...expectedOf(value) }));
  // What does not fit comes first, with what it does not fit into.
  const sorted = [...rows.filter(({ isOver }) => isOver), ...rows.filter(({ isOver }) => !isOver)];
  const parts = sorted.map(({ id, median, upper, limit, isOver }) => {
    const bound = isOver ? ` of ${rough(id, limit)}` : "";
    return `${harmless(id)} about ${rough(id, median)}, up to ${rough(id, upper)}${bound}`;
  });
  // One that shares the budget of the run above it is told of in that run's chain.
  const whose = typeof parent === "string" ? `run ${short(run_id)} (${short(program)}): ` : "";
  if (parts.length === 0) return `${whose}nobody knows what it will take`;
  const unfit = fits === false ? `, which does not fit (${short(preflight)})` : "";
  const noted = Array.isArray(notes) ? notes.map((note) => `; ${harmless(String(note))}`).join("") : "";
  return `${whose}expected${unfit}: ${parts.join("; ")}${noted}`;
}

function expectedOf(value: Json | undefined) {
  const { median, upper, limit, missing } = objectOf(value);
  return { median, upper, limit, isOver: typeof missing === "number" && missing > 0 };
}

function bare(id: string, value: Json | undefined): string {
  return typeof value === "number" ? runFigure(id, value) : "?";
}

function rough(id: string, value: Json | undefined): string {
  return typeof value === "number" ? roundFigure(id, value) : "?";
}

function tier(value: Json | undefined): string {
  const { model, quote } = objectOf(value);
  const figures = runFigures(objectOf(quote), ["steps", "llm_input_tokens", "llm_output_tokens"]);
  return `${short(model)}${figures === "" ? "" : ` (${figures})`}`;
}

function because(reason: Json | undefined): string {
  return typeof reason === "string" && reason !== "" ? `: ${clip(harmless(reason), 2 * LONGEST)}` : "";
}

function short(value: Json | undefined): string {
  return typeof value === "string" ? clip(harmless(value), LONGEST) : "?";
}

import type { Json, JsonObject, Link } from "bursar/chain";
import { formatAmount } from "../../format/amount.js";
import { labelOf } from "../../format/dimension.js";
import { shortId } from "../../format/id.js";

const LONGEST = 160;

/** What a link says, in a line. */
export function summaryOf({ event, action_type, data }: Link): string {
  const text = SUMMARIES[event ?? action_type]?.(data) ?? scalars(data);
  return text.length > LONGEST ? `${text.slice(0, LONGEST)} …` : text;
}

const SUMMARIES: Readonly<Record<string, (data: JsonObject) => string>> = {
  Allocation: ({ limits }) => `limits ${amounts(limits)}`,
  Consumption: ({ capability_id, resources }) => `${word(capability_id)} used ${amounts(resources)}`,
  Warning: ({ dimension, percent, consumed, limit }) =>
    `${labelOf(word(dimension))} at ${word(percent)} %: ${share(dimension, consumed, limit)}`,
  Exhausted: ({ dimension, consumed, limit, policy }) =>
    `${labelOf(word(dimension))} exhausted: ${share(dimension, consumed, limit)}, ${word(policy)}`,
  Extended: ({ dimension, additional, approved_by }) =>
    `${labelOf(word(dimension))} +${amount(word(dimension), additional)} by ${word(approved_by)}`,
  Denied: ({ dimension, denied_by }) => `${labelOf(word(dimension))} denied by ${word(denied_by)}`,
  RunCompleted: ({ final_consumption }) => `used in all ${amounts(final_consumption)}`,
  StepStarted: ({ capability_id, asked }) => `${word(capability_id)} may use ${amounts(asked)}`,
  StepRefused: ({ capability_id, decision }) => `${word(capability_id)}: ${word(decision)}`,
  StepsRefused: ({ count, decision, finding }) =>
    `${word(count)} more calls: ${word(decision)}${isObject(finding) ? `, ${labelOf(word(finding.dimension)).toLowerCase()}` : ""}`,
  RunEstimated: ({ run_id, parent, program, dimensions, fits }) =>
    `${whose(run_id, parent, program)}${fits === false ? "expected not to fit" : "expected"}: ${predictions(dimensions)}`,
  TierSwitched: ({ from, to, reason, step }) =>
    `${isObject(from) ? `${tier(from)} → ` : ""}${tier(to)}${ofStep(step)}${typeof reason === "string" ? `: ${reason}` : ""}`,
  TierPinned: ({ to, step }) => `${tier(to)} for all of ${word(step)}`,
  CostUnknown: ({ capability_id }) => `${word(capability_id)} has no price, so its cost is unknown and not counted`,
  AnswerDearer: ({ capability_id, priced_usd, charged_usd, answered }) =>
    `${word(capability_id)} is charged ${amount("cost_usd", charged_usd)} instead of ${amount("cost_usd", priced_usd)}: the answer says ${answeredText(answered)}`,
  AnswerUnpriced: ({ capability_id, answered }) =>
    `${word(capability_id)} was answered with ${answeredText(answered)}, which has no price; it is charged as it was asked`,
  Batched: ({ model, quote_usd, full_quote_usd }) =>
    quote_usd === null
      ? `${word(model)} waits in a batch; it has no price`
      : `${word(model)} waits in a batch: up to ${amount("cost_usd", quote_usd)} instead of ${amount("cost_usd", full_quote_usd)}`,
  Saved: ({ kind, saved_usd }) =>
    `${saved_usd === 0 ? "a request" : amount("cost_usd", saved_usd)} saved${HOW[word(kind)] ?? ""}`,
};

/** What an answer says of its price, member by member. */
function answeredText(answered: Json | undefined): string {
  const parts = Object.entries(isObject(answered) ? answered : {}).map(([name, value]) =>
    name === "cost_usd"
      ? `cost ${amount(name, value)}`
      : `${name.replaceAll("_", " ")} ${Array.isArray(value) ? value.join(", ") : word(value)}`,
  );
  return parts.join(", ");
}

/** Which calls stay together. */
function ofStep(step: Json | undefined): string {
  return typeof step === "string" ? ` for all of ${step}` : "";
}

/** What has made a call cheaper, or unnecessary. */
const HOW: Readonly<Record<string, string>> = {
  in_flight: ": the same call was under way, and both got its answer",
  cache: ": the answer was kept from before",
  batch: ": it could wait, at the price of a batch",
  embeddings: ": sent together with others",
};

/** A child that shares the budget of the run above it is told of in that run's chain. */
function whose(run: Json | undefined, parent: Json | undefined, program: Json | undefined): string {
  return typeof parent === "string" ? `run ${shortId(word(run))} (${word(program)}) ` : "";
}

function predictions(value: Json | undefined): string {
  const all = isObject(value) ? Object.entries(value) : [];
  const parts = all.map(([dimension, each]) => {
    const { median, upper } = isObject(each) ? each : {};
    return `${labelOf(dimension).toLowerCase()} about ${amount(dimension, median)}, up to ${amount(dimension, upper)}`;
  });
  return parts.length === 0 ? "nobody knows what it will take" : parts.join("; ");
}

function tier(value: Json | undefined): string {
  if (!isObject(value)) return "?";
  return isObject(value.quote) ? `${word(value.model)} (${amounts(value.quote)})` : word(value.model);
}

function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function word(value: Json | undefined): string {
  return typeof value === "string" || typeof value === "number" ? String(value) : "?";
}

function amount(dimension: string, value: Json | undefined): string {
  return typeof value === "number" ? formatAmount(dimension, value) : "?";
}

function share(dimension: Json | undefined, consumed: Json | undefined, limit: Json | undefined): string {
  return `${amount(word(dimension), consumed)} of ${amount(word(dimension), limit)}`;
}

function amounts(value: Json | undefined): string {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return "nothing";
  const known = Object.entries(value).filter(([, each]) => typeof each === "number" && each !== 0);
  if (known.length === 0) return "nothing";
  return known.map(([dimension, each]) => `${labelOf(dimension).toLowerCase()} ${amount(dimension, each)}`).join(", ");
}

/** Said of the whole chain, or of the link itself, and not of what it records. */
const REPEATED: ReadonlySet<string> = new Set(["run_id", "budget", "at"]);

function scalars(data: JsonObject): string {
  const said = Object.entries(data).filter(
    ([name, value]) => !REPEATED.has(name) && ["string", "number", "boolean"].includes(typeof value),
  );
  return said.map(([name, value]) => `${name.replaceAll("_", " ")} ${String(value)}`).join(", ");
}

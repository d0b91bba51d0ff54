import type { Json, JsonObject, Link } from "bursar/chain";
import { formatAmount } from "../format/amount.js";
import { labelOf } from "../format/dimension.js";

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
};

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

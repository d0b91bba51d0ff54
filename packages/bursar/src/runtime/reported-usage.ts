import { type Amount, type Amounts, MAX_AMOUNT, NONE } from "../core/amount.js";
import { remember } from "../core/chain/remember.js";
import { fromDecimal } from "../core/decimal.js";
import type { Dimensions } from "../core/dimensions.js";

/** What a result says of its own cost, as far as it says anything. */
export interface ReportedUsage {
  readonly amounts: Amounts;
  readonly duration_ms: number | null;
}

/** Names under which SDKs, gateways and providers report usage, in snake case and without a leading `usage_`. */
const NAMES: ReadonlyMap<string, string> = new Map([
  ["steps", "steps"],
  ["llm_tokens", "llm_tokens"],
  ["total_tokens", "llm_tokens"],
  ["total_token_count", "llm_tokens"],
  ["tokens", "llm_tokens"],
  ["llm_input_tokens", "llm_input_tokens"],
  ["input_tokens", "llm_input_tokens"],
  ["input_token_count", "llm_input_tokens"],
  ["prompt_tokens", "llm_input_tokens"],
  ["prompt_token_count", "llm_input_tokens"],
  ["llm_output_tokens", "llm_output_tokens"],
  ["output_tokens", "llm_output_tokens"],
  ["output_token_count", "llm_output_tokens"],
  ["completion_tokens", "llm_output_tokens"],
  ["candidates_token_count", "llm_output_tokens"],
  ["cost_usd", "cost_usd"],
  ["total_cost_usd", "cost_usd"],
  ["total_cost", "cost_usd"],
  ["cost", "cost_usd"],
  ["network_egress_bytes", "network_egress_bytes"],
  ["network_egress", "network_egress_bytes"],
  ["storage_write_bytes", "storage_write_bytes"],
  ["storage_write", "storage_write_bytes"],
  ["fuel", "fuel"],
  ["fuel_consumed", "fuel"],
  ["memory_peak_bytes", "memory_peak_bytes"],
  ["memory_used_bytes", "memory_peak_bytes"],
  ["duration_ms", "duration_ms"],
  ["latency_ms", "duration_ms"],
]);

/** Objects inside a result in which usage is looked for. */
const PLACES = new Set([
  "usage",
  "usage_metadata",
  "token_usage",
  "metadata",
  "response_metadata",
  "llm_output",
  "_meta",
]);

/** Where a tool that speaks the Model Context Protocol puts what it gives back. */
const RESULT = "structured_content";

/**
 * Names that a result may have for what it is about, such as the price of a hotel. Beside the other members of a result they are no
 * usage; inside of its metadata they are.
 */
const AMBIGUOUS = new Set([
  "steps",
  "iterations",
  "subcalls",
  "depth",
  "tokens",
  "cost",
  "total_cost",
  "fuel",
  "fuel_consumed",
  "memory_used_bytes",
  "network_egress",
  "storage_write",
  "duration_ms",
  "latency_ms",
]);

/** Where input is reported as `input_tokens`, these come on top of it; where as `prompt_tokens`, they are part of it. */
const CACHED = ["cache_creation_input_tokens", "cache_read_input_tokens"];

/**
 * Reads usage from a result's metadata, under any of the usual names, at the top or in one of the usual places. Where two
 * names disagree the larger one counts; what cannot be a usage (negative, not a number) counts as missing, so that it is
 * charged at the reservation.
 */
export function extractUsage(metadata: unknown, dimensions: Dimensions): ReportedUsage {
  return readUsage(metadata, dimensions, false);
}

/**
 * The same of all that a tool gave back: its metadata and its `usage`, and beside its other members what by its name can only be usage,
 * such as `total_cost_usd`.
 */
export function extractResultUsage(result: unknown, dimensions: Dimensions): ReportedUsage {
  return readUsage(result, dimensions, true);
}

function readUsage(report: unknown, dimensions: Dimensions, isResult: boolean): ReportedUsage {
  const reading: UsageReading = { dimensions, amounts: {}, duration_ms: null };
  try {
    readObject(report, 0, isResult, reading);
    return { amounts: reading.amounts, duration_ms: reading.duration_ms };
  } catch {
    // A report that throws when it is read is no report.
    return { amounts: {}, duration_ms: null };
  }
}

/** What was found so far. */
interface UsageReading {
  readonly dimensions: Dimensions;
  readonly amounts: Record<string, Amount>;
  duration_ms: number | null;
}

function readObject(report: unknown, depth: number, isResult: boolean, reading: UsageReading): void {
  if (typeof report !== "object" || report === null || Array.isArray(report) || depth > 3) return;
  // Each member is read once, and before what is inside of any: it may be computed.
  const keys = Object.keys(report);
  const values = Object.values(report);
  let cached = 0;
  for (let at = 0; at < keys.length; at++) {
    if (CACHED.includes(nameOf(keys[at] as string))) cached += figureOf(values[at]) ?? 0;
  }
  for (let at = 0; at < keys.length; at++) {
    const key = keys[at] as string;
    const name = nameOf(key);
    const figure = figureOf(values[at]);
    const isUnclear = isResult && AMBIGUOUS.has(name) && !/^usage/i.test(key);
    if (figure !== null && !isUnclear) note(name, name === "input_tokens" ? figure + cached : figure, reading);
    else if (PLACES.has(name)) readObject(values[at], depth + 1, false, reading);
    else if (isResult && name === RESULT) readObject(values[at], depth + 1, true, reading);
  }
}

/** Takes a figure into account, if it is one of usage. */
function note(name: string, figure: number, reading: UsageReading): void {
  const { dimensions, amounts } = reading;
  const id = NAMES.get(name) ?? name;
  if (id === "duration_ms") reading.duration_ms = Math.max(reading.duration_ms ?? 0, figure);
  else {
    const dimension = dimensions.find(id);
    const isCounted = dimension !== undefined && dimension.kind !== "clock";
    const amount = isCounted ? amountOf(figure, dimension.decimals) : null;
    if (amount !== null) amounts[id] = Math.max(amounts[id] ?? NONE, amount) as Amount;
  }
}

const DECIMAL = /^\s*\+?(?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d{1,3})?\s*$/i;
const LONGEST_FIGURE = 64;

/** A figure as a number or as a text, such as `7`, `"7"` and `"1e3"`; null for what is none, or cannot be counted. */
function figureOf(value: unknown): number | null {
  const isText = typeof value === "string" && value.length <= LONGEST_FIGURE && DECIMAL.test(value);
  const figure = isText ? Number(value) : value;
  return typeof figure === "number" && figure >= 0 && figure <= MAX_AMOUNT ? figure : null;
}

/** `usage.promptTokens`, `usage_prompt_tokens` and `prompt_tokens` are the same name. */
const nameOf = remember((key: string): string => {
  const words = key.replace(/([a-z0-9])([A-Z])/g, "$1_$2").replace(/[.\-\s]+/g, "_");
  const name = words.toLowerCase();
  return name === "usage" || name === "usage_metadata" ? name : name.replace(/^usage_/, "");
});

/** Charges round up. A figure too large to count is no figure. */
function amountOf(value: number, decimals: number): Amount | null {
  const whole = decimals === 0 ? Math.ceil(value) : value;
  return whole * 10 ** decimals > MAX_AMOUNT ? null : fromDecimal(whole, decimals, "up", "usage");
}

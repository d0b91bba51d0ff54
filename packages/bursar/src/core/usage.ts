import { type Amount, type Amounts, MAX_AMOUNT, NO_AMOUNTS, NONE } from "./amount.js";
import { fromDecimal } from "./decimal.js";
import type { Dimensions } from "./dimensions.js";

/** What a result says of its own cost, as far as it says anything. */
export interface ReportedUsage {
  readonly amounts: Amounts;
  readonly duration_ms: number | null;
}

/** Names under which SDKs, gateways and providers report usage, in snake case and without a leading `usage_`. */
const NAMES: Readonly<Record<string, string>> = {
  steps: "steps",
  llm_tokens: "llm_tokens",
  total_tokens: "llm_tokens",
  total_token_count: "llm_tokens",
  tokens: "llm_tokens",
  llm_input_tokens: "llm_input_tokens",
  input_tokens: "llm_input_tokens",
  input_token_count: "llm_input_tokens",
  prompt_tokens: "llm_input_tokens",
  prompt_token_count: "llm_input_tokens",
  llm_output_tokens: "llm_output_tokens",
  output_tokens: "llm_output_tokens",
  output_token_count: "llm_output_tokens",
  completion_tokens: "llm_output_tokens",
  candidates_token_count: "llm_output_tokens",
  cost_usd: "cost_usd",
  total_cost_usd: "cost_usd",
  total_cost: "cost_usd",
  cost: "cost_usd",
  network_egress_bytes: "network_egress_bytes",
  network_egress: "network_egress_bytes",
  storage_write_bytes: "storage_write_bytes",
  storage_write: "storage_write_bytes",
  fuel: "fuel",
  fuel_consumed: "fuel",
  memory_peak_bytes: "memory_peak_bytes",
  memory_used_bytes: "memory_peak_bytes",
  duration_ms: "duration_ms",
  latency_ms: "duration_ms",
};

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
  try {
    return usageIn(readings(report, 0, isResult), dimensions);
  } catch {
    // A report that throws when it is read is no report.
    return { amounts: {}, duration_ms: null };
  }
}

function usageIn(reported: Iterable<readonly [string, number]>, dimensions: Dimensions): ReportedUsage {
  const found: Record<string, Amount> = {};
  let duration: number | null = null;
  for (const [name, value] of reported) {
    const id = NAMES[name] ?? (dimensions.has(name) ? name : undefined);
    if (id === "duration_ms") duration = Math.max(duration ?? 0, value);
    else if (id !== undefined && dimensions.has(id)) {
      const { kind, decimals } = dimensions.get(id);
      const amount = kind === "clock" ? null : reading(value, decimals);
      if (amount !== null) found[id] = Math.max(found[id] ?? NONE, amount) as Amount;
    }
  }
  return { amounts: found, duration_ms: duration };
}

function* readings(value: unknown, depth: number, isResult: boolean): Generator<readonly [string, number]> {
  if (typeof value !== "object" || value === null || Array.isArray(value) || depth > 3) return;
  const entries = Object.entries(value).map(([key, each]) => [key, snake(key), each] as const);
  const cached = entries.reduce(
    (sum, [, name, each]) => (CACHED.includes(name) ? sum + (figureOf(each) ?? 0) : sum),
    0,
  );
  for (const [key, name, each] of entries) {
    const figure = figureOf(each);
    const isUnclear = isResult && AMBIGUOUS.has(name) && !/^usage/i.test(key);
    if (figure !== null && !isUnclear) yield [name, name === "input_tokens" ? figure + cached : figure];
    else if (PLACES.has(name)) yield* readings(each, depth + 1, false);
    else if (isResult && name === RESULT) yield* readings(each, depth + 1, true);
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
function snake(key: string): string {
  const words = key.replace(/([a-z0-9])([A-Z])/g, "$1_$2").replace(/[.\-\s]+/g, "_");
  const name = words.toLowerCase();
  return name === "usage" || name === "usage_metadata" ? name : name.replace(/^usage_/, "");
}

/** Charges round up. A figure too large to count is no figure. */
function reading(value: number, decimals: number): Amount | null {
  const whole = decimals === 0 ? Math.ceil(value) : value;
  return whole * 10 ** decimals > MAX_AMOUNT ? null : fromDecimal(whole, decimals, "up", "usage");
}

/** Asking for input and output is asking for both together. */
export function withTotal(asked: Amounts): Amounts {
  return parts(asked) <= (asked[TOTAL] ?? NONE) ? asked : copyWithTotal(asked);
}

/** The same in an object of its own. */
export function copyWithTotal(asked: Amounts): Amounts {
  const copy = merged(asked, NO_AMOUNTS);
  const both = parts(copy);
  if (both > (copy[TOTAL] ?? NONE)) copy[TOTAL] = both as Amount;
  return copy;
}

/** Both, the second before the first. No spread: to add members to a copy takes longer than to write all of them. */
function merged(first: Amounts, second: Amounts): Record<string, Amount> {
  const both: Record<string, Amount> = {};
  for (const id of Object.keys(first)) both[id] = first[id] as Amount;
  for (const id of Object.keys(second)) both[id] = second[id] as Amount;
  return both;
}

/** What kind of call it is decides what a missing report costs. */
export type CallKind = "model" | "tool" | "code" | "child" | "lease";

export interface Charge {
  readonly charged: Amounts;
  /** What nobody has reported, so that it was charged as reserved or as estimated; a late report may correct it. */
  readonly unreported: readonly string[];
  /** What serialized input and output would amount to at most, where something is unreported. */
  readonly estimate: Amounts | null;
}

/** Counted by Bursar itself: whoever is called cannot make them less than what was reserved. */
const COUNTED = ["steps", "iterations", "subcalls", "depth"];
const PARTS = ["llm_input_tokens", "llm_output_tokens"];
const NO_PARTS: readonly string[] = [];
const TOTAL = "llm_tokens";

/**
 * What a call is charged: what was reported, else what was reserved. Tokens of a model call that were neither are charged
 * as estimated; a tool that is no model is never charged tokens by estimate.
 */
export function chargeFor(kind: CallKind | "charge", asked: Amounts, reported: Amounts, estimate: Amounts): Charge {
  const charged = merged(asked, reported);
  // The holder of a lease has counted for itself, and gives back what it did not need.
  if (kind !== "lease") recount(charged, asked, reported);
  const unreported = missing(asked, reported);
  const guessing = kind === "model" && reported[TOTAL] === undefined && (asked[TOTAL] ?? NONE) === 0;
  for (const id of guessing ? PARTS : NO_PARTS) {
    if (reported[id] !== undefined || (asked[id] ?? NONE) > 0) continue;
    charged[id] = estimate[id] ?? NONE;
    unreported.push(id);
  }
  const total = totalOf(charged, reported, asked[TOTAL] ?? NONE);
  if (total.amount > 0 || charged[TOTAL] !== undefined) charged[TOTAL] = total.amount;
  if (!total.reported && total.amount > 0) unreported.push(TOTAL);
  return { charged, unreported, estimate: unreported.length > 0 ? estimate : null };
}

/** Raises what Bursar counts itself to what was reserved. */
function recount(charged: Record<string, Amount>, asked: Amounts, reported: Amounts): void {
  for (const id of COUNTED) {
    if (reported[id] !== undefined) charged[id] = Math.max(reported[id], asked[id] ?? NONE) as Amount;
  }
}

/** Whether something that was asked for, or the tokens of a model call, was not reported, so that an estimate may be needed. */
export function isSilent(
  kind: CallKind | undefined,
  asked: Readonly<Record<string, number>>,
  reported: Amounts,
): boolean {
  if (kind === "model" && PARTS.some((id) => reported[id] === undefined)) return true;
  for (const id in asked) if (reported[id] === undefined && id !== TOTAL && !COUNTED.includes(id)) return true;
  return false;
}

/** What was reserved and not reported. The total follows from its parts, and what Bursar counts needs no report. */
function missing(asked: Amounts, reported: Amounts): string[] {
  const ids: string[] = [];
  for (const id of Object.keys(asked)) {
    const silent = reported[id] === undefined && (asked[id] ?? NONE) > 0;
    if (silent && id !== TOTAL && !COUNTED.includes(id)) ids.push(id);
  }
  return ids;
}

/** Input and output together: as reported, else the sum of both, else no less than what was reserved. */
function totalOf(charged: Amounts, reported: Amounts, reserved: number): { amount: Amount; reported: boolean } {
  const { llm_tokens: total, llm_input_tokens: input, llm_output_tokens: output } = reported;
  if (total !== undefined) return { amount: Math.max(total, parts(reported)) as Amount, reported: true };
  if (input !== undefined && output !== undefined) return { amount: (input + output) as Amount, reported: true };
  return { amount: Math.max(reserved, parts(charged)) as Amount, reported: false };
}

function parts({ llm_input_tokens: input = NONE, llm_output_tokens: output = NONE }: Amounts): number {
  return input + output;
}

/** The most tokens serialized input and output can be: one for each byte of UTF-8. */
export function estimateTokens(input: unknown, output: unknown): Amounts {
  const llm_input_tokens = utf8Bytes(input);
  const llm_output_tokens = utf8Bytes(output);
  return { llm_input_tokens, llm_output_tokens, llm_tokens: (llm_input_tokens + llm_output_tokens) as Amount };
}

function utf8Bytes(value: unknown): Amount {
  const text = typeof value === "string" ? value : serialize(value);
  let bytes = text.length;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    // Each half of a surrogate pair counts two, which makes the four bytes of the whole.
    if (code > 0x7f) bytes += code > 0x7ff && (code < 0xd800 || code > 0xdfff) ? 2 : 1;
  }
  return bytes as Amount;
}

/** Written down as often as it would be sent. Only a cycle and a big integer, which JSON does not have, are made up for. */
function serialize(value: unknown): string {
  const above: unknown[] = [];
  function plain(this: unknown, _: string, each: unknown): unknown {
    if (typeof each === "bigint") return String(each);
    if (typeof each !== "object" || each === null) return each;
    while (above.length > 0 && above.at(-1) !== this) above.pop();
    if (above.includes(each)) return null;
    above.push(each);
    return each;
  }
  try {
    return JSON.stringify(value, plain) ?? "";
  } catch {
    // A getter or a toJSON that throws: what cannot be written down was not sent either.
    return "";
  }
}

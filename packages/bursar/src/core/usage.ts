import { type Amount, type Amounts, NO_AMOUNTS, NONE } from "./amount.js";

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

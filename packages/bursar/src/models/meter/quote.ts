import { type Amount, type Amounts, MAX_AMOUNT } from "../../core/amount.js";
import { writeAmount } from "../../core/dimension.js";
import { STANDARD } from "../../core/dimensions.js";
import type { BudgetAmounts } from "../../core/input.js";
import type { Filling } from "../../runtime/filling.js";
import type { PricedCall } from "../prices/answered-price.js";
import { isPriced } from "../prices/no-price.js";
import type { Bound, Price } from "../prices/price.js";
import type { Site } from "../reservations/site.js";
import type { WireRequest } from "../wire/protocol.js";
import type { TokenCounts } from "../wire/token-counts.js";
import type { Seen } from "./meter.js";

/** A quote: the most a request may use, and how little it could do with. In ledger units, because it is made with every call. */
export interface Quote {
  readonly asked: Amounts;
  readonly least: Amounts;
  /** What requests like it have used, all but a few, where that is less and is known. */
  readonly learned?: Amounts;
}

/** What a request is quoted and charged by. */
export interface Terms extends PricedCall {
  readonly wire: WireRequest;
  /** What it is quoted at, which is dearer than its price where answers to such requests were. */
  readonly quoted: Price;
  /** No fewer tokens than the provider will count. */
  readonly input: number;
  /** The most one answer may have. */
  readonly wanted: number;
  /** How many bytes the request had when it came; 0 where nobody can tell. */
  readonly egress_bytes: number;
  /** The place it comes from, where what is known of that counts. */
  readonly site: Site | null;
  /** Whether all of it is held, whatever is known. */
  readonly full: boolean;
}

/** What of the terms a quote depends on. */
type QuotedTerms = Pick<Terms, "wire" | "quoted" | "input" | "wanted" | "egress_bytes">;

const ONE = 1 as Amount;
const COST = STANDARD.get("cost_usd");
/** A limit of output, the wish for usage and a tier may be written into a request that came without them. */
const ADDED_BYTES = 256;

/** What of a request makes its tokens dearer, and what its tools cost at most. */
function boundFor({ caches, audio, hosted }: WireRequest): Omit<Bound, "input" | "output"> {
  return hosted === undefined ? { caches, audio } : { caches, audio, tools_nano: hosted.most_nano };
}

/** The most a request may use. Output is what can be cut. */
export function quoteOf({ wire, quoted, input, wanted, egress_bytes }: QuotedTerms): Quote {
  const output = wanted * wire.answers;
  const needed = neededBy(wire, wanted);
  const cost = (tokens: number) => nanoUsd(quoted.most({ input, output: tokens, ...boundFor(wire) }));
  const asked: Record<string, Amount> = {
    steps: ONE,
    llm_input_tokens: counted(input),
    llm_output_tokens: counted(output),
  };
  const least: Record<string, Amount> = { llm_output_tokens: counted(needed) };
  if (isPriced(quoted)) {
    asked.cost_usd = cost(output);
    least.cost_usd = cost(needed);
  }
  if (egress_bytes > 0) asked.network_egress_bytes = counted(egress_bytes + ADDED_BYTES);
  return { asked, least };
}

/** The least output that a request can do with. */
function neededBy({ answers, least_output }: WireRequest, wanted: number): number {
  return Math.min(wanted, Math.max(least_output, wanted === 0 ? 0 : 1)) * answers;
}

/** The least that a request of these terms is quoted at, however its output is cut. */
export function leastOfCall({ wire, input, wanted }: Terms, price: Price): Amount {
  return nanoUsd(price.most({ input, output: neededBy(wire, wanted), ...boundFor(wire) }));
}

/** What a request is expected to need at most, of what can be cut; null when that is not known, or no less than it wants. */
export function learnedOf({ wire, quoted, input, wanted, site, full }: Terms): Amounts | null {
  const { least_output } = wire;
  const upper = site?.upper ?? null;
  if (upper === null || full) return null;
  const output = Math.max(upper, least_output, 1);
  if (output >= wanted) return null;
  if (!isPriced(quoted)) return { llm_output_tokens: counted(output) };
  return { llm_output_tokens: counted(output), cost_usd: nanoUsd(quoted.most({ input, output, ...boundFor(wire) })) };
}

/** What was granted may be less than what was wanted, of tokens and of money apart. */
export function outputOf({ wire, quoted, input }: Terms, granted: Amounts): number {
  const tokens = granted.llm_output_tokens ?? 0;
  if (tokens === 0) return 0;
  const paid = quoted.affordable(BigInt(granted.cost_usd ?? 0), { input, ...boundFor(wire) });
  return Math.max(Math.min(tokens, paid), wire.least_output * wire.answers);
}

/** What a model call used, in ledger units; without money where the model has no price. */
export type Used = Readonly<Record<"llm_input_tokens" | "llm_output_tokens" | "llm_tokens", Amount>> & {
  readonly cost_usd?: Amount;
};

/** What the provider has reported, with what it costs. */
export function usedOf(counts: TokenCounts, price: Price): Used {
  const { input, output } = counts;
  const used: Filling<Used> = {
    llm_input_tokens: counted(input),
    llm_output_tokens: counted(output),
    llm_tokens: counted(input + output),
  };
  if (isPriced(price)) used.cost_usd = nanoUsd(price.cost(counts));
  return used;
}

/** The same in edge units. */
function amountsOf(counts: TokenCounts, price: Price): BudgetAmounts {
  return atEdge(usedOf(counts, price));
}

/** What a model call used, in edge units. */
export function atEdge(used: Amounts): BudgetAmounts {
  const edge: Filling<BudgetAmounts> = { ...used };
  if (used.cost_usd !== undefined) edge.cost_usd = writeAmount(COST, used.cost_usd);
  return edge;
}

/** The most that a call of these terms costs with so much output. */
export function mostOfCall({ wire, input }: Terms, output: number, price: Price): Amount {
  return nanoUsd(price.most({ input, output, ...boundFor(wire) }));
}

/** The most that a call can have used of which this was seen, at a price. */
export function boundOf({ reported, output }: Seen, { wire, input }: Terms, price: Price): BudgetAmounts {
  if (!isPriced(price)) return amountsOf({ input: reported?.input ?? input, output }, price);
  // Between the rounds of hosted tools not all of the input is reported.
  if (reported !== null && wire.hosted === undefined) {
    const counts = { ...reported, output };
    // What was not seen may have been thought, which some models charge more for.
    const cost_usd = Math.max(edgeUsd(price.cost(counts)), edgeUsd(price.cost({ ...counts, reasoning: output })));
    return { ...amountsOf(counts, price), cost_usd };
  }
  return mostOf({ input, output, ...boundFor(wire) }, price);
}

/** So many tokens with the most they can cost, in edge units. */
function mostOf(bound: Bound, price: Price): BudgetAmounts {
  const { input, output } = bound;
  return { ...amountsOf({ input, output }, price), cost_usd: edgeUsd(price.most(bound)) };
}

/** More than can be counted counts as the most that can be: it fits into no budget. */
function counted(tokens: number): Amount {
  return Math.min(tokens, MAX_AMOUNT) as Amount;
}

function nanoUsd(nano: bigint): Amount {
  return counted(Number(nano));
}

/** Ledger units of money in dollars. */
export function usdOf(nano: number): number {
  return writeAmount(COST, nano);
}

function edgeUsd(nano: bigint): number {
  return writeAmount(COST, nanoUsd(nano));
}

import type { TokenCounts } from "../wire/token-counts.js";
import type { Bound } from "./price.js";

/** What a million tokens of each class cost, in billionths of a dollar. */
export interface Rates {
  readonly input: bigint;
  readonly cache_read: bigint;
  readonly cache_write: bigint;
  readonly cache_write_1h: bigint;
  /** Null: nobody has said what audio costs. */
  readonly input_audio: bigint | null;
  readonly cache_read_audio: bigint | null;
  readonly output: bigint;
  readonly reasoning: bigint;
  readonly output_audio: bigint | null;
}

/** Rates for all tokens of a call whose input is larger than `above`: providers do not split a call between two bands. */
export interface Band {
  readonly above: number;
  readonly rates: Rates;
}

/** Sums are kept in millionths of a billionth of a dollar, so that they are exact until they are rounded. */
export const MILLION = 1_000_000n;

/** What these tokens cost, exactly, in millionths of a billionth. Parts that exceed their whole are counted all the same. */
export function sumOf(rates: Rates, counts: TokenCounts): bigint {
  const { cache_read = 0, cache_write = 0, cache_write_1h = 0, input_audio = 0 } = counts;
  const { cache_read_audio = overlapOf(counts) } = counts;
  const { reasoning = 0, output_audio = 0 } = counts;
  const audio = Math.max(0, input_audio - cache_read_audio);
  const cached = Math.max(0, cache_read - cache_read_audio);
  const plain = Math.max(0, counts.input - cached - cache_read_audio - cache_write - cache_write_1h - audio);
  const spoken = Math.max(0, counts.output - reasoning - output_audio);
  return (
    costOf(plain, rates.input) +
    costOf(cached, rates.cache_read) +
    costOf(cache_write, rates.cache_write) +
    costOf(cache_write_1h, rates.cache_write_1h) +
    costOf(audio, rates.input_audio ?? rates.input) +
    costOf(cache_read_audio, rates.cache_read_audio ?? rates.input_audio ?? rates.cache_read) +
    costOf(spoken, rates.output) +
    costOf(reasoning, rates.reasoning) +
    costOf(output_audio, rates.output_audio ?? rates.output)
  );
}

/** Most calls have no tokens of most classes. */
function costOf(tokens: number, rate: bigint): bigint {
  return tokens === 0 ? 0n : BigInt(tokens) * rate;
}

/**
 * How much cached input must be audio where nobody says how much is: the least that makes the parts fit into their whole, because
 * audio that is not cached is the dearest there is.
 */
function overlapOf({
  input,
  cache_read = 0,
  cache_write = 0,
  cache_write_1h = 0,
  input_audio = 0,
}: TokenCounts): number {
  const excess = cache_read + cache_write + cache_write_1h + input_audio - input;
  return Math.max(0, Math.min(excess, cache_read, input_audio));
}

/** The dearest thing that a token of input can turn out to be. */
export function dearestInput(rates: Rates, { caches, audio }: Omit<Bound, "output">, unasked: boolean): bigint {
  const { input, cache_read, cache_write, cache_write_1h, input_audio, cache_read_audio } = rates;
  return dearest([
    input,
    cache_read,
    caches !== "no" || unasked ? cache_write : 0n,
    caches === "1h" ? cache_write_1h : 0n,
    audio ? (input_audio ?? 0n) : 0n,
    audio ? (cache_read_audio ?? 0n) : 0n,
  ]);
}

/** The dearest thing that a token of output can turn out to be. */
export function dearestOutput({ output, reasoning, output_audio }: Rates, audio: boolean): bigint {
  return dearest([output, reasoning, audio ? (output_audio ?? 0n) : 0n]);
}

export function dearest(rates: readonly bigint[]): bigint {
  return rates.reduce((most, rate) => (rate > most ? rate : most), 0n);
}

import { NO_TOKENS, type TokenUsage } from "./tokens.js";

/** Turns the running totals of one evaluation into what each of its calls used. Never negative, so nothing is given back. */
export class Counter {
  private seen: TokenUsage = NO_TOKENS;

  /** Usage since the reading before. Null when the counter went back: then it says nothing about this call. */
  advance(total: TokenUsage): TokenUsage | null {
    const input = total.input - this.seen.input;
    const output = total.output - this.seen.output;
    this.seen = total;
    return input < 0 || output < 0 ? null : { input, output };
  }
}

import type { TokenUsage } from "./tokens.js";

/** What one evaluation or one tool call has used, together with everything below it. */
export class Tally {
  private input = 0;
  private output = 0;
  private guessed = false;
  private readonly above: Tally | null;

  constructor(above: Tally | null) {
    this.above = above;
  }

  add(usage: TokenUsage, estimated: boolean): void {
    this.input += usage.input;
    this.output += usage.output;
    this.guessed ||= estimated;
    this.above?.add(usage, estimated);
  }

  get usage(): TokenUsage {
    return Object.freeze({ input: this.input, output: this.output });
  }

  get estimated(): boolean {
    return this.guessed;
  }
}

import type { Finding } from "../core/decision.js";
import { systemClock } from "../runtime/system-clock.js";
import type { Budget } from "./budget.js";
import { BudgetNode, nodeOf } from "./budget-node.js";
import type { CallRecord } from "./call-record.js";
import { Counter } from "./counter.js";
import { BudgetExceededError, type ExceededDimension, type Phase, PromptEvaluationError } from "./errors.js";
import { dimensionOf, explain } from "./exhaustion.js";
import { Expiry } from "./expiry.js";
import { type CheckedPrompt, type RenderedPrompt, readPrompt } from "./rendered-prompt.js";
import { type SerializedBudget, serializeBudget } from "./serialized-budget.js";
import type { Settings } from "./settings.js";
import { Tally } from "./tally.js";
import type { RemainingTokens, TokenUsage } from "./tokens.js";

interface Surroundings {
  readonly budget: Budget | null;
  readonly signal: AbortSignal | null;
  /** The tally of the tool that delegates. */
  readonly tally: Tally | null;
  /** 0 for the prompt the caller gave. */
  readonly depth: number;
}

/** One evaluation of one prompt: whose budget it uses, what it has used, and how it fails. */
export class Evaluation implements Disposable {
  readonly prompt: CheckedPrompt;
  readonly settings: Settings;
  readonly budget: Budget | null;
  readonly node: BudgetNode;
  readonly tally: Tally;
  readonly counter: Counter = new Counter();
  /** What providers know it by. */
  readonly key: object = Object.freeze({});
  private readonly depth: number;
  private readonly expiry: Expiry;

  constructor(prompt: RenderedPrompt, settings: Settings, around: Surroundings) {
    this.prompt = readPrompt(prompt);
    this.settings = settings;
    this.budget = around.budget ?? this.prompt.budget;
    this.node = this.budget === null ? new BudgetNode(null) : nodeOf(this.budget);
    this.tally = new Tally(around.tally);
    this.depth = around.depth;
    const clock = settings.clock ?? this.budget?.clock ?? systemClock;
    this.expiry = new Expiry(this.budget?.deadline?.at ?? null, around.signal, clock, settings.timer);
  }

  /** An evaluation of a subagent. It shares the budget, whatever its prompt brings along. */
  child(prompt: RenderedPrompt, tally: Tally): Evaluation {
    const { settings, budget, signal, depth } = this;
    return new Evaluation(prompt, settings, { budget, signal, tally, depth: depth + 1 });
  }

  get signal(): AbortSignal {
    return this.expiry.signal;
  }

  [Symbol.dispose](): void {
    this.expiry[Symbol.dispose]();
  }

  usage(): TokenUsage {
    return this.budget === null ? this.tally.usage : this.node.usage();
  }

  remainingTime(): number | null {
    return this.budget?.remainingTime(this.now()) ?? null;
  }

  remainingTokens(): RemainingTokens | null {
    return this.budget?.remainingTokens(this.usage()) ?? null;
  }

  /** Raises before anything is asked of the provider. */
  preflight(): void {
    const finding = this.stop();
    if (finding !== null) throw this.failure("preflight", `cannot start: ${explain(finding)}`);
    if (this.depth > this.settings.maxDepth) {
      throw this.failure("request", `is delegated ${this.depth} deep; maxDepth allows ${this.settings.maxDepth}`);
    }
  }

  /** Raises when nothing is left, whoever has used it. */
  check(cause?: unknown): void {
    const finding = this.stop();
    if (finding !== null) throw this.exceeded(finding, cause);
  }

  /** Raises when the final tally is over the limit. Landing on it is legal. */
  checkFinal(): void {
    const time = this.remainingTime();
    const tokens = this.remainingTokens();
    const over = (left: number | null | undefined): boolean => (left ?? 0) < 0;
    if (over(time)) throw this.overage("deadline", `ended ${-(time ?? 0)} ms after its deadline`);
    for (const kind of ["input", "output"] as const) {
      if (!over(tokens?.[kind])) continue;
      const limit = this.budget?.tokenLimit?.[kind];
      throw this.overage(kind, `ended with ${this.usage()[kind]} ${kind} tokens used; its budget allows ${limit}`);
    }
  }

  exceeded(finding: Finding, cause?: unknown): BudgetExceededError {
    const message = `prompt ${this.prompt.name} is stopped: ${explain(finding)}`;
    const error = new BudgetExceededError(dimensionOf(finding), message, {
      budget: this.serialized(),
      promptName: this.prompt.name,
      ...(cause === undefined ? {} : { cause }),
    });
    this.node.raised.add(error);
    return error;
  }

  failure(phase: Phase, problem: string, cause?: unknown): PromptEvaluationError {
    return new PromptEvaluationError(`prompt ${this.prompt.name} ${problem}`, {
      phase,
      budget: this.serialized(),
      promptName: this.prompt.name,
      ...(cause === undefined ? {} : { cause }),
    });
  }

  /** The error for a call that ended with the signal: the deadline's fault, or the caller's wish. */
  interruption(phase: "request" | "tool", cause?: unknown): PromptEvaluationError {
    const finding = this.stop();
    if (finding !== null && this.node.isLate) return this.exceeded(finding, cause);
    return this.failure(phase, "was aborted by its caller", cause ?? this.signal.reason);
  }

  /** Tells of a call that is about to be made. */
  announce(phase: CallRecord["phase"], tool?: string): void {
    const record: CallRecord = Object.freeze({
      phase,
      prompt: this.prompt.name,
      ...(tool === undefined ? {} : { tool }),
      budget_remaining_time: this.remainingTime(),
      budget_remaining_tokens: this.remainingTokens(),
    });
    try {
      this.settings.onCall(record);
    } catch (error) {
      throw this.failure(phase, "was not continued: onCall threw", error);
    }
  }

  /** Lets the budget know the time. */
  now(): number {
    const time = (this.settings.clock ?? this.budget?.clock ?? systemClock).now();
    this.node.at(time);
    return Math.floor(time.instant);
  }

  private stop(): Finding | null {
    this.now();
    return this.node.stop();
  }

  private overage(dimension: ExceededDimension, problem: string): BudgetExceededError {
    const error = new BudgetExceededError(dimension, `prompt ${this.prompt.name} ${problem}`, {
      phase: "response",
      budget: this.serialized(),
      promptName: this.prompt.name,
    });
    this.node.raised.add(error);
    return error;
  }

  private serialized(): SerializedBudget | null {
    if (this.budget === null) return null;
    return serializeBudget(this.budget, this.usage(), { now: this.now(), estimated: this.node.estimated });
  }
}

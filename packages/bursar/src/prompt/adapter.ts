import { InputError, show } from "../core/errors.js";
import { checkKeys } from "../core/fields.js";
import type { Budget } from "./budget.js";
import { Evaluation } from "./evaluation.js";
import { run } from "./loop.js";
import type { PromptResponse } from "./prompt-response.js";
import type { Provider } from "./provider.js";
import { type RenderedPrompt, readBudget } from "./rendered-prompt.js";
import { type AdapterOptions, readSettings } from "./settings.js";

export interface EvaluateOptions {
  /** Comes before the prompt's own. Null or absent, and none in the prompt: no budget. */
  readonly budget?: Budget | null;
  /** Fires when the caller gives up. */
  readonly signal?: AbortSignal;
}

/** A provider with the loop that evaluates prompts. */
export interface Adapter {
  /** Rejects with `PromptEvaluationError`, or `BudgetExceededError` when time or tokens ran out on the way. */
  evaluate(prompt: RenderedPrompt, options?: EvaluateOptions): Promise<PromptResponse>;
}

/**
 * Makes prompts evaluable with a provider.
 *
 * @example
 * ```ts
 * const adapter = createAdapter(provider, { onCall: (record) => console.log(record) });
 * const budget = new Budget({ tokenLimit: { input: 10_000, output: 2_000 } });
 * const { text } = await adapter.evaluate({ name: "greeting", text: "Say hello." }, { budget });
 * ```
 */
export function createAdapter(provider: Provider, options: AdapterOptions = {}): Adapter {
  const settings = readSettings(provider, options);
  return {
    async evaluate(prompt, around = {}) {
      checkKeys(around, "options", ["budget", "signal"]);
      const { budget, signal } = around;
      if (signal !== undefined && typeof signal?.addEventListener !== "function") {
        throw new InputError("options.signal", `is ${show(signal)}; allowed: an AbortSignal`);
      }
      const outer = { budget: readBudget(budget, "options.budget"), signal: signal ?? null, tally: null, depth: 0 };
      return run(new Evaluation(prompt, settings, outer));
    },
  };
}

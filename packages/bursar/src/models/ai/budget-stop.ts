import { amount } from "../../core/amount.js";
import { decide } from "../../core/decision.js";
import { type PaidBy, purseFor } from "../meter/paid-by.js";

/**
 * A condition for `stopWhen`: a loop ends cleanly after the step that has used up its budget, in place of failing at the next one.
 * What it has said until then is its answer. Calls in flight elsewhere stop nobody: they may give back what they hold.
 *
 * @example
 * ```ts
 * const { text, steps } = await withBudget({ cost_usd: 0.5, steps: 20 }, () =>
 *   generateText({ model: govern(openai("gpt-5")), prompt, tools, stopWhen: [budgetStop(), stepCountIs(50)] }),
 * );
 * ```
 */
export function budgetStop(options: PaidBy = {}): () => Promise<boolean> {
  return async () => {
    const { store, budget } = purseFor(options);
    const { kind } = decide(
      await store.path(budget),
      { steps: amount(1, "steps") },
      store.clock.now(),
      store.dimensions,
    );
    return kind === "stopped" || kind === "paused";
  };
}

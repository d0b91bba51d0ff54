import { InputError, show } from "../../core/errors.js";
import { checkKeys } from "../../core/fields.js";
import { Meter } from "../meter/meter.js";
import { METER_KEYS, type MeterOptions } from "../meter/meter-options.js";
import type { PaidBy } from "../meter/paid-by.js";
import type { AgentsProvider } from "./agents-request.js";
import { governedProvider } from "./governed-provider.js";
import { governing } from "./governing.js";

export interface GovernOptions extends MeterOptions, PaidBy {}

/**
 * A provider of models for the OpenAI Agents SDK whose every call is paid for out of a budget, also those of agents that are used
 * as tools. A call that does not fit is not made: it throws `BudgetExceededError`. Where the wire below is governed too, that one
 * meters, because it sees what is sent again. Without a provider it is OpenAI's, with a governed wire.
 *
 * @example
 * ```ts
 * const runner = new Runner({ modelProvider: govern(new OpenAIProvider()) });
 * await withBudget({ cost_usd: 0.5, steps: 20 }, () => runner.run(agent, "What is new?"));
 * ```
 */
export function govern(provider?: undefined, options?: GovernOptions): AgentsProvider;
export function govern<Provider extends AgentsProvider>(provider: Provider, options?: GovernOptions): Provider;
export function govern(provider?: AgentsProvider, options: GovernOptions = {}): AgentsProvider {
  if (provider === undefined) return governedProvider(options);
  if (typeof provider?.getModel !== "function") {
    throw new InputError(
      "provider",
      `is ${show(provider)}; allowed: a provider of models, such as new OpenAIProvider()`,
    );
  }
  checkKeys(options, "options", ["budget", ...METER_KEYS]);
  const { budget, ...meter } = options;
  return governing(provider, { meter: new Meter(meter), wired: false, ...(budget !== undefined && { budget }) });
}

import { guessFor, type PriceBook } from "../prices/price.js";
import { OPTION_REMEDIES, type PriceRemedies } from "../prices/price-remedies.js";
import type { WireRequest } from "../wire/protocol.js";
import { type RefusalReport, unbounded } from "./refusal.js";

/** There is nothing to choose the model from. */
export function noTiers(model: string): RefusalReport {
  const message = `there are no tiers to choose ${JSON.stringify(model)} from`;
  return { code: "invalid_request", message, hint: "name a model, or give lists of them as tiers" };
}

export function invalidModel(message: string): RefusalReport {
  return { code: "invalid_request", message, hint: "correct the request" };
}

/** A deployment that is not mapped is called like no known model, so that its name says nothing about its price. */
export function unknownPrice(
  book: PriceBook,
  { model, deployment, protocol }: WireRequest,
  remedies: PriceRemedies = OPTION_REMEDIES,
): RefusalReport {
  if (deployment === model) {
    const message = `the deployment ${JSON.stringify(model)} is mapped to no model, and no known model has its name; it is not called`;
    return { code: "unknown_price", message, hint: remedies.deployment(model) };
  }
  const guess = guessFor(book, model, protocol);
  const message = `there is no price for the model ${JSON.stringify(model)}${guess}, so it is not called`;
  return { code: "unknown_price", message, hint: remedies.price(model) };
}

/** Mostly somebody has not waited for a call before the budget ended with the function around it. */
const WHILE_OPEN =
  "make the call while the budget is open: await it inside of withBudget(…), or open one with openBudget(…) and end it when all is over";

/** A budget that has ended, or that is paused, takes no calls. To fail would make an SDK try again. */
export function closedBudget(error: unknown): RefusalReport | null {
  if (!(error instanceof Error && "code" in error && error.code === "ledger_state")) return null;
  return { code: "no_budget", message: error.message, hint: WHILE_OPEN };
}

/** Hosted tools are capped in the request itself, which not every door writes. */
export function hostedElsewhere(where: string, remedy: string): RefusalReport {
  return unbounded(`tools that the provider runs cannot be capped and charged in ${where}`, remedy);
}

export function unboundedInput({ beyond, model }: WireRequest): RefusalReport {
  const message = `${beyond} adds input of unknown size, and nobody knows how much ${JSON.stringify(model)} can take`;
  return unbounded(message, "state the model's context_window with its price");
}

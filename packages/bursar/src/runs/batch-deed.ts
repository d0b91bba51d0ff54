import type { Json, JsonObject } from "../core/chain/canonical.js";
import type { Batches, BatchTerms } from "../ports/batches.js";
import type { Model, ModelChoice } from "../ports/model.js";
import { quoteWithin } from "../runtime/money-limit.js";
import { judged } from "../runtime/unfit.js";
import type { Asking, BatchDeed } from "./deed.js";
import { budgetOf, choiceFor } from "./model-deed.js";

/** What is done for a program that asks a model and can wait for the answer. */
export async function batchDeed(
  { model, batches }: { readonly model: Model | null; readonly batches: Batches },
  { request = null, final = false, ...rest }: JsonObject,
  asking: Pick<Asking, "run" | "store" | "settled">,
): Promise<BatchDeed> {
  // Guests hand the request over as it is, agents inside of an object.
  // What waits holds all that it may use, wherever it comes from.
  const wanted = without(named(request ?? rest, batches.model), ["site", "full"]);
  const isFinal = final === true;
  const choice = model === null ? null : await choiceFor(model, wanted, isFinal, asking);
  const termsOf = (wish: Json) => {
    const payer = { store: asking.store, budget: budgetOf(asking.run, isFinal) };
    return quoteWithin(payer, (pricing) => batches.terms(wish, pricing));
  };
  if (choice === null) return { kind: "batch", final: isFinal, terms: await termsOf(without(wanted, ["step"])) };
  return chosenDeed(choice, await termsFor(choice, termsOf), isFinal);
}

/** The same for a request that has left its model open. */
function chosenDeed(choice: ModelChoice, terms: BatchTerms, final: boolean): BatchDeed {
  const { switched, unfit } = choice;
  return {
    kind: "batch",
    final,
    terms,
    ...(switched !== null && { record: switched, unwritten: () => choice.untold() }),
    judge: (decision) => judged(decision, unfit),
    over: (admitted) => {
      choice.entered();
      // What it will cost is known much later, maybe by somebody else; until then it is what it may cost at most in a batch.
      if (admitted) choice.used({ cost_usd: terms.asked.cost_usd ?? 0 });
    },
  };
}

async function termsFor(choice: ModelChoice, termsOf: (request: Json) => Promise<BatchTerms>): Promise<BatchTerms> {
  try {
    return await termsOf(choice.request);
  } catch (error) {
    choice.entered();
    choice.untold();
    throw error;
  }
}

/** A request without some of what it says to us alone. */
function without(wanted: Json, fields: readonly string[]): Json {
  if (typeof wanted !== "object" || wanted === null || !("bursar" in wanted)) return wanted;
  const { bursar, ...request } = wanted as JsonObject;
  if (typeof bursar !== "object" || bursar === null || Array.isArray(bursar)) return wanted;
  const about = Object.fromEntries(Object.entries(bursar as JsonObject).filter(([field]) => !fields.includes(field)));
  return Object.keys(about).length === 0 ? request : { ...request, bursar: about };
}

/** A request without a model goes to what the desk has for those, which may leave it open as well. */
function named(wanted: Json, model: string | undefined): Json {
  if (model === undefined || wanted === null || Array.isArray(wanted)) return wanted;
  if (typeof wanted === "string") return { prompt: wanted, model };
  return typeof wanted === "object" ? { model, ...(wanted as JsonObject) } : wanted;
}

/** Whether a program can wait for what it has asked for: then it may have been handed over. */
export function canWait({ name, args }: { readonly name: string; readonly args: Json }): boolean {
  return name === "llm" && typeof args === "object" && args !== null && "wait" in args && args.wait === true;
}

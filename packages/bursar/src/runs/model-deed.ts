import type { Json, JsonObject } from "../core/chain/canonical.js";
import type { Model, ModelChoice } from "../ports/model.js";
import { judged } from "../runtime/unfit.js";
import type { Asking, Deed } from "./deed.js";
import { RunError } from "./error.js";

/** What is done for a program that asks a model. */
export async function modelDeed(
  model: Model | null,
  { request = null, final = false, ...rest }: JsonObject,
  asking: Pick<Asking, "run" | "store" | "settled">,
): Promise<Deed> {
  if (model === null) throw new RunError("no_model", "no model is configured for this run");
  // Guests hand the request over as it is, agents inside of an object.
  const wanted: Json = request ?? rest;
  const choice = await choiceFor(model, wanted, final === true, asking);
  if (choice !== null) return chosenDeed(model, choice, final === true);
  const named = typeof wanted === "object" && wanted !== null && "model" in wanted ? String(wanted.model) : null;
  const name = named ?? model.name ?? "default";
  return {
    ...{ kind: "call", capability_id: `llm:${name}`, call: "model", final: final === true },
    asked: await model.quote(wanted),
    make: ({ signal, key }) => model.call(wanted, { signal, key }),
  };
}

/** Which model answers a request that leaves it open; null when it names one. */
export async function choiceFor(
  model: Model,
  wanted: Json,
  final: boolean,
  { run, store, settled }: Pick<Asking, "run" | "store" | "settled">,
): Promise<ModelChoice | null> {
  const budget = final ? (run.wrap_up ?? run.budget) : run.budget;
  const steps = run.estimate?.dimensions.steps ?? null;
  return (await model.choose?.(wanted, { store, budget, chain: run.id, steps, settled })) ?? null;
}

/** The same for a request that has left its model open. */
function chosenDeed(model: Model, choice: ModelChoice, final: boolean): Deed {
  const { model: name, request, asked, switched, unfit } = choice;
  return {
    ...{ kind: "call", capability_id: `llm:${name}`, call: "model", final, asked },
    ...(switched !== null && { record: switched, unwritten: () => choice.untold() }),
    judge: (decision) => judged(decision, unfit),
    over: () => choice.entered(),
    make: async ({ signal, key }) => {
      choice.entered();
      // To another model it is another request, whatever became of the one before.
      const answer = await model.call(request, { signal, key: `${key}/${name}` });
      choice.used(answer.usage);
      return answer;
    },
  };
}

import type { Json, JsonObject } from "../core/chain/canonical.js";
import type { Model, ModelChoice } from "../ports/model.js";
import { judged } from "../runtime/unfit.js";
import type { Asking, Deed } from "./deed.js";
import { RunError } from "./error.js";

/** What is done for a program that asks a model. */
export async function modelDeed(
  model: Model | null,
  { request = null, final = false, ...rest }: JsonObject,
  { run, store }: Pick<Asking, "run" | "store">,
): Promise<Deed> {
  if (model === null) throw new RunError("no_model", "no model is configured for this run");
  // Guests hand the request over as it is, agents inside of an object.
  const wanted: Json = request ?? rest;
  const budget = final === true ? (run.wrap_up ?? run.budget) : run.budget;
  const steps = run.estimate?.dimensions.steps ?? null;
  const choice = (await model.choose?.(wanted, { store, budget, chain: run.id, steps })) ?? null;
  if (choice !== null) return chosenDeed(model, choice, final === true);
  const named = typeof wanted === "object" && wanted !== null && "model" in wanted ? String(wanted.model) : null;
  const name = named ?? model.name ?? "default";
  return {
    ...{ kind: "call", capability_id: `llm:${name}`, call: "model", final: final === true },
    asked: await model.quote(wanted),
    make: ({ signal, key }) => model.call(wanted, { signal, key }),
  };
}

/** The same for a request that has left its model open. */
function chosenDeed(model: Model, choice: ModelChoice, final: boolean): Deed {
  const { model: name, request, asked, switched, unfit } = choice;
  return {
    ...{ kind: "call", capability_id: `llm:${name}`, call: "model", final, asked },
    ...(switched !== null && { record: switched }),
    judge: (decision) => judged(decision, unfit),
    over: () => choice.entered(),
    make: async ({ signal, key }) => {
      choice.entered();
      const answer = await model.call(request, { signal, key });
      choice.used(answer.usage);
      return answer;
    },
  };
}

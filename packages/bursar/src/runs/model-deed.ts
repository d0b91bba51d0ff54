import type { Json, JsonObject } from "../core/chain/canonical.js";
import type { Action } from "../core/events.js";
import type { AnswerCut, Calling, Model, ModelAnswer, ModelChoice, ReusedAnswer, SitedCall } from "../ports/model.js";
import type { Store } from "../ports/store.js";
import { quoteWithin } from "../runtime/money-limit.js";
import { SAVED } from "../runtime/saved.js";
import { judged } from "../runtime/unfit.js";
import type { Asking, CallDeed, Deed, Doing } from "./deed.js";
import { RunError } from "./error.js";
import type { RunRecord } from "./record.js";

/** What answers the model calls of runs, and how. */
export interface Models {
  readonly model: Model | null;
  /** Whether calls may hold what others like them have used, in place of the most. */
  readonly learns: boolean;
}

/** One call to a model that is known. */
interface Known {
  readonly model: Model;
  readonly name: string;
  readonly request: Json;
  /** The budget that pays, and the store that it is in. */
  readonly budget: string;
  readonly store: Store;
  /** Null where nothing is learned. */
  readonly sited: SitedCall | null;
}

const NO_MODEL =
  "no model is configured for this run; name one with --model-url and --model, or as the option `model` of openBursar";

/** What is done for a program that asks a model. */
export async function modelDeed(
  { model, learns }: Models,
  { request = null, final = false, ...rest }: JsonObject,
  asking: Pick<Asking, "run" | "store" | "settled">,
): Promise<Deed> {
  if (model === null) throw new RunError("no_model", NO_MODEL);
  // Guests hand the request over as it is, agents inside of an object.
  const wanted: Json = request ?? rest;
  const isFinal = final === true;
  const { run, store } = asking;
  const budget = budgetOf(run, isFinal);
  const site = { store, within: withinOf(run) };
  const sitedFor = async (asked: Json) => (learns ? ((await model.sited?.(asked, site)) ?? null) : null);
  const choice = await choiceFor(model, wanted, isFinal, asking);
  if (choice !== null) {
    const { model: name, request } = choice;
    const sited = await sitedFor(request).catch((error: unknown) => {
      choice.entered();
      choice.untold();
      throw error;
    });
    return chosenDeed({ model, name, request, budget, store, sited }, choice, isFinal);
  }
  const named = typeof wanted === "object" && wanted !== null && "model" in wanted ? String(wanted.model) : null;
  const name = named ?? model.name ?? "default";
  const known: Known = { model, name, request: wanted, budget, store, sited: await sitedFor(wanted) };
  const { asked, unpriced } = await quoteWithin(known, async (pricing) => ({
    ...pricing,
    asked: await model.quote(wanted, pricing),
  }));
  return {
    kind: "call",
    capability_id: `llm:${name}`,
    call: "model",
    final: isFinal,
    asked,
    unpriced,
    ...learnedIn(known),
    make: (doing) => called(known, doing, doing.key),
  };
}

export function budgetOf(run: RunRecord, final: boolean): string {
  return final ? (run.wrap_up ?? run.budget) : run.budget;
}

/** Whoever brings a program along may call it what he likes; it says nothing about others of that name. */
function withinOf({ program, brought }: RunRecord): string {
  return brought === true ? `${program.name} ${program.digest}` : program.name;
}

/** Which model answers a request that leaves it open; null when it names one. */
export async function choiceFor(
  model: Model,
  wanted: Json,
  final: boolean,
  { run, store, settled }: Pick<Asking, "run" | "store" | "settled">,
): Promise<ModelChoice | null> {
  const budget = budgetOf(run, final);
  const steps = run.estimate?.dimensions.steps ?? null;
  return (await model.choose?.(wanted, { store, budget, chain: run.id, steps, settled })) ?? null;
}

/** The same for a request that has left its model open. */
function chosenDeed(known: Known, choice: ModelChoice, final: boolean): Deed {
  const { model: name, asked, switched, unfit } = choice;
  return {
    kind: "call",
    capability_id: `llm:${name}`,
    call: "model",
    final,
    asked,
    ...learnedIn(known),
    ...(switched !== null && { record: switched, unwritten: () => choice.untold() }),
    judge: (decision) => judged(decision, unfit),
    over: () => choice.entered(),
    make: async (doing) => {
      choice.entered();
      // To another model it is another request, whatever became of the one before.
      const answer = await called(known, doing, `${doing.key}/${name}`);
      choice.used(answer.usage);
      return answer;
    },
  };
}

function learnedIn({ sited }: Known): Pick<CallDeed, "learned"> {
  const learned = sited?.learned ?? null;
  return learned === null ? {} : { learned };
}

async function called(
  known: Known,
  { signal, granted, call_id }: Doing,
  key: string,
): Promise<ModelAnswer & { readonly record?: Action }> {
  const { model, request, sited, store, budget } = known;
  const calling: Calling = { signal, key, tenant: () => rootOf(store, budget) };
  const { cut, ...answer } =
    sited === null ? { ...(await model.call(request, calling)), cut: null } : await sited.call(granted, calling);
  if (answer.reused !== undefined) return { ...answer, record: spared(known, call_id, answer.reused) };
  return cut === null ? answer : { ...answer, record: cutShort(known, call_id, cut) };
}

/** Whose call it is: that of the root of its budget's path. */
async function rootOf(store: Store, budget: string): Promise<string> {
  return (await store.path(budget)).at(-1)?.id ?? budget;
}

/** What a call did not cost goes on record with its settlement. */
function spared({ name, budget }: Known, call_id: string, { kind, saved_usd }: ReusedAnswer): Action {
  return { action_type: SAVED, data: { budget, kind, saved_usd, call_id, model: name } };
}

/** That an answer was cut short for the sake of others goes on record. */
function cutShort({ name, budget }: Known, call_id: string, cut: AnswerCut): Action {
  return { action_type: "AnswerCut", data: { budget, call_id, capability_id: `llm:${name}`, ...cut } };
}

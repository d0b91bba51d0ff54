import type { BudgetId } from "../../core/budget.js";
import type { JsonObject } from "../../core/chain/canonical.js";
import { writeAmount } from "../../core/dimension.js";
import { BursarError, InputError, LedgerError, show } from "../../core/errors.js";
import { checkKeys, checkWait } from "../../core/fields.js";
import { type BudgetAmounts, type BudgetLimits, readLimits } from "../../core/input.js";
import type { Operation } from "../../core/operation.js";
import type { Opinion, Prediction, Predictor, Question } from "../../ports/foresight.js";
import type { Model } from "../../ports/model.js";
import type { Store } from "../../ports/store.js";
import type { Timer } from "../../ports/timer.js";
import { sha256Hex } from "../../runtime/crypto.js";
import { Gate, type GatedCall } from "../../runtime/gate.js";
import { newName } from "../../runtime/names.js";
import { withPurse } from "../../runtime/purse.js";
import { systemTimer } from "../../runtime/system-clock.js";
import { shortened } from "../chat/response.js";
import { isObject } from "../wire/json-object.js";
import { readPredictions } from "./answer.js";
import { requestFor } from "./question.js";

export interface PredictorOptions {
  /** Who is asked: a cheap one will do. */
  readonly model: Model;
  /** Where its budget and its chain are kept. */
  readonly store: Store;
  /** What all predictions about one program may use in a day (UTC): 0.01 dollars and 20 steps unless it says otherwise. */
  readonly budget?: { readonly limits?: BudgetLimits };
  /** Further fields of the request, such as `{ model: "gpt-5-nano", reasoning_effort: "minimal" }`. */
  readonly request?: JsonObject;
  /** How long an answer may take: 20,000. */
  readonly timeout_ms?: number;
  readonly timer?: Timer;
}

const KEYS = ["model", "store", "budget", "request", "timeout_ms", "timer"];
const LIMITS: BudgetLimits = { cost_usd: 0.01, steps: 20 };
const TIMEOUT_MS = 20_000;
const LONGEST_NAME = 100;

/**
 * Predicts what runs will take by asking a model, once for each estimate and never again when it fails. The call goes through the
 * gate, against a budget of the predictor's own that is opened when it is first needed, `estimate:<program>:<day>`, and everything
 * is recorded in the chain of that budget; when it is used up, there are no predictions until the next day. All programs that
 * somebody has brought along who may not decide share one, `estimate-brought:<day>`.
 *
 * The source of a program and its input are shown to the model as data, and may well hold texts that are meant to mislead it. What
 * it answers is a number for a dimension that was asked for, or it is refused; it can widen or narrow a prediction, and never a limit.
 *
 * @example
 * ```ts
 * const predictor = modelPredictor({ model: chatModel({ url, model: "gpt-5-nano", apiKey }), store });
 * const bursar = openBursar({ store, programs, foresight: { predictor } });
 * ```
 */
export function modelPredictor(options: PredictorOptions): Predictor {
  return new ModelPredictor(options);
}

/** What came of a question, to be recorded. */
type Predicted = { readonly opinion: Opinion } | { readonly reason: string };

class ModelPredictor implements Predictor {
  private readonly model: Model;
  private readonly store: Store;
  private readonly limits: BudgetLimits;
  private readonly request: JsonObject;
  private readonly timeout_ms: number;
  private readonly timer: Timer;
  private readonly name: string;

  constructor(options: PredictorOptions) {
    checkKeys(options, "options", KEYS);
    const { model, store, budget = {}, request = {}, timeout_ms = TIMEOUT_MS, timer = systemTimer } = options;
    if (typeof model?.quote !== "function" || typeof model.call !== "function") {
      throw new InputError("model", `is ${show(model)}; allowed: a model, such as chatModel gives`);
    }
    if (typeof store?.apply !== "function") throw new InputError("store", `is ${show(store)}; allowed: a store`);
    checkKeys(budget, "budget", ["limits"]);
    readLimits(budget.limits ?? {}, store.dimensions, { field: "budget.limits" });
    if (!isObject(request)) throw new InputError("request", `is ${show(request)}; allowed: an object`);
    if ("messages" in request) throw new InputError("request.messages", "are the predictor's own; leave them out");
    checkWait(timeout_ms, "timeout_ms");
    this.limits = { ...LIMITS, ...budget.limits };
    this.model = model;
    this.store = store;
    this.request = request;
    this.timeout_ms = timeout_ms;
    this.timer = timer;
    this.name = typeof request.model === "string" ? request.model : (model.name ?? "default");
  }

  async predict(question: Question): Promise<Opinion | null> {
    using gate = new Gate({ store: this.store, timer: this.timer });
    const budget = await this.open(gate, question);
    const request = requestFor(question, this.store.dimensions, this.request);
    let asked: BudgetAmounts;
    try {
      asked = await this.model.quote(request);
    } catch (error) {
      return this.fail(budget, question, error);
    }
    return this.ask(gate, budget, question, request, asked);
  }

  private async ask(
    gate: Gate,
    budget: BudgetId,
    question: Question,
    request: JsonObject,
    asked: BudgetAmounts,
  ): Promise<Opinion | null> {
    const patience = new AbortController();
    const late = new Error(`the model gave no answer within ${this.timeout_ms} ms`);
    const alarm = this.timer.after(this.timeout_ms, () => patience.abort(late));
    const capability_id = `llm:${this.name}`;
    const call: GatedCall = {
      budget,
      capability_id,
      kind: "model",
      asked,
      input: request,
      signal: patience.signal,
      wait_ms: this.timeout_ms,
    };
    // What is sent is metered here, and by nobody further out.
    const purse = { gate, store: this.store, budget, chain: budget, metered: true } as const;
    const key = newName(this.store.clock.now().instant);
    try {
      const gated = await gate.call(call, async (signal) => {
        const answer = await withPurse(purse, () => this.model.call(request, { signal, key }));
        const predicted = this.read(answer.value, question);
        const alongside = [this.record(budget, question, predicted)];
        const value = "opinion" in predicted ? predicted.opinion : null;
        return { value, usage: answer.usage, alongside };
      });
      if (gated.kind === "done") return gated.value;
      return this.fail(budget, question, gated.kind === "refused" ? new Error(gated.message) : gated.error);
    } catch (error) {
      // What the gate does not even try is no fault of the store's: the quote makes no sense, or the time was over before.
      if (!(error instanceof InputError) && error !== late) throw error;
      return this.fail(budget, question, error);
    } finally {
      alarm[Symbol.dispose]();
    }
  }

  private read(value: Parameters<typeof readPredictions>[0], question: Question): Predicted {
    try {
      const dimensions = readPredictions(value, question, this.store.dimensions);
      if (Object.keys(dimensions).length === 0) return { reason: "the answer says nothing" };
      // No word of the answer itself: it would be read by people who decide.
      return { opinion: { dimensions, about: `a guess of the model ${this.name}` } };
    } catch (error) {
      if (!(error instanceof BursarError)) throw error;
      return { reason: error.message };
    }
  }

  private async fail(budget: BudgetId, question: Question, error: unknown): Promise<null> {
    const reason = error instanceof Error ? error.message : String(error);
    await this.store.apply([this.record(budget, question, { reason })]);
    return null;
  }

  private record(budget: BudgetId, { program }: Question, predicted: Predicted): Operation {
    const about = { program: nameOf(program), model: this.name };
    if ("reason" in predicted) {
      const data = { ...about, reason: shortened(predicted.reason, null) };
      return { op: "record", budget, action: { action_type: "PredictionFailed", data } };
    }
    const dimensions = Object.entries(predicted.opinion.dimensions).map(([id, each]) => [id, this.written(id, each)]);
    const data = { ...about, dimensions: Object.fromEntries(dimensions) };
    return { op: "record", budget, action: { action_type: "PredictionMade", data } };
  }

  private written(id: string, { median, upper }: Prediction): JsonObject {
    const dimension = this.store.dimensions.get(id);
    return { median: writeAmount(dimension, median), upper: writeAmount(dimension, upper) };
  }

  /** The budget of this program and this day. Two processes may open it at once: one of them does. */
  private async open(gate: Gate, { program }: Question): Promise<BudgetId> {
    const day = new Date(this.store.clock.now().instant).toISOString().slice(0, "2030-01-01".length);
    // Whoever brings programs along may call them what he likes, and would have as many budgets as he thinks of names.
    const id = program.brought === true ? `estimate-brought:${day}` : `estimate:${nameOf(program)}:${day}`;
    if ((await this.store.budget(id)) !== null) return id;
    try {
      await gate.open(id, { limits: this.limits, scope: "shared" });
    } catch (error) {
      if (!(error instanceof LedgerError) || (await this.store.budget(id)) === null) throw error;
    }
    return id;
  }
}

/** A name that can stand in a budget's, and in that of no other program's. */
function nameOf({ name }: Question["program"]): string {
  const safe = name.slice(0, LONGEST_NAME).replace(/[#\p{Cc}\p{Cs}]/gu, "\ufffd");
  return safe === name ? name : `${safe}~${sha256Hex(JSON.stringify(name)).slice(0, 16)}`;
}

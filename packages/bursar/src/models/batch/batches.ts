import type { Json } from "../../core/chain/canonical.js";
import { StaleError } from "../../core/document.js";
import { InputError, LedgerError, show } from "../../core/errors.js";
import { explainDecision } from "../../core/explain.js";
import type { Operation } from "../../core/operation.js";
import type { Batches as BatchesPort, BatchTerms } from "../../ports/batches.js";
import type { Pricing } from "../../ports/model.js";
import type { Store } from "../../ports/store.js";
import type { Timer } from "../../ports/timer.js";
import {
  BATCH_HOLD_MS,
  type BatchItem,
  findItem,
  giveUpItem,
  itemNamed,
  itemOver,
  newItem,
  putItem,
  recordBatched,
} from "../../runs/batch-item.js";
import { RunError, readError } from "../../runs/error.js";
import { offAbort, onAbort } from "../../runtime/abort-listeners.js";
import { quoteWithin } from "../../runtime/money-limit.js";
import { newName } from "../../runtime/names.js";
import type { Purse } from "../../runtime/purse.js";
import { systemTimer } from "../../runtime/system-clock.js";
import { madeOf } from "../chat/chat-body.js";
import { BudgetExceededError } from "../meter/budget-exceeded-error.js";
import { atEdge } from "../meter/quote.js";
import { reportDecision } from "../meter/refusal.js";
import { priceRequest, quoted } from "../meter/terms.js";
import { hostedElsewhere } from "../meter/unmade.js";
import { openPrices, statedPrices } from "../prices/open-prices.js";
import type { PriceBook } from "../prices/price.js";
import { OPTION_REMEDIES } from "../prices/price-remedies.js";
import { Deployments } from "../wire/deployments.js";
import {
  type BatchesOptions,
  type Pace,
  type RequestDefaults,
  readDefaults,
  readName,
  readPace,
  readProvider,
} from "./batch-options.js";
import { batchFactor, batchPrice } from "./batch-price.js";
import type { BatchProvider } from "./batch-provider.js";
import { dueOf } from "./due.js";
import { Rounds } from "./rounds.js";
import { Settling } from "./settling.js";
import { Turn } from "./turn.js";

export interface BatchCallOptions {
  /** A name of its own. Called again under the same, after a crash as well, it is the same call; its answer is kept until `forget`. */
  readonly id?: string;
  /** Gives the call up. */
  readonly signal?: AbortSignal;
}

/** How often whoever waits looks for an answer. */
const LOOK_MS = 1000;
/** How often it is looked at most whether something is due. */
const IDLE_MS = 5000;
/** While one request is under way, and another is made ready, the turn must not run out. */
const TURN_REQUESTS = 4;
const LONGEST_NAME = 200;
const MOST_TURNS = 20;

/** Model calls that can wait: collected, sent as batches, and answered when the provider has had the time. */
export class Batches implements BatchesPort, AsyncDisposable {
  readonly model: string;
  private readonly store: Store;
  private readonly timer: Timer;
  private readonly outlet: string;
  private readonly provider: BatchProvider;
  private readonly pace: Pace;
  private readonly defaults: RequestDefaults;
  private readonly deployments: Deployments;
  private readonly factor: number;
  private readonly worker: string;
  private readonly rounds: Rounds;
  private readonly options: BatchesOptions;
  private readonly closing = new AbortController();
  private opened: Promise<PriceBook> | null = null;
  private rounding: Promise<void> | null = null;
  /** Before this, in running time, nothing is looked for. */
  private next = Number.NEGATIVE_INFINITY;

  constructor(options: BatchesOptions) {
    this.pace = readPace(options);
    this.defaults = readDefaults(options);
    this.model = this.defaults.model;
    this.deployments = new Deployments(options.deployments);
    this.provider = readProvider(options, this.pace.timeout_ms);
    const name = readName(options);
    const { store, timer = systemTimer, price_factor } = options;
    this.options = options;
    this.store = store;
    this.timer = timer;
    this.factor = batchFactor(price_factor, this.provider.name, this.provider.isHome);
    this.outlet = `${this.provider.name} ${placeOf(this.provider.url)}${name === "" ? "" : ` ${name}`}`;
    this.worker = options.worker ?? newName(store.clock.now().instant);
    const book = () => this.book();
    const { outlet, provider, pace, factor } = this;
    const settling = new Settling({ store, provider, factor, book });
    this.rounds = new Rounds({ store, outlet, provider, pace, settling });
  }

  async terms(request: Json, { unpriced }: Pricing = { unpriced: false }): Promise<BatchTerms> {
    const read = this.provider.request(request, { ...this.defaults, deployments: this.deployments });
    const { wire } = read;
    const { model } = wire;
    if (wire.hosted !== undefined) madeOf(hostedElsewhere("a batch", "make the call by itself"));
    const wanted = wire.output_tokens ?? this.defaults.max_tokens;
    const { remedies = OPTION_REMEDIES } = this.options;
    const basis = { wanted, site: null, full: true, remedies, unpriced };
    const { terms, quote } = madeOf(priceRequest(await this.book(), read, basis), model);
    const { steps: _, ...asked } = madeOf(quoted({ ...terms, quoted: batchPrice(terms.quoted, this.factor) })).quote
      .asked;
    const { name: provider } = this.provider;
    const about = { outlet: this.outlet, provider, model, body: wire.held(wanted) };
    return { ...about, asked: atEdge(asked), full_usd: atEdge(quote.asked).cost_usd ?? null };
  }

  async round({ signal }: { readonly signal?: AbortSignal } = {}): Promise<void> {
    // One after the other: two at once would only be in each other's way.
    this.rounding ??= this.work(signal).finally(() => {
      this.rounding = null;
    });
    return this.rounding;
  }

  /**
   * Makes a call that can wait, and waits for it. It throws `BudgetExceededError` when it does not fit, and a `RunError` when
   * nothing came of it.
   *
   * @example
   * ```ts
   * const batches = openBatches({ store, provider: "openai", model: "gpt-5", apiKey });
   * const answer = await batches.call(purse, { prompt: "Sum this up: …" }, { id: "report-7" });
   * ```
   */
  async call(purse: Purse, request: Json, options: BatchCallOptions = {}): Promise<Json> {
    const id = await this.hand(purse, request, options);
    try {
      return await this.answer(id, options);
    } finally {
      if (options.id === undefined) await this.forget(id);
    }
  }

  /** Hands a call over, and tells what it is called; who wants the answer asks for it under that name, from any process. */
  async hand(purse: Purse, request: Json, { id, signal }: BatchCallOptions = {}): Promise<string> {
    signal?.throwIfAborted();
    const at = this.store.clock.now().instant;
    const name = checkName(id ?? newName(at));
    for (let turn = 1; turn <= MOST_TURNS; turn++) {
      const known = await findItem(this.store, itemNamed(name));
      if (known !== null && !isOpen(known)) return name;
      const terms = await quoteWithin(purse, (pricing) => this.terms(request, pricing));
      const call = `${name}@${newName(at)}`;
      const about = { id: itemNamed(name), status: "asking", call, budget: purse.budget, run: null, at } as const;
      const item: BatchItem = { ...newItem(terms, about), version: known?.version ?? 0 };
      // Written down before anything is held, so that whoever finds it knows what to give back.
      if (!(await this.begun(item, known))) continue;
      await this.admit(purse, { ...item, version: item.version + 1 }, terms, signal);
      return name;
    }
    throw new RunError("busy", `too many hand over a call ${name} at the same time; try again`);
  }

  /** Takes the name for a call, and gives back what somebody holds who has died while he asked. False when another was faster. */
  private async begun(item: BatchItem, known: BatchItem | null): Promise<boolean> {
    const left: readonly Operation[] = known?.status === "asking" ? [{ op: "release", call: known.call }] : [];
    try {
      // Both at once: whoever has come further meanwhile keeps what he holds.
      await this.store.apply([putItem(item), ...left]).catch(async (error: unknown) => {
        if (!(error instanceof LedgerError)) throw error;
        await this.store.apply([putItem(item)]);
      });
      return true;
    } catch (error) {
      if (error instanceof StaleError && error.kind === "batch") return false;
      throw error;
    }
  }

  /** The answer to a call that was handed over, when it is there. */
  async answer(name: string, { signal }: Pick<BatchCallOptions, "signal"> = {}): Promise<Json> {
    const id = itemNamed(name);
    for (;;) {
      const item = await findItem(this.store, id);
      if (item === null) throw new InputError("id", `${show(name)} is no call that was handed over`);
      if (item.answered !== null) {
        if ("error" in item.answered) throw readError(item.answered.error);
        return item.answered.value;
      }
      if (item.status === "over" || item.status === "given_up") {
        throw new RunError("batch_lost", `call ${name} was given up, or its answer forgotten`);
      }
      if (signal?.aborted) {
        await giveUpItem(this.store, id);
        throw signal.reason;
      }
      this.closing.signal.throwIfAborted();
      // Whoever waits may as well do what is due; another process may do so meanwhile.
      await this.round().catch(() => {});
      await this.rest(signal);
    }
  }

  /** The answer is not needed any longer. */
  async forget(name: string): Promise<void> {
    const item = await findItem(this.store, itemNamed(name));
    if (item?.status === "over" && item.answered !== null) {
      await this.store.apply([itemOver(item)]).catch((error: unknown) => {
        if (!(error instanceof StaleError)) throw error;
      });
    } else if (item !== null) await giveUpItem(this.store, item.id);
  }

  /** Ends what is under way here. What was handed over is the store's, and goes on elsewhere or later. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.closing.abort(new RunError("closed", "these batches were closed"));
    await this.rounding?.catch(() => {});
  }

  private async admit(
    purse: Purse,
    item: BatchItem,
    terms: BatchTerms,
    signal: AbortSignal | undefined,
  ): Promise<void> {
    const { gate, store, wait_ms } = purse;
    const call = {
      ...({ budget: item.budget, call_id: item.call, capability_id: `llm:${item.model}`, kind: "model" } as const),
      asked: terms.asked,
      expires_ms: BATCH_HOLD_MS,
      ...(signal !== undefined && { signal }),
      ...(wait_ms !== undefined && { wait_ms }),
    };
    const decision = await gate.admit(call).catch(async (error: unknown) => {
      await this.drop(item);
      throw error;
    });
    if (decision.kind === "admitted") return this.queue(item);
    await this.drop(item);
    const message = explainDecision(decision, store.dimensions);
    purse.refused?.(decision, message);
    throw new BudgetExceededError(reportDecision(decision, message, store.dimensions));
  }

  private async queue(item: BatchItem): Promise<void> {
    const waiting: BatchItem = { ...item, status: "waiting" };
    await this.store.apply([putItem(waiting), recordBatched(waiting)]).catch(async (error: unknown) => {
      if (!(error instanceof StaleError)) throw error;
      // Somebody else has handed it over under the same name, so that this reservation is one too many.
      await this.store.apply([{ op: "release", call: item.call }]);
    });
  }

  /** Nothing was handed over, and nothing is held. */
  private async drop(item: BatchItem): Promise<void> {
    await this.store.apply([itemOver(item)]).catch((error: unknown) => {
      if (!(error instanceof StaleError)) throw error;
    });
  }

  private async work(signal: AbortSignal | undefined): Promise<void> {
    const { monotonic } = this.store.clock.now();
    if (monotonic < this.next || this.closing.signal.aborted) return;
    this.next = monotonic + Math.min(IDLE_MS, this.pace.poll_ms, this.pace.window_ms);
    const due = await dueOf(this.store, this.outlet, this.pace);
    for (const [run, items] of due.answered) await this.rounds.hand(run, items);
    if (!due.any) return;
    const turn = await Turn.take(this.store, this.outlet, this.worker, TURN_REQUESTS * this.pace.timeout_ms);
    if (turn === null) return;
    const stop = signal === undefined ? this.closing.signal : AbortSignal.any([signal, this.closing.signal]);
    try {
      await this.rounds.serve(turn, due, stop);
      await turn.leave();
    } catch (error) {
      if (turn.isLost(error)) return;
      // Nobody else has to wait until it runs out; where that cannot be written either, they do.
      await turn.leave().catch(() => {});
      throw error;
    }
  }

  private book(): Promise<PriceBook> {
    this.opened ??= this.openBook();
    return this.opened;
  }

  private async openBook(): Promise<PriceBook> {
    const { prices, assume } = this.options;
    const own = assume === undefined ? {} : { assume };
    if (prices === undefined) return openPrices(own);
    return isBook(prices) ? prices : statedPrices({ prices, ...own });
  }

  private async rest(signal: AbortSignal | undefined): Promise<void> {
    await new Promise<void>((resolve) => {
      const alarm = this.timer.after(LOOK_MS, done);
      onAbort(signal, done);
      function done(): void {
        alarm[Symbol.dispose]();
        offAbort(signal, done);
        resolve();
      }
    });
  }
}

/**
 * Opens an outlet for model calls that can wait. They are collected for a while, sent as one batch to the provider, at its lower
 * price, and settled one by one when it has answered, which may take a day. All of it is in the store, so that any process goes on
 * with it. Given to `openBursar` as `batches`, programs use it with `wait`.
 */
export function openBatches(options: BatchesOptions): Batches {
  return new Batches(options);
}

/** Behind one host there may be several providers, or several accounts. */
function placeOf(url: string): string {
  const { host, pathname } = new URL(url);
  return `${host}${pathname}`;
}

/** Whether nothing was ever sent under this name, and nothing is to be: it may be asked for, again or for the first time. */
function isOpen({ status, batch, answered }: BatchItem): boolean {
  return status === "asking" || (status === "over" && batch === null && answered === null);
}

function checkName(name: unknown): string {
  if (typeof name === "string" && name !== "" && name.length <= LONGEST_NAME && !/\p{Cc}/u.test(name)) return name;
  throw new InputError("id", `is ${show(name)}; allowed: 1 to ${LONGEST_NAME} characters`);
}

function isBook(prices: NonNullable<BatchesOptions["prices"]>): prices is PriceBook {
  return typeof (prices as { find?: unknown }).find === "function";
}

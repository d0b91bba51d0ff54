import type { Amount, Amounts } from "../../core/amount.js";
import { canonicalize, type Json, type JsonObject } from "../../core/chain/canonical.js";
import { StaleError } from "../../core/document.js";
import { LedgerError } from "../../core/errors.js";
import type { CommitOperation, Operation, ReleaseOperation } from "../../core/operation.js";
import type { Store } from "../../ports/store.js";
import { BATCH_HOLD_MS, type BatchItem, findItem, putItem } from "../../runs/batch-item.js";
import { RunError, writeError } from "../../runs/error.js";
import type { Answered } from "../../runs/journal.js";
import { noteOperations } from "../../runtime/answer-notes.js";
import { costUnknown } from "../../runtime/money-limit.js";
import { SAVED } from "../../runtime/saved.js";
import { ProviderError } from "../chat/provider-error.js";
import { chargeAnswer } from "../meter/answer-charge.js";
import { isFree } from "../meter/answer-status.js";
import { isPriced, noPrice } from "../prices/no-price.js";
import type { Price, PriceBook } from "../prices/price.js";
import { batchPrice } from "./batch-price.js";
import type { BatchProvider, ItemResult } from "./batch-provider.js";
import type { Turn } from "./turn.js";

/** What becomes of an item: what the provider says, or that nobody knows. */
export type Fate = ItemResult["result"] | { readonly kind: "lost"; readonly message: string };

const ZERO = 0 as Amount;
const NOTHING: Amounts = { llm_input_tokens: ZERO, llm_output_tokens: ZERO, llm_tokens: ZERO, cost_usd: ZERO };
const NANO = 1e9;
const MOST_TURNS = 20;

/** Settles items with what became of them, each once, and tells whoever waits. */
export class Settling {
  private readonly store: Store;
  private readonly provider: BatchProvider;
  private readonly factor: number;
  private readonly book: () => Promise<PriceBook>;

  constructor(options: {
    readonly store: Store;
    readonly provider: BatchProvider;
    readonly factor: number;
    readonly book: () => Promise<PriceBook>;
  }) {
    this.store = options.store;
    this.provider = options.provider;
    this.factor = options.factor;
    this.book = options.book;
  }

  /** Tells the run that waits for it, or null when there is none, or it had been settled before. */
  async settle(turn: Turn, id: string, batch: string, fate: Fate): Promise<string | null> {
    for (let round = 1; ; round++) {
      const item = await findItem(this.store, id);
      if (item === null || item.batch !== batch || (item.status !== "sent" && item.status !== "given_up")) return null;
      try {
        await this.write(turn, item, fate);
        return item.status === "given_up" ? null : item.run;
      } catch (error) {
        // It was given up just now.
        if (!(error instanceof StaleError) || error.kind !== "batch" || round >= MOST_TURNS) throw error;
      }
    }
  }

  private async write(turn: Turn, item: BatchItem, fate: Fate): Promise<void> {
    const { settlement, answered, alongside } = await this.outcome(item, fate);
    // Whoever gave it up does not want the answer; whoever is no run comes for it when he likes.
    const status = item.status === "given_up" || item.run === null ? "over" : "answered";
    const kept = item.status === "given_up" ? null : answered;
    const after = putItem({ ...item, status, request: null, answered: kept });
    try {
      await turn.apply([settlement, ...alongside, after]);
    } catch (error) {
      if (!(error instanceof LedgerError)) throw error;
      // There is no such call any more, so nothing can be charged, and nobody should wait for it.
      await turn.apply([after]);
    }
  }

  private async outcome(
    item: BatchItem,
    fate: Fate,
  ): Promise<{
    readonly settlement: CommitOperation | ReleaseOperation;
    readonly answered: Answered;
    readonly alongside: readonly Operation[];
  }> {
    const { call } = item;
    switch (fate.kind) {
      case "answer": {
        const book = await this.book();
        const { url, protocol } = this.provider;
        const price = book.find(item.model, { url, protocol }) ?? noPrice(item.model);
        const answered = this.answerIn(fate.body);
        const counts = this.provider.usage(fate.body);
        if (counts === null)
          return { settlement: { op: "commit", call, used: {} }, answered, alongside: unknownCost(item) };
        const pricedCall = { book, price, model: item.model, url, protocol };
        const billed = this.provider.billed(counts);
        const batched = (each: Price) => batchPrice(each, this.factor);
        const { used: tokens, notes } = chargeAnswer(pricedCall, billed, this.provider.claims(fate.body), batched);
        const used = { ...tokens, network_egress_bytes: sentBytes(item) };
        const nano = price.cost(counts) - BigInt(tokens.cost_usd ?? 0);
        return {
          settlement: { op: "commit", call, used },
          answered,
          alongside: isPriced(price)
            ? [...savedOn(item, nano), ...noteOperations(aboutCall(item), notes)]
            : unknownCost(item, tokens),
        };
      }
      case "error": {
        const { message, status } = fate;
        // What breaks in a batch costs nothing at OpenAI and Anthropic; of others nobody knows, as with calls that do not wait.
        const isPaid = status !== null && !isFree(status) && !this.provider.isHome;
        const code = isPaid ? "provider_failed" : "provider_refused";
        const error = new ProviderError(code, `the provider answered ${status ?? "no"}: ${message}`, {
          ...(status !== null && { status }),
        });
        const used = isPaid ? {} : { ...NOTHING, network_egress_bytes: sentBytes(item) };
        const alongside = isPaid ? unknownCost(item) : [];
        return { settlement: { op: "commit", call, used }, answered: { error: writeError(error) }, alongside };
      }
      case "unprocessed": {
        const error = new RunError(`batch_${fate.why}`, `the batch has ${fate.why} before this call was made`);
        return { settlement: this.givenBack(item), answered: { error: writeError(error) }, alongside: [] };
      }
      case "lost": {
        const error = new RunError("batch_lost", fate.message);
        const settlement = { op: "commit", call, used: {} } as const;
        return { settlement, answered: { error: writeError(error) }, alongside: unknownCost(item) };
      }
    }
  }

  /** What was charged already, because it was given up or its hold has expired, is corrected; a hold is released. */
  private givenBack({ call, status, at }: BatchItem): CommitOperation | ReleaseOperation {
    const isHeld = status === "sent" && this.store.clock.now().instant < at + BATCH_HOLD_MS;
    return isHeld ? { op: "release", call } : { op: "commit", call, used: NOTHING };
  }

  private answerIn(body: JsonObject): Answered {
    try {
      return { value: writable(this.provider.answer(body)) };
    } catch (error) {
      return { error: writeError(error) };
    }
  }
}

function savedOn(item: BatchItem, nano: bigint): readonly Operation[] {
  return nano > 0n ? [recordSaved(item, nano)] : [];
}

/** A model without a price leaves word that its cost is unknown, unless its answer states one. */
function unknownCost(item: BatchItem, used: Amounts = {}): readonly Operation[] {
  return item.quote_usd === null ? costUnknown(used, aboutCall(item)) : [];
}

function aboutCall({ budget, call: call_id, model }: BatchItem) {
  return { budget, call_id, capability_id: `llm:${model}` };
}

/** How many bytes of a call were sent: its request, as on the wire. */
function sentBytes({ request }: BatchItem): Amount {
  return Buffer.byteLength(JSON.stringify(request)) as Amount;
}

/** What cannot be written down would stand in the way of all that come after it. */
function writable(value: Json): Json {
  try {
    // The store and the journal keep it inside of others.
    canonicalize([[[[{ value }]]]]);
    return value;
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new ProviderError("provider_answer", `the provider answered with what cannot be written down: ${why}`);
  }
}

/** Leaves word of what a call did not cost because it could wait. */
export function recordSaved(
  { id, call, budget, run, provider, model }: Pick<BatchItem, "id" | "call" | "budget" | "run" | "provider" | "model">,
  nano: bigint,
): Operation {
  const about = { budget, kind: "batch", saved_usd: Number(nano) / NANO, call_id: call, item: id, provider, model };
  const data = { ...(run !== null && { run_id: run }), ...about };
  return { op: "record", budget, action: { action_type: SAVED, data } };
}

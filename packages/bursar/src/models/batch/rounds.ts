import type { JsonObject } from "../../core/chain/canonical.js";
import { StaleError } from "../../core/document.js";
import { LedgerError } from "../../core/errors.js";
import type { Operation } from "../../core/operation.js";
import type { Store } from "../../ports/store.js";
import { type BatchItem, findItem, giveUpItem, itemOver, putItem } from "../../runs/batch-item.js";
import { RunError, writeError } from "../../runs/error.js";
import { hasEnded, readRun } from "../../runs/record.js";
import { newName } from "../../runtime/names.js";
import type { Pace } from "./batch-options.js";
import type { BatchProvider, Found, Outgoing, OutgoingLine, Over, Submitted } from "./batch-provider.js";
import { type BatchRecord, batchId, customId, indexOf, putBatch, readBatch } from "./batch-record.js";
import type { Due } from "./due.js";
import type { Fate, Settling } from "./settling.js";
import type { Turn } from "./turn.js";
import { wake } from "./waking.js";
import { WireFailure } from "./wire-failure.js";

/** A provider answers within a day; after so long nobody expects it to any more. */
const LONGEST_MS = 36 * 60 * 60_000;
const MOST_DOUBLINGS = 20;

interface RoundsOptions {
  readonly store: Store;
  readonly outlet: string;
  readonly provider: BatchProvider;
  readonly pace: Pace;
  readonly settling: Settling;
}

/**
 * Does what is due for the batches of an outlet. Everything is written down before it is done, so that whoever comes after one that
 * died finds out what has happened, and neither sends a call twice nor forgets one.
 */
export class Rounds {
  private readonly options: RoundsOptions;

  constructor(options: RoundsOptions) {
    this.options = options;
  }

  async serve(turn: Turn, due: Due, signal: AbortSignal): Promise<void> {
    const works = [
      ...due.left.map((item) => () => this.giveBack(turn, item)),
      ...due.doubtful.map((batch) => () => this.resolve(turn, batch, signal)),
      ...due.sent.map((batch) => () => this.look(turn, batch, due.given_up.get(batch.id) ?? 0, signal)),
      ...due.groups.map((items) => () => this.send(turn, items, signal)),
    ];
    const failures: unknown[] = [];
    for (const work of works) {
      try {
        await work();
      } catch (error) {
        if (turn.isLost(error) || signal.aborted) throw error;
        // One that goes wrong each time must not keep the others from being served.
        failures.push(error);
      }
    }
    if (failures.length > 0) throw failures[0];
  }

  private get now(): number {
    return this.options.store.clock.now().instant;
  }

  /** Wakes a run with answers; where it has ended meanwhile, nobody comes for them. */
  async hand(run: string, items: ReadonlySet<string>): Promise<void> {
    const { store } = this.options;
    const document = await store.document("run", run);
    if (document !== null && !hasEnded(readRun(document))) return wake(store, run, items);
    for (const id of items) await giveUpItem(store, id);
  }

  /** It was never sent, so it costs nothing; whoever waits is told. */
  private async giveBack(turn: Turn, item: BatchItem): Promise<void> {
    const error = new RunError("batch_late", "nobody has sent this call within a day; make it anew");
    const after: BatchItem = { ...item, request: null, answered: { error: writeError(error) } };
    const status = item.run === null || item.status === "asking" ? "over" : "answered";
    const release: Operation = { op: "release", call: item.call };
    await this.tolerant(turn, [release, putItem({ ...after, status })], [putItem({ ...after, status })]);
  }

  /** Writes; where there is no such call, as when it was never admitted, only the rest. What has changed is left to the next round. */
  private async tolerant(turn: Turn, operations: readonly Operation[], rest: readonly Operation[]): Promise<boolean> {
    try {
      await turn.apply(operations);
      return true;
    } catch (error) {
      if (error instanceof LedgerError) return this.tolerant(turn, rest, []);
      if (error instanceof StaleError && error.kind === "batch") return false;
      throw error;
    }
  }

  private async send(turn: Turn, items: readonly BatchItem[], signal: AbortSignal): Promise<void> {
    const wanted = await this.wanted(turn, items);
    const [first] = wanted;
    if (first === undefined) return;
    const created = this.now;
    const marker = newName(created);
    const batch: BatchRecord = {
      id: batchId(marker),
      status: "submitting",
      outlet: this.options.outlet,
      model: first.model,
      marker,
      items: wanted.map(({ id }) => id),
      doubt: true,
      tries: 0,
      provider_id: null,
      created,
      next: created + this.options.pace.doubt_ms,
      cancelled: false,
      version: 0,
    };
    const sent = wanted.map((item) => putItem({ ...item, status: "sent", batch: batch.id }));
    if (!(await this.tolerant(turn, [putBatch(batch), ...sent], []))) return;
    const lines = wanted.map(({ request }, index) => lineOf(batch, index, request));
    await this.submit(turn, { ...batch, version: 1 }, lines, signal);
  }

  /** Those that somebody still waits for. */
  private async wanted(turn: Turn, items: readonly BatchItem[]): Promise<readonly BatchItem[]> {
    const ended = new Map<string, boolean>();
    const wanted: BatchItem[] = [];
    for (const item of items) {
      const { run } = item;
      if (run !== null && !ended.has(run)) {
        const document = await this.options.store.document("run", run);
        ended.set(run, document === null || hasEnded(readRun(document)));
      }
      if (run === null || ended.get(run) === false) wanted.push(item);
      else await this.tolerant(turn, [{ op: "release", call: item.call }, itemOver(item)], [itemOver(item)]);
    }
    return wanted;
  }

  private async submit(
    turn: Turn,
    batch: BatchRecord,
    lines: readonly OutgoingLine[],
    signal: AbortSignal,
  ): Promise<void> {
    if (lines.length === 0) return this.end(turn, batch);
    const said: Submitted = await this.options.provider.submit(outgoing(batch, lines), signal);
    const tries = batch.tries + 1;
    switch (said.kind) {
      case "taken":
        return this.submitted(turn, batch, said.id);
      case "later":
        return this.again(turn, { ...batch, doubt: false, tries }, this.pause(tries));
      case "unknown":
        return this.again(turn, { ...batch, doubt: true, tries }, this.options.pace.doubt_ms);
      case "refused": {
        const { message, status } = said;
        return this.settleAll(turn, batch, () => ({ kind: "error", status, message }));
      }
    }
  }

  private async submitted(turn: Turn, batch: BatchRecord, provider_id: string): Promise<void> {
    await turn.apply([
      putBatch({ ...batch, status: "submitted", provider_id, tries: 0, next: this.now + this.pause(0) }),
    ]);
  }

  private async again(turn: Turn, batch: BatchRecord, pause_ms: number): Promise<void> {
    await turn.apply([putBatch({ ...batch, next: this.now + pause_ms })]);
  }

  /** How long to wait before the next look: longer each time. */
  private pause(tries: number): number {
    const { poll_ms, longest_poll_ms } = this.options.pace;
    return Math.min(poll_ms * 2 ** Math.min(tries, MOST_DOUBLINGS), longest_poll_ms);
  }

  /** A batch of which nobody wrote down that it arrived. */
  private async resolve(turn: Turn, batch: BatchRecord, signal: AbortSignal): Promise<void> {
    if (batch.created + LONGEST_MS <= this.now) {
      const message =
        "the provider could not be reached for more than a day, and nobody knows whether this call was made";
      const fate: Fate = batch.doubt ? { kind: "lost", message } : { kind: "unprocessed", why: "expired" };
      return this.settleAll(turn, batch, () => fate);
    }
    const lines = await this.linesOf(turn, batch);
    const found: Found = batch.doubt
      ? await this.options.provider.find(outgoing(batch, lines), await this.known(), signal)
      : { kind: "none" };
    switch (found.kind) {
      case "found":
        return this.submitted(turn, batch, found.id);
      case "later":
        return this.again(turn, { ...batch, tries: batch.tries + 1 }, this.pause(batch.tries + 1));
      case "untold":
        return this.settleAll(turn, batch, () => ({
          kind: "lost",
          message: `${found.message}; it is paid for as sent`,
        }));
      case "none": {
        const next: BatchRecord = { ...batch, doubt: true, next: this.now + this.options.pace.doubt_ms };
        await turn.apply([putBatch(next)]);
        return this.submit(turn, { ...next, version: batch.version + 1 }, await this.unsent(turn, next, lines), signal);
      }
    }
  }

  /** The batches that the provider has from us, whichever process handed them in. */
  private async known(): Promise<ReadonlySet<string>> {
    const ids = new Set<string>();
    for (const status of ["submitted", "ended"]) {
      for await (const document of this.options.store.latest("batch", { status, limit: 10_000 })) {
        const { provider_id } = readBatch(document);
        if (provider_id !== null) ids.add(provider_id);
      }
    }
    return ids;
  }

  /** What is to be sent of a batch that did not arrive: what was given up meanwhile is not, and costs nothing. */
  private async unsent(
    turn: Turn,
    batch: BatchRecord,
    lines: readonly OutgoingLine[],
  ): Promise<readonly OutgoingLine[]> {
    const sent = new Set(lines.map(({ custom_id }) => custom_id));
    for (const [index, id] of batch.items.entries()) {
      if (sent.has(customId(batch, index))) continue;
      await this.options.settling.settle(turn, id, batch.id, { kind: "unprocessed", why: "cancelled" });
    }
    return lines;
  }

  private async linesOf(turn: Turn, batch: BatchRecord): Promise<readonly OutgoingLine[]> {
    const lines: OutgoingLine[] = [];
    for (const [index, id] of batch.items.entries()) {
      const item = await findItem(this.options.store, id);
      if (item?.status === "sent" && item.batch === batch.id) lines.push(lineOf(batch, index, item.request));
    }
    await turn.apply([]);
    return lines;
  }

  private async look(turn: Turn, batch: BatchRecord, given_up: number, signal: AbortSignal): Promise<void> {
    const { provider } = this.options;
    const { provider_id } = batch;
    if (provider_id === null) return;
    const nobody = given_up >= batch.items.length;
    if (nobody && !batch.cancelled) {
      await turn.apply([]);
      await provider.cancel(provider_id, signal).catch(ignoreFailure);
    }
    const seen: BatchRecord = { ...batch, cancelled: batch.cancelled || nobody, tries: batch.tries + 1 };
    await turn.apply([]);
    const looked = await provider.look(provider_id, signal);
    if (looked.kind === "over") {
      const whole = await this.settleOver(turn, batch, provider_id, looked, signal);
      if (whole) return this.end(turn, batch);
    }
    if (batch.created + LONGEST_MS > this.now) return this.again(turn, seen, this.pause(seen.tries));
    if (looked.kind !== "over") await provider.cancel(provider_id, signal).catch(ignoreFailure);
    const message = "the provider has not answered for more than a day; it is paid for as sent";
    return this.settleAll(turn, batch, () => ({ kind: "lost", message }));
  }

  /** Settles every item with what the provider says of it. Tells whether all of it could be read. */
  private async settleOver(
    turn: Turn,
    batch: BatchRecord,
    provider_id: string,
    over: Over,
    signal: AbortSignal,
  ): Promise<boolean> {
    if (over.state === "failed") {
      const message = over.message ?? "the provider could not begin with the batch";
      await this.settleAll(turn, batch, () => ({ kind: "error", status: null, message }), false);
      return true;
    }
    const said = new Set<number>();
    let processed = 0;
    try {
      for await (const { custom_id, result } of this.options.provider.results(provider_id, over, signal)) {
        const index = indexOf(batch, custom_id);
        if (index === null || said.has(index)) continue;
        said.add(index);
        if (result.kind !== "unprocessed") processed++;
        await this.settle(turn, batch, index, result);
      }
    } catch (error) {
      if (error instanceof WireFailure) return false;
      throw error;
    }
    // Where all that was done has been told, the rest was not done; otherwise nobody knows, and it is paid for.
    const isRest = over.state !== "completed" && over.processed !== null && processed >= over.processed;
    const why = over.state === "cancelled" ? "cancelled" : "expired";
    const message = "the provider says nothing of this call; it is paid for as sent";
    const fate: Fate = isRest ? { kind: "unprocessed", why } : { kind: "lost", message };
    for (const index of batch.items.keys()) if (!said.has(index)) await this.settle(turn, batch, index, fate);
    return true;
  }

  private async settle(turn: Turn, batch: BatchRecord, index: number, fate: Fate): Promise<void> {
    const { store, settling } = this.options;
    const id = batch.items[index] ?? "";
    const run = await settling.settle(turn, id, batch.id, fate);
    if (run !== null) await wake(store, run, new Set([id]));
  }

  private async settleAll(turn: Turn, batch: BatchRecord, fate: () => Fate, ends = true): Promise<void> {
    for (const index of batch.items.keys()) await this.settle(turn, batch, index, fate());
    if (ends) await this.end(turn, batch);
  }

  private async end(turn: Turn, batch: BatchRecord): Promise<void> {
    // It stays, so that nobody takes the batch at the provider for another; what was in it is known to its items.
    await turn.apply([putBatch({ ...batch, status: "ended", items: [] })]);
  }
}

function outgoing({ marker, created, items }: BatchRecord, lines: readonly OutgoingLine[]): Outgoing {
  return { marker, created, lines, most: items.length };
}

function lineOf(batch: BatchRecord, index: number, request: JsonObject | null): OutgoingLine {
  return { custom_id: customId(batch, index), body: request ?? {} };
}

/** What is not cancelled comes to its end by itself. */
function ignoreFailure(error: unknown): void {
  if (!(error instanceof WireFailure)) throw error;
}

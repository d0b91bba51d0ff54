import type { Store } from "../../ports/store.js";
import { type BatchItem, readItem } from "../../runs/batch-item.js";
import type { Pace } from "./batch-options.js";
import { type BatchRecord, readBatch } from "./batch-record.js";

/** What is to be done for the batches of an outlet. */
export interface Due {
  /** Whether there is anything that one process alone may do. */
  readonly any: boolean;
  /** Calls that go out together now. */
  readonly groups: readonly (readonly BatchItem[])[];
  /** Calls that have waited too long, or were asked for by somebody who is gone. */
  readonly left: readonly BatchItem[];
  /** Batches that may not have arrived. */
  readonly doubtful: readonly BatchRecord[];
  /** Batches that are with the provider. */
  readonly sent: readonly BatchRecord[];
  /** How many calls of a batch were given up. */
  readonly given_up: ReadonlyMap<string, number>;
  /** Runs with answers that they have not taken, and which those are. */
  readonly answered: ReadonlyMap<string, ReadonlySet<string>>;
}

/** Nobody waits longer than so for others to go with. */
const LONGEST_WAIT_MS = 24 * 60 * 60_000;
/** Nobody asks a budget longer than so. */
const LONGEST_ASKING_MS = 25 * 60 * 60_000;
const MOST_WAITING = 100_000;
/** So much goes out together at most. */
const MOST_BYTES = 64 * 1024 * 1024;

/** Looks for what is due. */
export async function dueOf(store: Store, outlet: string, pace: Pace): Promise<Due> {
  const now = store.clock.now().instant;
  const { groups, late } = await waitingOf(store, outlet, pace, now);
  const asking = await itemsOf(store, outlet, "asking");
  const left = [...late, ...asking.filter(({ at }) => at + LONGEST_ASKING_MS <= now)];
  const { longest_poll_ms, doubt_ms } = pace;
  const latest = now + Math.max(longest_poll_ms, doubt_ms);
  const doubtful = await batchesOf(store, outlet, "submitting", { now, latest });
  const sent = await batchesOf(store, outlet, "submitted", { now, latest });
  const given_up = new Map<string, number>();
  for (const { batch } of await itemsOf(store, outlet, "given_up")) {
    if (batch !== null) given_up.set(batch, (given_up.get(batch) ?? 0) + 1);
  }
  const answered = new Map<string, Set<string>>();
  for (const { run, id } of await itemsOf(store, outlet, "answered")) {
    if (run !== null) answered.set(run, (answered.get(run) ?? new Set()).add(id));
  }
  const any = [groups, left, doubtful, sent].some(({ length }) => length > 0);
  return { any, groups, left, doubtful, sent, given_up, answered };
}

async function waitingOf(store: Store, outlet: string, { window_ms, most_items }: Pace, now: number) {
  const byModel = new Map<string, BatchItem[]>();
  const late: BatchItem[] = [];
  for (const item of await itemsOf(store, outlet, "waiting")) {
    const alike = byModel.get(item.model);
    if (item.at + LONGEST_WAIT_MS <= now) late.push(item);
    else if (alike === undefined) byModel.set(item.model, [item]);
    else alike.push(item);
  }
  const groups: BatchItem[][] = [];
  for (const items of byModel.values()) {
    const oldest = items.reduce((least, { at }) => Math.min(least, at), Number.POSITIVE_INFINITY);
    // Who seems to have come later than now has waited since before the clock was set back.
    const isOld = oldest > now || oldest + window_ms <= now;
    if (items.length >= most_items || isOld) groups.push(...parts(items, most_items));
  }
  return { groups, late };
}

/** As many as may go out together. */
function parts(items: readonly BatchItem[], most_items: number): BatchItem[][] {
  const groups: BatchItem[][] = [];
  let bytes = 0;
  for (const item of items) {
    const size = Buffer.byteLength(JSON.stringify(item.request));
    const last = groups.at(-1);
    if (last === undefined || last.length >= most_items || bytes + size > MOST_BYTES) {
      groups.push([item]);
      bytes = size;
    } else {
      last.push(item);
      bytes += size;
    }
  }
  return groups;
}

async function itemsOf(store: Store, outlet: string, status: BatchItem["status"]): Promise<readonly BatchItem[]> {
  const items: BatchItem[] = [];
  for await (const document of store.documents("batch", status)) {
    const item = readItem(document);
    if (item.outlet === outlet) items.push(item);
    if (items.length >= MOST_WAITING) break;
  }
  return items;
}

interface Moments {
  readonly now: number;
  /** Nothing is put off for longer than this, unless the clock was set back meanwhile. */
  readonly latest: number;
}

async function batchesOf(
  store: Store,
  outlet: string,
  status: BatchRecord["status"],
  { now, latest }: Moments,
): Promise<readonly BatchRecord[]> {
  const batches: BatchRecord[] = [];
  for await (const document of store.documents("batch", status)) {
    const batch = readBatch(document);
    if (batch.outlet === outlet && (batch.next <= now || batch.next > latest)) batches.push(batch);
  }
  return batches;
}

import type { Call, CallId } from "../core/call.js";
import { LedgerError } from "../core/errors.js";
import type { Store } from "../ports/store.js";
import { type KnownHolder, ownHolderId, readHolder } from "./process-holder.js";
import { isProcessGone } from "./process-identity.js";
import { StoreOver } from "./store-over.js";

/** A process of another machine that says nothing for so long is gone: it speaks every five seconds. */
const SILENT_MS = 30_000;
/** It is looked so often at least before that is believed, and with no longer breaks than this. */
const FEWEST_LOOKS = 3;
const LONGEST_BREAK_MS = 20_000;

/** Whether the process that holds something is there. `unknown` until it was watched for long enough. */
export type HolderState = "alive" | "dead" | "unknown";

/** Holds of one process, and what is known of it. */
export interface ProcessHolds {
  readonly holder: string;
  readonly known: KnownHolder | null;
  readonly state: HolderState;
  readonly calls: readonly Call[];
}

/** What was seen of a process while it held something. */
interface Watched {
  readonly beats: number;
  readonly since: number;
  readonly seen: number;
  readonly looks: number;
}

/**
 * Watches the processes that hold reservations in a store, and settles what dead ones have left. Whether a process speaks is measured by
 * the watcher's own clock alone, so that clocks of machines may differ as they like.
 */
export class HoldWatch {
  private readonly store: Store;
  private watched = new Map<string, Watched>();
  /** Those that were seen to speak. */
  private readonly heard = new Set<string>();
  private looking: Promise<readonly ProcessHolds[]> | null = null;
  private last = Number.NEGATIVE_INFINITY;

  constructor(store: Store) {
    this.store = store;
  }

  /** Looks at all processes that hold something now. */
  look(): Promise<readonly ProcessHolds[]> {
    this.looking ??= this.lookNow().finally(() => {
      this.looking = null;
    });
    return this.looking;
  }

  /** Settles what processes have left that are dead for certain, and gives back the calls. */
  async settleDead(): Promise<readonly CallId[]> {
    const settled: CallId[] = [];
    for (const { state, calls } of await this.look()) {
      if (state !== "dead") continue;
      for (const { id } of calls) if (await settleHold(this.store, id)) settled.push(id);
    }
    return settled;
  }

  /** The same, but not more often than this. */
  async settleDeadEvery(every_ms: number): Promise<readonly CallId[]> {
    const { monotonic } = this.store.clock.now();
    if (monotonic - this.last < every_ms) return [];
    this.last = monotonic;
    return this.settleDead();
  }

  private async lookNow(): Promise<readonly ProcessHolds[]> {
    const byHolder = new Map<string, Call[]>();
    for await (const call of this.store.heldCalls()) {
      if (call.holder === undefined) continue;
      const calls = byHolder.get(call.holder) ?? [];
      calls.push(call);
      byHolder.set(call.holder, calls);
    }
    const { monotonic } = this.store.clock.now();
    const watched = new Map<string, Watched>();
    const found: ProcessHolds[] = [];
    const own = ownHolderId(this.store);
    for (const [holder, calls] of byHolder) {
      const known = await readHolder(this.store, holder);
      const state = holder === own ? "alive" : this.stateOf(holder, known, monotonic, watched);
      found.push({ holder, known, state, calls });
    }
    // One that holds nothing need not speak: it is watched anew when it does.
    this.watched = watched;
    for (const holder of this.heard) if (!watched.has(holder)) this.heard.delete(holder);
    return found;
  }

  private stateOf(holder: string, known: KnownHolder | null, now: number, watched: Map<string, Watched>): HolderState {
    const isGone = known === null ? null : isProcessGone(known);
    const before = this.watched.get(holder);
    const beats = known?.beats ?? 0;
    const isSame = before !== undefined && before.beats === beats && now - before.seen <= LONGEST_BREAK_MS;
    if (before !== undefined && before.beats !== beats) this.heard.add(holder);
    const next: Watched = isSame
      ? { ...before, seen: now, looks: before.looks + 1 }
      : { beats, since: now, seen: now, looks: 1 };
    watched.set(holder, next);
    if (isGone !== null) return isGone ? "dead" : "alive";
    if (now - next.since >= SILENT_MS && next.looks >= FEWEST_LOOKS) return "dead";
    return this.heard.has(holder) ? "alive" : "unknown";
  }
}

/** Settles a reservation whose holder has died, by its kind: model calls are charged. Tells whether it was still held. */
export async function settleHold(store: Store, call: CallId): Promise<boolean> {
  try {
    const [{ repeated }] = await store.apply([{ op: "release", call, dead: true }]);
    return !repeated;
  } catch (error) {
    // It is not there any more.
    if (error instanceof LedgerError) return false;
    throw error;
  }
}

const watches = new WeakMap<Store, HoldWatch>();

/** The one watch over the holds of a store in this process; null where no other process could hold anything. */
export function holdWatchFor(store: Store): HoldWatch | null {
  const beneath = StoreOver.beneath(store);
  if (beneath.outlivesProcess !== true) return null;
  const known = watches.get(beneath);
  if (known !== undefined) return known;
  const watch = new HoldWatch(beneath);
  watches.set(beneath, watch);
  return watch;
}

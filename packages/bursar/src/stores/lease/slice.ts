import type { Amount, Amounts } from "../../core/amount.js";
import type { CallId } from "../../core/call.js";
import type { Dimensions } from "../../core/dimensions.js";
import type { CallKind } from "../../core/usage.js";

/** A call that is served from a slice. */
export interface SlicedCall {
  readonly id: CallId;
  readonly kind: CallKind;
  /** Nothing, once it was given back. */
  asked: Amounts;
  /** What it was charged; null while it is under way. */
  charged: Amounts | null;
  reported: Amounts;
  estimate: Amounts;
  unreported: readonly string[];
  /** What bounds it in place of what it asked for, once it broke off. */
  bound?: Amounts;
}

/**
 * A part of a shared budget that is reserved for this process in the store, on the whole path, under one call id. Whatever
 * is admitted from it adds up to no more than it holds, so nobody needs to be asked.
 */
export class Slice {
  /** The reservation in the store that stands behind it. */
  readonly call: CallId;
  readonly granted: Amounts;
  /** The instant at which the store charges all of it, unless it was given back before. */
  readonly expires: number;
  readonly calls: Map<CallId, SlicedCall> = new Map();
  /** Takes no more calls. */
  closed = false;
  underWay = 0;
  private readonly held: Record<string, number> = {};
  private readonly used: Record<string, number> = {};
  private readonly dimensions: Dimensions;

  constructor(call: CallId, granted: Amounts, expires: number, dimensions: Dimensions) {
    this.call = call;
    this.granted = granted;
    this.expires = expires;
    this.dimensions = dimensions;
    for (const id in granted) {
      this.held[id] = 0;
      this.used[id] = 0;
    }
  }

  /** Only amounts that add up can be shared out; a call that asks for anything else is the store's to decide. */
  fits(asked: Amounts): boolean {
    for (const id in asked) {
      const amount = asked[id] as number;
      const granted = this.granted[id];
      if (granted === undefined) return false;
      if ((this.held[id] as number) + (this.used[id] as number) + amount > granted) return false;
    }
    return true;
  }

  take(call: SlicedCall): void {
    for (const id in call.asked) this.held[id] = (this.held[id] as number) + (call.asked[id] as number);
    this.calls.set(call.id, call);
    this.underWay++;
  }

  /** Replaces what a call held, or was charged before, by what it is charged now. */
  settle(call: SlicedCall, charged: Amounts): void {
    if (call.charged === null) {
      for (const id in call.asked) this.held[id] = (this.held[id] as number) - (call.asked[id] as number);
      this.underWay--;
    }
    const before = call.charged ?? {};
    for (const id in { ...before, ...charged }) {
      const now = this.used[id] ?? 0;
      const peak = this.dimensions.get(id).kind === "peak";
      this.used[id] = peak ? Math.max(now, charged[id] ?? 0) : now + (charged[id] ?? 0) - (before[id] ?? 0);
    }
    call.charged = charged;
  }

  /** As if it had never been taken. */
  drop(call: SlicedCall): void {
    this.settle(call, {});
    this.calls.delete(call.id);
  }

  /** Moves the calls under way, and what is held for them, to a slice that stands behind them from now on. */
  handOver(to: Slice): void {
    for (const call of this.calls.values()) {
      if (call.charged !== null) continue;
      to.take(call);
      for (const id in call.asked) this.held[id] = (this.held[id] as number) - (call.asked[id] as number);
      this.calls.delete(call.id);
      this.underWay--;
    }
  }

  /** Takes all calls of a slice that never came to be, with what they hold and what they have used since. */
  handBack(to: Slice): void {
    for (const call of this.calls.values()) {
      if (call.charged === null) to.take(call);
      else to.calls.set(call.id, call);
    }
    for (const [id, used] of Object.entries(this.used)) {
      const before = to.used[id] ?? 0;
      to.used[id] = this.dimensions.get(id).kind === "peak" ? Math.max(before, used) : before + used;
    }
  }

  /** What the calls under way hold. */
  holding(): Amounts {
    return filled(this.held);
  }

  /** What was used, dimension by dimension, 0 included: what is not named would be charged as reserved. */
  usage(): Amounts {
    return { ...this.used } as Amounts;
  }

  /** The dimensions of which more was used than there was in it. */
  get overdrawn(): readonly string[] {
    const ids: string[] = [];
    for (const id in this.used) if ((this.used[id] as number) > (this.granted[id] ?? 0)) ids.push(id);
    return ids;
  }
}

function filled(amounts: Readonly<Record<string, number>>): Amounts {
  return Object.fromEntries(Object.entries(amounts).filter(([, amount]) => amount > 0)) as Record<string, Amount>;
}

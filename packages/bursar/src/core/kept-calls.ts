import type { Call, CallId } from "./call.js";

/** A call as it stands now. */
export interface KeptCall {
  call: Call;
}

/**
 * Calls by their ids: all that are reserved, and at least the latest so many of the others. They are dropped a whole map at a time: where
 * each is deleted by itself, the engine copies the map every few calls.
 */
export class KeptCalls {
  private readonly most: number;
  private young = new Map<CallId, KeptCall>();
  private old = new Map<CallId, KeptCall>();

  constructor(most: number) {
    this.most = most;
  }

  get(id: CallId): KeptCall | undefined {
    return this.young.get(id) ?? this.old.get(id);
  }

  add(kept: KeptCall): void {
    if (this.young.size >= this.most) {
      const { young, old } = this;
      this.old = young;
      this.young = new Map();
      for (const [id, each] of old) if (each.call.status === "reserved") this.young.set(id, each);
    }
    this.young.set(kept.call.id, kept);
  }

  *all(): Iterable<Call> {
    for (const { call } of this.old.values()) yield call;
    for (const { call } of this.young.values()) yield call;
  }
}

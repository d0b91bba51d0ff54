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
  /** How many were settled since the younger map was begun, and how many of that are waited for. */
  private settled = 0;
  private next: number;

  constructor(most: number) {
    this.most = most;
    this.next = most;
  }

  get(id: CallId): KeptCall | undefined {
    return this.young.get(id) ?? this.old.get(id);
  }

  /** Keeps a call as it stands now. Gives back how it is kept where it was not known. */
  set(call: Call): KeptCall | null {
    const known = this.get(call.id);
    const isSettled = call.status !== "reserved" && (known === undefined || known.call.status === "reserved");
    // Before it is kept, so that it is in the younger map.
    if (isSettled && this.settled >= this.next) this.forget();
    if (isSettled) this.settled++;
    if (known !== undefined) {
      known.call = call;
      return null;
    }
    const kept = { call };
    this.young.set(call.id, kept);
    return kept;
  }

  /** Each once: those that are reserved are in the younger map, and may be in the older one as well. */
  *reserved(): Iterable<Call> {
    for (const { call } of this.young.values()) if (call.status === "reserved") yield call;
  }

  private forget(): void {
    this.old = this.young;
    this.young = new Map();
    this.settled = 0;
    for (const [id, each] of this.old) if (each.call.status === "reserved") this.young.set(id, each);
    // To carry over many that are reserved takes a while, so it is done as seldom as they are many.
    this.next = Math.max(this.most, this.young.size);
  }
}

import type { JsonObject } from "../core/chain/canonical.js";
import { StaleError } from "../core/document.js";
import type { PutOperation } from "../core/operation.js";
import type { Store } from "../ports/store.js";
import type { Timer } from "../ports/timer.js";
import { newName } from "./names.js";
import { ownIdentity, type ProcessIdentity } from "./process-identity.js";
import { StoreOver } from "./store-over.js";
import { backgroundTimer, systemTimer } from "./system-clock.js";

/** How often a process that holds something says that it is alive. */
const BEAT_MS = 5000;

/**
 * This process as the holder of reservations in a store. While calls are under way it writes every few seconds that it is alive, so that
 * others can tell the holds of a process that was killed from those of a call that takes long.
 */
export class ProcessHolder {
  readonly id: string;
  private readonly store: Store;
  private readonly timer: Timer;
  private underWay = 0;
  private isBeating = false;
  private beats = 0;
  private version = 0;

  constructor(store: Store, timer: Timer) {
    this.store = store;
    this.timer = timer;
    this.id = newName(store.clock.now().instant);
  }

  /** A call is about to be reserved. */
  begin(): void {
    this.underWay++;
    if (this.isBeating) return;
    this.isBeating = true;
    void this.beat();
  }

  end(): void {
    this.underWay--;
  }

  private async beat(): Promise<void> {
    this.beats++;
    try {
      const body = { ...ownIdentity(), beats: this.beats, at: this.store.clock.now().instant };
      const [{ document }] = await this.store.apply([putHolder(this.id, body, this.version)]);
      this.version = document.version;
    } catch (error) {
      // A store that is away is told with the next beat.
      if (error instanceof StaleError) this.version = error.document?.version ?? 0;
    }
    this.timer.after(BEAT_MS, () => {
      if (this.underWay > 0) void this.beat();
      else this.isBeating = false;
    });
  }
}

function putHolder(id: string, body: object, version: number): PutOperation {
  return {
    op: "put",
    kind: "lease",
    id: holderDocument(id),
    budget: null,
    status: "process",
    body: body as JsonObject,
    version,
  };
}

/** A process as others know it. */
export interface KnownHolder extends ProcessIdentity {
  /** Changes with every word of it. */
  readonly beats: number;
  /** When it spoke last, by its own clock. */
  readonly at: number;
}

function holderDocument(id: string): string {
  return `process:${id}`;
}

/** The holder of this name; null when it has not said a word yet. */
export async function readHolder(store: Store, id: string): Promise<KnownHolder | null> {
  const document = await store.document("lease", holderDocument(id));
  return document === null ? null : (document.body as unknown as KnownHolder);
}

const holders = new WeakMap<Store, ProcessHolder>();

/** This process as the holder of what it reserves in a store; null where nobody else could see it. */
export function holderFor(store: Store, timer: Timer): ProcessHolder | null {
  const beneath = StoreOver.beneath(store);
  if (beneath.outlivesProcess !== true) return null;
  const known = holders.get(beneath);
  if (known !== undefined) return known;
  // Nothing that is said of a process keeps it alive.
  const holder = new ProcessHolder(beneath, timer === systemTimer ? backgroundTimer : timer);
  holders.set(beneath, holder);
  return holder;
}

/** The name under which this process holds reservations in a store; null when it has none there. */
export function ownHolderId(store: Store): string | null {
  return holders.get(StoreOver.beneath(store))?.id ?? null;
}

import type { Document, DocumentKind, Entry } from "../../../src/core/document.js";
import type { Operation } from "../../../src/core/operation.js";
import type { Clock } from "../../../src/ports/clock.js";
import type { Beginning, Latest, Oldest, Outcomes, Store, Topic } from "../../../src/ports/store.js";
import type { Timer } from "../../../src/ports/timer.js";
import { StoreError } from "../../../src/stores/durable/errors.js";
import type { MemoryStore } from "../../../src/stores/memory.js";
import type { FakeClock } from "../../../src/testing/clock/fake-clock.js";
import type { Dice } from "./dice.js";

export interface Fate {
  /** The process dies at this write, before it is done or after. */
  readonly dies?: { readonly at: number; readonly when: "before" | "after" };
  /** How often a write fails, of a hundred: half of them have been done all the same. */
  readonly hiccups?: number;
}

const NEVER = new Promise<never>(() => {});

/** What one process sees of a store that others share: it may be slow, fail, or be the last thing the process sees. */
export class Handle implements Store {
  readonly dimensions: Store["dimensions"];
  readonly clock: Clock;
  readonly timer: Timer;
  writes = 0;
  dead = false;
  private readonly store: MemoryStore;
  private readonly dice: Dice;
  private readonly fate: Fate;
  /** Told what was really done, whatever the process is told of it. */
  happened: (operations: readonly Operation[], outcomes: readonly unknown[]) => void = () => {};

  constructor(store: MemoryStore, clock: FakeClock, dice: Dice, fate: Fate = {}) {
    this.store = store;
    this.dimensions = store.dimensions;
    this.clock = clock;
    this.dice = dice;
    this.fate = fate;
    this.timer = { after: (ms, run) => clock.after(ms, () => this.dead || run()) };
  }

  async apply<const Ops extends readonly Operation[]>(operations: Ops): Promise<Outcomes<Ops>> {
    await this.linger();
    const { dies, hiccups = 0 } = this.fate;
    const now = this.writes++;
    if (dies?.at === now && dies.when === "before") return this.die();
    const faulty = this.dice.chance(hiccups);
    const done = faulty && this.dice.chance(50);
    if (faulty && !done) throw new StoreError("store_failed", "the store was away");
    const outcomes = await this.store.apply(operations);
    this.happened(operations, outcomes as readonly unknown[]);
    if (dies?.at === now) return this.die();
    if (done) throw new StoreError("store_failed", "the answer was lost");
    await this.linger();
    return outcomes;
  }

  budget = async (id: string): ReturnType<Store["budget"]> => this.alive(() => this.store.budget(id));
  path = async (id: string): ReturnType<Store["path"]> => this.alive(() => this.store.path(id));
  head = async (chain: string): ReturnType<Store["head"]> => this.alive(() => this.store.head(chain));
  document = async (kind: DocumentKind, id: string): Promise<Document | null> =>
    this.alive(() => this.store.document(kind, id));

  chain(id: string, from?: number): AsyncIterable<string> {
    return this.store.chain(id, from);
  }

  documents(kind: DocumentKind, status?: string): AsyncIterable<Document> {
    return this.store.documents(kind, status);
  }

  heldCalls(): ReturnType<Store["heldCalls"]> {
    return this.store.heldCalls();
  }

  latest(kind: DocumentKind, wanted: Latest): AsyncIterable<Document> {
    return this.store.latest(kind, wanted);
  }

  oldest(kind: DocumentKind, wanted: Oldest): AsyncIterable<Document> {
    return this.store.oldest(kind, wanted);
  }

  beginning(kind: DocumentKind, wanted: Beginning): AsyncIterable<Document> {
    return this.store.beginning(kind, wanted);
  }

  counts = async (kind: DocumentKind): ReturnType<Store["counts"]> => this.alive(() => this.store.counts(kind));

  journal(run: string): AsyncIterable<Entry> {
    return this.store.journal(run);
  }

  entry(run: string, key: string): Promise<Entry | null> {
    return this.store.entry(run, key);
  }

  watch(listener: () => void, topic?: Topic): Disposable {
    return this.store.watch(() => this.dead || listener(), topic);
  }

  async [Symbol.asyncDispose](): Promise<void> {}

  private async alive<Value>(work: () => Promise<Value>): Promise<Value> {
    await this.linger();
    return this.dead ? NEVER : work();
  }

  private die(): Promise<never> {
    this.dead = true;
    return NEVER;
  }

  private async linger(): Promise<void> {
    if (this.dead) return NEVER;
    for (let turns = this.dice.below(3); turns > 0; turns--) await new Promise((resolve) => setImmediate(resolve));
    if (this.dead) return NEVER;
  }
}

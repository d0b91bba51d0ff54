import type { Operation, Outcome } from "../core/operation.js";
import type { Outcomes, Store } from "../ports/store.js";
import { StoreOver } from "./store-over.js";

/** What was written in one transaction. */
export interface Written {
  readonly operations: readonly Operation[];
  readonly outcomes: readonly Outcome[];
}

/** A store that tells what was written through it, once it is. It writes and reads what the one below it has. */
export class ToldStore extends StoreOver {
  private readonly tell: (written: Written) => void;

  constructor(store: Store, tell: (written: Written) => void) {
    super(store);
    this.tell = tell;
  }

  async apply<const Ops extends readonly Operation[]>(operations: Ops): Promise<Outcomes<Ops>> {
    const outcomes = await this.store.apply(operations);
    this.tell({ operations, outcomes: outcomes as readonly Outcome[] });
    return outcomes;
  }

  /** The store below belongs to somebody else. */
  async [Symbol.asyncDispose](): Promise<void> {}
}

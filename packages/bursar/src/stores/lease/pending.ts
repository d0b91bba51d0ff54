import { LedgerError } from "../../core/errors.js";
import type { Operation } from "../../core/operation.js";
import { RefusedError } from "../../core/refused.js";
import type { Store } from "../../ports/store.js";

interface List {
  readonly operations: readonly Operation[];
  readonly done: () => void;
  readonly refused: () => void;
}

/**
 * What the store has to be told and may not have heard: the same list again and again until it is known how it ended. Each
 * can be told twice without harm, because commits count once and a reservation that stands is not made again.
 */
export class Pending {
  private readonly store: Store;
  private lists: readonly List[] = [];

  constructor(store: Store) {
    this.store = store;
  }

  /** Tells the store as soon as it listens. `refused` is called when the list was undone for good. */
  async tell(
    operations: readonly Operation[],
    done: () => void = () => {},
    refused: () => void = () => {},
  ): Promise<void> {
    this.lists = [...this.lists, { operations, done, refused }];
    await this.flush();
  }

  /** Throws when the store is away; what it has not heard is kept. */
  async flush(): Promise<void> {
    for (const list of this.lists) {
      const end = await this.attempt(list);
      this.lists = this.lists.filter((each) => each !== list);
      end();
    }
  }

  private async attempt({ operations, done, refused }: List): Promise<() => void> {
    try {
      await this.store.apply(operations);
      return done;
    } catch (error) {
      // The store has decided. That there is no such call means that it was never made.
      if (error instanceof RefusedError || error instanceof LedgerError) return refused;
      throw error;
    }
  }
}

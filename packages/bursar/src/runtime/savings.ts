import type { BudgetId } from "../core/budget.js";
import { type Link, parseLine } from "../core/chain/link.js";
import type { Store } from "../ports/store.js";
import { SAVED, Saved } from "./saved.js";

/** What the budgets that write into a chain have saved, as far as it was read: once for all of them, however many are asked about. */
export class Savings {
  private readonly chain: string;
  private readonly saved = new Saved();
  /** What each budget has saved by itself, in billionths of a dollar. */
  private readonly own = new Map<unknown, number>();
  private readonly parents = new Map<unknown, unknown>();
  private links = 0;
  private reading: Promise<void> = Promise.resolve();

  constructor(chain: string) {
    this.chain = chain;
  }

  /** What a budget has saved, with those below it that write into the same chain, in billionths of a dollar. */
  nanoOf(budget: BudgetId): number {
    let nano = 0;
    for (const [id, own] of this.own) if (this.isWithin(id, budget)) nano += own;
    return nano;
  }

  /** Reads on to the present end: a chain only ever grows. Those who look at the same time wait for each other. */
  catchUp(store: Store): Promise<void> {
    const read = this.reading.then(() => this.read(store));
    this.reading = read.catch(() => {});
    return read;
  }

  private async read(store: Store): Promise<void> {
    for await (const line of store.chain(this.chain, this.links)) {
      this.links++;
      // Few links of a long chain are such, and to parse all of them would take far longer.
      if (line.includes(`"${SAVED}"`) || line.includes('"Allocation"')) this.take(parseLine(line));
    }
  }

  private take(link: Link): void {
    const { event, data } = link;
    if (event === "Allocation" && !this.parents.has(data.run_id)) this.parents.set(data.run_id, data.parent);
    const nano = this.saved.take(link);
    if (nano === 0) return;
    // Who names no budget means the one that the chain belongs to.
    const budget = data.budget ?? this.chain;
    this.own.set(budget, (this.own.get(budget) ?? 0) + nano);
  }

  private isWithin(id: unknown, budget: BudgetId): boolean {
    let each = id;
    // What a chain says of itself may lead in a circle; no path is longer than there are budgets.
    for (let turn = 0; turn <= this.parents.size; turn++) {
      if (each === budget) return true;
      each = this.parents.get(each);
    }
    return false;
  }
}

/** Where a budget leaves word of what happens to it. */
interface WrittenPlace {
  readonly chain: string | null;
  /** The budgets above it that write into the same chain. */
  readonly above: readonly BudgetId[];
}

/** The chain that a budget writes into: its own, else that of the nearest above it that has one. */
export async function placeOf(store: Store, budget: BudgetId): Promise<WrittenPlace> {
  const ids = (await store.path(budget)).map(({ id }) => id);
  for (const [index, id] of ids.entries()) {
    if ((await store.head(id)) !== null) return { chain: id, above: ids.slice(1, index + 1) };
  }
  return { chain: null, above: [] };
}

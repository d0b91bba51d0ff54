import { type Link, parseLine } from "../core/chain/link.js";
import { BursarError } from "../core/errors.js";
import type { Store } from "../ports/store.js";
import { rounded } from "./charges.js";
import { Saved } from "./saved.js";

/** So many chains are remembered, and so many keys are looked at. */
const MOST_CHAINS = 1000;
const MOST_KEYS = 100;

/** What a budget has saved, with those below it that write into the same chain, as far as that was read. */
class Savings {
  private readonly saved = new Saved();
  private readonly within: Set<unknown>;
  private links = 0;
  private reading: Promise<void> = Promise.resolve();

  constructor(budget: string) {
    this.within = new Set([budget]);
  }

  /** Reads on to the present end: a chain only ever grows. */
  async upToNow(store: Store, chain: string): Promise<number> {
    const read = this.reading.then(() => this.read(store, chain));
    this.reading = read.catch(() => {});
    await read;
    return this.saved.usd;
  }

  private async read(store: Store, chain: string): Promise<void> {
    try {
      for await (const line of store.chain(chain, this.links)) {
        this.links++;
        // Few links of a long chain are such, and to parse all of them would take far longer.
        if (line.includes('"Saved"') || line.includes('"Allocation"')) this.take(parseLine(line));
      }
    } catch (error) {
      if (!(error instanceof BursarError) || error.code !== "store_archived") throw error;
    }
  }

  private take(link: Link): void {
    const { event, data } = link;
    if (event === "Allocation" && this.within.has(data.parent)) this.within.add(data.run_id);
    if (data.budget === undefined || this.within.has(data.budget)) this.saved.take(link);
  }
}

const known = new WeakMap<Store, Map<string, Savings>>();

/** What the clients of the gateway have saved, in USD: those whose keys are still taken. */
export async function savedByKeys(store: Store): Promise<number> {
  const budgets = new Set<string>();
  for await (const { budget } of store.latest("key", { status: "active", limit: MOST_KEYS, only: [] })) {
    if (budget !== null) budgets.add(budget);
  }
  const saved = await Promise.all([...budgets].map((budget) => savedIn(store, budget, budgets)));
  return rounded(saved.reduce((sum, each) => sum + each, 0));
}

async function savedIn(store: Store, budget: string, budgets: ReadonlySet<string>): Promise<number> {
  const { chain, above } = await placeOf(store, budget);
  // What it has saved is part of what one above it has, as long as both write into the same chain.
  if (chain === null || above.some((id) => budgets.has(id))) return 0;
  const all = known.get(store) ?? new Map<string, Savings>();
  known.set(store, all);
  const savings = all.get(budget) ?? new Savings(budget);
  all.delete(budget);
  all.set(budget, savings);
  for (const oldest of all.keys()) if (all.size > MOST_CHAINS) all.delete(oldest);
  return savings.upToNow(store, chain);
}

interface WrittenPlace {
  readonly chain: string | null;
  /** The budgets above it that write into the same chain. */
  readonly above: readonly string[];
}

/** The chain that a budget writes into: its own, else that of the nearest above it that has one. */
async function placeOf(store: Store, budget: string): Promise<WrittenPlace> {
  const ids = (await store.path(budget)).map(({ id }) => id);
  for (const [index, id] of ids.entries()) {
    if ((await store.head(id)) !== null) return { chain: id, above: ids.slice(1, index + 1) };
  }
  return { chain: null, above: [] };
}

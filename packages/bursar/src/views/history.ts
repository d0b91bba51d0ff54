import { parseLine } from "../core/chain/link.js";
import type { Dimensions } from "../core/dimensions.js";
import type { Store } from "../ports/store.js";
import type { RunRecord } from "../runs/record.js";
import { unlessArchived } from "../runtime/unless-archived.js";
import type { StepView } from "./shapes.js";
import { StoryTeller } from "./story.js";
import { UsageTrail } from "./usage-trail.js";

/** How many runs are remembered, and how many links of all of them together. */
const MOST_RUNS = 64;
const MOST_LINKS = 300_000;

/**
 * What the chain of a run says, as far as it was read. A chain only ever grows, so whoever looks again reads no more than
 * what is new.
 */
export class History {
  readonly story: StoryTeller;
  readonly trail: UsageTrail;
  /** What the program was told, by the numbers of its steps, as far as somebody has asked; null for nothing before it ended. */
  readonly told: Map<number, Pick<StepView, "problem" | "execution"> | null> = new Map();
  /** Whether its chain is in a file, and no longer in the store. */
  archived = false;
  /** Whether the budget, and with it the chain, is the parent's. */
  readonly shares: boolean;
  private readonly chain: string;
  private reading: Promise<void> = Promise.resolve();

  constructor(run: Pick<RunRecord, "id" | "budget" | "shares">, dimensions: Dimensions) {
    this.chain = run.budget;
    this.shares = run.shares;
    this.story = new StoryTeller(run, dimensions);
    this.trail = new UsageTrail(run.budget, dimensions);
  }

  /** Reads on to the present end. Those who look at the same time wait for each other, so that no link is told twice. */
  catchUp(store: Store): Promise<void> {
    const read = this.reading.then(async () => {
      if (!(await unlessArchived(this.read(store)))) this.archived = true;
    });
    this.reading = read.catch(() => {});
    return read;
  }

  private async read(store: Store): Promise<void> {
    for await (const line of store.chain(this.chain, this.story.links)) {
      const link = parseLine(line);
      this.story.take(link);
      this.trail.take(link);
    }
  }
}

const known = new WeakMap<Store, Map<string, History>>();

/** The history of a run up to now. */
export async function historyOf(store: Store, run: Pick<RunRecord, "id" | "budget" | "shares">): Promise<History> {
  const histories = known.get(store) ?? new Map<string, History>();
  known.set(store, histories);
  const history = histories.get(run.id) ?? new History(run, store.dimensions);
  await history.catchUp(store);
  histories.delete(run.id);
  histories.set(run.id, history);
  forget(histories);
  return history;
}

/** Drops what was not looked at for the longest time. */
function forget(histories: Map<string, History>): void {
  let links = 0;
  for (const { story } of histories.values()) links += story.links;
  for (const [id, { story }] of histories) {
    if (histories.size <= MOST_RUNS && links <= MOST_LINKS) return;
    histories.delete(id);
    links -= story.links;
  }
}

import type { Store } from "../ports/store.js";
import { silentSince } from "../runs/claim.js";
import { readRun } from "../runs/record.js";
import { rounded } from "./charges.js";
import type { Prospect } from "./dimension-view.js";
import { type History, historyOf } from "./history.js";
import { type Charge, ratesOf } from "./projection.js";
import type { RunBrief } from "./run-brief.js";

/** So many runs below a run are looked at for what it uses. */
const MOST_BELOW = 200;

/** What lies before a run. Only one that is driven uses anything, so of all others no chain has to be read. */
export async function prospectOf(store: Store, run: RunBrief): Promise<Prospect> {
  const time = store.clock.now();
  const silent = await silentSince(store, run);
  const still = run.ended ?? run.pause?.at ?? silent ?? time.instant;
  if (run.status !== "running" || silent !== null) return { time, rates: null, exhausted: () => still };
  const history = await historyOf(store, run);
  const charges = await chargesBelow(store, run, history);
  const rates = ratesOf({ charges, spans: history.trail.spans, now: time.instant });
  return { time, rates, exhausted: (budget, dimension) => history.trail.exhausted(budget, dimension) ?? still };
}

/**
 * Everything that was charged to a run's budget, in order. What a child with a budget of its own uses stands in the child's
 * chain.
 */
export async function chargesBelow(store: Store, run: RunBrief, history: History): Promise<readonly Charge[]> {
  const below = await historiesBelow(store, run, history);
  const charges: Charge[] = [...history.trail.charges];
  for (const { shares, trail } of below) if (!shares) charges.push(...trail.charges);
  return below.length === 0 ? charges : charges.sort((a, b) => a.at - b.at);
}

/** What a run has saved, with all that is below it, in USD. */
export async function savedBelow(store: Store, run: RunBrief, history: History): Promise<number> {
  const all = [history, ...(await historiesBelow(store, run, history))];
  return rounded(all.reduce((sum, { story }) => sum + story.saved_usd, 0));
}

/** The histories of the runs below a run. */
async function historiesBelow(store: Store, run: RunBrief, history: History): Promise<readonly History[]> {
  const found: History[] = [];
  const waiting: { readonly id: string; readonly history: History }[] = [{ id: run.id, history }];
  for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
    for (const { number, capability } of next.history.story.steps()) {
      if (!capability.startsWith("run:") || found.length >= MOST_BELOW) continue;
      const document = await store.document("run", `${next.id}.${number}`);
      if (document === null) continue;
      const below = await historyOf(store, readRun(document));
      found.push(below);
      waiting.push({ id: document.id, history: below });
    }
  }
  return found;
}

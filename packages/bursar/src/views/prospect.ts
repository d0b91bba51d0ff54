import type { Store } from "../ports/store.js";
import { readRun } from "../runs/record.js";
import type { Prospect } from "./dimension-view.js";
import { type History, historyOf } from "./history.js";
import { type Charge, ratesOf } from "./projection.js";
import type { RunBrief } from "./run-brief.js";

/** So many runs below a run are looked at for what it uses. */
const MOST_BELOW = 200;

/** What lies before a run. Only one that is driven uses anything, so of all others no chain has to be read. */
export async function prospectOf(store: Store, run: RunBrief): Promise<Prospect> {
  const time = store.clock.now();
  const still = run.ended ?? run.pause?.at ?? time.instant;
  if (run.status !== "running") return { time, rates: null, exhausted: () => still };
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
  const charges: Charge[] = [...history.trail.charges];
  const waiting: { readonly run: RunBrief; readonly history: History }[] = [{ run, history }];
  let seen = 0;
  for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
    for (const { number, capability } of next.history.story.steps()) {
      if (!capability.startsWith("run:") || seen >= MOST_BELOW) continue;
      const document = await store.document("run", `${next.run.id}.${number}`);
      if (document === null) continue;
      seen++;
      const child = readRun(document);
      const below = await historyOf(store, child);
      if (!child.shares) charges.push(...below.trail.charges);
      waiting.push({ run: child, history: below });
    }
  }
  return seen === 0 ? charges : charges.sort((a, b) => a.at - b.at);
}

import { parseLine, type RunRecord, readRun, type Store } from "bursar";
import { chainPage, listApprovals, listRuns, listSteps, type Page, runView, type StepView } from "bursar/views";
import { NOTHING, type RunSight, type Sight } from "./sight.js";
import { isArchived, Verifying } from "./verifying.js";

/** So many are read for a list; who wants more has commands for that. */
const MOST_LISTED = 100;
const MOST_STEPS = 200;
const MOST_LINKS = 200;
const MOST_PAGES = 10;
const LOOK_MS = 500;
const AFTER_FAULT_MS = 2000;

/** Looks at a store again and again, because other processes change it too, and tells what it sees. */
export class Lookout {
  sight: Sight = NOTHING;
  private readonly store: Store;
  private readonly seen: (sight: Sight) => void;
  private run: string | null = null;
  private verifying: Verifying | null = null;
  private timer: NodeJS.Timeout | null = null;
  private looking: Promise<void> | null = null;
  private again = false;
  private stopped = false;

  constructor(store: Store, seen: (sight: Sight) => void) {
    this.store = store;
    this.seen = seen;
  }

  /** Whose page is open; null when none is. */
  watch(run: string | null): void {
    if (run === this.run) return;
    this.run = run;
    void this.look();
  }

  /** Looks now, or once more when it is looking already. */
  async look(): Promise<void> {
    if (this.stopped) return;
    if (this.looking !== null) {
      this.again = true;
      return this.looking;
    }
    if (this.timer !== null) clearTimeout(this.timer);
    this.timer = null;
    this.looking = this.read().finally(() => {
      this.looking = null;
    });
    await this.looking;
    if (this.stopped) return;
    const wait = this.again ? 0 : this.sight.problem === null ? LOOK_MS : AFTER_FAULT_MS;
    this.again = false;
    this.timer = setTimeout(() => void this.look(), wait);
  }

  async stop(): Promise<void> {
    this.stopped = true;
    if (this.timer !== null) clearTimeout(this.timer);
    this.verifying?.stop();
    await this.looking;
  }

  private async read(): Promise<void> {
    try {
      this.sight = await this.readAll();
    } catch (error) {
      const problem = error instanceof Error ? error.message : String(error);
      this.sight = { ...this.sight, problem };
    }
    if (!this.stopped) this.seen(this.sight);
  }

  private async readAll(): Promise<Sight> {
    const { store, run } = this;
    const [requests, runs, page] = await Promise.all([
      listApprovals(store, { status: "pending", limit: MOST_LISTED }),
      listRuns(store, { limit: MOST_LISTED }),
      run === null ? null : this.readPage(run),
    ]);
    return {
      now: store.clock.now().instant,
      runs: runs.items,
      page,
      problem: null,
      requests: [...requests.items].sort((a, b) => a.requested - b.requested || (a.id < b.id ? -1 : 1)),
      more: { requests: requests.next !== null, runs: runs.next !== null },
    };
  }

  private async readPage(id: string): Promise<RunSight | null> {
    const { store } = this;
    const [run, document] = [await runView(store, id), await store.document("run", id)];
    if (run === null || document === null) return null;
    const steps = await this.lastSteps(readRun(document), run.steps + run.refused);
    const lines = await chainPage(store, run, Math.max(0, run.links - MOST_LINKS), MOST_LINKS).then(
      (page) => page.lines,
      (error: unknown) => {
        if (isArchived(error)) return [];
        throw error;
      },
    );
    return { run, steps, links: lines.map(parseLine), mark: this.verifyingOf(run.budget).mark };
  }

  /** Steps are counted within their run, but not all that is counted is a step: the last ones may be on a later page. */
  private async lastSteps(run: RunRecord, count: number): Promise<readonly StepView[]> {
    const steps: StepView[] = [];
    let from: number | null = Math.max(0, count - MOST_STEPS);
    for (let pages = 0; from !== null && pages < MOST_PAGES; pages++) {
      const page: Page<StepView> = await listSteps(this.store, run, { from, limit: MOST_STEPS });
      steps.push(...page.items);
      from = page.next === null ? null : Number(page.next);
    }
    return steps.slice(-MOST_STEPS);
  }

  private verifyingOf(chain: string): Verifying {
    if (this.verifying?.chain !== chain) {
      this.verifying?.stop();
      this.verifying = new Verifying(this.store, chain);
    } else this.verifying.goOn();
    return this.verifying;
  }
}

import type { Link } from "../core/chain/link.js";
import type { Store } from "../ports/store.js";
import { answersOf, lastPart } from "../runs/answers.js";
import { type Answered, answerKey, partOf } from "../runs/journal.js";

/** What has just happened stands in these: a checkpoint may have come in between. */
const LAST_PARTS = 2;
/** Of so many runs it is remembered how far their answers were heard. */
const MOST_RUNS = 1000;
/** Of so many steps; what is paid for is told soon after it was answered. */
const MOST_PROBLEMS = 10_000;

/** How far the answers of a run were heard. */
interface Heard {
  readonly part: number;
  /** Which answer is the next. */
  readonly next: number;
}

/**
 * What programs were told of calls that were paid for, but failed, for who follows a chain: each answer is read once, however long the
 * journal is by then.
 */
export class Problems {
  private readonly store: Store;
  private readonly heard = new Map<string, Heard>();
  private readonly found = new Map<string, string>();

  constructor(store: Store) {
    this.store = store;
  }

  /** Those of the calls in these links, by the names of the steps. Each is told once. */
  async of(links: readonly Link[]): Promise<ReadonlyMap<string, string>> {
    const steps = links.flatMap(({ event, data }) => (event === "Consumption" ? [String(data.step_id)] : []));
    const runs = new Set(steps.flatMap((step) => /^(.+)\/\d+$/.exec(step)?.[1] ?? []));
    for (const run of runs) await this.hear(run);
    const problems = new Map<string, string>();
    for (const step of steps) {
      const problem = this.found.get(step);
      if (problem !== undefined) problems.set(step, problem);
      this.found.delete(step);
    }
    return problems;
  }

  private async hear(run: string): Promise<void> {
    const before = this.heard.get(run);
    const last = await lastPart(this.store, run);
    this.heard.delete(run);
    this.heard.set(run, before === undefined ? await this.begin(run, last) : await this.goOn(run, before, last));
    for (const oldest of this.heard.keys()) if (this.heard.size > MOST_RUNS) this.heard.delete(oldest);
    for (const oldest of this.found.keys()) if (this.found.size > MOST_PROBLEMS) this.found.delete(oldest);
  }

  private async begin(run: string, last: number): Promise<Heard> {
    let next = 0;
    for await (const { number, answered, at } of answersOf(this.store, run, LAST_PARTS)) {
      this.note(run, number, answered);
      next = Math.max(next, at + 1);
    }
    return { part: last, next };
  }

  /** Answers bear numbers without a gap, and one that is not in its part is in the part that follows, or not there yet. */
  private async goOn(run: string, { part, next }: Heard, last: number): Promise<Heard> {
    let [at, inPart] = [next, part];
    for (;;) {
      const found = await this.store.entry(partOf(run, inPart), answerKey(at));
      if (found !== null) {
        const { number, answered } = found.entry as unknown as { number: number; answered: Answered };
        this.note(run, number, answered);
        at++;
      } else if (inPart < last) inPart++;
      else return { part: inPart, next: at };
    }
  }

  private note(run: string, number: number, answered: Answered): void {
    const problem = problemOf(answered);
    if (problem !== null) this.found.set(`${run}/${number}`, problem);
  }
}

/** How an effect failed, as the program was told; null for one that did not. */
export function problemOf(answered: Answered): string | null {
  return "error" in answered ? `${answered.error.code}: ${answered.error.message}` : null;
}

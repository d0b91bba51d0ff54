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
  /** How steps failed; null for those that did not. */
  private readonly found = new Map<string, string | null>();

  constructor(store: Store) {
    this.store = store;
  }

  /**
   * Those of the calls in these links, by the names of the steps. Each is told once. Null is a call that was paid for without a word to
   * its program, which was over by then, or has lost its worker: whether it has worked is not known.
   */
  async of(links: readonly Link[]): Promise<ReadonlyMap<string, string | null>> {
    const charges = links.filter(({ event }) => event === "Consumption");
    const runs = new Set(charges.flatMap(({ data }) => /^(.+)\/\d+$/.exec(String(data.step_id))?.[1] ?? []));
    for (const run of runs) await this.hear(run);
    const problems = new Map<string, string | null>();
    for (const link of charges) {
      const step = String(link.data.step_id);
      const problem = this.found.get(step);
      if (typeof problem === "string") problems.set(step, problem);
      else if (problem === undefined && isAnswered(link)) problems.set(step, null);
    }
    // What a call does inside of itself is charged before it is answered, and says nothing about it.
    for (const link of charges) if (isAnswered(link)) this.found.delete(String(link.data.step_id));
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
    this.found.set(`${run}/${number}`, problemOf(answered));
  }
}

/** Whether an effect is charged and answered at the same moment: a child is answered later, and a correction comes long after. */
function isAnswered({ data }: Link): boolean {
  const { call_id, step_id, capability_id, corrects } = data;
  const isWhole = String(call_id).startsWith(`${String(step_id)}@`) && /@\d+$/.test(String(call_id));
  return isWhole && corrects === undefined && !String(capability_id).startsWith("run:");
}

/** How an effect failed, as the program was told; null for one that did not. */
export function problemOf(answered: Answered): string | null {
  return "error" in answered ? `${answered.error.code}: ${answered.error.message}` : null;
}

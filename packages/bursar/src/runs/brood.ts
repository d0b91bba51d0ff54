import type { Json } from "../core/chain/canonical.js";
import type { Store } from "../ports/store.js";
import type { Timer } from "../ports/timer.js";
import { untilAborted } from "../runtime/until-aborted.js";
import type { ChildRequest } from "./deed.js";
import { GuestUnavailableError, isLacking, RunError } from "./error.js";
import type { Foresight } from "./foresight.js";
import type { AskEntry } from "./journal.js";
import { openChild } from "./opening.js";
import type { Programs } from "./programs.js";
import { hasEnded, type RunRecord, readRun } from "./record.js";
import { denialOf } from "./result.js";
import type { Children } from "./surroundings.js";

interface BroodOptions {
  readonly store: Store;
  readonly timer: Timer;
  readonly programs: Programs;
  /** Null when it is switched off. */
  readonly foresight: Foresight | null;
  /** How long a request waits for an answer, unless a run says otherwise. */
  readonly approval_ms: number;
  /** Told of a child that stands still or is over before it has begun. */
  readonly told: (run: RunRecord) => void;
  readonly drive: (id: string) => Promise<RunRecord>;
  readonly cancel: (id: string, reason: string) => Promise<unknown>;
  readonly wake: (id: string) => Promise<void>;
}

/** How often it is looked whether a child that stands still, or is driven elsewhere, has come further. */
const LOOK_MS = 500;

/** The children of runs: runs of their own, named after their parent and the number of the effect that started them. */
export class Brood implements Children {
  private readonly options: BroodOptions;

  constructor(options: BroodOptions) {
    this.options = options;
  }

  async has(parent: RunRecord, number: number): Promise<boolean> {
    const document = await this.options.store.document("run", childId(parent, number));
    return document !== null && readRun(document).parent === parent.id;
  }

  async start(parent: RunRecord, number: number, request: ChildRequest, signal: AbortSignal): Promise<void> {
    const { store, programs, foresight, approval_ms, told } = this.options;
    const id = childId(parent, number);
    const program = programs.below(parent, request.program);
    const brought = parent.brought === true && !programs.offers(program);
    const intended = { id, program, input: request.input, brought };
    const checked = (await foresight?.checkChild(intended, parent, request.grant)) ?? null;
    // To look ahead takes a while, in which the run above may have come to its end.
    signal.throwIfAborted();
    const start = { ...intended, instant: store.clock.now().instant, by: `run ${parent.id}` };
    const inherited = program.terms === undefined ? {} : ((await store.budget(parent.budget))?.policies ?? {});
    const beforehand = { dimensions: store.dimensions, checked, approval_ms, inherited };
    await store.apply(openChild(start, parent, request, beforehand));
    if (checked === null || checked.preflight.fits || checked.policy === "warn") return;
    told(await this.find(id));
  }

  async wait(
    parent: RunRecord,
    number: number,
    paused: (is: boolean, child: string) => void,
    signal: AbortSignal,
  ): Promise<Json> {
    const id = childId(parent, number);
    for (;;) {
      const run = await untilAborted(this.options.drive(id), signal).catch((error: unknown) => {
        // Who can go on with neither leaves both to others.
        throw isLacking(error) ? new GuestUnavailableError(parent.id, error) : error;
      });
      if (run.status === "completed") return run.result;
      if (hasEnded(run)) throw failed(run);
      // One that waits for nobody stood still only because those above it did.
      if (isIdle(run)) await this.options.wake(id);
      else {
        paused(true, id);
        await this.rest(id, signal);
        paused(false, id);
      }
    }
  }

  /** Ends those that a run has started and not waited for: what they are the answer to is still open. */
  async end(parent: RunRecord, open: readonly AskEntry[]): Promise<void> {
    for (const { name, number } of open) {
      if (name !== "spawn" || !(await this.has(parent, number))) continue;
      await this.options.cancel(childId(parent, number), `run ${parent.id} has ended`);
    }
  }

  private async find(id: string): Promise<RunRecord> {
    const document = await this.options.store.document("run", id);
    if (document === null) throw new RunError("child_failed", `run ${id} is not there any more`);
    return readRun(document);
  }

  /** Waits until a child no longer stands still. */
  private async rest(id: string, signal: AbortSignal): Promise<void> {
    while ((await this.find(id)).status === "paused") {
      let alarm: Disposable | null = null;
      const over = new Promise<void>((resolve) => {
        alarm = this.options.timer.after(LOOK_MS, resolve);
      });
      await untilAborted(over, signal).finally(() => (alarm as Disposable | null)?.[Symbol.dispose]());
    }
  }
}

function isIdle({ pause }: RunRecord): boolean {
  if (pause === null) return false;
  const { approvals, children, batches = [], problem } = pause;
  return problem === undefined && approvals.length === 0 && children.length === 0 && batches.length === 0;
}

function childId({ id }: RunRecord, number: number): string {
  return `${id}.${number}`;
}

/** What a parent is told when a child did not come to a good end. */
function failed(run: RunRecord): RunError {
  const { id, status, failure, result } = run;
  const denial = denialOf(run);
  if (denial !== null) {
    const { by, reason, dimension } = denial;
    const data = { run_id: id, status, dimension, result, denied: { ...denial } };
    return new RunError("child_failed", `run ${id} was denied by ${by}${reasonIn(reason)} (${dimension})`, data);
  }
  const why = failure?.message ?? "it was cancelled";
  const data = { run_id: id, status, dimension: failure?.dimension ?? null, result, ...failure?.data };
  return new RunError(codeFor(failure), `run ${id} ${status}: ${why}`, data);
}

function reasonIn(reason: string | null): string {
  return reason === null ? "" : `: ${reason}`;
}

function codeFor(failure: RunRecord["failure"]): string {
  if (failure?.dimension != null) return "child_exhausted";
  // What a child below it was refused says which one that was.
  const wasRefused = failure?.code === "estimated_over" && failure.data.run_id === undefined;
  return wasRefused ? "estimated_over" : "child_failed";
}

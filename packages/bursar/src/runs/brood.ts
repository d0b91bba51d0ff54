import type { Json } from "../core/chain/canonical.js";
import type { Program } from "../ports/program.js";
import type { Store } from "../ports/store.js";
import type { Timer } from "../ports/timer.js";
import type { ChildRequest } from "./deed.js";
import { RunError } from "./error.js";
import { openChild } from "./opening.js";
import { ENDED, type RunRecord, readRun } from "./record.js";
import type { Children } from "./surroundings.js";

interface BroodOptions {
  readonly store: Store;
  readonly timer: Timer;
  readonly program: (name: string) => Program;
  readonly drive: (id: string) => Promise<RunRecord>;
  readonly cancel: (id: string, reason: string) => Promise<unknown>;
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
    return (await this.options.store.document("run", childId(parent, number))) !== null;
  }

  async start(parent: RunRecord, number: number, request: ChildRequest): Promise<void> {
    const { store, program } = this.options;
    const { instant } = store.clock.now();
    const start = { id: childId(parent, number), program: program(request.program), input: request.input };
    const by = `run ${parent.id}`;
    await store.apply(openChild({ ...start, instant, by }, parent, request, store.dimensions));
  }

  async wait(
    parent: RunRecord,
    number: number,
    paused: (is: boolean, child: string) => void,
    signal: AbortSignal,
  ): Promise<Json> {
    const id = childId(parent, number);
    for (;;) {
      const run = await untilAborted(this.options.drive(id), signal);
      if (run.status === "completed") return run.result;
      if (ENDED.has(run.status)) throw failed(run);
      paused(true, id);
      await this.rest(signal);
      const { status } = await this.find(id);
      if (status !== "paused") paused(false, id);
    }
  }

  async end(parent: RunRecord): Promise<void> {
    for (const id of await this.of(parent.id)) await this.options.cancel(id, `run ${parent.id} has ended`);
  }

  /** The children of a run that have not ended. */
  async of(parent: string): Promise<readonly string[]> {
    const children: string[] = [];
    for (const status of ["queued", "running", "paused"]) {
      for await (const document of this.options.store.documents("run", status)) {
        if (readRun(document).parent === parent) children.push(document.id);
      }
    }
    return children;
  }

  private async find(id: string): Promise<RunRecord> {
    const document = await this.options.store.document("run", id);
    if (document === null) throw new RunError("child_failed", `run ${id} is not there any more`);
    return readRun(document);
  }

  private rest(signal: AbortSignal): Promise<void> {
    return untilAborted(new Promise((resolve) => void this.options.timer.after(LOOK_MS, resolve)), signal);
  }
}

export function childId({ id }: RunRecord, number: number): string {
  return `${id}.${number}`;
}

/** What a parent is told when a child did not come to a good end. */
function failed({ id, status, failure, result }: RunRecord): RunError {
  const why = failure?.message ?? "it was cancelled";
  const data = { run_id: id, status, dimension: failure?.dimension ?? null, result, ...failure?.data };
  return new RunError(
    failure?.dimension == null ? "child_failed" : "child_exhausted",
    `run ${id} ${status}: ${why}`,
    data,
  );
}

function untilAborted<Value>(work: Promise<Value>, signal: AbortSignal): Promise<Value> {
  return new Promise((resolve, reject) => {
    const abort = () => reject(signal.reason);
    if (signal.aborted) return abort();
    signal.addEventListener("abort", abort, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener("abort", abort));
  });
}

import type { Conductor } from "./conductor.js";
import type { LeftRun } from "./ending.js";

interface Drive {
  readonly conductor: Conductor;
  readonly done: Promise<LeftRun>;
}

/** The runs that are driven in this process, and those that are just being taken. */
export class Driven {
  private readonly runs = new Map<string, Drive>();
  private readonly claims = new Set<Promise<unknown>>();
  private closed = false;

  /** Whether no more runs are taken. */
  get isClosed(): boolean {
    return this.closed;
  }

  has(id: string): boolean {
    return this.runs.has(id);
  }

  /** What becomes of a run that is driven here; null of any other. */
  end(id: string): Promise<LeftRun> | null {
    return this.runs.get(id)?.done ?? null;
  }

  cancel(id: string): void {
    this.runs.get(id)?.conductor.cancel();
  }

  /** Follows a claim to its end: whoever closes in the middle of it has to give back what was taken. */
  taking<Value>(claim: Promise<Value>): Promise<Value> {
    const followed = claim.finally(() => this.claims.delete(followed));
    this.claims.add(followed);
    return followed;
  }

  /** Drives a run that was claimed. Where everything was let go of meanwhile, this one is too, before anything is made. */
  drive(id: string, conductor: Conductor): Promise<LeftRun> {
    if (this.closed) void conductor.abandon(0);
    const done = conductor.drive().finally(() => this.runs.delete(id));
    this.runs.set(id, { conductor, done });
    return done;
  }

  /** Lets go of all of them; calls that are being made have so long to come to their end. */
  async close(within_ms: number): Promise<void> {
    this.closed = true;
    await Promise.all([...this.runs.values()].map(({ conductor }) => conductor.abandon(within_ms)));
    await Promise.allSettled(this.claims);
    await Promise.allSettled([...this.runs.values()].map(({ done }) => done));
  }
}

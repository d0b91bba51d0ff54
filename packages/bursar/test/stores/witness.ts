import type { Operation } from "bursar";
import type { Fault, Line, Told } from "./child.js";

/** Something a child has tried: acknowledged with its outcomes, turned down, or never answered. */
export interface Attempt {
  readonly n: string;
  readonly operations: readonly Operation[];
  readonly again: boolean;
  outcomes: readonly Told[] | null;
  fault: Fault | null;
}

/** Remembers all that the children of one store were told, over all of their lives. */
export class Witness {
  readonly attempts: Attempt[] = [];
  private unanswered: readonly Attempt[] = [];

  /** Takes in what one child has said of the store at `place`. */
  hear(lines: readonly Line[], place: number): void {
    const open = new Map<string, Attempt>();
    for (const line of lines) {
      if (line.place !== place || line.n === undefined) continue;
      if (line.tries !== undefined) {
        const attempt = { n: line.n, operations: line.tries, again: line.again === true, outcomes: null, fault: null };
        open.set(line.n, attempt);
        this.attempts.push(attempt);
      } else {
        const attempt = open.get(line.n);
        if (attempt === undefined) throw new Error(`${line.n} was answered, but never tried`);
        attempt.outcomes = line.outcomes ?? null;
        attempt.fault = line.fault ?? null;
        open.delete(line.n);
      }
    }
    this.unanswered = [...open.values()];
  }

  get acknowledged(): readonly Attempt[] {
    return this.attempts.filter(({ outcomes }) => outcomes !== null);
  }

  /** What went wrong with what was tried for the first time, in the middle of which nobody died: nothing should have. */
  get faults(): readonly string[] {
    return this.attempts.flatMap(({ n, again, fault, operations }) =>
      fault === null || again
        ? []
        : [`${n} (${operations.map(({ op }) => op).join(", ")}): ${fault.code} ${fault.message}`],
    );
  }

  /** The same attempts, of which nothing is known to have been acknowledged. */
  forgetful(): Witness {
    const witness = new Witness();
    for (const attempt of this.attempts) witness.attempts.push({ ...attempt, outcomes: null });
    return witness;
  }

  /** What the next child should ask for again. An extension has no id by which it could be known. */
  again(): readonly (readonly Operation[])[] {
    return this.unanswered
      .map(({ operations }) => operations)
      .filter((list) => list.every(({ op }) => op !== "extend"));
  }
}

import { canonicalize, type Json } from "../core/chain/canonical.js";
import type { Program } from "../ports/program.js";
import { ProgramChangedError, RunError } from "./error.js";
import { isOperator, type Principal } from "./principal.js";
import type { ProgramRef, RunRecord } from "./record.js";

/** Whether the code of a program is known to be another than the one that a run was played with last. */
export function hasChanged({ program: { code } }: Pick<RunRecord, "program">, program: Program): boolean {
  return code !== undefined && program.code !== undefined && code !== program.code;
}

/** At which checkpoint a program has left the runs that it was played with last in this process. */
const leftAt = new WeakMap<Program, Map<string, string>>();
const MOST_LEFT = 10_000;

/** Notes that a run stands still where this program has left it. */
export function noteLeft(program: Program, { id, pause }: Pick<RunRecord, "id" | "pause">): void {
  const left = leftAt.get(program) ?? new Map<string, string>();
  leftAt.set(program, left);
  left.delete(id);
  if (pause === null || pause.problem !== undefined) return;
  left.set(id, pause.checkpoint_id);
  const [oldest = id] = left.keys();
  if (left.size > MOST_LEFT) left.delete(oldest);
}

/** Whether a run stands where this very program has left it, so that it needs no play to see whether it does the same. */
export function hasLeft(program: Program, { id, pause }: Pick<RunRecord, "id" | "pause">): boolean {
  return pause !== null && leftAt.get(program)?.get(id) === pause.checkpoint_id;
}

function isSame(value: Json, other: Json | undefined): boolean {
  return other !== undefined && canonicalize(value) === canonicalize(other);
}

/** The programs that this process knows: those it was given, what they may start, and those it has met in runs. */
export class Programs {
  private readonly byName = new Map<string, Program>();
  private readonly byDigest = new Map<string, Program>();
  /** Those that it was given. */
  private readonly offered: ReadonlyMap<string, Program>;
  private readonly revive: (program: ProgramRef) => Program | null;

  constructor(programs: readonly Program[], revive: (program: ProgramRef) => Program | null) {
    this.revive = revive;
    for (const program of programs) this.learn(program);
    this.offered = new Map(this.byName);
  }

  /** Whether a program is one of those that this process was given, whatever was added to it. */
  offers({ name, kind, digest, source }: Program): boolean {
    const offered = this.offered.get(name);
    if (offered === undefined || offered.kind !== kind) return false;
    if (offered.digest === digest) return true;
    // What has no source cannot have been brought from elsewhere.
    const same = Object.entries(offered.source ?? {}).every(([key, value]) => isSame(value, source?.[key]));
    return source !== null && same;
  }

  /** A program is known from now on, with those that it may start. */
  learn(program: Program): void {
    if (!this.byName.has(program.name)) this.byName.set(program.name, program);
    this.byDigest.set(program.digest, program);
    for (const child of program.children ?? []) this.learn(child);
  }

  /** Whether somebody who may not decide has brought a program along, under a name of his choice. */
  isBrought(program: Program, by: Principal): boolean {
    return !isOperator(by) && !this.offers(program);
  }

  /** The name that a program is governed by; none is that of one who could choose it. */
  governedName(program: string | Program, by: Principal): string {
    if (typeof program === "string") return program;
    return this.isBrought(program, by) ? "" : program.name;
  }

  find(name: string): Program | null {
    return this.byName.get(name) ?? null;
  }

  named(name: string): Program {
    const program = this.find(name);
    if (program !== null) return program;
    const known = [...this.byName.keys()].join(", ");
    throw new RunError("unknown_program", `there is no program ${name}; there is ${known || "none"}`);
  }

  /** What a run starts below itself: a program of its own program's goes before those that are known by name. */
  below(parent: RunRecord, name: string): Program {
    const own = this.byDigest.get(parent.program.digest)?.children?.find((child) => child.name === name);
    return own ?? this.named(name);
  }

  /** The very program that a run began with. Where its code was changed since, only an operator lets the run go on with it. */
  of(run: RunRecord): Program {
    const known = this.byDigest.get(run.program.digest) ?? this.revive(run.program);
    if (known === null) throw this.unknown(run.program);
    if (hasChanged(run, known) && run.replay_changed !== true) throw new ProgramChangedError(run.id, known.name);
    this.learn(known);
    if (!hasChanged(run, known)) this.byDigest.set(run.program.digest, known);
    return known;
  }

  /** The program of a run, changed or not; null where this process does not have it. */
  knownFor({ program }: RunRecord): Program | null {
    try {
      return this.byDigest.get(program.digest) ?? this.revive(program);
    } catch {
      return null;
    }
  }

  private unknown({ name }: ProgramRef): RunError {
    const why = this.byName.has(name) ? "is another version than the one the run began with" : "is not known here";
    return new RunError("unknown_program", `the program ${name} ${why}`);
  }
}

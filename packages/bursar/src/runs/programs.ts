import type { Program } from "../ports/program.js";
import { RunError } from "./error.js";
import type { ProgramRef, RunRecord } from "./record.js";

/** The programs that this process knows: those it was given, what they may start, and those it has met in runs. */
export class Programs {
  private readonly byName = new Map<string, Program>();
  private readonly byDigest = new Map<string, Program>();
  private readonly revive: (program: ProgramRef) => Program | null;

  constructor(programs: readonly Program[], revive: (program: ProgramRef) => Program | null) {
    this.revive = revive;
    for (const program of programs) this.learn(program);
  }

  /** A program is known from now on, with those that it may start. */
  learn(program: Program): void {
    if (!this.byName.has(program.name)) this.byName.set(program.name, program);
    this.byDigest.set(program.digest, program);
    for (const child of program.children ?? []) this.learn(child);
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

  /** The very program that a run began with. */
  of({ program }: RunRecord): Program {
    const known = this.byDigest.get(program.digest) ?? this.revive(program);
    if (known === null) throw this.unknown(program);
    this.learn(known);
    return known;
  }

  private unknown({ name }: ProgramRef): RunError {
    const why = this.byName.has(name) ? "is another version than the one the run began with" : "is not known here";
    return new RunError("unknown_program", `the program ${name} ${why}`);
  }
}

import type { Json, JsonObject } from "../core/chain/canonical.js";
import type { BudgetLimits, BudgetPolicies } from "../core/input.js";
import type { Known, Opinion } from "./foresight.js";

/** What a program gets in place of the world: every effect is asked for here, numbered, governed and journaled. */
export interface Stage {
  readonly run_id: string;
  /** When the run was started. */
  readonly began: number;
  /** Fires when the run has to end: it was cancelled, or its time is over. */
  readonly signal: AbortSignal;
  /** What the program saved itself as, when it does not begin from the beginning. */
  readonly saved: JsonObject | null;
  /**
   * Asks for an effect. The answer is the same in every replay. It rejects with a `RunError`. An effect of the program's own
   * brings along what is to be done.
   */
  ask(name: string, args: Json, own?: OwnEffect): Asked;
  /** An effect that had been asked for before the program was saved, by its number. */
  askedBefore(number: number): Promise<Json>;
  /**
   * Keeps the program as `make` says it is, so that it goes on from there instead of from the beginning. No answer comes while
   * it is made; null when the program is not in a state to be kept.
   */
  save(make: () => Promise<JsonObject | null>): Promise<void>;
  /** Makes ready what the program needs before it can run, such as its interpreter: that is none of its running time. */
  prepare<Value>(work: () => Promise<Value>): Promise<Value>;
  /**
   * Lets the program compute, with as much as is left of everything it uses, which is held for it meanwhile; infinite without a
   * limit. What it does again was paid for already: `used` says how far it has come, by dimension; of a peak, which is not used
   * up, all of its limit is there every time. When nothing is left of `dimension`, without which it cannot go on, the run pauses or ends, and this never settles.
   */
  compute<Value>(
    dimension: string,
    used: Readonly<Record<string, number>>,
    work: (most: Readonly<Record<string, number>>) => Promise<Computed<Value>>,
  ): Promise<Value>;
  /**
   * The program could not go on, because something had run out, or was less than the `asked` that it wanted. Tells whether
   * its policy ends or pauses the run now; then nothing more is expected of the program.
   */
  exhausted(asked?: Readonly<Record<string, number>>): Promise<boolean>;
  /** Whether somebody looks at what the program writes, while it does. */
  readonly watched: boolean;
  /** What the program has written for people, so that it is not lost with it; at its end, what the sandbox says of it. */
  output(output: Output, execution?: Execution | null): void;
}

/** What came of a computation, and what it has used. */
interface Computed<Value> {
  readonly value: Value;
  /** Under this name it counts once, however often the program is replayed. */
  readonly name: string;
  /** In ledger units. */
  readonly used: Readonly<Record<string, number>>;
}

/** Done once, however often the program is replayed. */
export type OwnEffect = (signal: AbortSignal) => Promise<unknown>;

/** An effect that was asked for. */
export interface Asked {
  readonly number: number;
  readonly answer: Promise<Json>;
}

export interface Output {
  readonly stdout: string;
  readonly stderr: string;
}

/** What a sandbox says of an execution: how its fuel was used, and what to do about an error. */
export interface Execution {
  readonly fuel_analysis: JsonObject | null;
  readonly error_guidance: JsonObject | null;
}

/**
 * What a program says of its own budget, in edge units. It belongs to the program and holds at every door: an operator's run takes it
 * in place of the defaults, a run that an agent starts and every child takes what of it is tighter.
 */
export interface ProgramTerms {
  readonly limits?: BudgetLimits;
  readonly policies?: BudgetPolicies;
  /** What the session of a run may use in all. Each run of the program is clamped to it, in a session or without one. */
  readonly session_limits?: BudgetLimits;
  /** Where it is written, for people: a file's name. */
  readonly from?: string;
}

/** Something that a run can execute. */
export interface Program {
  readonly kind: string;
  readonly name: string;
  /** Tells whether it is still the same program. */
  readonly digest: string;
  /** What another process needs in order to execute it too; null when it knows the program by its name. */
  readonly source: JsonObject | null;
  /**
   * Changes whenever the code does, where the digest may stay the same: a name and a version do not tell. A run goes on with a program of
   * other code only when an operator allows it.
   */
  readonly code?: string;
  /** The programs that it alone may start, by the names under which it does. */
  readonly children?: readonly Program[];
  /** What it says of its own budget. */
  readonly terms?: ProgramTerms;
  /** What it will take, as far as that can be read off the program itself; null when it cannot. Nothing is done for it. */
  expects?(input: Json, known: Known): Promise<Opinion | null>;
  /**
   * What this process lacks to go on with it, in words for people; nothing when it has all. `needs` is what the program said when it was
   * saved, or null when it begins from the beginning.
   */
  missing?(needs: JsonObject | null): Promise<readonly string[]>;
  /** Executes it to its end, from where it was saved if it was. */
  play(stage: Stage, input: Json): Played;
}

/** A program under way. */
export interface Played {
  readonly result: Promise<Json>;
  /** Settled when the program is as it was saved; until then nothing is done for it. */
  readonly ready?: Promise<void>;
  /**
   * The program as it is while it waits for answers; null when it has to be replayed. Its member `needs`, if there is one, is what a process
   * must have to go on from there.
   */
  snapshot?(): Promise<JsonObject | null>;
}

import type { Language, RunOptions, SessionOptions, TrapReason } from "@bursar/sandbox";

/** How a program came to its end: with the exit code 0, with another one, or stopped for a reason. */
export type Ending = "well" | "badly" | NonNullable<TrapReason>;

/** A program that wants to get out, to break something, or to use up everything there is. */
export interface HostileProgram {
  readonly name: string;
  readonly language: Language;
  /** `@outside@` stands for a folder of the host with a file `canary.txt`, `@secret@` for a variable of the host's. */
  readonly code: string;
  readonly options?: Omit<SessionOptions, "language">;
  readonly run?: Pick<RunOptions, "handlers" | "stdin" | "timeout">;
  /** Every end that is right; which one it is may depend on the build of the guest. */
  readonly ends: Ending | readonly Ending[];
  /** All of its standard output. */
  readonly says?: string;
  /** A part of its standard error. */
  readonly complains?: string;
  /** Where more came out than is kept. */
  readonly truncated?: readonly ("stdout" | "stderr")[];
}

/** Small, so that what runs until it is stopped is stopped soon. */
export const LITTLE_FUEL = 100_000_000;

/** For a program whose point is its deadline; nothing is said about how exactly it is met. */
export const SHORT = 300;

/** Python that tries something, and tells what came of it: what it got, or the name of the refusal. */
export const ATTEMPT = `
import os
def attempt(what, *args, **more):
    try:
        print("did", what(*args, **more))
    except (OSError, ImportError, AttributeError, ValueError) as error:
        print("refused", type(error).__name__)
`;

/** The same in JavaScript, where most refusals are numbers or null. */
export const ATTEMPT_JS = `
import * as std from "std";
import * as os from "os";
const attempt = (what) => {
  try {
    const got = what();
    console.log(got === null || got === undefined || got < 0 || (Array.isArray(got) && got[1] !== 0) ? "refused" : "did " + got);
  } catch (error) {
    console.log("refused");
  }
};
`;

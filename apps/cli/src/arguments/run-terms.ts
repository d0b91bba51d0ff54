import {
  type BudgetLimits,
  type BudgetPolicies,
  checkSessionName,
  InputError,
  type Program,
  readPolicies,
  type StartOptions,
} from "bursar";
import { ConfigError, type Configuration, effectiveBudget, type SharedOpening } from "bursar/config";
import { CommandError, UsageError } from "../app/errors.js";
import type { FoundProgram } from "../app/programs/find-program.js";
import { understood } from "./policy-flag.js";
import { readSpan } from "./read-span.js";
import { amountsOf, type Given, limitsOf, pairsOf, textOf } from "./run-flags.js";

/** What the flags say of a run. What they leave open, its program and the configuration say. */
export interface Terms {
  readonly start: Omit<StartOptions, "session">;
  /** The budgets above it, outermost first. */
  readonly shared: readonly SharedOpening[];
}

export function termsOf(config: Configuration, flags: Given, { program }: FoundProgram, now: number): Terms {
  const session = sessionOf(flags, program);
  const answer = asked(() =>
    understood(
      effectiveBudget({
        config,
        policy: textOf(flags, "policy"),
        agent: program.name,
        authority: "operator",
        session,
      }),
    ),
  );
  if (answer.kind === "refused") {
    throw new CommandError(answer.refusals.map(({ message }) => message).join("\nbursar: "));
  }
  const aside = textOf(flags, "wrap-up");
  const id = textOf(flags, "id");
  const deadline = textOf(flags, "deadline");
  const budget = textOf(flags, "budget");
  const exhaustion = textOf(flags, "exhaustion");
  return {
    shared: answer.budget.shared,
    start: {
      ...(budget !== undefined && { limits: limitsOf(budget, "--budget") }),
      ...(exhaustion !== undefined && { policies: policiesOf(exhaustion, config) }),
      ...(flags["session-budget"] !== undefined && session?.limits !== undefined && { session_limits: session.limits }),
      ...(aside !== undefined && { wrap_up: amountsOf(aside, "--wrap-up") }),
      ...(id !== undefined && { id: checkedId(id) }),
      ...(deadline !== undefined && { deadline: readDeadline(deadline, now) }),
    },
  };
}

/** What is wrong with limits that were given here is wrong with the command line. */
function asked<Answer>(ask: () => Answer): Answer {
  try {
    return ask();
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    throw new UsageError(error.message);
  }
}

function policiesOf(text: string, { dimensions }: Configuration): BudgetPolicies {
  try {
    return readPolicies(pairsOf(text, "--exhaustion"), dimensions);
  } catch (error) {
    if (!(error instanceof InputError)) throw error;
    throw new UsageError(error.message.replace(/^policies\./, "--exhaustion: "));
  }
}

/** The limits of a session that is not open yet: what the flag says goes before what the program says. */
function sessionOf(flags: Given, { terms }: Program): { readonly name: string; readonly limits: BudgetLimits } | null {
  const name = textOf(flags, "session");
  const given = textOf(flags, "session-budget");
  if (name === undefined) {
    if (given === undefined) return null;
    throw new UsageError("--session-budget says nothing without --session");
  }
  checkSession(name);
  const limits = given === undefined ? {} : limitsOf(given, "--session-budget");
  return { name, limits: { ...terms?.session_limits, ...limits } };
}

/** Throws when a session that --session names cannot be called so. */
export function checkSession(name: string): void {
  try {
    checkSessionName(name);
  } catch (error) {
    throw error instanceof InputError ? new UsageError(`--${error.message}`) : error;
  }
}

function checkedId(id: string): string {
  if (/^[\w.-]{1,100}$/.test(id)) return id;
  throw new UsageError(`--id is ${id.slice(0, 40)}; allowed: 1 to 100 letters, digits, ".", "_" and "-"`);
}

const ISO = /^\d{4}-\d{2}-\d{2}T[\d:.]+(?:Z|[+-]\d{2}:\d{2})$/;

/** `10m` from now, or an instant. */
function readDeadline(text: string, now: number): Date {
  const span = readSpan(text);
  const instant = span === null ? (ISO.test(text) ? Date.parse(text) : Number.NaN) : now + span;
  if (Number.isNaN(instant)) {
    throw new UsageError(`--deadline is ${text.slice(0, 40)}; allowed: a time such as 10m, or 2027-01-31T12:00:00Z`);
  }
  if (instant <= now) {
    const at = new Date(now).toISOString().replace(/\.\d+Z$/, "Z");
    throw new UsageError(`--deadline is ${text.slice(0, 40)}, and that is over: it is ${at}; nothing could be started`);
  }
  return new Date(instant);
}

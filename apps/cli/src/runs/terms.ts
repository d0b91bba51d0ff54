import { checkSessionName, InputError, type StartOptions } from "bursar";
import {
  ConfigError,
  type Configuration,
  type EffectiveBudget,
  effectiveBudget,
  type Override,
  type SessionInput,
} from "bursar/config";
import { CommandError, UsageError } from "../args.js";
import { readSpan } from "../render/quantities.js";
import { amountsOf, type Given, limitsOf, pairsOf, textOf } from "./flags.js";
import { understood } from "./policy-flag.js";
import type { FoundProgram } from "./program.js";

/** What a run is started with. */
export interface Terms {
  readonly start: Omit<StartOptions, "session">;
  readonly effective: EffectiveBudget;
}

/** The budget of a run: what the configuration gives it, what its plan says, and what the flags say. */
export function termsOf(config: Configuration, flags: Given, found: FoundProgram, now: number): Terms {
  const answer = asked(() =>
    understood(
      effectiveBudget({
        ...{ config, policy: textOf(flags, "policy"), agent: found.program.name, authority: "operator" },
        session: sessionOf(flags, found),
        override: overrideOf(flags, found.override),
      }),
    ),
  );
  if (answer.kind === "refused") {
    throw new CommandError(answer.refusals.map(({ message }) => message).join("\nbursar: "));
  }
  const { opening, wrap_up } = answer.budget;
  const aside = textOf(flags, "wrap-up");
  const reserve = aside === undefined ? wrap_up : amountsOf(aside, "--wrap-up");
  const id = textOf(flags, "id");
  const deadline = textOf(flags, "deadline");
  return {
    effective: answer.budget,
    start: {
      ...{ limits: opening.limits, policies: opening.policies, approval_ms: answer.budget.approval_expiry_ms.value },
      ...(opening.thresholds !== undefined && { thresholds: opening.thresholds }),
      ...(reserve !== null && { wrap_up: reserve }),
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
    throw new UsageError(error.message.replace(/^override\.policies\./, "--exhaustion: "));
  }
}

/** Flags are laid over what a plan says of itself. */
function overrideOf(flags: Given, plan: Override | null): Override | undefined {
  const budget = textOf(flags, "budget");
  const exhaustion = textOf(flags, "exhaustion");
  if (budget === undefined && exhaustion === undefined) return plan ?? undefined;
  const limits = budget === undefined ? {} : limitsOf(budget, "--budget");
  const policies = exhaustion === undefined ? {} : pairsOf(exhaustion, "--exhaustion");
  const from = [budget === undefined ? "" : "--budget", exhaustion === undefined ? "" : "--exhaustion"];
  return {
    limits: { ...plan?.limits, ...limits },
    policies: { ...plan?.policies, ...policies },
    from: [...from, plan?.from ?? ""].filter((each) => each !== "").join(", "),
  };
}

function sessionOf(flags: Given, { session: planned }: FoundProgram): SessionInput | null {
  const name = textOf(flags, "session");
  const given = textOf(flags, "session-budget");
  if (name === undefined) {
    if (given === undefined) return null;
    throw new UsageError("--session-budget says nothing without --session");
  }
  checkSession(name);
  const limits = { ...planned, ...(given === undefined ? {} : limitsOf(given, "--session-budget")) };
  return { name, limits };
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

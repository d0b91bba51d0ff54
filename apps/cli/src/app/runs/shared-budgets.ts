import {
  type Amounts,
  type Budget,
  type BudgetLimits,
  InputError,
  type Opening,
  readLimits,
  readPolicies,
  type Store,
  sessionBudget,
  tenantSession,
} from "bursar";
import type { SharedOpening } from "bursar/config";
import { nearest } from "bursar/nearest";
import { sessionViews } from "bursar/views";
import { CommandError, UsageError } from "../errors.js";

/** A session that a run is to be started in, and what whoever starts it should know about it. */
export interface SharedPlace {
  readonly session: string | null;
  readonly note: string | null;
}

/**
 * Opens the budgets above a run that are not open yet, outermost first. A run without a session is started in one that is
 * its tenant's, so that what it uses counts there.
 */
export async function openShared(
  store: Store,
  shared: readonly SharedOpening[],
  /** Whether the session's limits were said just now, so that others must not be passed over. */
  stated: boolean,
  /** The sessions that the configuration names. */
  named: readonly string[] = [],
): Promise<SharedPlace> {
  let parent: string | null = null;
  let session: string | null = null;
  let note: string | null = null;
  for (const each of shared) {
    session = each.kind === "tenant" ? tenantSession(each.name) : each.name;
    const budget = sessionBudget(session);
    const wanted = readLimits(each.opening.limits, store.dimensions);
    const open = await store.budget(budget);
    if (open === null && isUnheardOf(each)) {
      if (parent === null) throw await notOpen(store, each.name, named);
      note = `the session ${each.name} is new, and has no limits but the tenant's`;
    }
    const there = open ?? (await opened(store, budget, parent, each));
    // Whoever says nothing of its limits takes it as it is.
    if (there !== null && Object.keys(wanted).length > 0 && !isSame(there.limits, wanted)) {
      const complaint = `the ${each.kind} ${each.name} is open already, with other limits, and those never change`;
      if (each.kind === "session" && stated) {
        throw new CommandError(`${complaint}; leave --session-budget out, or take another session`);
      }
      note = complaint;
    }
    parent = budget;
  }
  return { session, note };
}

/** What budgets above a run leave it: the innermost that is open, and the limits that all others would be opened with. */
export async function sharedTerms(
  store: Store,
  shared: readonly SharedOpening[],
  /** The sessions that the configuration names. */
  named: readonly string[] = [],
): Promise<{ readonly within: BudgetLimits; readonly session?: string }> {
  const within: Record<string, number | null | undefined> = {};
  let session: string | null = null;
  for (const each of shared) {
    const { kind, name, opening } = each;
    const id = kind === "tenant" ? tenantSession(name) : name;
    if ((await store.budget(sessionBudget(id))) !== null) session = id;
    // As whoever starts such a run is told; below a tenant it would be a new one.
    else if (isUnheardOf(each) && shared.length === 1) throw await notOpen(store, name, named);
    else
      for (const [dimension, limit] of Object.entries(opening.limits))
        within[dimension] = tighter(within[dimension], limit);
  }
  return { within: within as BudgetLimits, ...(session !== null && { session }) };
}

/** A session that nobody has opened, and that nothing gives limits: a name that was mistyped must not be one without any. */
function isUnheardOf({ kind, origin, opening }: SharedOpening): boolean {
  return kind === "session" && origin.place === null && Object.keys(opening.limits).length === 0;
}

async function notOpen(store: Store, name: string, named: readonly string[]): Promise<InputError> {
  const open = (await sessionViews(store)).map(({ session }) => session);
  const guess = nearest(name, [...open, ...named]);
  const hint = guess === null ? "" : `; did you mean ${guess}?`;
  return new InputError("session", `${name} is not open, and nothing says what it may use${hint}`);
}

/** For who has named the session on a command line. */
export async function asUsage<Value>(work: Promise<Value>): Promise<Value> {
  try {
    return await work;
  } catch (error) {
    if (!(error instanceof InputError)) throw error;
    const { message } = error;
    throw new UsageError(
      `${message}${message.endsWith("?") ? " Or open it:" : "; open it:"} --session-budget cost_usd=5`,
    );
  }
}

function tighter(a: number | null | undefined, b: number | null | undefined): number | null | undefined {
  if (b === null || b === undefined) return a;
  return a === null || a === undefined ? b : Math.min(a, b);
}

async function opened(store: Store, id: string, parent: string | null, shared: SharedOpening): Promise<Budget | null> {
  const { limits, policies, thresholds } = shared.opening;
  const { dimensions } = store;
  const opening: Opening = {
    id,
    scope: "shared",
    grant: { kind: "limits", limits: readLimits(limits, dimensions) },
    policies: readPolicies(policies, dimensions),
    ...(thresholds !== undefined && { thresholds }),
  };
  try {
    await store.apply([{ op: "open", parent, opening }]);
    return null;
  } catch (error) {
    // Somebody else may have been faster.
    const there = await store.budget(id);
    if (there === null) throw error;
    return there;
  }
}

function isSame(a: Amounts, b: Amounts): boolean {
  const ids = new Set([...Object.keys(a), ...Object.keys(b)]);
  return [...ids].every((id) => a[id] === b[id]);
}

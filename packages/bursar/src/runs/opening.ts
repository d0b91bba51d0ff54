import type { Json, JsonObject } from "../core/chain/canonical.js";
import type { Grant, Opening } from "../core/children.js";
import { decide } from "../core/decision.js";
import type { Dimensions } from "../core/dimensions.js";
import { InputError, type LedgerError, show } from "../core/errors.js";
import { explainDecision } from "../core/explain.js";
import { checkKeys, checkWait } from "../core/fields.js";
import type { BudgetAmounts, BudgetLimits, BudgetPolicies } from "../core/input.js";
import type { Operation } from "../core/operation.js";
import type { Policies } from "../core/policy.js";
import type { Preflight, PreflightPolicy } from "../foresight/preflight.js";
import type { Program } from "../ports/program.js";
import type { Store } from "../ports/store.js";
import { checkPreflight } from "./bursar-options.js";
import { stopClock } from "./clocks.js";
import type { ChildGrant, ChildRequest } from "./deed.js";
import type { Left } from "./ending.js";
import { RunError } from "./error.js";
import { checkHints, type ExecutionHints, hintedExtensions } from "./hints.js";
import { type Checked, describePreflight } from "./preflight.js";
import { heldBack } from "./preflight-request.js";
import { mayDecide, type Principal } from "./principal.js";
import { type Failure, type ProgramRef, putRun, type RunRecord, record } from "./record.js";
import { sessionBudget } from "./session-budget.js";
import { childTerms, type RunTerms, type TermOrigins } from "./terms.js";

/** What may be said about a run when it is started, in edge units. */
export interface StartOptions {
  /** A name of its own; started again under the same, it is the same run. */
  readonly id?: string;
  /** Absent keys take the program's own terms, then what the governance in force gives, then the table's defaults; null is no limit. */
  readonly limits?: BudgetLimits;
  readonly policies?: BudgetPolicies;
  readonly thresholds?: readonly number[];
  readonly deadline?: Date | null;
  /** The session it belongs to: what its limits leave clamps the run's own. */
  readonly session?: string;
  /** What the session may use in all, in place of what the program says of it; the session is opened with it if it is not open yet. */
  readonly session_limits?: BudgetLimits;
  /** Set aside from the start for the final answer. */
  readonly wrap_up?: BudgetAmounts;
  /** How long what it asks for waits for an answer; else as long as whoever drives it says. */
  readonly approval_ms?: number;
  /** What becomes of it when its 95 % does not fit: whoever is no operator may only ask for a stricter one than is set. */
  readonly preflight?: PreflightPolicy;
  /** Execution hints, which only an operator may give. */
  readonly hints?: ExecutionHints;
}

const KEYS = [
  "id",
  "limits",
  "policies",
  "thresholds",
  "deadline",
  "session",
  "wrap_up",
  "approval_ms",
  "session_limits",
  "preflight",
  "hints",
];

/** Throws when somebody says more about a run than there is to say, or than is his to say. */
export function checkStart(options: StartOptions, by: Principal): void {
  checkKeys(options, "options", KEYS);
  if (options.id !== undefined) checkId(options.id);
  if (options.approval_ms !== undefined) checkWait(options.approval_ms, "approval_ms");
  if (options.preflight !== undefined) checkPreflight(options.preflight, "preflight");
  checkHints(options.hints, by);
  if (options.session_limits !== undefined) mayDecide(by, "set the limits of a session");
}

const LONGEST_ID = 200;

/**
 * Names with a colon or a slash are those of sessions, of keys, of the parts of a journal and of what is set aside; a number behind a
 * point is that of a child. Whoever could choose one of them could take the place of what it belongs to.
 */
function checkId(id: string): void {
  const isName = typeof id === "string" && id !== "" && id.length <= LONGEST_ID && !/[\p{Cc}:/]|\.\d+$/u.test(id);
  if (isName) return;
  const allowed = `1 to ${LONGEST_ID} characters without ":" and "/", and no number behind a "." at the end`;
  throw new InputError("id", `is ${show(id)}; allowed: ${allowed}`);
}

/** What is known before a run is written. */
interface Beforehand {
  readonly dimensions: Dimensions;
  readonly checked: Checked | null;
  /** How long a request waits for an answer, unless the run says otherwise. */
  readonly approval_ms: number;
}

interface New {
  readonly id: string;
  readonly program: Program;
  readonly input: Json;
  readonly instant: number;
  readonly by: string;
  /** Whether somebody has brought the program along who may not decide. */
  readonly brought: boolean;
}

/** The budget of a new run. */
export function openingOf(id: string, options: StartOptions, { limits, policies }: RunTerms): Opening {
  return {
    id,
    scope: "run",
    grant: { kind: "limits", limits, clamp: true },
    policies,
    deadline: options.deadline?.getTime() ?? null,
    ...(options.thresholds !== undefined && { thresholds: options.thresholds }),
  };
}

/** What is set aside in the budget of a new run; null when nothing is. */
export function asideOf(id: string, { wrap_up }: RunTerms): Opening | null {
  return wrap_up === null ? null : { id: `${id}/wrap-up`, scope: "run", grant: { kind: "wrap_up", amounts: wrap_up } };
}

/** What is written for a new run, all of it at once; `checked` is what was found when it was looked at beforehand. */
export function openRun(
  start: New,
  options: StartOptions,
  terms: RunTerms,
  { dimensions, checked, approval_ms: wait_ms }: Beforehand,
): readonly Operation[] {
  const { id, by } = start;
  const { session = null, approval_ms = null, preflight: said } = options;
  const parent = session === null ? null : sessionBudget(session);
  const opening = openingOf(id, options, terms);
  const operations: Operation[] = [{ op: "open", parent, chain: id, opening }];
  const aside = asideOf(id, terms);
  if (aside !== null) operations.push({ op: "open", parent: id, opening: aside });
  operations.push(...hintedExtensions(options.hints, id, by, dimensions));
  const estimate = checked?.preflight.estimate ?? null;
  const own = { budget: id, shares: false, wrap_up: aside?.id ?? null } as const;
  const inherited = { ...(said !== undefined && { preflight: said }), ...withOrigins(terms) };
  const blank = blankRun(start, { ...own, ...inherited, session, approval_ms, estimate });
  return [...operations, ...begun(blank, { dimensions, checked, approval_ms: wait_ms })];
}

/** How a new run begins whose budget is open: as it is, or otherwise where what it is expected to take does not fit. */
function begun(run: RunRecord, { dimensions, checked, approval_ms }: Beforehand): readonly Operation[] {
  const operations: Operation[] = [recordStart(run)];
  if (checked === null) return [...operations, putRun(run), ...stopClock(run)];
  const { preflight, policy } = checked;
  const { parent, program } = run;
  // A child may share a chain with others, where it has to be said whose estimate it is.
  const whose = parent === null ? {} : { parent, program: program.name };
  const described = describePreflight(preflight, dimensions);
  operations.push(record(run, "RunEstimated", { ...whose, preflight: policy, ...described }));
  if (preflight.fits || policy === "warn") return [...operations, putRun(run), ...stopClock(run)];
  const left = policy === "refuse" ? turnedAway(run, preflight) : heldBack(run, checked, { dimensions, approval_ms });
  operations.push(...left.operations, putRun(left.run));
  return policy === "refuse" ? operations : [...operations, ...stopClock(run)];
}

/** A new run that ends before it begins, because what it is expected to take does not fit. */
function turnedAway(run: RunRecord, { dimensions }: Preflight): Left {
  const over = dimensions.filter(({ missing }) => missing > 0);
  const figures = over.map(({ dimension, upper, limit, missing }) => ({ dimension, upper, limit, missing }));
  const told = over.map(({ dimension, upper, limit }) => `${dimension} may take ${upper} and has ${limit}`).join(", ");
  const advice =
    run.parent === null
      ? 'raise the limits, or start it with preflight "warn"'
      : 'give it more of the budget above, or start the run above with preflight "warn"';
  const message = `what the run is expected to take does not fit: ${told}; ${advice}`;
  const failure: Failure = { code: "estimated_over", message, data: { over: figures }, dimension: null };
  const done: RunRecord = { ...run, status: "failed", failure, ended: run.created };
  const operations: Operation[] = [record(run, "RunEnded", { status: "failed", failure })];
  if (run.wrap_up !== null) operations.push({ op: "end", budget: run.wrap_up });
  if (!run.shares) operations.push({ op: "end", budget: run.budget });
  return { run: done, operations };
}

/** What is written for a new run below another. */
export function openChild(
  start: New,
  parent: RunRecord,
  { grant }: ChildRequest,
  beforehand: Beforehand & { readonly inherited: Policies },
): readonly Operation[] {
  const { id, program } = start;
  const { session, approval_ms, preflight } = parent;
  const inherited = { session, approval_ms, ...(preflight !== undefined && { preflight }) };
  const place = { parent: parent.id, depth: parent.depth + 1, ...inherited, wrap_up: null };
  const { opening, origins } = childOpening(id, grant, program, beforehand);
  if (opening === null) {
    // What it takes is not told apart from what its parent does, so there is nothing to compare an estimate with.
    return begun(blankRun(start, { ...place, budget: parent.budget, shares: true }), beforehand);
  }
  const estimate = beforehand.checked?.preflight.estimate ?? null;
  const child = blankRun(start, { ...place, budget: id, shares: false, estimate, ...withOrigins({ origins }) });
  return [{ op: "open", parent: parent.budget, chain: id, opening }, ...begun(child, beforehand)];
}

/**
 * The budget of a new run below another: what the one above grants, and no more than its own program says. One that shares has no budget
 * of its own, unless its program limits something: then it gets one inside of the shared budget, where each of its calls counts too.
 */
export function childOpening(
  id: string,
  grant: ChildGrant,
  { terms = {} }: Pick<Program, "terms">,
  { dimensions, inherited }: { readonly dimensions: Dimensions; readonly inherited: Policies },
): { readonly opening: Opening | null; readonly origins: TermOrigins } {
  const granted = grant.kind === "share" ? { limits: {}, policies: {} } : grant;
  const { limits, policies, origins } = childTerms(granted, terms, inherited, dimensions);
  if (grant.kind === "share" && Object.keys(limits).length === 0) return { opening: null, origins: {} };
  const given: Grant =
    grant.kind === "fraction"
      ? { kind: "fraction", of: grant.of, most: limits }
      : { kind: "limits", limits, clamp: grant.kind === "limits" };
  return { opening: { id, scope: "run", grant: given, policies }, origins };
}

/** Only what is not as in the table is kept with a run. */
function withOrigins({ origins }: Pick<RunTerms, "origins">): Pick<RunRecord, "terms"> {
  return Object.keys(origins).length === 0 ? {} : { terms: origins };
}

type Place = Pick<RunRecord, "budget" | "shares" | "wrap_up" | "session" | "approval_ms"> & Partial<RunRecord>;

function blankRun({ id, program, input, instant, by, brought }: New, place: Place): RunRecord {
  return {
    ...(brought && { brought }),
    id,
    status: "queued",
    program: refOf(program),
    input,
    parent: null,
    depth: 0,
    started_by: by,

    created: instant,
    ended: null,
    estimate: null,
    pause: null,
    cancel: null,
    requests: {},
    result: null,
    failure: null,
    output: { stdout: "", stderr: "" },
    execution: null,
    version: 0,
    ...place,
  };
}

/** Of which code it is, is known when it is played. */
function refOf({ kind, name, digest, source }: Program): ProgramRef {
  return { kind, name, digest, source };
}

function recordStart({ id, budget, program, parent, session, started_by, terms }: RunRecord): Operation {
  const { kind, name, digest } = program;
  const whose = terms === undefined ? {} : { terms: terms as unknown as JsonObject };
  return record({ id, budget }, "RunStarted", {
    program: { kind, name, digest },
    parent,
    session,
    started_by,
    ...whose,
  });
}

export function notOpen(session: string): InputError {
  return new InputError("session", `${session} is not open; open it with its limits first`);
}

/** Why a run could not be opened in its session. */
export async function unopened(store: Store, session: string, error: LedgerError): Promise<Error> {
  const path = await store.path(sessionBudget(session));
  if (path.length === 0) return notOpen(session);
  const decision = decide(path, {}, store.clock.now(), store.dimensions);
  if (decision.kind === "admitted") return error;
  const dimension = decision.findings[0]?.dimension ?? null;
  const why = explainDecision(decision, store.dimensions);
  return new RunError("exhausted", `no run can be started in session ${session}: ${why}`, { dimension });
}

import type { Amounts } from "../core/amount.js";
import { printDecimal } from "../core/decimal.js";
import { printAmount, readAmount } from "../core/dimension.js";
import type { Dimensions } from "../core/dimensions.js";
import { StaleError } from "../core/document.js";
import { BursarError, InputError } from "../core/errors.js";
import { Events } from "../core/events.js";
import { type BudgetAmounts, readExtension } from "../core/input.js";
import type { Operation } from "../core/operation.js";
import type { Store } from "../ports/store.js";
import { type ApprovalRequest, type Decided, isOpen, putApproval, readApproval } from "./approval.js";
import { isAnyStop, runOfCheckpoint } from "./checkpoint.js";
import { standsFor } from "./open-request.js";
import { isHeldBack, letGo, requestOf } from "./preflight-request.js";
import { mayDecide, type Principal } from "./principal.js";
import { putRun, type RunRecord, readRun, record } from "./record.js";
import { currentRequest, lookUpRequest } from "./request-needs.js";

/** How a request is answered with yes. */
export interface ApproveOptions extends DenyOptions {
  /** In edge units; what was suggested unless it says otherwise. Further dimensions may be named. */
  readonly extensions?: BudgetAmounts;
}

export interface DenyOptions {
  readonly by: Principal;
  readonly reason?: string | null;
  /** Lets the run go on though the code of its program was changed: that is played against the journal, and pauses where it differs. */
  readonly replayChanged?: boolean;
}

type ApprovalFailure =
  | "no_such_approval"
  | "decided"
  | "expired"
  | "no_room"
  | "no_run"
  | "not_open"
  | "ambiguous"
  | "too_little";

/** A request cannot be answered, or not any more. */
export class ApprovalError extends BursarError {
  override readonly name: string = "ApprovalError";

  constructor(code: ApprovalFailure, message: string) {
    super(code, message);
  }
}

/**
 * The request with this id, or the one that a run waits for at this checkpoint. A checkpoint at which it does not stand any more names
 * none: what it asks now is another question. `<run>/checkpoint` is wherever it stands. Where it waits for several, a checkpoint does not
 * say which of them is meant.
 */
export async function findApproval(store: Store, id: string): Promise<ApprovalRequest> {
  const document = await store.document("approval", id);
  if (document !== null) return currentRequest(store, readApproval(document));
  const name = runOfCheckpoint(id);
  const run = name === null ? null : await runNamed(store, name);
  const requests = run === null ? [] : await requestsOf(store, run.id);
  const isHere = isAnyStop(id) || id === run?.pause?.checkpoint_id;
  const asked = isHere ? requests : requests.filter((request) => isAskedAt(request, id));
  const { instant } = store.clock.now();
  const [first, ...others] = asked.filter((request) => isOpen(request, instant));
  if (first !== undefined && others.length > 0) throw ambiguous(id, [first, ...others]);
  const found = first ?? asked.find(isPending) ?? asked[0];
  if (found !== undefined) return found;
  if (isHere || run === null) {
    throw new ApprovalError("no_such_approval", `there is no request ${id}, and no checkpoint that waits for one`);
  }
  const now = run.pause === null ? `is ${run.status}` : `stands at ${run.pause.checkpoint_id}`;
  throw new ApprovalError("not_open", `run ${run.id} ${now}, and not at ${id} any more; nothing was decided`);
}

function isAskedAt({ checkpoint_id, waiting }: ApprovalRequest, id: string): boolean {
  return checkpoint_id === id || waiting.some((calls) => calls.checkpoint_id === id);
}

/** So many are named. */
const MOST_NAMED = 20;

function ambiguous(id: string, waiting: readonly ApprovalRequest[]): ApprovalError {
  const names = waiting.map((each) => `${each.id} (${each.exhausted_dimension ?? each.kind})`);
  const named = [...names.slice(0, MOST_NAMED), ...(names.length > MOST_NAMED ? ["…"] : [])].join(", ");
  const message = `${waiting.length} requests wait at ${id}; name the one that is meant: ${named}; nothing was decided`;
  return new ApprovalError("ambiguous", message);
}

/**
 * The same for who answers from afar and may have looked a while ago: he has to say which request he means, or at which checkpoint,
 * where that has a number.
 */
export async function findNamed(store: Store, id: string): Promise<ApprovalRequest> {
  const request = await findApproval(store, id);
  const run = isAnyStop(id) ? await runNamed(store, runOfCheckpoint(id) ?? "") : null;
  const stop = run?.pause?.checkpoint_id ?? id;
  if (stop === id) return request;
  throw new ApprovalError(
    "not_open",
    `${id} does not say which request is meant; name ${stop}, or request ${request.id}; nothing was decided`,
  );
}

/** What a run has to be allowed before it goes on from there; null where that is nothing, or nothing any more. */
export async function openRequest(store: Store, id: string): Promise<ApprovalRequest | null> {
  const request = await findApproval(store, id).catch((error: unknown) => {
    // Whoever adds something would add it to nothing.
    if (error instanceof ApprovalError && error.code === "ambiguous") throw error;
    return null;
  });
  return request !== null && isOpen(request, store.clock.now().instant) ? request : null;
}

async function runNamed(store: Store, id: string): Promise<RunRecord | null> {
  const document = await store.document("run", id);
  return document === null ? null : readRun(document);
}

/** The request with this id. A run has to stand still for it. */
export async function requestOfRun(store: Store, id: string): Promise<ApprovalRequest> {
  const request = await findApproval(store, id);
  const { run, budget } = request;
  if (run !== null) return request;
  const hint = "answer it with decide(), which drives nothing";
  throw new ApprovalError(
    "no_run",
    `request ${id} is for budget ${budget} alone, and no run stands still for it; ${hint}`,
  );
}

/** What somebody has to answer before a run goes on: its own requests, and those of the children it waits for. */
export async function pendingRequests(store: Store, run: string): Promise<readonly ApprovalRequest[]> {
  return (await requestsOf(store, run)).filter(isPending);
}

function isPending({ status }: ApprovalRequest): boolean {
  return status === "pending";
}

/** What a run stands still for, whatever has become of it; each request once, however many runs below it wait for it. */
async function requestsOf(store: Store, run: string): Promise<readonly ApprovalRequest[]> {
  const ids = await requestIds(store, run);
  const found = await Promise.all([...ids].map((id) => lookUpRequest(store, id)));
  return found.filter((request) => request !== null);
}

async function requestIds(store: Store, run: string): Promise<ReadonlySet<string>> {
  const { approvals = [], children = [] } = (await runNamed(store, run))?.pause ?? {};
  const below = await Promise.all(children.map((child) => requestIds(store, child)));
  return new Set([...approvals, ...below.flatMap((ids) => [...ids])]);
}

/** Says yes. The extension, the record of it, and that the run may go on are one transaction, and it happens once. */
export async function approve(
  store: Store,
  // Not a checkpoint: the run may go on and ask something else while this is tried again.
  { id }: ApprovalRequest,
  options: ApproveOptions,
): Promise<ApprovalRequest> {
  mayDecide(options.by, "decide over a request");
  return again(() => approveOnce(store, id, options));
}

async function approveOnce(store: Store, id: string, options: ApproveOptions): Promise<ApprovalRequest> {
  const request = await undecided(store, id);
  const extension = request.kind === "budget_extension" ? (options.extensions ?? suggestedOf(request)) : {};
  const decision = decisionBy(store, options, extension);
  const operations: Operation[] = [putApproval({ ...request, status: "approved", decision })];
  const additional = readExtension(extension, store.dimensions);
  if (Object.keys(additional).length > 0) {
    const budget = await budgetOf(store, request);
    await roomFor(store, budget, additional);
    const { name: approved_by } = options.by;
    operations.push({ op: "extend", budget, additional, approved_by, reason: decision.reason, must: true });
  }
  checkSuffices(request, additional, store.dimensions);
  operations.push(...(await recordDecision(store, request, "approved", decision)));
  if (request.kind !== "server_discovery")
    operations.push(...(await goingOn(store, await standingFor(store, request), { decided: request.id })));
  await store.apply(operations);
  return { ...request, status: "approved", decision, version: request.version + 1 };
}

/** A yes that lets nothing go on would only be followed by the same question. */
function checkSuffices(
  { exhausted_dimension: id, least_extension }: ApprovalRequest,
  additional: Amounts,
  dimensions: Dimensions,
): void {
  if (id === null || !dimensions.has(id)) return;
  const dimension = dimensions.get(id);
  const least = readAmount(dimension, least_extension[id] ?? 0, "up", id);
  const given = additional[id] ?? 0;
  if (given >= least) return;
  const amounts = `${printAmount(dimension, given)} more of ${id} lets no waiting call go on`;
  const remedy = `add at least ${printAmount(dimension, least)} (${id}=+${printDecimal(least, dimension.decimals)})`;
  throw new ApprovalError("too_little", `${amounts}; ${remedy}; nothing was decided`);
}

/** The runs that stand still for a request. One that has gone on meanwhile, or asks for something else, is none of them. */
async function standingFor(store: Store, { id, kind, run, waiting }: ApprovalRequest): Promise<readonly string[]> {
  if (kind !== "budget_extension") return run === null ? [] : [run];
  const runs = waiting.flatMap((calls) => (calls.run === null ? [] : [calls.run]));
  const found = await Promise.all(runs.map((each) => runNamed(store, each)));
  return found.flatMap((each) => (each !== null && standsFor(each, id) ? [each.id] : []));
}

/** Says no: the run is over, unless it was only about one action, which then is refused. */
export async function deny(store: Store, { id }: ApprovalRequest, options: DenyOptions): Promise<ApprovalRequest> {
  mayDecide(options.by, "decide over a request");
  return again(() => denyOnce(store, id, options));
}

/** Runs, and the request itself, may be written at the same moment by others who do not answer it, as when one more run waits for it. */
async function again<Value>(work: () => Promise<Value>): Promise<Value> {
  for (let turn = 1; ; turn++) {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof StaleError) || turn >= MOST_TURNS) throw error;
    }
  }
}

const MOST_TURNS = 100;

async function denyOnce(store: Store, id: string, options: DenyOptions): Promise<ApprovalRequest> {
  const request = await undecided(store, id);
  const decision = decisionBy(store, options, {});
  const operations: Operation[] = [putApproval({ ...request, status: "denied", decision })];
  operations.push(...(await recordDecision(store, request, "denied", decision)));
  const runs = await standingFor(store, request);
  if (request.kind === "capability_execution") operations.push(...(await goingOn(store, runs)));
  else if (request.kind === "budget_extension") {
    const { name: by } = options.by;
    const { exhausted_dimension, suggested_extension } = request;
    // Nothing is exhausted yet when a run was asked about before it began.
    const dimension = exhausted_dimension ?? Object.keys(suggested_extension)[0] ?? "";
    const { reason } = decision;
    operations.push(...(await recordDenials(store, request, dimension, by, reason)));
    const cancel = { by, reason, denied: { approval_id: request.id, dimension } };
    operations.push(...(await goingOn(store, runs, { cancel })));
  }
  await store.apply(operations);
  return { ...request, status: "denied", decision, version: request.version + 1 };
}

/** One word for each run that is denied, in its chain and with its checkpoint; where only clients wait, one in the budget's. */
async function recordDenials(
  store: Store,
  request: ApprovalRequest,
  dimension: string,
  by: string,
  reason: string | null,
): Promise<readonly Operation[]> {
  const events = Events.for(store.dimensions);
  const denied = (budget: string, checkpoint: string | null): Operation => {
    return { op: "record", budget, action: events.denied(dimension, checkpoint ?? "", by, reason) };
  };
  const runs = request.waiting.filter(({ run }) => run !== null);
  if (runs.length === 0) return [denied(await budgetOf(store, request), request.checkpoint_id)];
  const found = await Promise.all(runs.map(({ run }) => runNamed(store, run ?? "")));
  return runs.flatMap(({ checkpoint_id }, index) => {
    const run = found[index];
    return run === null || run === undefined ? [] : [denied(run.budget, checkpoint_id)];
  });
}

function decisionBy(store: Store, { by, reason = null }: DenyOptions, extension: BudgetAmounts): Decided {
  return { by: by.name, at: store.clock.now().instant, reason, extension: { ...extension } };
}

async function undecided(store: Store, id: string): Promise<ApprovalRequest> {
  const request = await findApproval(store, id);
  const { status, expires } = request;
  if (status === "pending" && expires > store.clock.now().instant) return request;
  if (status === "pending") await store.apply([putApproval({ ...request, status: "expired" })]).catch(() => {});
  if (status === "pending" || status === "expired") {
    throw new ApprovalError("expired", `request ${request.id} has expired; ${howToAskAnew(request)}`);
  }
  const who = request.decision?.by ?? "somebody";
  throw new ApprovalError("decided", `request ${request.id} was ${status} by ${who} already`);
}

function howToAskAnew({ run }: ApprovalRequest): string {
  return run === null ? "the next call that does not fit asks anew" : `resume run ${run} to ask anew`;
}

function suggestedOf({ suggested_extension }: ApprovalRequest): BudgetAmounts {
  return suggested_extension as BudgetAmounts;
}

async function roomFor(store: Store, budget: string, additional: Readonly<Record<string, number>>): Promise<void> {
  const found = await store.budget(budget);
  if (found === null) throw new InputError("budget", `${budget} is not there`);
  for (const id of Object.keys(additional)) {
    if (found.limits[id] === undefined) {
      throw new InputError(`extensions.${id}`, `has no limit in budget ${budget} that could be extended`);
    }
  }
}

/**
 * Lets runs go on that stand still, if only to their end, and with them those above, which wait for them. One that was asked about before
 * it began goes on only when that request, and no other, was `decided`.
 */
export async function goingOn(
  store: Store,
  ids: readonly string[],
  { cancel = null, decided }: { readonly cancel?: RunRecord["cancel"]; readonly decided?: string } = {},
): Promise<readonly Operation[]> {
  const operations: Operation[] = [];
  const asked = new Set(ids);
  const seen = new Set<string>();
  for (const id of ids) {
    for (let next: string | null = id; next !== null && !seen.has(next); ) {
      const run: RunRecord | null = await runNamed(store, next);
      if (run === null) break;
      const mayRise = run.status !== "paused" || rise(run, asked.has(run.id) ? cancel : null, decided, operations);
      if (!mayRise) break;
      seen.add(run.id);
      next = run.parent;
    }
  }
  return operations;
}

/** Tells whether a run that stands still goes on. */
function rise(
  run: RunRecord,
  cancel: RunRecord["cancel"],
  decided: string | undefined,
  operations: Operation[],
): boolean {
  const wanted = run.cancel ?? cancel;
  const isHeld = isHeldBack(run) && requestOf(run) !== decided;
  if (isHeld && wanted === null) return false;
  // Who is to end is taken up for that alone.
  if (wanted === null) operations.push(record(run, "RunResumed"));
  const awaits = run.pause?.children ?? [];
  const freed = { ...(isHeld ? run : letGo(run)), ...(awaits.length > 0 && { awaits }) };
  operations.push(putRun({ ...freed, status: "queued", pause: null, cancel: wanted }));
  return true;
}

/** The decision in the chain of every run that waits for it, once in each. */
async function recordDecision(
  store: Store,
  request: ApprovalRequest,
  status: string,
  { by, reason, extension }: Decided,
): Promise<readonly Operation[]> {
  const { id, run, kind, digest, waiting } = request;
  const data = { approval_id: id, kind, status, by, reason, extension, digest };
  const ids = new Set([...(run === null ? [] : [run]), ...waiting.flatMap((calls) => calls.run ?? [])]);
  const byBudget = new Map<string, string[]>();
  for (const each of ids) {
    const found = await runNamed(store, each);
    if (found !== null) byBudget.set(found.budget, [...(byBudget.get(found.budget) ?? []), found.id]);
  }
  if (byBudget.size === 0) {
    return [{ op: "record", budget: await chainOf(store, request), action: { action_type: "ApprovalDecided", data } }];
  }
  return [...byBudget].map(([budget, runs]) => {
    const [first = ""] = runs;
    return record({ id: first, budget }, "ApprovalDecided", { ...data, ...(runs.length > 1 && { runs }) });
  });
}

/** The budget that is extended: one on the path of the run's own, or of a key. */
async function budgetOf(store: Store, request: ApprovalRequest): Promise<string> {
  return request.budget ?? chainOf(store, request);
}

/** The budget in whose chain the decision is recorded: that of the run, where there is one. */
async function chainOf(store: Store, { id, run, budget }: ApprovalRequest): Promise<string> {
  const document = run === null ? null : await store.document("run", run);
  if (document !== null) return readRun(document).budget;
  if (run === null && budget !== null) return budget;
  throw new ApprovalError("no_such_approval", `there is no run ${run} any more that request ${id} could be for`);
}

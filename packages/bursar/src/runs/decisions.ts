import { StaleError } from "../core/document.js";
import { BursarError, InputError } from "../core/errors.js";
import { Events } from "../core/events.js";
import { type BudgetAmounts, readExtension } from "../core/input.js";
import type { Operation } from "../core/operation.js";
import type { Store } from "../ports/store.js";
import { type ApprovalRequest, type Decided, putApproval, readApproval } from "./approval.js";
import { isAnyStop, runOfCheckpoint } from "./checkpoint.js";
import { isHeldBack, letGo, requestOf } from "./preflight-request.js";
import { mayDecide, type Principal } from "./principal.js";
import { putRun, type RunRecord, readRun, record } from "./record.js";

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

type ApprovalFailure = "no_such_approval" | "decided" | "expired" | "no_room" | "no_run" | "not_open" | "ambiguous";

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
  if (document !== null) return readApproval(document);
  const name = runOfCheckpoint(id);
  const run = name === null ? null : await runNamed(store, name);
  const requests = run === null ? [] : await requestsOf(store, run.id);
  const isHere = isAnyStop(id) || id === run?.pause?.checkpoint_id;
  const asked = isHere ? requests : requests.filter(({ checkpoint_id }) => checkpoint_id === id);
  const { instant } = store.clock.now();
  const [first, ...others] = asked.filter((request) => isPending(request) && request.expires > instant);
  if (first !== undefined && others.length > 0) throw ambiguous(id, [first, ...others]);
  const found = first ?? asked.find(isPending) ?? asked[0];
  if (found !== undefined) return found;
  if (isHere || run === null) {
    throw new ApprovalError("no_such_approval", `there is no request ${id}, and no checkpoint that waits for one`);
  }
  const now = run.pause === null ? `is ${run.status}` : `stands at ${run.pause.checkpoint_id}`;
  throw new ApprovalError("not_open", `run ${run.id} ${now}, and not at ${id} any more; nothing was decided`);
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
  return request !== null && isPending(request) && request.expires > store.clock.now().instant ? request : null;
}

async function runNamed(store: Store, id: string): Promise<RunRecord | null> {
  const document = await store.document("run", id);
  return document === null ? null : readRun(document);
}

/** Makes sure that a run stands still for a request, and gives its id back. */
export async function requestOfRun(store: Store, id: string): Promise<string> {
  const { run, budget } = await findApproval(store, id);
  if (run !== null) return id;
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

/** What a run stands still for, whatever has become of it. */
async function requestsOf(store: Store, run: string): Promise<readonly ApprovalRequest[]> {
  const { approvals = [], children = [] } = (await runNamed(store, run))?.pause ?? {};
  const own = await Promise.all(approvals.map((id) => store.document("approval", id)));
  const below = await Promise.all(children.map((child) => requestsOf(store, child)));
  return [...own.flatMap((each) => (each === null ? [] : [readApproval(each)])), ...below.flat()];
}

/** Says yes. The extension, the record of it, and that the run may go on are one transaction, and it happens once. */
export async function approve(store: Store, id: string, options: ApproveOptions): Promise<ApprovalRequest> {
  mayDecide(options.by, "decide over a request");
  // Looked up once: the run may go on and ask something else while this is tried again.
  const request = await findApproval(store, id);
  return again(() => approveOnce(store, request.id, options));
}

async function approveOnce(store: Store, id: string, options: ApproveOptions): Promise<ApprovalRequest> {
  const request = await undecided(store, id);
  const extension = request.kind === "budget_extension" ? (options.extensions ?? suggestedOf(request)) : {};
  const decision = decisionBy(store, options, extension);
  const operations: Operation[] = [putApproval({ ...request, status: "approved", decision })];
  if (Object.keys(extension).length > 0) {
    const additional = readExtension(extension, store.dimensions);
    const budget = await budgetOf(store, request);
    await roomFor(store, budget, additional);
    const { name: approved_by } = options.by;
    operations.push({ op: "extend", budget, additional, approved_by, reason: decision.reason, must: true });
  }
  operations.push(await recordDecision(store, request, "approved", decision));
  if (request.kind !== "server_discovery")
    operations.push(...(await goingOn(store, request.run, { decided: request.id })));
  await once(store, operations, request);
  return { ...request, status: "approved", decision, version: request.version + 1 };
}

/** Says no: the run is over, unless it was only about one action, which then is refused. */
export async function deny(store: Store, id: string, options: DenyOptions): Promise<ApprovalRequest> {
  mayDecide(options.by, "decide over a request");
  const request = await findApproval(store, id);
  return again(() => denyOnce(store, request.id, options));
}

/** The run may be written by somebody else at the same moment, who has nothing to do with this request. */
async function again<Value>(work: () => Promise<Value>): Promise<Value> {
  for (let turn = 1; ; turn++) {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof StaleError) || error.kind !== "run" || turn >= MOST_TURNS) throw error;
    }
  }
}

const MOST_TURNS = 20;

async function denyOnce(store: Store, id: string, options: DenyOptions): Promise<ApprovalRequest> {
  const request = await undecided(store, id);
  const decision = decisionBy(store, options, {});
  const operations: Operation[] = [putApproval({ ...request, status: "denied", decision })];
  operations.push(await recordDecision(store, request, "denied", decision));
  if (request.kind === "capability_execution") operations.push(...(await goingOn(store, request.run)));
  else if (request.kind === "budget_extension") {
    const { name: by } = options.by;
    const { exhausted_dimension, suggested_extension, checkpoint_id } = request;
    // Nothing is exhausted yet when a run was asked about before it began.
    const dimension = exhausted_dimension ?? Object.keys(suggested_extension)[0] ?? "";
    const events = new Events(store.dimensions);
    const action = events.denied(dimension, checkpoint_id ?? "", by, decision.reason);
    operations.push({ op: "record", budget: await chainOf(store, request), action });
    operations.push(...(await goingOn(store, request.run, { cancel: { by, reason: decision.reason } })));
  }
  await once(store, operations, request);
  return { ...request, status: "denied", decision, version: request.version + 1 };
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
 * Lets a run go on that stands still, if only to its end, and with it those above, which wait for it. One that was asked about before
 * it began goes on only when that request, and no other, was `decided`.
 */
export async function goingOn(
  store: Store,
  id: string | null,
  { cancel = null, decided }: { readonly cancel?: RunRecord["cancel"]; readonly decided?: string } = {},
): Promise<readonly Operation[]> {
  const operations: Operation[] = [];
  for (let next: string | null = id; next !== null; ) {
    const document = await store.document("run", next);
    if (document === null) break;
    const run: RunRecord = readRun(document);
    if (run.status === "paused") {
      const asked = next === id ? (run.cancel ?? cancel) : run.cancel;
      const isHeld = isHeldBack(run) && requestOf(run) !== decided;
      if (isHeld && asked === null) break;
      // Who is to end is taken up for that alone.
      if (asked === null) operations.push(record(run, "RunResumed"));
      operations.push(putRun({ ...(isHeld ? run : letGo(run)), status: "queued", pause: null, cancel: asked }));
    }
    next = run.parent;
  }
  return operations;
}

async function recordDecision(
  store: Store,
  request: ApprovalRequest,
  status: string,
  { by, reason, extension }: Decided,
): Promise<Operation> {
  const { id, run, kind, digest } = request;
  const data = { approval_id: id, kind, status, by, reason, extension, digest };
  const budget = await chainOf(store, request);
  if (run !== null) return record({ id: run, budget }, "ApprovalDecided", data);
  return { op: "record", budget, action: { action_type: "ApprovalDecided", data } };
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

/** Two people may answer at the same moment; one of them does. */
async function once(store: Store, operations: readonly Operation[], request: ApprovalRequest): Promise<void> {
  try {
    await store.apply(operations);
  } catch (error) {
    if (!(error instanceof StaleError) || error.kind !== "approval") throw error;
    throw new ApprovalError("decided", `request ${request.id} was just decided by somebody else`);
  }
}

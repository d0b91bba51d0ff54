import type { BudgetId } from "../core/budget.js";
import type { JsonObject } from "../core/chain/canonical.js";
import type { Document } from "../core/document.js";
import type { Operation } from "../core/operation.js";
import type { Store } from "../ports/store.js";
import { newName } from "../runtime/names.js";
import { type ApprovalRequest, isOpen, putApproval, readApproval, type WaitingCalls } from "./approval.js";
import { putRun, type RunRecord, readRun } from "./record.js";
import { figuresOf } from "./request-needs.js";

/** What is exhausted, and what waits for more of it. */
export interface ExtensionQuestion {
  readonly budget: BudgetId;
  readonly dimension: string;
  readonly waiting: WaitingCalls;
  readonly action: JsonObject;
  readonly expires_ms: number;
  /** A request for the same that the run has made before. */
  readonly before?: string | undefined;
}

/** The request that a question is part of, and what has to be written for that, all in one transaction. */
export interface JoinedRequest {
  readonly request: ApprovalRequest;
  readonly isNew: boolean;
  /** Empty where nothing changes. */
  readonly operations: readonly Operation[];
}

/**
 * Joins the open request for a dimension of a budget, or makes it. There is one at a time, from whatever process it is asked for: a
 * document of the store names it, and is written anew with every new request, so that of two that are made at the same moment one fails
 * with a `StaleError` and is to be tried again.
 */
export async function joinRequest(store: Store, question: ExtensionQuestion): Promise<JoinedRequest> {
  const slot = await readSlot(store, question);
  const named = slot.approval ?? question.before;
  const document = named === undefined ? null : await store.document("approval", named);
  const open = document === null ? null : readApproval(document);
  const { instant } = store.clock.now();
  if (open !== null && isOpen(open, instant)) return join(store, question, slot, open);
  return ask(store, question, slot, open);
}

/** The request that is open for a dimension of a budget; null where none is. */
export async function findOpenRequest(store: Store, key: SlotKey): Promise<ApprovalRequest | null> {
  const { approval } = await readSlot(store, key);
  const document = approval === undefined ? null : await store.document("approval", approval);
  const request = document === null ? null : readApproval(document);
  return request !== null && isOpen(request, store.clock.now().instant) ? request : null;
}

async function join(
  store: Store,
  question: ExtensionQuestion,
  slot: Slot,
  open: ApprovalRequest,
): Promise<JoinedRequest> {
  const waiting = withCalls(open.waiting, question.waiting);
  const expires = Math.max(open.expires, store.clock.now().instant + question.expires_ms);
  // Written for a run in any case, so that it never waits for a request that is answered at the same moment.
  const isSame = question.waiting.run === null && JSON.stringify(waiting) === JSON.stringify(open.waiting);
  const joined: ApprovalRequest = { ...open, waiting, expires: isSame ? open.expires : expires };
  const request = { ...joined, ...(await figures(store, question, waiting)) };
  const operations = [
    ...(isSame ? [] : [putApproval(request)]),
    ...(slot.approval === open.id ? [] : [putSlot(question, slot, open.id)]),
  ];
  return { request, isNew: false, operations };
}

async function ask(
  store: Store,
  question: ExtensionQuestion,
  slot: Slot,
  before: ApprovalRequest | null,
): Promise<JoinedRequest> {
  const { budget, dimension, action, expires_ms } = question;
  const { instant } = store.clock.now();
  const id = newName(instant);
  // One that nobody has answered in time is asked anew, for all that wait for it.
  const late = before?.status === "pending" || before?.status === "expired" ? before : null;
  const others = late === null ? { runs: [], waiting: [] } : await stillWaiting(store, late, id, question.waiting.run);
  const waiting = withCalls(others.waiting, question.waiting);
  const { run, checkpoint_id, digest } = question.waiting;
  const request: ApprovalRequest = {
    id,
    status: "pending",
    kind: "budget_extension",
    run,
    checkpoint_id,
    about: aboutBudget(question),
    budget,
    exhausted_dimension: dimension,
    waiting,
    ...(await figures(store, question, waiting)),
    action,
    digest,
    requested: instant,
    expires: instant + expires_ms,
    decision: null,
    consumed_by: null,
    version: 0,
  };
  const operations: Operation[] = [putSlot(question, slot, id), putApproval(request), ...others.runs];
  if (late?.status === "pending") operations.push(putApproval({ ...late, status: "expired" }));
  return { request, isNew: true, operations };
}

async function figures(store: Store, { budget, dimension }: ExtensionQuestion, waiting: readonly WaitingCalls[]) {
  const { dimensions, clock } = store;
  return figuresOf(await store.path(budget), dimension, waiting, { dimensions, time: clock.now() });
}

/** What a request for more of a budget is about. */
export function aboutBudget({ budget, dimension }: { readonly budget: BudgetId; readonly dimension: string }): string {
  return `${budget} ${dimension}`;
}

/** The others that stand still for a request that has expired, which wait for the new one from now on. */
async function stillWaiting(store: Store, late: ApprovalRequest, next: string, but: string | null) {
  const runs: Operation[] = [];
  const waiting: WaitingCalls[] = [];
  const renamed = (id: string) => (id === late.id ? next : id);
  for (const calls of late.waiting) {
    const document = calls.run === null || calls.run === but ? null : await store.document("run", calls.run);
    const run = document === null ? null : readRun(document);
    if (run === null || !standsFor(run, late.id) || run.pause === null) continue;
    const requests = Object.fromEntries(Object.entries(run.requests).map(([about, id]) => [about, renamed(id)]));
    runs.push(putRun({ ...run, requests, pause: { ...run.pause, approvals: run.pause.approvals.map(renamed) } }));
    waiting.push(calls);
  }
  return { runs, waiting };
}

/** Whether a run stands still for a request. */
export function standsFor({ status, pause }: Pick<RunRecord, "status" | "pause">, request: string): boolean {
  return status === "paused" && pause !== null && pause.approvals.includes(request);
}

/** Calls of a run are counted anew whenever it stands still; of the clients of a budget it is known what the largest and smallest wanted. */
function withCalls(waiting: readonly WaitingCalls[], calls: WaitingCalls): readonly WaitingCalls[] {
  const before = waiting.find(({ run }) => run === calls.run);
  if (before === undefined) return [...waiting, calls];
  const merged = calls.run === null ? clientCalls(before, calls) : calls;
  return waiting.map((each) => (each === before ? merged : each));
}

function clientCalls(before: WaitingCalls, calls: WaitingCalls): WaitingCalls {
  const largest = Math.max(before.largest, calls.largest);
  return { ...before, smallest: Math.min(before.smallest, calls.smallest), largest, together: largest };
}

/** Takes back what a run has asked for and nobody has answered; where others wait for the same, the request stays open for them. */
export async function withdrawFrom(
  store: Store,
  run: string,
  requests: Readonly<Record<string, string>>,
): Promise<readonly Operation[]> {
  const operations: Operation[] = [];
  for (const id of new Set(Object.values(requests))) {
    const document = await store.document("approval", id);
    if (document?.status !== "pending") continue;
    const request = readApproval(document);
    const waiting = request.waiting.filter((calls) => calls.run !== run);
    const [first] = waiting;
    if (first === undefined) operations.push(putApproval({ ...request, status: "withdrawn" }));
    else operations.push(putApproval({ ...request, waiting, ...(request.run === run && ledBy(first)) }));
  }
  return operations;
}

/** What a request says of the first that waits for it. */
function ledBy({ run, checkpoint_id, digest, name }: WaitingCalls) {
  return { run, checkpoint_id, digest, action: { name } };
}

/** Which request is open for a dimension of a budget, or was the last. */
interface Slot {
  readonly approval: string | undefined;
  readonly version: number;
}

type SlotKey = Pick<ExtensionQuestion, "budget" | "dimension">;

function slotId({ budget, dimension }: SlotKey): string {
  return `request:${dimension} ${budget}`;
}

async function readSlot(store: Store, key: SlotKey): Promise<Slot> {
  const document: Document | null = await store.document("lease", slotId(key));
  if (document === null) return { approval: undefined, version: 0 };
  return { approval: String(document.body.approval), version: document.version };
}

function putSlot(key: SlotKey, { version }: Slot, approval: string): Operation {
  return {
    op: "put",
    kind: "lease",
    id: slotId(key),
    budget: key.budget,
    status: "request",
    body: { approval },
    version,
  };
}

/** What the chain says of a request; what the action was stands in the journal. */
export function describeRequest(request: ApprovalRequest): JsonObject {
  const { id, kind, exhausted_dimension, consumed, held, limits, suggested_extension, digest, expires } = request;
  const { needs, left } = request;
  const figures = { consumed, held, limits, needs, left, suggested_extension };
  return { approval_id: id, kind, exhausted_dimension, ...figures, digest, expires };
}

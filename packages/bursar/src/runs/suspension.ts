import { capOf } from "../core/budget.js";
import type { JsonObject } from "../core/chain/canonical.js";
import type { Finding } from "../core/decision.js";
import { writeAmount } from "../core/dimension.js";
import type { Dimensions } from "../core/dimensions.js";
import { Events } from "../core/events.js";
import { heldIn } from "../core/held.js";
import type { Operation } from "../core/operation.js";
import { askedTogether, leastExtension } from "../core/suggestion.js";
import type { Store } from "../ports/store.js";
import { newName } from "../runtime/names.js";
import { type ApprovalRequest, isOpen, NO_NEEDS, putApproval, readApproval, soleWaiting } from "./approval.js";
import { findItem } from "./batch-item.js";
import { stopId } from "./checkpoint.js";
import { stopClock } from "./clocks.js";
import type { Block } from "./direction.js";
import type { AskEntry } from "./journal.js";
import { aboutBudget, describeRequest, type JoinedRequest, joinRequest, withdrawFrom } from "./open-request.js";
import { type Pause, putRun, type RunRecord, readRun, record } from "./record.js";

export interface Blocked {
  readonly ask: AskEntry;
  readonly block: Block;
}

/** What a run that has to stand still leaves behind: itself, and the requests that somebody has to answer. */
export async function suspension(options: {
  readonly store: Store;
  readonly run: RunRecord;
  /** That of the claim under which it was driven until now. */
  readonly epoch: number;
  readonly blocked: readonly Blocked[];
  /** A clock that has run out while nothing else was asked for. */
  readonly timedOut: Finding | null;
  readonly expires_ms: number;
}): Promise<{ readonly run: RunRecord; readonly operations: readonly Operation[] }> {
  const { store, run } = options;
  const { instant } = store.clock.now();
  // Somebody wants it to end, so it goes on to its end instead.
  if (run.cancel !== null) return { run: { ...run, status: "queued" }, operations: [] };
  const { wanted, children, batches } = wantedBy(options.blocked, options.timedOut);
  const standing = (await anyAnswered(store, batches)) ? null : await childrenThatStand(store, children);
  // Who was just allowed to go on must not find a clock above that stands still.
  if (standing === null) return { run: { ...run, status: "queued" }, operations: [] };
  const requests: Record<string, string> = {};
  const operations: Operation[] = [...standing];
  const asked: ApprovalRequest[] = [];
  const isNew = new Set<ApprovalRequest>();
  for (const [about, want] of wanted) {
    const joined = await (want.kind === "budget" ? joinFor(options, about, want) : permissionFor(options, about, want));
    // Somebody has added to the budget since the call was refused.
    if (want.kind === "budget" && (await fitsByNow(store, want.findings))) {
      return { run: { ...run, status: "queued" }, operations: [] };
    }
    operations.push(...joined.operations);
    if (joined.isNew) isNew.add(joined.request);
    requests[about] = joined.request.id;
    asked.push(joined.request);
  }
  const kept = await keptRequests(store, run, wanted);
  operations.push(...kept.operations);
  const [worst] = asked.map(({ exhausted_dimension }) => exhausted_dimension).filter((each) => each !== null);
  const pause: Pause = {
    checkpoint_id: stopId(run.id, options.epoch),
    at: instant,
    approvals: asked.map(({ id }) => id),
    requested: [...isNew].map(({ id }) => id),
    children,
    batches,
    exhausted_dimension: worst ?? null,
  };
  const links = [...isNew].map((request) => record(run, "ApprovalRequested", describeRequest(request)));
  operations.push(
    record(run, "RunPaused", {
      ...pause,
      approvals: [...pause.approvals],
      requested: [...pause.requested],
      children,
      batches,
    }),
    ...links,
  );
  operations.push(...stopClock(run));
  const paused: RunRecord = { ...run, status: "paused", pause, requests: { ...kept.requests, ...requests } };
  return { run: paused, operations };
}

/** What is left of a run whose program does something else than before: it stands still, with what it waited for before. */
export function standsStill(
  { clock }: Pick<Store, "clock">,
  run: RunRecord,
  { epoch, problem }: { readonly epoch: number; readonly problem: string },
): { readonly run: RunRecord; readonly operations: readonly Operation[] } {
  // Somebody wants it to end, which does not take its program.
  if (run.cancel !== null) return { run: { ...run, status: "queued" }, operations: stopClock(run) };
  const { former_code: code, replay_changed: _, ...rest } = run;
  const pause: Pause = {
    checkpoint_id: stopId(run.id, epoch),
    at: clock.now().instant,
    exhausted_dimension: null,
    problem,
    approvals: [],
    requested: [],
    children: [],
    batches: [],
  };
  const program = code === undefined ? run.program : { ...run.program, code };
  const operations = [record(run, "RunPaused", { ...pause, approvals: [], requested: [], children: [], batches: [] })];
  return { run: { ...rest, program, status: "paused", pause }, operations: [...operations, ...stopClock(run)] };
}

/** What somebody has to be asked, once each, and which children and calls the run waits for. */
function wantedBy(blocked: readonly Blocked[], timedOut: Finding | null) {
  const wanted = new Map<string, Wanted>();
  if (timedOut !== null) wanted.set(aboutBudget(timedOut), { kind: "budget", findings: [timedOut], ask: null });
  const children: string[] = [];
  const batches: string[] = [];
  for (const { ask, block } of blocked) {
    if (block.kind === "child") children.push(block.run);
    else if (block.kind === "batch") batches.push(block.item);
    else if (block.kind === "capability") {
      wanted.set(aboutAction(ask.digest), { kind: "capability", action: block.action, ask });
    } else if (block.finding.budget !== "") {
      const about = aboutBudget(block.finding);
      const before = wanted.get(about);
      if (before?.kind === "budget") before.findings.push(block.finding);
      else wanted.set(about, { kind: "budget", findings: [block.finding], ask });
    }
  }
  return { wanted, children, batches };
}

type Wanted =
  /** The first call stands for all that wait for the same. */
  | { readonly kind: "budget"; readonly findings: [Finding, ...Finding[]]; readonly ask: AskEntry | null }
  | { readonly kind: "capability"; readonly action: JsonObject; readonly ask: AskEntry };

export function aboutAction(digest: string): string {
  return `action ${digest}`;
}

/** Whether an answer has come just now, so that the run need not stand still. */
async function anyAnswered(store: Store, batches: readonly string[]): Promise<boolean> {
  for (const id of batches) if ((await findItem(store, id))?.status === "answered") return true;
  return false;
}

/** The children that stand still, each held at what it is; null when one of them no longer does. */
async function childrenThatStand(store: Store, children: readonly string[]): Promise<readonly Operation[] | null> {
  const held: Operation[] = [];
  for (const id of children) {
    const document = await store.document("run", id);
    if (document?.status !== "paused") return null;
    held.push(putRun(readRun(document)));
  }
  return held;
}

type Options = Pick<Parameters<typeof suspension>[0], "store" | "run" | "epoch" | "expires_ms">;

/** The request for more of a budget that calls of this run wait for from now on, and maybe others too. */
function joinFor(
  { store, run, epoch, expires_ms }: Options,
  about: string,
  { findings, ask }: Extract<Wanted, { kind: "budget" }>,
): Promise<JoinedRequest> {
  const [{ budget, dimension }] = findings;
  const calls = { name: nameOf(ask), digest: ask?.digest ?? "", calls: findings.length };
  const amounts = amountsOf(findings, store.dimensions);
  return joinRequest(store, {
    budget,
    dimension,
    action: ask === null ? {} : { name: ask.name, args: ask.args },
    expires_ms,
    waiting: { run: run.id, checkpoint_id: stopId(run.id, epoch), ...calls, ...amounts },
    before: run.requests[about],
  });
}

/** What a call that waits is called, for people: a tool by its name. */
function nameOf(ask: AskEntry | null): string {
  if (ask === null) return "";
  const { name, args } = ask;
  const tool = name === "tool" && typeof args === "object" && args !== null && "name" in args ? args.name : null;
  return typeof tool === "string" ? tool : name;
}

function amountsOf(findings: readonly [Finding, ...Finding[]], dimensions: Dimensions) {
  const [{ dimension: id }] = findings;
  const dimension = dimensions.get(id);
  const asked = findings.map((finding) => finding.asked);
  const edge = (amount: number) => writeAmount(dimension, amount);
  return {
    smallest: edge(Math.min(...asked)),
    largest: edge(Math.max(...asked)),
    together: edge(askedTogether(id, asked, dimensions)),
  };
}

/** Whether a budget has been extended since these calls were refused, so that one of them can go on. */
async function fitsByNow(store: Store, findings: readonly Finding[]): Promise<boolean> {
  const time = store.clock.now();
  for (const { budget: id, dimension, limit, asked } of findings) {
    const budget = await store.budget(id);
    if (budget === null || capOf(budget, dimension) <= limit) continue;
    if (leastExtension(budget, store.dimensions.get(dimension), asked, time) === 0) return true;
  }
  return false;
}

/** What was asked before and is not decided yet: leave to act stays asked for, more of a budget only while something waits for it. */
async function keptRequests(store: Store, run: RunRecord, wanted: ReadonlyMap<string, Wanted>) {
  const gone: Record<string, string> = {};
  for (const [about, id] of Object.entries(run.requests)) {
    const document = wanted.has(about) ? null : await store.document("approval", id);
    if (document !== null && readApproval(document).exhausted_dimension !== null) gone[about] = id;
  }
  const requests = Object.fromEntries(Object.entries(run.requests).filter(([about]) => gone[about] === undefined));
  return { requests, operations: await withdrawFrom(store, run.id, gone) };
}

/** The request for leave to do something, this once. */
async function permissionFor(
  { store, run, epoch, expires_ms }: Options,
  about: string,
  { action, ask }: Extract<Wanted, { kind: "capability" }>,
): Promise<JoinedRequest> {
  const { instant } = store.clock.now();
  const id = run.requests[about];
  const document = id === undefined ? null : await store.document("approval", id);
  const before = document === null ? null : readApproval(document);
  if (before !== null && isOpen(before, instant)) return { request: before, isNew: false, operations: [] };
  const budget = await store.budget(run.budget);
  const events = Events.for(store.dimensions);
  const who = { run: run.id, checkpoint_id: stopId(run.id, epoch), digest: ask.digest };
  const request: ApprovalRequest = {
    id: newName(instant),
    status: "pending",
    ...who,
    about,
    kind: "capability_execution",
    budget: null,
    exhausted_dimension: null,
    waiting: soleWaiting(who),
    consumed: budget === null ? {} : events.consumed(budget, store.clock.now()),
    held: budget === null ? {} : heldIn(budget, store.dimensions),
    limits: budget === null ? {} : events.limits(budget),
    suggested_extension: {},
    ...NO_NEEDS,
    action,
    requested: instant,
    expires: instant + expires_ms,
    decision: null,
    consumed_by: null,
    version: 0,
  };
  // One that nobody has answered in time is no longer one.
  const late = before?.status === "pending" ? [putApproval({ ...before, status: "expired" })] : [];
  return { request, isNew: true, operations: [...late, putApproval(request)] };
}

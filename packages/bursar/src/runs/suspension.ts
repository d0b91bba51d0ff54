import type { JsonObject } from "../core/chain/canonical.js";
import type { Finding } from "../core/decision.js";
import { Events } from "../core/events.js";
import { heldIn } from "../core/held.js";
import type { BudgetAmounts } from "../core/input.js";
import type { Operation } from "../core/operation.js";
import { askedTogether, suggestExtension } from "../core/suggestion.js";
import type { Store } from "../ports/store.js";
import { newName } from "../runtime/names.js";
import { type ApprovalRequest, putApproval, readApproval } from "./approval.js";
import { findItem } from "./batch-item.js";
import { stopId } from "./checkpoint.js";
import { stopClock } from "./clocks.js";
import type { Block } from "./direction.js";
import type { AskEntry } from "./journal.js";
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
    const pending = await pendingFor(store, run, about);
    const request = pending ?? (await requestFor(options, about, want, instant));
    if (pending === null) {
      operations.push(...(await expiredOf(store, run, about)), putApproval(request));
      isNew.add(request);
    }
    requests[about] = request.id;
    asked.push(request);
  }
  const [worst] = asked.map(({ exhausted_dimension }) => exhausted_dimension).filter((each) => each !== null);
  const pause: Pause = {
    checkpoint_id: stopId(run.id, options.epoch),
    at: instant,
    approvals: asked.map(({ id }) => id),
    requested: [...isNew].map(({ id }) => id),
    ...{ children, batches },
    exhausted_dimension: worst ?? null,
  };
  const links = [...isNew].map((request) => record(run, "ApprovalRequested", describe(request)));
  operations.push(
    record(run, "RunPaused", {
      ...pause,
      approvals: [...pause.approvals],
      requested: [...pause.requested],
      ...{ children, batches },
    }),
    ...links,
  );
  operations.push(...stopClock(run));
  // What was asked before and is not decided yet stays asked.
  const paused: RunRecord = { ...run, status: "paused", pause, requests: { ...run.requests, ...requests } };
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
    ...{ checkpoint_id: stopId(run.id, epoch), at: clock.now().instant, exhausted_dimension: null, problem },
    ...{ approvals: [], requested: [], children: [], batches: [] },
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

function aboutBudget({ budget, dimension }: Finding): string {
  return `${budget} ${dimension}`;
}

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

/** A request that nobody has answered in time is no longer one. */
async function expiredOf(store: Store, run: RunRecord, about: string): Promise<readonly Operation[]> {
  const id = run.requests[about];
  const document = id === undefined ? null : await store.document("approval", id);
  return document?.status === "pending" ? [putApproval({ ...readApproval(document), status: "expired" })] : [];
}

async function pendingFor(store: Store, run: RunRecord, about: string): Promise<ApprovalRequest | null> {
  const id = run.requests[about];
  const document = id === undefined ? null : await store.document("approval", id);
  if (document === null) return null;
  const request = readApproval(document);
  return request.status === "pending" && request.expires > store.clock.now().instant ? request : null;
}

async function requestFor(
  { store, run, epoch, expires_ms }: Pick<Parameters<typeof suspension>[0], "store" | "run" | "epoch" | "expires_ms">,
  about: string,
  want: Wanted,
  instant: number,
): Promise<ApprovalRequest> {
  const finding = want.kind === "budget" ? want.findings[0] : null;
  const budget = await store.budget(finding?.budget ?? run.budget);
  const events = new Events(store.dimensions);
  const action: JsonObject =
    want.kind === "capability" ? want.action : want.ask === null ? {} : { name: want.ask.name, args: want.ask.args };
  return {
    ...{ id: newName(instant), status: "pending", run: run.id, checkpoint_id: stopId(run.id, epoch), about },
    kind: want.kind === "budget" ? "budget_extension" : "capability_execution",
    budget: finding?.budget ?? null,
    exhausted_dimension: finding?.dimension ?? null,
    consumed: budget === null ? {} : events.consumed(budget, store.clock.now()),
    held: budget === null ? {} : heldIn(budget, store.dimensions),
    limits: budget === null ? {} : events.limits(budget),
    suggested_extension: want.kind === "budget" && budget !== null ? await suggestedFor(store, want.findings) : {},
    ...{ action, digest: want.ask?.digest ?? "", requested: instant, expires: instant + expires_ms },
    ...{ decision: null, consumed_by: null, version: 0 },
  };
}

/** What lets all of them go on, because one yes is all that is asked for. */
async function suggestedFor(store: Store, findings: readonly [Finding, ...Finding[]]): Promise<BudgetAmounts> {
  const [{ budget, dimension }] = findings;
  const asked = askedTogether(
    dimension,
    findings.map((finding) => finding.asked),
    store.dimensions,
  );
  return suggestExtension(await store.path(budget), { dimension, asked }, store.dimensions, store.clock.now());
}

/** What the chain says of a request; what the action was stands in the journal. */
function describe(request: ApprovalRequest): JsonObject {
  const { id, kind, exhausted_dimension, consumed, held, limits, suggested_extension, digest, expires } = request;
  return { approval_id: id, kind, exhausted_dimension, consumed, held, limits, suggested_extension, digest, expires };
}

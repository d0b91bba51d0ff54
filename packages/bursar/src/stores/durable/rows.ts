import type { Account } from "../../core/books.js";
import type { Budget } from "../../core/budget.js";
import type { Call } from "../../core/call.js";
import type { Document, DocumentKind } from "../../core/document.js";
import type { Time } from "../../core/time.js";

/** A moment, and whose clock was read: running time can be compared on the same clock only. */
export interface Reading extends Time {
  readonly clock: string;
}

export interface BudgetRow {
  readonly id: string;
  readonly parent: string | null;
  readonly chain: string;
  readonly origin: string;
  readonly terms: string;
  readonly state: string;
  readonly ended: number;
}

export interface CallRow {
  readonly id: string;
  readonly budget: string;
  readonly kind: string;
  readonly status: string;
  readonly expires: number | null;
  readonly body: string;
}

export interface DocumentRow {
  readonly id: string;
  readonly budget: string | null;
  readonly status: string;
  readonly body: string;
  readonly version: number;
}

export const TABLES: Readonly<Record<DocumentKind, string>> = {
  run: "runs",
  approval: "approvals",
  session: "sessions",
  lease: "leases",
};

type Terms = Pick<Budget, "scope" | "funding" | "limits" | "policies" | "thresholds" | "deadline">;
type State = Pick<Budget, "extended" | "aside" | "warned" | "exhausted" | "used" | "reserved" | "open"> & {
  readonly elapsed: number;
  readonly since: Reading | null;
};

/** What is fixed when a budget is opened. */
export function writeTerms({ scope, funding, limits, policies, thresholds, deadline }: Budget): string {
  return JSON.stringify({ scope, funding, limits, policies, thresholds, deadline } satisfies Terms);
}

/** What changes with every call. */
export function writeState(budget: Budget, reading: Reading): string {
  const { extended, aside, warned, exhausted, used, reserved, open, watch } = budget;
  const since = watch.since === null ? null : startOf(watch.since, reading);
  const state: State = { extended, aside, warned, exhausted, used, reserved, open, elapsed: watch.elapsed, since };
  return JSON.stringify(state);
}

export function readAccount(row: BudgetRow, reading: Reading): Account {
  const { id, parent, chain, origin, ended } = row;
  const terms: Terms = JSON.parse(row.terms);
  const { elapsed, since, ...state }: State = JSON.parse(row.state);
  const watch = { elapsed, since: since === null ? null : sinceOn(since, reading) };
  return { budget: { id, parent, ...terms, ...state, watch, ended: Number(ended) === 1 }, chain, origin };
}

/** When a stopwatch was started, on both clocks, so that other processes can go on with it. */
function startOf(since: number, { instant, monotonic, clock }: Reading): Reading {
  return { instant: instant - (monotonic - since), monotonic: since, clock };
}

/** The start of a stopwatch on our own clock. What another process has started is measured by instants. */
function sinceOn(start: Reading, { instant, monotonic, clock }: Reading): number {
  return start.clock === clock ? start.monotonic : monotonic - Math.max(0, instant - start.instant);
}

export function writeCall({ id: _id, budget: _budget, kind: _kind, status: _status, expires: _, ...body }: Call): string {
  return JSON.stringify(body);
}

export function readCall({ id, budget, kind, status, expires, body }: CallRow): Call {
  return { id, budget, kind, status, expires, ...JSON.parse(body) };
}

export function readDocument(kind: DocumentKind, { id, budget, status, body, version }: DocumentRow): Document {
  return { kind, id, budget, status, body: JSON.parse(body), version: Number(version) };
}

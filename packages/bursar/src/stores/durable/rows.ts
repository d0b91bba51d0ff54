import type { Account } from "../../core/books.js";
import type { Budget } from "../../core/budget.js";
import type { Call } from "../../core/call.js";
import type { Document, DocumentKind } from "../../core/document.js";
import { bodyOf } from "../../core/members.js";
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
  key: "keys",
  token: "tokens",
  history: "histories",
  batch: "batches",
};

/** The first text that comes after all of those that begin so, where texts are compared byte by byte. */
export function endOf(prefix: string): string {
  return `${prefix}\u{10ffff}`;
}

type Terms = Pick<Budget, "scope" | "funding" | "limits" | "policies" | "thresholds" | "deadline">;

/** Written with every call, so what is empty is left out. */
interface State extends Pick<Budget, "used" | "reserved" | "open">, Partial<Rare> {
  readonly elapsed: number;
  readonly since: Reading | null;
}

type Rare = Pick<Budget, "extended" | "aside" | "warned" | "exhausted">;

const CALL = ["capability_id", "asked", "link", "step_id", "holder", "began", "duration_ms"];

/** All members that these texts can have. */
export const MEMBERS: Readonly<Record<"terms" | "state" | "call", readonly string[]>> = {
  terms: ["scope", "funding", "limits", "policies", "thresholds", "deadline"],
  state: ["used", "reserved", "open", "elapsed", "since", "extended", "aside", "warned", "exhausted"],
  call: [...CALL, "charged", "reported", "estimate", "unreported"],
};

const NO_STATE: Rare = { extended: {}, aside: {}, warned: {}, exhausted: [] };
const NO_REPORT: Pick<Call, "charged" | "reported" | "estimate" | "unreported"> = {
  charged: {},
  reported: {},
  estimate: {},
  unreported: [],
};

/** What is fixed when a budget is opened. */
export function writeTerms({ scope, funding, limits, policies, thresholds, deadline }: Budget): string {
  return JSON.stringify({ scope, funding, limits, policies, thresholds, deadline } satisfies Terms);
}

/** What changes with every call. */
export function writeState(budget: Budget, reading: Reading): string {
  const { used, reserved, open, watch } = budget;
  const since = watch.since === null ? null : startOf(watch.since, reading);
  const state: State & Record<string, unknown> = { used, reserved, open, elapsed: watch.elapsed, since };
  addFilled(state, budget, NO_STATE);
  return JSON.stringify(state);
}

/** Only the members that are written are read: any other, planted in a row, would count in place of those. */
export function readAccount(row: BudgetRow, reading: Reading): Account {
  const { id, parent, chain, origin, ended } = row;
  const { scope, funding, limits, policies, thresholds, deadline }: Terms = JSON.parse(row.terms);
  const state: State = { ...NO_STATE, ...JSON.parse(row.state) };
  const { used, reserved, open, extended, aside, warned, exhausted } = state as State & Rare;
  const watch = { elapsed: state.elapsed, since: state.since === null ? null : sinceOn(state.since, reading) };
  const terms = { scope, funding, limits, policies, thresholds, deadline };
  const counted = { used, reserved, open, extended, aside, warned, exhausted, watch, ended: Number(ended) === 1 };
  return { budget: { id, parent, ...terms, ...counted }, chain, origin };
}

/** When a stopwatch was started, on both clocks, so that other processes can go on with it. */
function startOf(since: number, { instant, monotonic, clock }: Reading): Reading {
  return { instant: instant - (monotonic - since), monotonic: since, clock };
}

/** The start of a stopwatch on our own clock. What another process has started is measured by instants. */
function sinceOn(start: Reading, { instant, monotonic, clock }: Reading): number {
  return start.clock === clock ? start.monotonic : monotonic - Math.max(0, instant - start.instant);
}

export function writeCall(call: Call): string {
  const { id, step_id, capability_id, asked, link } = call;
  const body: Record<string, unknown> = { capability_id, asked, link };
  // Most calls are steps of their own.
  if (step_id !== id) body.step_id = step_id;
  if (call.holder !== undefined) body.holder = call.holder;
  if (call.began !== undefined) body.began = call.began;
  if (call.duration_ms !== undefined) body.duration_ms = call.duration_ms;
  addFilled(body, call, NO_REPORT);
  return JSON.stringify(body);
}

/** Adds those members that are neither an empty object nor an empty list. */
function addFilled<Value extends object>(to: Record<string, unknown>, from: Value, empty: Partial<Value>): void {
  for (const key in empty) {
    const value = from[key] as object;
    for (const _ in value) {
      to[key] = value;
      break;
    }
  }
}

/** The columns have the last word. */
export function readCall({ id, budget, kind, status, expires, body }: CallRow): Call {
  return { step_id: id, ...NO_REPORT, ...JSON.parse(body), id, budget, kind, status, expires };
}

export function readDocument(kind: DocumentKind, { id, budget, status, body, version }: DocumentRow): Document {
  return { kind, id, budget, status, body: JSON.parse(body), version: Number(version) };
}

/** A document of whose body some members were read, as a list of their values. */
export function readPart(kind: DocumentKind, row: DocumentRow, paths: readonly (readonly string[])[]): Document {
  const { id, budget, status, version } = row;
  return { kind, id, budget, status, body: bodyOf(paths, JSON.parse(row.body)), version: Number(version) };
}

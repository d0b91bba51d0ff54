import type { Amounts } from "../../../core/amount.js";
import { CHARGED_WHEN_DEAD } from "../../../core/apply.js";
import { type Budget, covers, heldFor } from "../../../core/budget.js";
import type { Call } from "../../../core/call.js";
import { type Dimension, printAmount, writeAmount } from "../../../core/dimension.js";
import type { Dimensions } from "../../../core/dimensions.js";
import { chargeFor } from "../../../core/usage.js";
import { type CallRow, MEMBERS, readAccount, readCall } from "../rows.js";
import type { ChainPart } from "./chains.js";
import type { Defects } from "./defect.js";
import type { Differences } from "./differences.js";
import type { SqlRow } from "./port.js";
import type { Outcome, RebuiltBudget, RebuiltChain } from "./rebuilt-chain.js";
import { SetDigest } from "./set-digest.js";

/** Each budget with everything that counts in it, by its chain: itself first, then its children, then its own calls. */
export const BOOKS = `
  SELECT accounts.chain AS home, accounts.id AS owner, 0 AS part, accounts.id AS id, accounts.ended AS ended,
    terms AS text, state AS more, '' AS kind, accounts.parent AS above
  FROM accounts
  UNION ALL
  SELECT coalesce(parents.chain, ''), accounts.parent, 1, accounts.id, accounts.ended, accounts.terms, accounts.state, '', NULL
  FROM accounts LEFT JOIN budgets AS parents ON parents.id = accounts.parent WHERE accounts.parent IS NOT NULL
  UNION ALL
  SELECT coalesce(budgets.chain, ''), calls.budget, 2, calls.id, 0, status, body, kind, NULL
  FROM calls LEFT JOIN budgets ON budgets.id = calls.budget
  ORDER BY home, owner, part`;

const NO_READING = { instant: 0, monotonic: 0, clock: "" };

export interface TallyOptions {
  readonly dimensions: Dimensions;
  /** The chain that the budget writes to; null when it is not there. */
  readonly chain: RebuiltChain | null;
  /** What became of that chain: calls of an archived one are gone. */
  readonly part: ChainPart | null;
  readonly isArchived: boolean;
  readonly salt: string;
}

/** Adds up what counts in one budget, and compares it with what the budget says and with what its chain records. */
export class Tally {
  budget: Budget | null = null;
  parent: string | null = null;
  since: number | null = null;
  calls = 0;
  readonly owner: string;
  private readonly dimensions: Dimensions;
  private readonly options: TallyOptions;
  private readonly rebuilt: RebuiltBudget | null;
  private readonly used = new Figures();
  private readonly usedBelow = new Figures();
  private readonly reserved = new Figures();
  private readonly aside = new Figures();
  private readonly reservedCalls: Call[] = [];
  private readonly charges: SetDigest;
  private readonly asks: SetDigest;
  private charged = 0;
  private open = 0;
  private parts = 0;
  private unreadable = false;

  constructor(owner: string, options: TallyOptions) {
    this.owner = owner;
    this.options = options;
    this.dimensions = options.dimensions;
    const isProven = options.part === "whole" || options.part === "rest";
    this.rebuilt = isProven ? (options.chain?.budgets.get(owner) ?? null) : null;
    this.charges = new SetDigest(options.salt);
    this.asks = new SetDigest(options.salt);
  }

  take(row: SqlRow, defects: Defects): void {
    const part = Number(row.part);
    try {
      if (part === 0) {
        this.budget = budgetIn(row);
        this.parent = row.above === null ? null : String(row.above);
        this.since = JSON.parse(String(row.more)).since?.instant ?? null;
      } else if (part === 1) this.addChild(budgetIn(row));
      else this.addCall(row, defects);
    } catch (error) {
      this.unreadable = true;
      const what = part === 2 ? `call ${row.id}` : `budget ${row.id}`;
      if (part !== 1) defects.add("error", what, unreadable(error));
    }
  }

  private addChild(child: Budget): void {
    this.parts++;
    if (!child.ended) this.open++;
    this.used.addAll(child.used);
    this.usedBelow.addAll(child.used);
    const ids = new Set([child.limits, child.reserved, child.aside].flatMap((amounts) => Object.keys(amounts)));
    for (const id of ids) {
      const held = heldFor(child, this.dimension(id));
      if (child.funding === "held") this.reserved.add(id, held);
      else if (covers(child, id)) this.aside.add(id, held);
      else this.reserved.add(id, (child.reserved[id] ?? 0) + this.asideOf(child, id));
    }
  }

  private addCall({ id, text, more, kind }: SqlRow, defects: Defects): void {
    const row = { id, budget: this.owner, kind, status: text, expires: null, body: more } as unknown as CallRow;
    const call = readCall(row);
    checkMembers(row.body, MEMBERS.call);
    const { status, asked, charged, reported, estimate, unreported } = call;
    for (const amounts of [asked, charged, reported, estimate]) checkAmounts(amounts);
    if (!Array.isArray(unreported)) throw new TypeError("a list is missing");
    this.parts++;
    this.calls++;
    this.used.addAll(charged);
    if (status === "reserved") {
      this.open++;
      this.reserved.addAll(asked);
      this.reservedCalls.push(call);
      return;
    }
    // Older versions have charged by other rules.
    const problem = this.rebuilt?.isExact === true ? this.chargeProblem(call) : null;
    if (problem !== null) defects.add("error", `call ${id}`, problem);
    if (this.options.chain === null) return;
    if (call.kind !== "charge") this.asks.add(askedOf(this.options.chain, call, this.dimensions));
    if (!hasCharge(call)) return;
    this.charged++;
    this.charges.add(chargeOf(this.options.chain, call, this.dimensions));
  }

  /** What a call was charged follows from what was asked and reported. */
  private chargeProblem({ kind, status, asked, reported, estimate, charged, unreported }: Call): string | null {
    if (!["committed", "released", "expired"].includes(status)) return `has a status that no call can have: ${status}`;
    if (kind === "charge") {
      const isEmpty = Object.keys(asked).length + Object.keys(reported).length === 0;
      return isEmpty ? null : "was never reserved, but says what was asked or reported";
    }
    const isCharged = hasCharge({ kind, status });
    const all = [...Object.keys(asked), ...Object.keys(reported), ...Object.keys(charged)];
    if (!all.every((id) => this.dimensions.has(id))) return null;
    const due = isCharged ? chargeFor(kind, asked, reported, estimate) : { charged: {}, unreported: [] };
    for (const id of new Set([...Object.keys(due.charged), ...Object.keys(charged)])) {
      if (!this.dimensions.has(id)) continue;
      const said = charged[id] ?? 0;
      const counted = (due.charged as Amounts)[id] ?? 0;
      if (said !== counted)
        return `was charged ${this.show(id, said)}, but by its own row it is ${this.show(id, counted)}`;
    }
    const known = due.unreported.filter((id) => this.dimensions.has(id));
    const same = known.length === unreported.length && known.every((id) => unreported.includes(id));
    return same
      ? null
      : `says that ${unreported.join(", ") || "nothing"} was not reported, not ${known.join(", ") || "nothing"}`;
  }

  compare(defects: Defects): void {
    const { budget, owner } = this;
    const { part, isArchived } = this.options;
    const wrong = (problem: string) => defects.add("error", `budget ${owner}`, problem);
    if (budget === null) {
      if (!this.unreadable) wrong(`is not there, but ${this.parts} calls or children of it are`);
      return;
    }
    if (part === null) wrong("writes to a chain that is not there");
    if (isArchived && this.rebuilt === null && !budget.ended) {
      wrong("is open, but its chain was archived, which is done only when all of its budgets have ended");
    }
    if (this.unreadable) return;
    const ids = new Set([budget.used, budget.reserved].flatMap((amounts) => Object.keys(amounts)));
    for (const id of [...this.used.ids(), ...this.reserved.ids()]) ids.add(id);
    for (const id of ids) {
      this.compareUsed(id, budget, wrong);
      this.compareReserved(id, budget, wrong);
    }
    for (const id of new Set([...Object.keys(budget.aside), ...this.aside.ids()])) this.compareAside(id, budget, wrong);
    if (budget.open !== this.open) {
      wrong(`says that ${budget.open} calls and children are open, but there are ${this.open}`);
    }
    const { elapsed } = budget.watch;
    if (!(elapsed >= 0)) wrong(`says that it has been running for ${elapsed} ms`);
  }

  /** Compares what the store says of the budget with what its chain says, if that is known; gives back whether it is. */
  compareChain(differences: Differences): boolean {
    const { budget, rebuilt, owner } = this;
    if (budget === null || rebuilt === null || this.unreadable) return false;
    differences.compare({ budget, parent: this.parent, since: this.since }, rebuilt, this.usedBelow);
    const { reservedCalls: reserved, charges, asks, charged } = this;
    if (!this.options.isArchived) differences.compareCalls(owner, rebuilt, { reserved, charges, asks, charged });
    return true;
  }

  /** Calls of an archived chain are gone, so of their budgets only a lower bound is known. A late peak may have been lower. */
  private compareUsed(id: string, budget: Budget, wrong: (problem: string) => void): void {
    const kind = this.kindOf(id);
    if (kind === "clock") return;
    const used = budget.used[id] ?? 0;
    const sum = this.used.sum(id);
    const most = this.used.most(id);
    const adds = this.options.isArchived ? used >= sum : used === sum;
    const fits = kind === "peak" ? used >= most : adds || (kind === null && used >= most);
    if (fits) return;
    const parts = this.options.isArchived ? "its children alone" : "its calls and children";
    const total = kind === "peak" ? `reach ${this.show(id, most)}` : `add up to ${this.show(id, sum)}`;
    wrong(`has used ${this.show(id, used)}, but ${parts} ${total}`);
  }

  private compareReserved(id: string, budget: Budget, wrong: (problem: string) => void): void {
    const kind = this.kindOf(id);
    const reserved = budget.reserved[id] ?? 0;
    const held = kind === "sum" || kind === null ? this.reserved.sum(id) : 0;
    if (reserved === held || (kind === null && reserved === 0)) return;
    wrong(`holds ${this.show(id, reserved)}, but its calls and children need ${this.show(id, held)}`);
  }

  private compareAside(id: string, budget: Budget, wrong: (problem: string) => void): void {
    const kind = this.kindOf(id);
    const aside = budget.aside[id] ?? 0;
    if ((kind !== "sum" && kind !== null) || aside === this.aside.sum(id)) return;
    wrong(
      `has set ${this.show(id, aside)} aside, but its wrap-up reserve has ${this.show(id, this.aside.sum(id))} left`,
    );
  }

  /** What is set aside of a clock is held nowhere. */
  private asideOf(child: Budget, id: string): number {
    return this.kindOf(id) === "clock" ? 0 : (child.aside[id] ?? 0);
  }

  /** Null for a dimension of the user's own that nobody has named here: it may be a sum or a peak. */
  private kindOf(id: string): Dimension["kind"] | null {
    return this.dimensions.has(id) ? this.dimensions.get(id).kind : null;
  }

  private dimension(id: string): Dimension {
    return this.dimensions.has(id) ? this.dimensions.get(id) : ({ id, kind: "sum" } as Dimension);
  }

  private show(id: string, value: number): string {
    return this.dimensions.has(id) ? `${printAmount(this.dimensions.get(id), value)} (${id})` : `${value} ${id}`;
  }
}

export function budgetIn({ id, ended, text, more }: SqlRow): Budget {
  const row = { id: String(id), parent: null, chain: "", origin: "", terms: String(text), state: String(more) };
  const { budget } = readAccount({ ...row, ended: Number(ended) }, NO_READING);
  const { limits, used, reserved, aside, extended, warned } = budget;
  for (const amounts of [limits, used, reserved, aside, extended, warned]) checkAmounts(amounts);
  checkMembers(row.terms, MEMBERS.terms);
  checkMembers(row.state, MEMBERS.state);
  checkClock(JSON.parse(row.state));
  if (![0, 1].includes(Number(ended))) throw new TypeError("it is neither open nor ended");
  if (!Array.isArray(budget.exhausted) || !Array.isArray(budget.thresholds)) throw new TypeError("a list is missing");
  return budget;
}

/** Of a row that was no row of ours. */
export function unreadable(error: unknown): string {
  return `has a row that cannot be read${error instanceof TypeError ? `: ${error.message}` : ""}`;
}

/** The store never writes other members. One that stands there was planted, and another reader of the row may believe it. */
function checkMembers(text: string, members: readonly string[]): void {
  const planted = Object.keys(JSON.parse(text)).find((key) => !members.includes(key));
  if (planted !== undefined) throw new TypeError(`it has a member that none has: ${planted}`);
}

function checkClock({ elapsed, since }: { readonly elapsed: unknown; readonly since: unknown }): void {
  if (typeof elapsed !== "number") throw new TypeError("the running time is none");
  if (since === null) return;
  const { instant, monotonic, clock } = since as Readonly<Record<string, unknown>>;
  const isReading = typeof instant === "number" && typeof monotonic === "number" && typeof clock === "string";
  if (!isReading) throw new TypeError("the start of the clock is none");
}

function checkAmounts(amounts: unknown): void {
  if (typeof amounts !== "object" || amounts === null) throw new TypeError("amounts are missing");
  for (const amount of Object.values(amounts)) if (typeof amount !== "number") throw new TypeError("an amount is none");
}

/** Whether a call was charged, and not only given back. */
export function hasCharge({ status, kind }: Pick<Call, "status" | "kind">): boolean {
  return status === "committed" || (status === "expired" && CHARGED_WHEN_DEAD.has(kind));
}

export function chargeOf(chain: RebuiltChain, call: Call, dimensions: Dimensions): string {
  const { id, step_id, capability_id, charged } = call;
  return chain.chargeText(id, step_id, capability_id, written(charged, dimensions));
}

function askedOf(chain: RebuiltChain, call: Call, dimensions: Dimensions): string {
  const { id, step_id, capability_id, kind, asked } = call;
  const outcome = hasCharge(call) ? "charged" : (call.status as Outcome);
  return chain.askedText({ call_id: id, step_id, capability_id, kind, asked: written(asked, dimensions) }, outcome);
}

/** As links say it. */
export function written(amounts: Amounts, dimensions: Dimensions): Readonly<Record<string, number>> {
  const known = Object.entries(amounts).filter(([id]) => dimensions.has(id));
  return Object.fromEntries(known.map(([id, amount]) => [id, writeAmount(dimensions.get(id), amount)]));
}

/** Sums and peaks by dimension. */
export class Figures {
  private readonly sums = new Map<string, number>();
  private readonly peaks = new Map<string, number>();

  add(id: string, value: number): void {
    this.sums.set(id, (this.sums.get(id) ?? 0) + value);
    this.peaks.set(id, Math.max(this.peaks.get(id) ?? 0, value));
  }

  addAll(amounts: Amounts): void {
    for (const [id, value] of Object.entries(amounts)) this.add(id, value);
  }

  ids(): Iterable<string> {
    return this.sums.keys();
  }

  sum(id: string): number {
    return this.sums.get(id) ?? 0;
  }

  most(id: string): number {
    return this.peaks.get(id) ?? 0;
  }
}

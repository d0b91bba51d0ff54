import { type Amounts, NO_AMOUNTS } from "./amount.js";
import {
  type Account,
  type AccountPath,
  accountOf,
  accountsOf,
  type Books,
  callOf,
  openAccountsOf,
  pathOf,
  writePath,
} from "./books.js";
import type { Budget, Path } from "./budget.js";
import { type Call, lastedOf, updated } from "./call.js";
import { checkOperation } from "./check.js";
import { endBudget, openBudget } from "./children.js";
import { fitted } from "./cut.js";
import type { Dimensions } from "./dimensions.js";
import { LedgerError } from "./errors.js";
import { type Action, Events, stepOf, type WrittenAction } from "./events.js";
import { extendBudget } from "./extension.js";
import { anchor, journal, put } from "./keep.js";
import { type Notice, noticeDeadlines } from "./notice.js";
import type {
  ChargeOperation,
  CommitOperation,
  ExtendOperation,
  LifeOperation,
  OpenOperation,
  Operation,
  Outcome,
  OutcomeOf,
  ReleaseOperation,
  ReserveOperation,
} from "./operation.js";
import { noRoom, RefusedError } from "./refused.js";
import { repeatedReserve, repeatedSettlement, reused, same } from "./repeated.js";
import { closed, type Deltas, difference, joined, NO_IDS, reserve, settle } from "./settlement.js";
import { elapsed, paused, resumed, type Time, timeAt } from "./time.js";
import { timeLeft } from "./time-left.js";
import { type Charge, chargeFor, copyWithTotal } from "./usage.js";

/** So many dead reservations are settled at a time at most, so that no transaction grows without bound. */
const EXPIRING = 1000;

/** What may have been spent before the holder died is charged; all else is given back. */
export const CHARGED_WHEN_DEAD: ReadonlySet<string> = new Set(["model", "lease"]);

/**
 * What every operation does to the books of a store: budgets, calls and chains together. Pure but for the books it is
 * given, so every store that runs it keeps the same rules.
 */
export class Operations {
  private readonly dimensions: Dimensions;
  private readonly events: Events;

  constructor(dimensions: Dimensions) {
    this.dimensions = dimensions;
    this.events = Events.for(dimensions);
  }

  /** Looks at an operation that comes from outside, and applies it. */
  applyChecked(books: Books, operation: Operation, time: Time): Outcome {
    checkOperation(operation, this.dimensions);
    return this.apply(books, operation, time);
  }

  /** For operations that were looked at before. */
  apply(books: Books, operation: Operation, time: Time): Outcome {
    switch (operation.op) {
      case "open":
        return this.open(books, operation, time);
      case "reserve":
        return this.reserve(books, operation, time);
      case "commit":
        return this.commit(books, operation, time);
      case "release":
        return this.release(books, operation, time);
      case "expire":
        return this.expire(books, time);
      case "charge":
        return this.charge(books, operation, time);
      case "extend":
        return this.extend(books, operation, time);
      case "pause":
      case "resume":
      case "end":
        return this.live(books, operation, time);
      case "record": {
        const account = accountOf(books, operation.budget);
        const about = operation.call === undefined ? undefined : books.call(operation.call);
        const cause = operation.cause ?? about?.link ?? account.origin;
        return { op: "record", links: [books.append(account.chain, operation.action, cause)] };
      }
      case "put":
        return put(books, operation);
      case "journal":
        return journal(books, operation);
      case "anchor":
        return anchor(books);
      case "look":
        return { op: "look", path: pathOf(accountsOf(books, operation.budget)), links: [] };
    }
  }

  private open(books: Books, { parent, opening, chain, cause }: OpenOperation, time: Time): OutcomeOf<OpenOperation> {
    if (books.account(opening.id) !== undefined) throw new LedgerError(`there is a budget ${opening.id} already`);
    const accounts = parent === null ? [] : openAccountsOf(books, parent);
    const above = accounts[0] ?? null;
    const { decision, budget, path, notices } = openBudget(pathOf(accounts), opening, time, this.dimensions);
    writePath(books, accounts, path);
    const links = above === null ? [] : this.write(books, above.chain, this.notices(notices), cause ?? above.origin);
    if (budget === null) {
      if (above === null || parent === null) throw new LedgerError("a root is never refused");
      const refused = this.events.openRefused(parent, opening.id, decision);
      return {
        op: "open",
        decision,
        budget,
        links: [...links, books.append(above.chain, refused, cause ?? above.origin)],
      };
    }
    const home = chain ?? above?.chain ?? opening.id;
    const origin = books.append(home, this.events.allocation(budget), cause ?? above?.origin ?? null);
    books.putAccount({ budget, chain: home, origin });
    return { op: "open", decision, budget, links: [...links, origin] };
  }

  private reserve(books: Books, operation: ReserveOperation, time: Time): OutcomeOf<ReserveOperation> {
    const { budget: id, kind } = operation;
    const whole = this.tied(operation.asked);
    const known = books.call(operation.call);
    if (known !== undefined) return repeatedReserve(known, id, whole, operation);
    const accounts = openAccountsOf(books, id);
    const account = accounts[0];
    const path = pathOf(accounts);
    const { asked, full } = fitted(path, whole, operation, time, this.dimensions);
    // A call below a clock that stands still would run on nobody's time.
    const still = path.find(({ watch }) => watch.since === null);
    if (still !== undefined) throw new LedgerError(`budget ${still.id} is paused; resume it first`);
    const admission = reserve(path, asked, time, this.dimensions, operation.inner === true);
    if (operation.tentative === true && admission.decision.kind !== "admitted") {
      const { decision } = admission;
      return { op: "reserve", decision, granted: asked, notices: [], repeated: false, links: [] };
    }
    writePath(books, accounts, admission.path);
    const { decision, notices } = admission;
    if (operation.must === true && decision.kind !== "admitted") throw new RefusedError(operation.call, decision);
    const step = stepOf(operation);
    const links: string[] = [];
    let link: string | null = null;
    const admitted = decision.kind === "admitted";
    if (admitted || (decision.kind !== "busy" && operation.unrecorded !== true)) {
      const action = admitted
        ? this.events.stepStarted(id, { call_id: operation.call, ...step, kind }, asked, full)
        : this.events.stepRefused(id, step, asked, decision);
      link = books.append(account.chain, action, operation.cause ?? account.origin);
      links.push(link);
    }
    const cause = link ?? operation.cause ?? account.origin;
    if (notices.length > 0) links.push(...this.write(books, account.chain, this.notices(notices), cause));
    if (decision.kind === "admitted") {
      // Written out, because every call passes here and a spread costs as much as the decision.
      const call: Call = {
        id: operation.call,
        budget: id,
        kind,
        step_id: step.step_id,
        capability_id: step.capability_id,
        // Whoever is told what was granted holds the same object.
        asked: Object.freeze(asked),
        began: time.instant,
        expires: operation.expires ?? null,
        link,
        status: "reserved",
        charged: NO_AMOUNTS,
        reported: NO_AMOUNTS,
        estimate: NO_AMOUNTS,
        unreported: NO_IDS,
      };
      books.putCall(operation.holder === undefined ? call : { ...call, holder: operation.holder });
    }
    const left = timeLeft(path, time, this.dimensions);
    const left_ms = left === Number.POSITIVE_INFINITY ? null : left;
    return { op: "reserve", decision, granted: asked, notices, left_ms, repeated: false, links };
  }

  /** Counts once: a second delivery does nothing, unless it brings the truth about what nobody had reported. */
  private commit(books: Books, operation: CommitOperation, time: Time): OutcomeOf<CommitOperation> {
    const call = reservedOf(books, operation.call);
    // What was reported first stands; a late report can only add what was missing.
    const reported = call.reported === NO_AMOUNTS ? { ...operation.used } : { ...operation.used, ...call.reported };
    if (call.status === "committed" && Object.keys(reported).length === Object.keys(call.reported).length) {
      const { charged, unreported } = call;
      return { ...repeatedSettlement("commit"), charged, estimated: unreported.length > 0 };
    }
    // Nothing is held for a call that was given back, so only what it says it used is charged.
    const asked = call.status === "released" ? NO_AMOUNTS : call.asked;
    const bound = operation.seen === undefined ? asked : { ...asked, ...this.tied(operation.seen) };
    const estimate = operation.estimate === undefined ? call.estimate : { ...call.estimate, ...operation.estimate };
    return this.book(books, call, { asked, bound, reported, estimate }, time, operation);
  }

  private book(
    books: Books,
    call: Call,
    { asked, bound, reported, estimate: guess }: Told,
    time: Time,
    operation: CommitOperation,
  ): OutcomeOf<CommitOperation> {
    const charge: Charge = chargeFor(call.kind, bound, reported, guess);
    const charged = Object.freeze(this.counted(charge.charged));
    const unreported =
      charge.unreported.length === 0 ? charge.unreported : charge.unreported.filter((id) => this.dimensions.has(id));
    const estimate = unreported.length > 0 ? charge.estimate : null;
    const reserved = call.status === "reserved" ? this.dimensions.sumsOf(asked) : NO_AMOUNTS;
    const settled = this.settle(books, call, reserved, difference(charged, call.charged, this.dimensions), time);
    const corrects = call.status === "reserved" ? null : call.link;
    const duration_ms = lastedOf(call, operation.duration_ms, time.instant);
    const action = this.events.consumption(settled.leaf, time, {
      call_id: call.id,
      step_id: call.step_id,
      capability_id: call.capability_id,
      charged,
      unreported,
      estimate,
      ...(operation.seen === undefined ? {} : { seen: this.counted(bound) }),
      duration_ms,
      corrects,
    });
    const links = this.tell(books, settled, action, operation.cause ?? call.link);
    // A later report is measured against what was seen, not against what had been reserved before.
    const link = links[0] ?? call.link;
    const known = { status: "committed", asked: bound, charged, reported, estimate: guess, unreported, link } as const;
    books.putCall(updated(call, duration_ms === null ? known : { ...known, duration_ms }));
    const estimated = unreported.length > 0;
    return { op: "commit", charged, estimated, repeated: false, notices: settled.notices, links };
  }

  private release(books: Books, operation: ReleaseOperation, time: Time): OutcomeOf<ReleaseOperation> {
    const call = reservedOf(books, operation.call);
    if (call.status !== "reserved") return repeatedSettlement("release");
    if (operation.dead === true && CHARGED_WHEN_DEAD.has(call.kind)) {
      const { notices, links } = this.commit(books, { op: "commit", call: call.id, used: {} }, time);
      return { op: "release", repeated: false, notices, links };
    }
    return { op: "release", repeated: false, ...this.giveBack(books, call, "released", time, operation.cause) };
  }

  /** A dead holder's model call is charged as reserved; if the holder comes back, what it says is the truth. */
  private expire(books: Books, time: Time): Extract<Outcome, { op: "expire" }> {
    const due = this.due(books, time);
    const links = due.flatMap((call) => {
      if (!CHARGED_WHEN_DEAD.has(call.kind)) return this.giveBack(books, call, "expired", time).links;
      const settled = this.commit(books, { op: "commit", call: call.id, used: {} }, time);
      books.putCall({ ...callOf(books, call.id), status: "expired" });
      return settled.links;
    });
    return { op: "expire", calls: due.map(({ id }) => id), links };
  }

  /**
   * Calls that name a dimension of another process are left to a process that knows it, and they do not keep others from being
   * settled, however many they are.
   */
  private due(books: Books, { instant }: Time): readonly Call[] {
    for (let most = EXPIRING; ; most *= 2) {
      const due = books.due(instant, most);
      const known = due.filter(({ asked }) => this.dimensions.hasAll(asked));
      if (known.length >= EXPIRING || due.length < most) return known.slice(0, EXPIRING);
    }
  }

  private charge(books: Books, operation: ChargeOperation, time: Time): OutcomeOf<ChargeOperation> {
    const { budget } = operation;
    const charged = Object.freeze(this.tied(operation.used));
    const known = books.call(operation.call);
    if (known !== undefined) {
      if (known.kind !== "charge" || !same(known.charged, charged)) throw reused(operation.call);
      return { ...repeatedSettlement("charge"), charged, estimated: false };
    }
    const accounts = openAccountsOf(books, budget);
    const step = stepOf(operation);
    const blank = {
      kind: "charge",
      asked: NO_AMOUNTS,
      expires: null,
      status: "committed",
      reported: NO_AMOUNTS,
      estimate: NO_AMOUNTS,
      unreported: NO_IDS,
    } as const;
    const call: Call = {
      id: operation.call,
      budget,
      ...step,
      ...blank,
      charged,
      link: operation.cause ?? accounts[0].origin,
    };
    const settled = this.settle(books, call, NO_AMOUNTS, charged, time, accounts);
    books.putCall(call);
    const duration_ms = operation.duration_ms ?? null;
    const consumed = {
      call_id: call.id,
      ...step,
      charged,
      unreported: [],
      estimate: null,
      duration_ms,
      corrects: null,
    };
    const links = this.tell(books, settled, this.events.consumption(settled.leaf, time, consumed), call.link);
    return { op: "charge", charged, estimated: false, repeated: false, notices: settled.notices, links };
  }

  private extend(books: Books, operation: ExtendOperation, time: Time): OutcomeOf<ExtendOperation> {
    const { budget, additional, approved_by, reason } = operation;
    const accounts = accountsOf(books, budget);
    const account = accounts[0];
    const result = extendBudget(pathOf(accounts), additional, time, this.dimensions);
    const cause = operation.cause ?? account.origin;
    if (result.kind === "no_room") {
      if (operation.must === true) throw noRoom(result, this.dimensions);
      const refused = this.events.extensionRefused(budget, result.dimension, result.budget, result.room);
      return { op: "extend", result, links: [books.append(account.chain, refused, cause)] };
    }
    writePath(books, accounts, result.path);
    const links = Object.entries(additional).map(([dimension, amount]) =>
      books.append(account.chain, this.events.extended(budget, dimension, amount, approved_by, reason), cause),
    );
    return { op: "extend", result, links };
  }

  private live(books: Books, { op, budget: id, at, cause }: LifeOperation, time: Time): OutcomeOf<LifeOperation> {
    const accounts = openAccountsOf(books, id);
    const account = accounts[0];
    if (op === "end") {
      const path = endBudget(pathOf(accounts), time, this.dimensions);
      writePath(books, accounts, path);
      const budget = path[0] as Budget;
      const completed = this.events.runCompleted(budget, time);
      return { op, budget, links: [books.append(account.chain, completed, cause ?? account.origin)] };
    }
    const { watch } = account.budget;
    const budget: Budget = {
      ...account.budget,
      watch: op === "pause" ? paused(watch, timeAt(time, at ?? time.instant)) : resumed(watch, time),
    };
    books.putAccount({ ...account, budget });
    const action: Action =
      op === "pause"
        ? this.events.clockPaused(id, elapsed(budget.watch, time))
        : { action_type: "ClockResumed", data: { budget: id } };
    const link = books.append(account.chain, action, cause ?? account.origin);
    return { op, budget, links: [link] };
  }

  private giveBack(books: Books, call: Call, why: "released" | "expired", time: Time, cause?: string) {
    const settled = this.settle(books, call, this.dimensions.sumsOf(call.asked), NO_AMOUNTS, time);
    const { budget, step_id, capability_id } = call;
    const action = this.events.stepReleased(budget, call.id, { step_id, capability_id }, why);
    const links = this.tell(books, settled, action, cause ?? call.link);
    const duration_ms = lastedOf(call, undefined, time.instant);
    const gone = { status: why, link: links[0] ?? call.link } as const;
    books.putCall(updated(call, duration_ms === null ? gone : { ...gone, duration_ms }));
    return { notices: settled.notices, links };
  }

  private settle(
    books: Books,
    call: Call,
    released: Deltas,
    used: Deltas,
    time: Time,
    accounts: AccountPath = accountsOf(books, call.budget),
  ): Settlement {
    const settled = settle(pathOf(accounts), released, used, time, this.dimensions);
    const late = noticeDeadlines(settled.path, time);
    const path: Path = call.status === "reserved" ? closed(late.path) : late.path;
    writePath(books, accounts, path);
    // A path begins with its leaf.
    return { account: accounts[0], leaf: path[0] as Budget, notices: joined(settled.notices, late.notices) };
  }

  /** Figures of dimensions that this ledger does not count say nothing here. */
  private counted(amounts: Amounts): Amounts {
    if (this.dimensions.hasAll(amounts)) return amounts;
    return Object.fromEntries(Object.entries(amounts).filter(([id]) => this.dimensions.has(id)));
  }

  /** A copy, because what the caller does with his own object later must not concern the books. */
  private tied(amounts: Amounts): Amounts {
    return this.dimensions.has("llm_tokens") ? copyWithTotal(amounts) : { ...amounts };
  }

  /** The link of a settlement, and those of what it brought about. */
  private tell(
    books: Books,
    { account: { chain, origin }, notices }: Settlement,
    action: WrittenAction | Action,
    cause: string | null,
  ): readonly string[] {
    const first = books.append(chain, action, cause ?? origin);
    return notices.length === 0 ? [first] : [first, ...this.write(books, chain, this.notices(notices), first)];
  }

  private write(books: Books, chain: string, actions: readonly Action[], cause: string): readonly string[] {
    return actions.map((action) => books.append(chain, action, cause));
  }

  private notices(notices: readonly Notice[]): readonly Action[] {
    return notices.map((notice) => this.events.notice(notice));
  }
}

/** A charge was settled when it was made: to settle it again, as a reservation, would give it back. */
function reservedOf(books: Books, id: string): Call {
  const call = callOf(books, id);
  if (call.kind === "charge") throw reused(id);
  return call;
}

/** What is known of what a call has used. */
interface Told extends Pick<Call, "asked" | "reported" | "estimate"> {
  /** What it is charged at most where nothing was reported: what was seen, else what was reserved. */
  readonly bound: Amounts;
}

interface Settlement {
  /** As it was before. */
  readonly account: Account;
  readonly leaf: Budget;
  readonly notices: readonly Notice[];
}

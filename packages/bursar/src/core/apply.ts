import type { Amounts } from "./amount.js";
import { type Account, accountOf, type Books, callOf, openAccount, pathOf, writePath } from "./books.js";
import type { Budget, Path } from "./budget.js";
import type { Call } from "./call.js";
import { checkOperation } from "./check.js";
import { endBudget, openBudget } from "./children.js";
import type { Dimensions } from "./dimensions.js";
import { LedgerError } from "./errors.js";
import { type Action, Events } from "./events.js";
import { extendBudget } from "./extension.js";
import type { Notice } from "./notice.js";
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
import { closed, type Deltas, reserve, settle, sums } from "./settlement.js";
import { paused, resumed, type Time } from "./time.js";
import { chargeFor, correctCharge } from "./usage.js";

const ADMITTED = Object.freeze({ kind: "admitted" as const, findings: Object.freeze([]) });

/**
 * What every operation does to the books of a store: budgets, calls and chains together. Pure but for the books it is
 * given, so every store that runs it keeps the same rules.
 */
export class Operations {
  private readonly dimensions: Dimensions;
  private readonly events: Events;

  constructor(dimensions: Dimensions) {
    this.dimensions = dimensions;
    this.events = new Events(dimensions);
  }

  apply(books: Books, operation: Operation, time: Time): Outcome {
    checkOperation(operation, this.dimensions);
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
        const cause = operation.cause ?? account.origin;
        return { op: "record", links: [books.append(account.chain, operation.action, cause)] };
      }
    }
  }

  private open(books: Books, { parent, opening, chain, cause }: OpenOperation, time: Time): OutcomeOf<OpenOperation> {
    if (books.account(opening.id) !== undefined) throw new LedgerError(`there is a budget ${opening.id} already`);
    const above = parent === null ? null : openAccount(books, parent);
    const { decision, budget, path, notices } = openBudget(
      parent === null ? [] : pathOf(books, parent),
      opening,
      time,
      this.dimensions,
    );
    writePath(books, path);
    const links = above === null ? [] : this.write(books, above.chain, this.notices(notices), cause ?? above.origin);
    if (budget === null) return { op: "open", decision, budget, links };
    const home = chain ?? above?.chain ?? opening.id;
    const origin = books.append(home, this.events.allocation(budget), cause ?? above?.origin ?? null);
    books.putAccount({ budget, chain: home, origin });
    return { op: "open", decision, budget, links: [...links, origin] };
  }

  private reserve(books: Books, operation: ReserveOperation, time: Time): OutcomeOf<ReserveOperation> {
    const { asked, budget: id, kind } = operation;
    const known = books.call(operation.call);
    if (known !== undefined) return repeatedReserve(known, operation);
    const account = openAccount(books, id);
    const admission = reserve(pathOf(books, id), asked, time, this.dimensions);
    writePath(books, admission.path);
    const { decision, notices } = admission;
    const step = stepOf(operation);
    const links: string[] = [];
    let link: string | null = null;
    if (decision.kind !== "busy") {
      const admitted = decision.kind === "admitted";
      const started = this.events.stepStarted(id, step, asked);
      const action = admitted ? started : this.events.stepRefused(id, step, asked, decision);
      link = books.append(account.chain, action, operation.cause ?? account.origin);
      links.push(link);
    }
    links.push(...this.write(books, account.chain, this.notices(notices), link ?? account.origin));
    if (decision.kind === "admitted") {
      const blank = { status: "reserved", charged: {}, estimated: false } as const;
      const expires = operation.expires ?? null;
      books.putCall({ id: operation.call, budget: id, kind, ...step, asked, expires, link, ...blank });
    }
    return { op: "reserve", decision, notices, repeated: false, links };
  }

  /** Counts once: a second delivery does nothing, unless it brings the truth about what had only been estimated. */
  private commit(books: Books, operation: CommitOperation, time: Time): OutcomeOf<CommitOperation> {
    const call = callOf(books, operation.call);
    if (call.status === "committed" && (!call.estimated || Object.keys(operation.used).length === 0)) {
      return { ...repeatedSettlement("commit"), charged: call.charged, estimated: call.estimated };
    }
    const { charged, estimated, estimate } =
      call.status === "committed"
        ? correctCharge(call.charged, operation.used)
        : chargeFor(call.kind, call.status === "released" ? {} : call.asked, operation.used, operation.estimate ?? {});
    const reserved = call.status === "reserved" ? sums(call.asked, this.dimensions) : {};
    const settled = this.settle(books, call, reserved, this.difference(charged, call.charged), time);
    books.putCall({ ...call, status: "committed", charged, estimated });
    const duration_ms = operation.duration_ms ?? null;
    const action = this.events.consumption(settled.leaf, time, { ...call, charged, estimated, estimate, duration_ms });
    const links = this.tell(books, call, action, settled.notices, operation.cause);
    return { op: "commit", charged, estimated, repeated: false, notices: settled.notices, links };
  }

  private release(books: Books, operation: ReleaseOperation, time: Time): OutcomeOf<ReleaseOperation> {
    const call = callOf(books, operation.call);
    if (call.status !== "reserved") return repeatedSettlement("release");
    return { op: "release", repeated: false, ...this.giveBack(books, call, "released", time, operation.cause) };
  }

  private expire(books: Books, time: Time): Extract<Outcome, { op: "expire" }> {
    const due = books.due(time.instant);
    const links = due.flatMap((call) =>
      call.kind === "model"
        ? this.commit(books, { op: "commit", call: call.id, used: {} }, time).links
        : this.giveBack(books, call, "expired", time).links,
    );
    return { op: "expire", calls: due.map(({ id }) => id), links };
  }

  private charge(books: Books, operation: ChargeOperation, time: Time): OutcomeOf<ChargeOperation> {
    const { used: charged, budget } = operation;
    const known = books.call(operation.call);
    if (known !== undefined) {
      return { ...repeatedSettlement("charge"), charged: known.charged, estimated: known.estimated };
    }
    const account = openAccount(books, budget);
    const step = stepOf(operation);
    const blank = { kind: "tool", asked: {}, expires: null, status: "committed", estimated: false } as const;
    const call: Call = {
      id: operation.call,
      budget,
      ...step,
      ...blank,
      charged,
      link: operation.cause ?? account.origin,
    };
    const { leaf, notices } = this.settle(books, call, {}, charged, time);
    books.putCall(call);
    const duration_ms = operation.duration_ms ?? null;
    const consumed = { ...step, charged, estimated: false, estimate: null, duration_ms };
    const links = this.tell(books, call, this.events.consumption(leaf, time, consumed), notices);
    return { op: "charge", charged, estimated: false, repeated: false, notices, links };
  }

  private extend(books: Books, operation: ExtendOperation, time: Time): OutcomeOf<ExtendOperation> {
    const { budget, additional, approved_by, reason } = operation;
    const account = accountOf(books, budget);
    const result = extendBudget(pathOf(books, budget), additional, time, this.dimensions);
    if (result.kind === "no_room") return { op: "extend", result, links: [] };
    writePath(books, result.path);
    const cause = operation.cause ?? account.origin;
    const links = Object.entries(additional).map(([dimension, amount]) =>
      books.append(account.chain, this.events.extended(budget, dimension, amount, approved_by, reason), cause),
    );
    return { op: "extend", result, links };
  }

  private live(books: Books, { op, budget: id, cause }: LifeOperation, time: Time): OutcomeOf<LifeOperation> {
    const account = openAccount(books, id);
    if (op === "end") {
      const path = endBudget(pathOf(books, id), time, this.dimensions);
      writePath(books, path);
      const { budget } = accountOf(books, id);
      const completed = this.events.runCompleted(budget, time);
      return { op, budget, links: [books.append(account.chain, completed, cause ?? account.origin)] };
    }
    const { watch } = account.budget;
    const budget: Budget = { ...account.budget, watch: op === "pause" ? paused(watch, time) : resumed(watch, time) };
    books.putAccount({ ...account, budget });
    return { op, budget, links: [] };
  }

  private giveBack(books: Books, call: Call, why: "released" | "expired", time: Time, cause?: string) {
    const { notices } = this.settle(books, call, sums(call.asked, this.dimensions), {}, time);
    books.putCall({ ...call, status: "released" });
    const { budget, step_id, capability_id } = call;
    const action = this.events.stepReleased(budget, { step_id, capability_id }, why);
    return { notices, links: this.tell(books, call, action, notices, cause) };
  }

  private settle(books: Books, call: Call, released: Deltas, used: Deltas, time: Time): Settlement {
    const settled = settle(pathOf(books, call.budget), released, used, time, this.dimensions);
    const path: Path = call.status === "reserved" ? closed(settled.path) : settled.path;
    writePath(books, path);
    return { leaf: accountOf(books, call.budget).budget, notices: settled.notices };
  }

  /** What a later charge adds to an earlier one of the same call. A peak is no sum: the later one counts as it is. */
  private difference(after: Amounts, before: Amounts): Deltas {
    const ids = new Set([...Object.keys(after), ...Object.keys(before)]);
    const delta = (id: string) => {
      const charged = after[id] ?? 0;
      return this.dimensions.get(id).kind === "peak" ? charged : charged - (before[id] ?? 0);
    };
    return Object.fromEntries([...ids].map((id) => [id, delta(id)]));
  }

  /** The link of a settlement, and those of what it brought about. */
  private tell(
    books: Books,
    call: Call,
    action: Action,
    notices: readonly Notice[],
    cause?: string,
  ): readonly string[] {
    const { chain, origin }: Account = accountOf(books, call.budget);
    const first = books.append(chain, action, cause ?? call.link ?? origin);
    return [first, ...this.write(books, chain, this.notices(notices), first)];
  }

  private write(books: Books, chain: string, actions: readonly Action[], cause: string): readonly string[] {
    return actions.map((action) => books.append(chain, action, cause));
  }

  private notices(notices: readonly Notice[]): readonly Action[] {
    return notices.map((notice) => this.events.notice(notice));
  }
}

interface Settlement {
  readonly leaf: Budget;
  readonly notices: readonly Notice[];
}

function stepOf(operation: { step_id?: string; capability_id?: string; call: string; kind?: string }): {
  readonly step_id: string;
  readonly capability_id: string;
} {
  return {
    step_id: operation.step_id ?? operation.call,
    capability_id: operation.capability_id ?? operation.kind ?? "",
  };
}

function repeatedReserve(known: Call, { budget, asked, call }: ReserveOperation): OutcomeOf<ReserveOperation> {
  const ids = new Set([...Object.keys(known.asked), ...Object.keys(asked)]);
  const same = known.budget === budget && [...ids].every((id) => (known.asked[id] ?? 0) === (asked[id] ?? 0));
  if (!same) throw new LedgerError(`call ${call} was made before, with other amounts or in another budget`);
  return { op: "reserve", decision: ADMITTED, notices: [], repeated: true, links: [] };
}

function repeatedSettlement<Op extends "commit" | "charge" | "release">(op: Op) {
  return { op, repeated: true as const, notices: [], links: [] };
}

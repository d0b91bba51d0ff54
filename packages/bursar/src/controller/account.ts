import { type Amount, type Amounts, NO_AMOUNTS } from "../core/amount.js";
import { type BudgetId, type Budget as LedgerBudget, limitOf, type Path, usedOf } from "../core/budget.js";
import { endBudget, freeOn, type Grant, type Opened, openBudget } from "../core/children.js";
import { decide, type Finding } from "../core/decision.js";
import { InputError, LedgerError, show } from "../core/errors.js";
import type { Policies } from "../core/policy.js";
import { settle } from "../core/settlement.js";
import type { Time } from "../core/time.js";
import type { Clock } from "../ports/clock.js";
import { DIMENSIONS, isOwn } from "./dimensions.js";
import { type OnWarning, THRESHOLDS, Warnings } from "./warnings.js";

/** What all controllers of one tree share: one clock, and the warnings not delivered yet. */
class Tree {
  readonly warnings: Warnings = new Warnings();
  readonly clock: Clock;
  private monotonic: number = Number.NEGATIVE_INFINITY;
  private opened = 0;

  constructor(clock: Clock) {
    this.clock = clock;
  }

  /** A clock that gives no number would let time stand still, which is a limit that never comes. */
  now(): Time {
    const { instant, monotonic } = this.clock.now();
    if (!Number.isFinite(instant) || !Number.isFinite(monotonic)) {
      throw new InputError("clock", `says ${show(instant)} and ${show(monotonic)}; allowed: milliseconds`);
    }
    this.monotonic = Math.max(this.monotonic, monotonic);
    return { instant, monotonic: this.monotonic };
  }

  nextId(): BudgetId {
    return `controller ${++this.opened}`;
  }
}

/** Where an account lies. */
interface Place {
  readonly tree: Tree;
  readonly id: BudgetId;
  readonly parent: Account | null;
  /** Whether it could not be opened below its parent, so that nothing is held for it there. */
  readonly apart: boolean;
}

/** Both budgets of an account, as values. */
interface Budgets {
  /** Counts in the parent too. */
  readonly shared: LedgerBudget;
  /** The controller's own iterations and depth, as a root, so that nothing of it is held or counted above. */
  readonly own: LedgerBudget;
}

const HARD: Policies = Object.fromEntries(DIMENSIONS.all.map(({ id }) => [id, "hard_stop"]));

/** None of anything. */
const NOTHING: Amounts = Object.fromEntries(DIMENSIONS.all.map(({ id }) => [id, 0 as Amount]));

/**
 * One controller's budget, kept as values that the rules of the core replace with every change. Amounts are in ledger
 * units.
 */
export class Account {
  private readonly place: Place;
  private readonly children = new Set<Account>();
  private shared: LedgerBudget;
  private own: LedgerBudget;

  private constructor(place: Place, { shared, own }: Budgets, onWarning: OnWarning | null) {
    this.place = place;
    this.shared = shared;
    this.own = own;
    if (onWarning !== null) place.tree.warnings.listen(place.id, onWarning);
    place.parent?.children.add(this);
  }

  static root(limits: Amounts, clock: Clock, onWarning: OnWarning | null): Account {
    const tree = new Tree(clock);
    return Account.apart(tree, limits, null, tree.now(), onWarning);
  }

  /** An account for which nothing is held above it. */
  private static apart(
    tree: Tree,
    limits: Amounts,
    parent: Account | null,
    time: Time,
    onWarning: OnWarning | null,
  ): Account {
    const id = tree.nextId();
    const { shared, own } = split(limits);
    const place: Place = { tree, id, parent, apart: parent !== null };
    return new Account(place, { shared: openRoot(id, shared, time), own: openOwn(id, own, time) }, onWarning);
  }

  /**
   * A child that gets at most `most`, and less of what it shares where less is free, held here until it ends. When something
   * that it shares is exhausted here no child can be opened; then the child is there all the same, with nothing to use, so
   * that its caller learns of it like of every other refusal, and what it records still counts here.
   */
  child(most: Amounts, onWarning: OnWarning | null): Account {
    this.assertOpen();
    const { tree } = this.place;
    const time = tree.now();
    if (this.place.apart) return Account.apart(tree, NOTHING, this, time, onWarning);
    const { shared, own } = split(most);
    const id = tree.nextId();
    const opened = open(this.path(), id, { kind: "fraction", of: 1, most: shared }, time);
    this.replace(opened);
    if (opened.budget === null) return Account.apart(tree, NOTHING, this, time, onWarning);
    const budgets: Budgets = { shared: opened.budget, own: openOwn(id, own, time) };
    return new Account({ tree, id, parent: this, apart: false }, budgets, onWarning);
  }

  get ended(): boolean {
    return this.shared.ended;
  }

  get clock(): Clock {
    return this.place.tree.clock;
  }

  assertOpen(): void {
    if (this.ended) throw new LedgerError(`${this.place.id} has ended; it takes no usage and no children`);
  }

  /** The limit in ledger units; infinite where there is none. */
  limit(id: string): number {
    return limitOf(this.budgetOf(id), id);
  }

  /** What is used by now, by dimension. */
  used(): (id: string) => number {
    const time = this.place.tree.now();
    return (id) => usedOf(this.budgetOf(id), DIMENSIONS.get(id), time);
  }

  /** What is neither used nor held by now, by dimension: infinite without a limit, nothing after the end. */
  free(): (id: string) => number {
    if (this.ended) return () => 0;
    const shared = this.path();
    const time = this.place.tree.now();
    return (id) => freeOn(isOwn(id) ? [this.own] : shared, DIMENSIONS.get(id), time);
  }

  /** What stands in the way of a call. One that has ended is judged by its own budget, as it was then. */
  findings(asked: Amounts): readonly Finding[] {
    const time = this.place.tree.now();
    const { shared, own } = split(asked);
    const decided = decide(this.ended ? [this.shared] : this.path(), shared, time, DIMENSIONS);
    return [...decided.findings, ...decide([this.own], own, time, DIMENSIONS).findings];
  }

  /** Whose limits stand in the way: a child that got nothing has nothing because of its parent. */
  get blocker(): Account {
    const { apart, parent } = this.place;
    return apart && parent !== null ? parent.blocker : this;
  }

  /** Records usage, what is shared also in every ancestor, and warns. */
  charge(used: Amounts): void {
    this.assertOpen();
    const { tree } = this.place;
    const time = tree.now();
    const { shared, own } = split(used);
    this.book(shared, time);
    const settled = settle([this.own], NO_AMOUNTS, own, time, DIMENSIONS);
    this.own = settled.path[0] ?? this.own;
    for (const each of settled.notices) tree.warnings.note(each);
    tree.warnings.deliver();
  }

  /** Warns of what time alone has brought about. */
  tick(): void {
    if (this.ended) return;
    const { tree } = this.place;
    this.book({}, tree.now());
    tree.warnings.deliver();
  }

  /** Gives what is left back to the parent. */
  end(): void {
    if (this.ended) return;
    const { tree, id, parent } = this.place;
    const { size } = this.children;
    if (size > 0) throw new LedgerError(`${id} has ${size} children that have not ended; end them first`);
    const time = tree.now();
    this.write(endBudget(this.path(), time, DIMENSIONS));
    this.own = endBudget([this.own], time, DIMENSIONS)[0] ?? this.own;
    tree.warnings.forget(id);
    parent?.children.delete(this);
  }

  /** The parent comes first: it has used at least as much, so a total too large to count is refused before anything is booked. */
  private book(used: Amounts, time: Time): void {
    const { parent, apart } = this.place;
    if (apart) parent?.book(used, time);
    this.replace(settle(this.path(), NO_AMOUNTS, used, time, DIMENSIONS));
  }

  /** The budgets that count what is shared, leaf first: the account's own, and those above that hold it. */
  private path(): Path {
    const { parent, apart } = this.place;
    return parent === null || apart ? [this.shared] : [this.shared, ...parent.path()];
  }

  /** Takes over what the rules have made of the path, and notes what they have to tell. */
  private replace({ path, notices }: Pick<Opened, "path" | "notices">): void {
    this.write(path);
    for (const each of notices) this.place.tree.warnings.note(each);
  }

  private write([budget = this.shared, ...above]: Path): void {
    this.shared = budget;
    if (above.length > 0) this.place.parent?.write(above);
  }

  private budgetOf(id: string): LedgerBudget {
    return isOwn(id) ? this.own : this.shared;
  }
}

function open(above: Path, id: BudgetId, grant: Grant, time: Time): Opened {
  return openBudget(above, { id, scope: "run", grant, policies: HARD, thresholds: THRESHOLDS }, time, DIMENSIONS);
}

function openRoot(id: BudgetId, limits: Amounts, time: Time): LedgerBudget {
  const { budget } = open([], id, { kind: "limits", limits }, time);
  if (budget === null) throw new LedgerError("a root is never refused");
  return budget;
}

function openOwn(id: BudgetId, limits: Amounts, time: Time): LedgerBudget {
  return openRoot(`${id}, own`, limits, time);
}

/** Amounts that count in the parent too, and those that do not. */
function split(amounts: Amounts): { readonly shared: Amounts; readonly own: Amounts } {
  const shared: Record<string, Amount> = {};
  const own: Record<string, Amount> = {};
  for (const id of Object.keys(amounts)) (isOwn(id) ? own : shared)[id] = amounts[id] as Amount;
  return { shared, own };
}

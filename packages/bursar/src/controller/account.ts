import type { Amount, Amounts } from "../core/amount.js";
import { type BudgetId, type Budget as LedgerBudget, limitOf, usedOf } from "../core/budget.js";
import { freeOn, type Grant } from "../core/children.js";
import { decide, type Finding } from "../core/decision.js";
import { InputError, LedgerError, show } from "../core/errors.js";
import { Ledger, type Node, REFUSED } from "../core/ledger.js";
import type { Policies } from "../core/policy.js";
import type { Time } from "../core/time.js";
import type { Clock } from "../ports/clock.js";
import { DIMENSIONS, isOwn } from "./dimensions.js";
import { type OnWarning, THRESHOLDS, Warnings } from "./warnings.js";

/** What all controllers of one tree share: one ledger, one clock, and the warnings not delivered yet. */
class Tree {
  readonly warnings: Warnings = new Warnings();
  readonly ledger: Ledger = new Ledger(DIMENSIONS, (notice) => this.warnings.note(notice));
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
    const time = { instant, monotonic: this.monotonic };
    this.ledger.at(time);
    return time;
  }

  nextId(): BudgetId {
    return `controller ${++this.opened}`;
  }
}

/** Where an account lies, and how the ledger knows it. */
interface Place {
  readonly tree: Tree;
  readonly id: BudgetId;
  /** What counts in the parent too. */
  readonly node: Node;
  /** What is this controller's own: iterations and depth. A root in the ledger, so that nothing of it is held or counted above. */
  readonly own: Node;
  readonly parent: Account | null;
  /** Whether the ledger has refused to open it below its parent, so that nothing is held for it there. */
  readonly apart: boolean;
}

/** Both budgets of an account, as values. */
interface Budgets {
  readonly shared: LedgerBudget;
  readonly own: LedgerBudget;
}

const HARD: Policies = Object.fromEntries(DIMENSIONS.all.map(({ id }) => [id, "hard_stop"]));

/** None of anything. */
const NOTHING: Amounts = Object.fromEntries(DIMENSIONS.all.map(({ id }) => [id, 0 as Amount]));

/** One controller's budget in the ledger of its tree. Amounts are in ledger units. */
export class Account {
  private readonly place: Place;
  private readonly children = new Set<Account>();
  /** The budgets as they were at the end; their rows in the ledger serve others then. */
  private final: Budgets | null = null;

  private constructor(place: Place, onWarning: OnWarning | null) {
    this.place = place;
    if (onWarning !== null) place.tree.warnings.listen(place.id, onWarning);
    place.parent?.children.add(this);
  }

  static root(limits: Amounts, clock: Clock, onWarning: OnWarning | null): Account {
    const tree = new Tree(clock);
    tree.now();
    return Account.apart(tree, limits, null, onWarning);
  }

  /** An account for which nothing is held above it. */
  private static apart(tree: Tree, limits: Amounts, parent: Account | null, onWarning: OnWarning | null): Account {
    const id = tree.nextId();
    const { shared, own } = split(limits);
    const node = open(tree, null, id, { kind: "limits", limits: shared });
    return new Account({ tree, id, node, own: openOwn(tree, id, own), parent, apart: parent !== null }, onWarning);
  }

  /**
   * A child that gets at most `most`, and less of what it shares where less is free, held here until it ends. When something
   * that it shares is exhausted here the ledger opens no child; then the child is there all the same, with nothing to use, so
   * that its caller learns of it like of every other refusal, and what it records still counts here.
   */
  child(most: Amounts, onWarning: OnWarning | null): Account {
    this.assertOpen();
    const { tree, node } = this.place;
    tree.now();
    if (this.place.apart) return Account.apart(tree, NOTHING, this, onWarning);
    const { shared, own } = split(most);
    const id = tree.nextId();
    const held = open(tree, node, id, { kind: "fraction", of: 1, most: shared });
    if (held === REFUSED) return Account.apart(tree, NOTHING, this, onWarning);
    return new Account({ tree, id, node: held, own: openOwn(tree, id, own), parent: this, apart: false }, onWarning);
  }

  get ended(): boolean {
    return this.final !== null;
  }

  get clock(): Clock {
    return this.place.tree.clock;
  }

  assertOpen(): void {
    if (this.final !== null) throw new LedgerError(`${this.place.id} has ended; it takes no usage and no children`);
  }

  /** The limit in ledger units; infinite where there is none. */
  limit(id: string): number {
    return limitOf(this.budgetOf(id, this.budgets()), id);
  }

  /** What is used by now, by dimension. */
  used(): (id: string) => number {
    const budgets = this.budgets();
    const time = this.place.tree.now();
    return (id) => usedOf(this.budgetOf(id, budgets), DIMENSIONS.get(id), time);
  }

  /** What is neither used nor held by now, by dimension: infinite without a limit, nothing after the end. */
  free(): (id: string) => number {
    const { tree, node, own } = this.place;
    if (this.final !== null) return () => 0;
    const shared = tree.ledger.path(node);
    const alone = tree.ledger.path(own);
    const time = tree.now();
    return (id) => freeOn(isOwn(id) ? alone : shared, DIMENSIONS.get(id), time);
  }

  /** What stands in the way of a call. One that has ended is judged by its own budget, as it was then. */
  findings(asked: Amounts): readonly Finding[] {
    const { tree, node, own } = this.place;
    const { ledger } = tree;
    const time = tree.now();
    const parts = split(asked);
    if (this.final !== null) {
      const decided = [
        decide([this.final.shared], parts.shared, time, DIMENSIONS),
        decide([this.final.own], parts.own, time, DIMENSIONS),
      ];
      return decided.flatMap(({ findings }) => findings);
    }
    const shared = ledger.decide(node, ledger.row(parts.shared));
    const alone = ledger.decide(own, ledger.row(parts.own));
    return [...shared.findings, ...alone.findings];
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
    tree.now();
    const { shared, own } = split(used);
    this.book(shared);
    tree.ledger.charge(this.place.own, tree.ledger.row(own));
    tree.warnings.deliver();
  }

  /** Warns of what time alone has brought about. */
  tick(): void {
    if (this.final !== null) return;
    this.place.tree.now();
    this.book({});
    this.place.tree.warnings.deliver();
  }

  /** Gives what is left back to the parent. */
  end(): void {
    if (this.final !== null) return;
    const { tree, id, node, own, parent } = this.place;
    const { size } = this.children;
    if (size > 0) throw new LedgerError(`${id} has ${size} children that have not ended; end them first`);
    tree.now();
    for (const each of [node, own]) tree.ledger.end(each);
    this.final = { shared: tree.ledger.budget(node), own: tree.ledger.budget(own) };
    for (const each of [node, own]) tree.ledger.recycle(each);
    tree.warnings.forget(id);
    parent?.children.delete(this);
  }

  /** The parent comes first: it has used at least as much, so a total too large to count is refused before anything is booked. */
  private book(used: Amounts): void {
    const { tree, node, parent, apart } = this.place;
    if (apart) parent?.book(used);
    tree.ledger.charge(node, tree.ledger.row(used));
  }

  private budgets(): Budgets {
    const { tree, node, own } = this.place;
    return this.final ?? { shared: tree.ledger.budget(node), own: tree.ledger.budget(own) };
  }

  private budgetOf(id: string, { shared, own }: Budgets): LedgerBudget {
    return isOwn(id) ? own : shared;
  }
}

function open(tree: Tree, parent: Node | null, id: BudgetId, grant: Grant): Node {
  return tree.ledger.open(parent, { id, scope: "run", grant, policies: HARD, thresholds: THRESHOLDS }).node;
}

function openOwn(tree: Tree, id: BudgetId, limits: Amounts): Node {
  return open(tree, null, `${id}, own`, { kind: "limits", limits });
}

/** Amounts that count in the parent too, and those that do not. */
function split(amounts: Amounts): { readonly shared: Amounts; readonly own: Amounts } {
  const part = (own: boolean) => Object.fromEntries(Object.entries(amounts).filter(([id]) => isOwn(id) === own));
  return { shared: part(false), own: part(true) };
}

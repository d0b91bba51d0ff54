import type { Amount, Amounts } from "../core/amount.js";
import { type BudgetId, type Budget as LedgerBudget, limitOf, usedOf } from "../core/budget.js";
import { freeOn, type Grant } from "../core/children.js";
import { decide, type Finding } from "../core/decision.js";
import { InputError, LedgerError, show } from "../core/errors.js";
import { Ledger, type Node, REFUSED } from "../core/ledger.js";
import type { Policies } from "../core/policy.js";
import type { Time } from "../core/time.js";
import type { Clock } from "../ports/clock.js";
import { DIMENSIONS } from "./dimensions.js";
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
  readonly node: Node;
  readonly parent: Account | null;
  /** Whether the ledger has refused to open it below its parent, so that nothing is held for it there. */
  readonly apart: boolean;
  /** How deep it lies below the root. */
  readonly base: number;
}

const HARD: Policies = Object.fromEntries(DIMENSIONS.all.map(({ id }) => [id, "hard_stop"]));

/** None of anything. */
const NOTHING: Amounts = Object.fromEntries(DIMENSIONS.all.map(({ id }) => [id, 0 as Amount]));

/** One controller's budget in the ledger of its tree. Depth is absolute here; amounts are in ledger units. */
export class Account {
  readonly base: number;
  private readonly place: Place;
  private readonly children = new Set<Account>();
  /** The budget as it was at the end; its row in the ledger serves others then. */
  private final: LedgerBudget | null = null;

  private constructor(place: Place, onWarning: OnWarning | null) {
    this.place = place;
    this.base = place.base;
    if (onWarning !== null) place.tree.warnings.listen(place.id, onWarning);
    place.parent?.children.add(this);
  }

  static root(limits: Amounts, clock: Clock, onWarning: OnWarning | null): Account {
    const tree = new Tree(clock);
    tree.now();
    const id = tree.nextId();
    const node = open(tree, null, id, { kind: "limits", limits });
    return new Account({ tree, id, node, parent: null, apart: false, base: 0 }, onWarning);
  }

  /**
   * A child that gets at most `most`, and less where less is free, held here until it ends. When something is exhausted
   * here the ledger opens no child; then the child is there all the same, with nothing to use, so that its caller learns
   * of it like of every other refusal, and what it records still counts here.
   */
  child(most: Amounts, base: number, onWarning: OnWarning | null): Account {
    this.assertOpen();
    const { tree, node } = this.place;
    tree.now();
    const id = tree.nextId();
    const held = this.place.apart ? REFUSED : open(tree, node, id, { kind: "fraction", of: 1, most });
    const apart = held === REFUSED;
    const own = apart ? open(tree, null, id, { kind: "limits", limits: NOTHING }) : held;
    return new Account({ tree, id, node: own, parent: this, apart, base }, onWarning);
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
    return limitOf(this.budget(), id);
  }

  /** What is used by now, by dimension. */
  used(): (id: string) => number {
    const budget = this.budget();
    const time = this.place.tree.now();
    return (id) => usedOf(budget, DIMENSIONS.get(id), time);
  }

  /** What is neither used nor held by now, by dimension: infinite without a limit, nothing after the end. */
  free(): (id: string) => number {
    const { tree, node } = this.place;
    if (this.final !== null) return () => 0;
    const path = tree.ledger.path(node);
    const time = tree.now();
    return (id) => freeOn(path, DIMENSIONS.get(id), time);
  }

  /** What stands in the way of a call. One that has ended is judged by its own budget, as it was then. */
  findings(asked: Amounts): readonly Finding[] {
    const { tree, node } = this.place;
    const time = tree.now();
    if (this.final !== null) return decide([this.final], asked, time, DIMENSIONS).findings;
    return tree.ledger.decide(node, tree.ledger.row(asked)).findings;
  }

  /** Whose limits stand in the way: a child that got nothing has nothing because of its parent. */
  get blocker(): Account {
    const { apart, parent } = this.place;
    return apart && parent !== null ? parent.blocker : this;
  }

  /** Records usage here and in every ancestor, and warns. */
  charge(used: Amounts): void {
    this.assertOpen();
    this.place.tree.now();
    this.book(used);
    this.place.tree.warnings.deliver();
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
    const { tree, id, node, parent } = this.place;
    const { size } = this.children;
    if (size > 0) throw new LedgerError(`${id} has ${size} children that have not ended; end them first`);
    tree.now();
    tree.ledger.end(node);
    this.final = tree.ledger.budget(node);
    tree.ledger.recycle(node);
    tree.warnings.forget(id);
    parent?.children.delete(this);
  }

  /** The parent comes first: it has used at least as much, so a total too large to count is refused before anything is booked. */
  private book(used: Amounts): void {
    const { tree, node, parent, apart } = this.place;
    if (apart) parent?.book(used);
    tree.ledger.charge(node, tree.ledger.row(used));
  }

  private budget(): LedgerBudget {
    return this.final ?? this.place.tree.ledger.budget(this.place.node);
  }
}

function open(tree: Tree, parent: Node | null, id: BudgetId, grant: Grant): Node {
  return tree.ledger.open(parent, { id, scope: "run", grant, policies: HARD, thresholds: THRESHOLDS }).node;
}

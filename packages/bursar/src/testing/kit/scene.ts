import assert from "node:assert/strict";
import type { Amounts } from "../../core/amount.js";
import type { Budget } from "../../core/budget.js";
import { type Link, parseLine } from "../../core/chain/link.js";
import { verifyChain } from "../../core/chain/verify.js";
import type { Grant, Opening } from "../../core/children.js";
import { defineDimension } from "../../core/dimension.js";
import { type Dimensions, STANDARD } from "../../core/dimensions.js";
import { type BudgetAmounts, readAmounts } from "../../core/input.js";
import type { CommitOperation, OpenOperation, OutcomeOf, ReserveOperation } from "../../core/operation.js";
import type { CallKind } from "../../core/usage.js";
import type { Clock } from "../../ports/clock.js";
import type { Store } from "../../ports/store.js";
import { sha256Hex } from "../../runtime/crypto.js";
import { FakeClock } from "../clock/fake-clock.js";

/** Opens an empty store for one test. It has to use the clock and the dimensions it is given. */
export type OpenStore = (options: { readonly clock: Clock; readonly dimensions: Dimensions }) => Promise<Store>;

/** One thing a store has to do right. */
export interface Case {
  readonly name: string;
  readonly run: (scene: Scene) => Promise<void>;
}

/** The dimensions of the kit: the standard ones and one of each kind that a caller might define. */
const KIT_DIMENSIONS: Dimensions = STANDARD.with(
  defineDimension({ id: "emails_sent", kind: "sum", unit: "emails" }),
  defineDimension({ id: "open_tabs", kind: "peak", unit: "tabs", defaultPolicy: "approval_required" }),
);

/** A store with a clock that stands still, and short words for what the cases do with it. Amounts are in edge units. */
export class Scene {
  readonly store: Store;
  readonly clock: FakeClock;

  constructor(store: Store, clock: FakeClock) {
    this.store = store;
    this.clock = clock;
  }

  amounts(amounts: BudgetAmounts): Amounts {
    return readAmounts(amounts, this.store.dimensions, { clocks: true });
  }

  limits(limits: BudgetAmounts): Grant {
    return { kind: "limits", limits: this.amounts(limits) };
  }

  async open(id: string, grant: Grant, more: More = {}): Promise<OutcomeOf<OpenOperation>> {
    const { parent = null, scope = "run", chain, ...rest } = more;
    const opening: Opening = { id, scope, grant, ...rest };
    const [outcome] = await this.store.apply([
      { op: "open", parent, opening, ...(chain === undefined ? {} : { chain }) },
    ]);
    return outcome;
  }

  async reserve(
    budget: string,
    call: string,
    asked: BudgetAmounts,
    more: Reserving = {},
  ): Promise<OutcomeOf<ReserveOperation>> {
    const operation = { op: "reserve", kind: "tool", budget, call, asked: this.amounts(asked), ...more } as const;
    const [outcome] = await this.store.apply([operation]);
    return outcome;
  }

  async commit(call: string, used: BudgetAmounts): Promise<OutcomeOf<CommitOperation>> {
    const [outcome] = await this.store.apply([{ op: "commit", call, used: this.amounts(used) }]);
    return outcome;
  }

  /** Reserves and commits at once. */
  async spend(budget: string, call: string, used: BudgetAmounts): Promise<void> {
    const { decision } = await this.reserve(budget, call, used);
    assert.equal(decision.kind, "admitted", `${call} should have been admitted`);
    await this.commit(call, used);
  }

  async extend(budget: string, additional: BudgetAmounts): Promise<string> {
    const approval = { approved_by: "ada", reason: "more to do" };
    const [outcome] = await this.store.apply([
      { op: "extend", budget, additional: this.amounts(additional), ...approval },
    ]);
    return outcome.result.kind;
  }

  async end(budget: string): Promise<void> {
    await this.store.apply([{ op: "end", budget }]);
  }

  async budget(id: string): Promise<Budget> {
    const budget = await this.store.budget(id);
    assert.ok(budget !== null, `there should be a budget ${id}`);
    return budget;
  }

  async expectUsed(id: string, used: BudgetAmounts, reserved: BudgetAmounts = {}): Promise<void> {
    const budget = await this.budget(id);
    assert.deepEqual(nonZero(budget.used), nonZero(this.amounts(used)), `used of ${id}`);
    assert.deepEqual(nonZero(budget.reserved), nonZero(this.amounts(reserved)), `reserved of ${id}`);
  }

  async links(chain: string): Promise<readonly Link[]> {
    const links: Link[] = [];
    for await (const line of this.store.chain(chain)) links.push(parseLine(line));
    return links;
  }

  /** The budget events of a chain, in order; the chain verifies against the head the store gives. */
  async events(chain: string): Promise<readonly string[]> {
    const head = await this.store.head(chain);
    const verified = await verifyChain(this.store.chain(chain), {
      hash: sha256Hex,
      ...(head === null ? {} : { head }),
    });
    assert.ok(verified.ok, `chain ${chain} should verify`);
    return (await this.links(chain)).flatMap(({ event }) => event ?? []);
  }
}

interface More extends Partial<Pick<Opening, "policies" | "thresholds" | "deadline" | "scope">> {
  readonly parent?: string;
  readonly chain?: string;
}

interface Reserving {
  readonly kind?: CallKind;
  readonly expires?: number;
  readonly least?: Amounts;
  readonly tentative?: true;
}

function nonZero(amounts: Amounts): Record<string, number> {
  return Object.fromEntries(Object.entries(amounts).filter(([, value]) => value !== 0));
}

/** A fresh store for one case, closed when it is over. */
export async function inScene(open: OpenStore, run: (scene: Scene) => Promise<void>): Promise<void> {
  const clock = new FakeClock();
  const store = await open({ clock, dimensions: KIT_DIMENSIONS });
  try {
    await run(new Scene(store, clock));
  } finally {
    await store[Symbol.asyncDispose]();
  }
}

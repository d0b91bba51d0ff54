import { describe, expect, test } from "vitest";
import type { Amounts } from "../../src/core/amount.js";
import type { BudgetId } from "../../src/core/budget.js";
import type { Grant } from "../../src/core/children.js";
import { usd } from "../../src/core/decimal.js";
import { defineDimension } from "../../src/core/dimension.js";
import { Dimensions, STANDARD } from "../../src/core/dimensions.js";
import { InputError, LedgerError } from "../../src/core/errors.js";
import { BudgetTree } from "./budget-tree.js";

const amounts = (values: Readonly<Record<string, number>>) => values as Amounts;
const limits = (values: Readonly<Record<string, number>>): Grant => ({ kind: "limits", limits: amounts(values) });
const half: Grant = { kind: "fraction", of: 0.5 };
const step = amounts({ steps: 1 });

let opened = 0;

/** Opens a budget and gives its id; one that was refused has none. */
function tryToOpen(tree: BudgetTree, parent: BudgetId | null, grant: Grant): BudgetId | null {
  return tree.open(parent, { id: `b${opened++}`, scope: "run", grant }).budget?.id ?? null;
}

function open(tree: BudgetTree, parent: BudgetId | null, grant: Grant): BudgetId {
  const id = tryToOpen(tree, parent, grant);
  if (id === null) throw new Error("the budget was refused");
  return id;
}

/** Reserves and commits the same, and says whether the call was let in. */
function call(tree: BudgetTree, id: BudgetId, asked: Amounts, used: Amounts = asked): boolean {
  const { number } = tree.reserve(id, asked);
  if (number !== null) tree.commit(number, used);
  return number !== null;
}

describe("many callers at once", () => {
  test("five dollars, a tenth each, a thousand callers: exactly fifty are admitted", async () => {
    const tree = new BudgetTree(STANDARD);
    const run = open(tree, null, limits({ cost_usd: usd(5) }));
    const tenth = { cost_usd: usd(0.1) };

    const callers = Array.from({ length: 1000 }, async () => {
      const { number } = tree.reserve(run, tenth);
      await Promise.resolve();
      if (number !== null) tree.commit(number, tenth);
      return number !== null;
    });

    expect((await Promise.all(callers)).filter((admitted) => admitted)).toHaveLength(50);
    expect(tree.budget(run).used).toEqual({ cost_usd: usd(5) });
    expect(tree.budget(run).reserved).toEqual({ cost_usd: 0 });
  });

  test("from many leaves of one tree, they get what the root has and no more", () => {
    const tree = new BudgetTree(STANDARD);
    const root = open(tree, null, limits({ steps: 1000 }));
    const leaves = Array.from({ length: 100 }, () => open(tree, root, limits({ steps: 500 })));

    const calls = Array.from({ length: 2000 }, (_, turn) => call(tree, leaves[turn % leaves.length] as BudgetId, step));

    expect(calls.filter((admitted) => admitted)).toHaveLength(1000);
    expect(tree.budget(root).used).toEqual({ steps: 1000 });
  });

  test("a hundred thousand reservations in flight are settled one by one", () => {
    const tree = new BudgetTree(STANDARD);
    const root = open(tree, null, limits({ llm_tokens: 1e12 }));
    const run = open(tree, root, limits({ llm_tokens: 1e12 }));
    const asked = amounts({ llm_tokens: 120 });
    const used = amounts({ llm_tokens: 100 });

    const numbers = Array.from({ length: 100_000 }, () => tree.reserve(run, asked).number as number);

    expect(tree.budget(run).open).toBe(100_000);
    expect(tree.budget(root).reserved).toEqual({ llm_tokens: 12_000_000 });
    for (const number of numbers) tree.commit(number, used);
    expect(tree.budget(run).open).toBe(0);
    expect(tree.budget(root)).toMatchObject({ used: { llm_tokens: 10_000_000 }, reserved: { llm_tokens: 0 } });
  });
});

describe("children at a fraction", () => {
  test("a hundred of them at once never hold more than the parent has", () => {
    const tree = new BudgetTree(STANDARD);
    const parent = open(tree, null, limits({ llm_tokens: 1_000_000 }));

    const children = Array.from({ length: 100 }, () => tryToOpen(tree, parent, half)).filter((id) => id !== null);

    const granted = children.map((child) => tree.budget(child).limits.llm_tokens ?? 0);
    const total = granted.reduce((sum: number, limit) => sum + limit, 0);
    expect(granted.slice(0, 3)).toEqual([500_000, 250_000, 125_000]);
    expect(total).toBeLessThanOrEqual(1_000_000);
    expect(tree.budget(parent).reserved).toEqual({ llm_tokens: total });
  });

  test("five at a half each can use all they were given, and stay inside the parent", () => {
    const tree = new BudgetTree(STANDARD);
    const parent = open(tree, null, limits({ steps: 100 }));
    const children = Array.from({ length: 5 }, () => open(tree, parent, half));

    for (const child of children) while (call(tree, child, step));

    expect(children.map((child) => tree.budget(child).used)).toEqual([50, 25, 12, 6, 3].map((steps) => ({ steps })));
    expect(tree.budget(parent)).toMatchObject({ used: { steps: 96 }, reserved: { steps: 0 } });
  });
});

describe("amounts near the largest integer", () => {
  test("a limit of nine million dollars is used to the last billionth", () => {
    const tree = new BudgetTree(STANDARD);
    const run = open(tree, null, limits({ cost_usd: 9e15 }));
    const last = amounts({ cost_usd: 1 });

    expect(call(tree, run, amounts({ cost_usd: 9e15 - 1 }))).toBe(true);
    expect(call(tree, run, last)).toBe(true);

    expect(tree.budget(run).used).toEqual({ cost_usd: 9e15 });
    expect(tree.reserve(run, last)).toMatchObject({ decision: { kind: "stopped" }, number: null });
  });

  test.for(["charge", "reserve"] as const)(
    "a total that would be rounded is refused by %s, and nothing changes",
    (how) => {
      const tree = new BudgetTree(STANDARD);
      const root = open(tree, null, limits({ steps: 10 }));
      const run = open(tree, root, limits({ steps: 10 }));
      const large = amounts({ fuel: 9e15 });
      tree.charge(run, large);
      const before = tree.path(run);

      expect(() => tree[how](run, large)).toThrow(InputError);
      expect(() => tree[how](run, large)).toThrow("would pass 9007199254740991, the largest total that can be counted");
      expect(tree.path(run)).toEqual(before);
    },
  );

  test("many middling amounts without a limit are refused at the same place", () => {
    const tree = new BudgetTree(STANDARD);
    const run = open(tree, null, limits({ steps: 10 }));
    const part = amounts({ fuel: 2 ** 49 });

    for (let turn = 0; turn < 15; turn++) tree.charge(run, part);

    expect(() => tree.charge(run, part)).toThrow(InputError);
    expect(tree.budget(run).used).toEqual({ fuel: 15 * 2 ** 49 });
  });
});

describe("large shapes", () => {
  test("two thousand dimensions of the caller's own are counted and limited like any other", () => {
    const own = Array.from({ length: 2000 }, (_, i) =>
      defineDimension({ id: `d${i}`, kind: i % 4 === 0 ? "peak" : "sum" }),
    );
    const tree = new BudgetTree(STANDARD.with(...own));
    const all = Object.fromEntries(own.map(({ id }) => [id, 100]));
    const root = open(tree, null, limits(all));
    const runs = Array.from({ length: 5 }, () => open(tree, root, limits(all)));
    const asked = amounts({ d0: 90, d1: 20, d1998: 10, d1996: 7 });
    const used = amounts({ d0: 60, d1: 20, d1998: 10, d1996: 9 });

    for (const run of runs) call(tree, run, asked, used);

    expect(tree.budget(root).used).toEqual({ d0: 60, d1: 100, d1998: 50, d1996: 9 });
    expect(tree.budget(root).reserved).toEqual({ d1: 0, d1998: 0 });
    const { decision, number } = tree.reserve(runs[0] as BudgetId, {});
    expect(number).toBeNull();
    expect(decision.findings).toMatchObject([{ budget: root, dimension: "d1" }]);
  });

  test("a table of a single dimension", () => {
    const tree = new BudgetTree(new Dimensions([defineDimension({ id: "emails", kind: "sum" })]));
    const run = open(tree, null, limits({ emails: 3 }));

    const calls = [1, 2, 3, 4].map(() => tree.reserve(run, amounts({ emails: 1 })));

    expect(calls.map(({ decision }) => decision.kind)).toEqual(["admitted", "admitted", "admitted", "busy"]);
  });

  test("a hundred levels: a call is booked in all of them, and the tightest decides", () => {
    const tree = new BudgetTree(STANDARD);
    const ids: BudgetId[] = [];
    for (let level = 0; level < 100; level++) {
      ids.push(open(tree, ids.at(-1) ?? null, limits({ steps: level === 50 ? 20 : 1000 })));
    }
    const leaf = ids.at(-1) as BudgetId;

    for (let turn = 0; turn < 20; turn++) call(tree, leaf, step);

    expect(tree.reserve(leaf, step).decision.findings).toMatchObject([{ budget: ids[50] }]);
    expect(tree.path(leaf).map(({ used }) => used)).toEqual(new Array(100).fill({ steps: 20 }));
  });
});

describe("the end of a budget", () => {
  test("one that has ended is neither ended again nor extended", () => {
    const tree = new BudgetTree(STANDARD);
    const run = open(tree, null, limits({ steps: 10 }));
    tree.end(run);

    expect(() => tree.end(run)).toThrow(LedgerError);
    expect(() => tree.end(run)).toThrow(`budget ${run} has ended already`);
    expect(() => tree.extend(run, step)).toThrow("it cannot be extended");
  });

  test("one that is still in use does not end", () => {
    const tree = new BudgetTree(STANDARD);
    const run = open(tree, null, limits({ steps: 10 }));
    const { number } = tree.reserve(run, step);

    expect(() => tree.end(run)).toThrow("has 1 reservations or children open; settle or end them first");
    tree.commit(number as number, {});
    tree.end(run);
    expect(tree.budget(run).ended).toBe(true);
  });
});

import { describe, expect, test } from "vitest";
import type { Amounts } from "../../src/core/amount.js";
import type { Grant } from "../../src/core/children.js";
import { usd } from "../../src/core/decimal.js";
import { defineDimension } from "../../src/core/dimension.js";
import { Dimensions, STANDARD } from "../../src/core/dimensions.js";
import { InputError, LedgerError } from "../../src/core/errors.js";
import { Ledger, type Node, REFUSED } from "../../src/core/ledger.js";

const amounts = (values: Readonly<Record<string, number>>) => values as Amounts;
const limits = (values: Readonly<Record<string, number>>): Grant => ({ kind: "limits", limits: amounts(values) });
const half: Grant = { kind: "fraction", of: 0.5 };

let opened = 0;

function open(ledger: Ledger, parent: Node | null, grant: Grant): Node {
  return ledger.open(parent, { id: `b${opened++}`, scope: "run", grant }).node;
}

describe("many callers at once", () => {
  test("five dollars, a tenth each, a thousand callers: exactly fifty are admitted", async () => {
    const ledger = new Ledger(STANDARD);
    const run = open(ledger, null, limits({ cost_usd: usd(5) }));
    const tenth = ledger.row({ cost_usd: usd(0.1) });

    const callers = Array.from({ length: 1000 }, async () => {
      const slot = ledger.reserve(run, tenth);
      await Promise.resolve();
      if (slot !== REFUSED) ledger.commit(slot, tenth);
      return slot !== REFUSED;
    });

    expect((await Promise.all(callers)).filter((admitted) => admitted)).toHaveLength(50);
    expect(ledger.budget(run).used).toEqual({ cost_usd: usd(5) });
    expect(ledger.budget(run).reserved).toEqual({});
  });

  test("from many leaves of one tree, they get what the root has and no more", () => {
    const ledger = new Ledger(STANDARD);
    const root = open(ledger, null, limits({ steps: 1000 }));
    const leaves = Array.from({ length: 100 }, () => open(ledger, root, limits({ steps: 500 })));
    const step = ledger.row(amounts({ steps: 1 }));

    let admitted = 0;
    for (let turn = 0; turn < 2000; turn++) {
      const slot = ledger.reserve(leaves[turn % leaves.length] ?? REFUSED, step);
      if (slot === REFUSED) continue;
      admitted++;
      ledger.commit(slot, step);
    }

    expect(admitted).toBe(1000);
    expect(ledger.budget(root).used).toEqual({ steps: 1000 });
  });

  test("a million reservations in flight are settled one by one", () => {
    const ledger = new Ledger(STANDARD);
    const root = open(ledger, null, limits({ llm_tokens: 1e12 }));
    const run = open(ledger, root, limits({ llm_tokens: 1e12 }));
    const asked = ledger.row(amounts({ llm_tokens: 120 }));
    const used = ledger.row(amounts({ llm_tokens: 100 }));

    const slots = Int32Array.from({ length: 1_000_000 }, () => ledger.reserve(run, asked));

    expect(ledger.budget(run).open).toBe(1_000_000);
    expect(ledger.budget(root).reserved).toEqual({ llm_tokens: 120_000_000 });
    for (const slot of slots) ledger.commit(slot, used);
    expect(ledger.budget(run).open).toBe(0);
    expect(ledger.budget(root).used).toEqual({ llm_tokens: 100_000_000 });
    expect(ledger.budget(root).reserved).toEqual({});
  });
});

describe("children at a fraction", () => {
  test("a hundred of them at once never hold more than the parent has", () => {
    const ledger = new Ledger(STANDARD);
    const parent = open(ledger, null, limits({ llm_tokens: 1_000_000 }));

    const children = Array.from({ length: 100 }, () => open(ledger, parent, half)).filter((node) => node !== REFUSED);

    const granted = children.map((child) => {
      const { llm_tokens } = ledger.budget(child).limits;
      return llm_tokens ?? 0;
    });
    const total = granted.reduce((sum: number, limit) => sum + limit, 0);
    expect(granted.slice(0, 3)).toEqual([500_000, 250_000, 125_000]);
    expect(total).toBeLessThanOrEqual(1_000_000);
    expect(ledger.budget(parent).reserved).toEqual({ llm_tokens: total });
  });

  test("five at a half each can use all they were given, and stay inside the parent", () => {
    const ledger = new Ledger(STANDARD);
    const parent = open(ledger, null, limits({ steps: 100 }));
    const children = Array.from({ length: 5 }, () => open(ledger, parent, half));
    const step = ledger.row(amounts({ steps: 1 }));

    for (const child of children) {
      for (let slot = ledger.reserve(child, step); slot !== REFUSED; slot = ledger.reserve(child, step)) {
        ledger.commit(slot, step);
      }
    }

    expect(children.map((child) => ledger.budget(child).used)).toEqual([50, 25, 12, 6, 3].map((steps) => ({ steps })));
    expect(ledger.budget(parent).used).toEqual({ steps: 96 });
    expect(ledger.budget(parent).reserved).toEqual({});
  });
});

describe("amounts near the largest integer", () => {
  test("a limit of nine million dollars is used to the last billionth", () => {
    const ledger = new Ledger(STANDARD);
    const run = open(ledger, null, limits({ cost_usd: 9e15 }));
    const nearly = ledger.row(amounts({ cost_usd: 9e15 - 1 }));
    const last = ledger.row(amounts({ cost_usd: 1 }));

    ledger.commit(ledger.reserve(run, nearly), nearly);
    ledger.commit(ledger.reserve(run, last), last);

    expect(ledger.budget(run).used).toEqual({ cost_usd: 9e15 });
    expect(ledger.reserve(run, last)).toBe(REFUSED);
    expect(ledger.decision.kind).toBe("stopped");
  });

  test.for(["charge", "reserve"] as const)(
    "a total that would be rounded is refused by %s, and nothing changes",
    (how) => {
      const ledger = new Ledger(STANDARD);
      const root = open(ledger, null, limits({ steps: 10 }));
      const run = open(ledger, root, limits({ steps: 10 }));
      const large = ledger.row(amounts({ fuel: 9e15 }));
      ledger.charge(run, large);
      const before = ledger.path(run);

      expect(() => ledger[how](run, large)).toThrow(InputError);
      expect(() => ledger[how](run, large)).toThrow(
        "would pass 9007199254740991, the largest total that can be counted",
      );
      expect(ledger.path(run)).toEqual(before);
    },
  );

  test("many middling amounts without a limit are refused at the same place", () => {
    const ledger = new Ledger(STANDARD);
    const run = open(ledger, null, limits({ steps: 10 }));
    const part = ledger.row(amounts({ fuel: 2 ** 49 }));

    for (let turn = 0; turn < 15; turn++) ledger.charge(run, part);

    expect(() => ledger.charge(run, part)).toThrow(InputError);
    expect(ledger.budget(run).used).toEqual({ fuel: 15 * 2 ** 49 });
  });
});

describe("large shapes", () => {
  test("two thousand dimensions of the caller's own are counted and limited like any other", () => {
    const own = Array.from({ length: 2000 }, (_, i) =>
      defineDimension({ id: `d${i}`, kind: i % 4 === 0 ? "peak" : "sum" }),
    );
    const ledger = new Ledger(STANDARD.with(...own));
    const all = Object.fromEntries(own.map(({ id }) => [id, 100]));
    const root = open(ledger, null, limits(all));
    const runs = Array.from({ length: 5 }, () => open(ledger, root, limits(all)));
    const asked = ledger.row(amounts({ d0: 90, d1: 20, d1998: 10, d1996: 7 }));
    const used = ledger.row(amounts({ d0: 60, d1: 20, d1998: 10, d1996: 9 }));

    for (const run of runs) ledger.commit(ledger.reserve(run, asked), used);

    expect(ledger.budget(root).used).toEqual({ d0: 60, d1: 100, d1998: 50, d1996: 9 });
    expect(ledger.budget(root).reserved).toEqual({});
    expect(ledger.reserve(runs[0] ?? REFUSED, ledger.row())).toBe(REFUSED);
    expect(ledger.decision.findings).toMatchObject([{ budget: ledger.budget(root).id, dimension: "d1" }]);
  });

  test("a ledger of a single dimension", () => {
    const ledger = new Ledger(new Dimensions([defineDimension({ id: "emails", kind: "sum" })]));
    const run = open(ledger, null, limits({ emails: 3 }));
    const email = ledger.row(amounts({ emails: 1 }));

    const slots = [1, 2, 3, 4].map(() => ledger.reserve(run, email));

    expect(slots.map((slot) => slot === REFUSED)).toEqual([false, false, false, true]);
    expect(ledger.decision.kind).toBe("busy");
  });

  test("a hundred levels: a call is booked in all of them, and the tightest decides", () => {
    const ledger = new Ledger(STANDARD);
    const nodes: Node[] = [];
    for (let level = 0; level < 100; level++) {
      nodes.push(open(ledger, nodes.at(-1) ?? null, limits({ steps: level === 50 ? 20 : 1000 })));
    }
    const leaf = nodes.at(-1) ?? REFUSED;
    const step = ledger.row(amounts({ steps: 1 }));

    for (let turn = 0; turn < 20; turn++) ledger.commit(ledger.reserve(leaf, step), step);

    expect(ledger.reserve(leaf, step)).toBe(REFUSED);
    expect(ledger.decision.findings).toMatchObject([{ budget: ledger.budget(nodes[50] ?? REFUSED).id }]);
    expect(ledger.path(leaf).map(({ used }) => used)).toEqual(new Array(100).fill({ steps: 20 }));
  });
});

describe("rows and slots that serve again", () => {
  test("a recycled row knows nothing of the budget before", () => {
    const ledger = new Ledger(STANDARD);
    const root = open(ledger, null, limits({ steps: 1000, depth: 9 }));
    const first = open(ledger, root, limits({ steps: 5, depth: 3 }));
    const asked = ledger.row(amounts({ steps: 2, depth: 2 }));
    ledger.commit(ledger.reserve(first, asked), asked);
    ledger.end(first);
    ledger.recycle(first);

    const second = open(ledger, root, limits({ steps: 7 }));

    expect(second).toBe(first);
    expect(ledger.budget(second)).toMatchObject({
      limits: { steps: 7 },
      used: {},
      reserved: {},
      open: 0,
      ended: false,
    });
    expect(ledger.budget(root)).toMatchObject({ used: { steps: 2, depth: 2 }, open: 1 });
  });

  test("a settled slot is given out again, without what was in it", () => {
    const ledger = new Ledger(STANDARD.with(defineDimension({ id: "emails", kind: "sum" })));
    const run = open(ledger, null, limits({ steps: 100, emails: 100 }));
    const slot = ledger.reserve(run, ledger.row(amounts({ steps: 2, emails: 5 })));
    ledger.release(slot);

    expect(ledger.reserve(run, ledger.row(amounts({ steps: 1 })))).toBe(slot);
    expect(ledger.budget(run).reserved).toEqual({ steps: 1 });
    ledger.expire(slot);
    expect(ledger.budget(run)).toMatchObject({ used: { steps: 1 }, reserved: {} });
  });

  test("a thousand budgets one after the other need one row", () => {
    const ledger = new Ledger(STANDARD);
    const root = open(ledger, null, limits({ steps: 10_000 }));
    const step = ledger.row(amounts({ steps: 1 }));
    const rows = new Set<Node>();

    for (let turn = 0; turn < 1000; turn++) {
      const run = open(ledger, root, limits({ steps: 3 }));
      rows.add(run);
      ledger.commit(ledger.reserve(run, step), step);
      ledger.end(run);
      ledger.recycle(run);
    }

    expect(rows.size).toBe(1);
    expect(ledger.budget(root)).toMatchObject({ used: { steps: 1000 }, open: 0 });
  });
});

describe("what makes no sense is refused by name", () => {
  const ledger = new Ledger(STANDARD);
  const run = open(ledger, null, limits({ steps: 10 }));
  const ended = open(ledger, null, limits({ steps: 10 }));
  const step = ledger.row(amounts({ steps: 1 }));
  const settled = ledger.reserve(run, step);
  ledger.commit(settled, step);
  ledger.end(ended);
  const endedId = ledger.budget(ended).id;

  test.for([-1, 2, 7, 1e9, Number.NaN])("a budget that is not there: %d", (node) => {
    const message = `there is no budget in row ${node}`;

    for (const call of [
      () => ledger.reserve(node, step),
      () => ledger.charge(node, step),
      () => ledger.budget(node),
      () => ledger.path(node),
      () => ledger.decide(node, step),
      () => ledger.tick(node),
      () => ledger.open(node, { id: "below", scope: "run", grant: half }),
    ]) {
      expect(call).toThrow(LedgerError);
      expect(call).toThrow(message);
    }
  });

  test("a budget that has ended", () => {
    for (const call of [
      () => ledger.reserve(ended, step),
      () => ledger.charge(ended, step),
      () => ledger.correct(ended, { steps: -1 }),
      () => ledger.decide(ended, step),
      () => ledger.pause(ended),
      () => ledger.open(ended, { id: "below", scope: "run", grant: half }),
    ]) {
      expect(call).toThrow(LedgerError);
      expect(call).toThrow(`budget ${endedId} has ended; it takes no calls`);
    }
    expect(() => ledger.end(ended)).toThrow(`budget ${endedId} has ended already`);
    expect(() => ledger.extend(ended, amounts({ steps: 1 }))).toThrow("it cannot be extended");
  });

  test.for([settled, settled + 1, 1e9, -1, Number.NaN])("a reservation that is not there: %d", (slot) => {
    for (const call of [() => ledger.commit(slot, step), () => ledger.release(slot), () => ledger.expire(slot)]) {
      expect(call).toThrow(LedgerError);
      expect(call).toThrow(`reservation ${slot} is unknown or settled already`);
    }
  });

  test("a budget that is still in use", () => {
    const slot = ledger.reserve(run, step);

    expect(() => ledger.recycle(run)).toThrow(`budget ${ledger.budget(run).id} has not ended yet`);
    expect(() => ledger.end(run)).toThrow("has 1 reservations or children open; settle or end them first");
    ledger.release(slot);
  });

  test("a dimension that is not counted", () => {
    expect(() => ledger.row(amounts({ cots_usd: 1 }))).toThrow("cots_usd is not counted in this ledger");
    expect(() => ledger.column("wall_clock_ms")).toThrow(LedgerError);
  });
});

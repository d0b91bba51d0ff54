import { describe, expect, test } from "vitest";
import type { Amount } from "../../src/core/amount.js";
import { Operations } from "../../src/core/apply.js";
import { verifyChain } from "../../src/core/chain/verify.js";
import type { Dimension } from "../../src/core/dimension.js";
import { STANDARD } from "../../src/core/dimensions.js";
import { MemoryBooks } from "../../src/core/memory-books.js";
import type { Operation, ReserveOperation } from "../../src/core/operation.js";
import { sha256Hex } from "../../src/runtime/crypto.js";
import { MemoryStore } from "../../src/stores/memory.js";

const operations = new Operations(STANDARD);
const TIME = { instant: 1000, monotonic: 0 };
const STEPS = { steps: 1 as Amount };
const OPEN: Operation = {
  op: "open",
  parent: null,
  opening: { id: "team", scope: "shared", grant: { kind: "limits", limits: { steps: 3 as Amount } } },
};

function reserve(call: string, more: { readonly cause?: string } = {}): Operation {
  return {
    op: "reserve",
    budget: "team",
    call,
    kind: "tool",
    asked: STEPS,
    step_id: call,
    capability_id: "ü",
    ...more,
  };
}

function commit(call: string): Operation {
  return { op: "commit", call, used: STEPS };
}

/** What three calls, of which the last are refused, leave behind. */
const HISTORY = ["a", "b", "c", "d"].flatMap((call) => (call < "d" ? [reserve(call), commit(call)] : [reserve(call)]));

function work(list: readonly Operation[]) {
  return (books: Parameters<Operations["apply"]>[0]) => list.map((each) => operations.apply(books, each, TIME));
}

describe("links that are made later", () => {
  test("are those that would have been made at once, with the same ids, in whatever order both are used", () => {
    const [late, atOnce] = [new MemoryBooks(sha256Hex), new MemoryBooks(sha256Hex)];
    for (const books of [late, atOnce]) books.transact(TIME.instant, work([OPEN]));
    for (const [index, operation] of HISTORY.entries()) {
      const expected = atOnce.transact(TIME.instant, work([operation]));
      const isLate = index % 3 !== 2;
      expect(late[isLate ? "transactLate" : "transact"](TIME.instant, work([operation]))).toEqual(expected);
    }
    expect(late.lines("team")).toEqual(atOnce.lines("team"));
    expect(late.head("team")).toEqual(atOnce.head("team"));
  });

  test("of one transaction follow one another", () => {
    const [late, atOnce] = [new MemoryBooks(sha256Hex), new MemoryBooks(sha256Hex)];
    for (const books of [late, atOnce]) books.transact(TIME.instant, work([OPEN]));
    expect(late.transactLate(TIME.instant, work(HISTORY))).toEqual(atOnce.transact(TIME.instant, work(HISTORY)));
    expect(late.lines("team")).toEqual(atOnce.lines("team"));
  });

  test("that could not be made are refused at once, and nothing is written", async () => {
    const store = new MemoryStore();
    await store.apply([OPEN]);
    const before = await store.head("team");
    await expect(store.apply([reserve("a", { cause: "team#99" })])).rejects.toThrow("is not an earlier link");
    await expect(store.apply([reserve("a", { cause: "nothing" })])).rejects.toThrow("is not the id of a link");
    await expect(store.apply([reserve("a"), reserve("b", { cause: "team#2" })])).rejects.toThrow("not an earlier link");
    expect(await store.head("team")).toEqual(before);
    expect((await store.budget("team"))?.reserved.steps ?? 0).toBe(0);
    await store.apply([reserve("a"), reserve("b", { cause: "team#1" })]);
    expect((await store.head("team"))?.seq).toBe(2);
  });

  test("that hold what cannot be written are refused at once, and cost nobody else his", async () => {
    let monotonic = 5;
    const store = new MemoryStore({ clock: { now: () => ({ instant: 1000, monotonic }) } });
    const limits = { steps: 9 as Amount, wall_clock_ms: 60_000 as Amount };
    const opening = { id: "run", scope: "run", grant: { kind: "limits", limits } } as const;
    await store.apply([OPEN, { op: "open", parent: null, opening }]);
    await store.apply([{ ...reserve("a"), budget: "run" } as Operation]);
    monotonic = Number.NaN;
    await expect(store.apply([commit("a")])).rejects.toThrow();
    monotonic = 6;
    await store.apply([reserve("b"), commit("b")]);
    await new Promise((resolve) => setTimeout(resolve, 5));
    expect([(await store.head("team"))?.seq, (await store.head("run"))?.seq]).toEqual([2, 1]);
    await store.apply([commit("a")]);
    expect((await store.head("run"))?.seq).toBe(2);
  });

  test("are made without anybody's asking where they are many", () => {
    const books = new MemoryBooks(sha256Hex);
    const many = {
      ...OPEN,
      opening: { ...(OPEN as { opening: object }).opening, grant: { kind: "limits", limits: {} } },
    };
    books.transact(TIME.instant, work([many as Operation]));
    const due = () => (books as unknown as { readonly late: readonly unknown[] }).late.length;
    for (let call = 0; call < 5000; call++) books.transactLate(TIME.instant, work([reserve(`call-${call}`)]));
    expect(due()).toBeLessThan(1000);
    expect(books.lines("team")).toHaveLength(5001);
  });

  test("are there for whoever looks, at once and later", async () => {
    const store = new MemoryStore();
    await store.apply([OPEN]);
    const lines = async () => {
      const found: string[] = [];
      for await (const line of store.chain("team")) found.push(line);
      return found;
    };
    await store.apply([reserve("a")]);
    expect(await lines()).toHaveLength(2);
    await store.apply([commit("a")]);
    await new Promise((resolve) => setTimeout(resolve, 5));
    const all = await lines();
    expect(all).toHaveLength(3);
    expect(await verifyChain(all, { hash: sha256Hex })).toMatchObject({ ok: true });
  });
});

describe("what whoever makes calls is told", () => {
  test("is not what the books can be changed by", async () => {
    const store = new MemoryStore();
    await store.apply([OPEN]);
    const asked = { llm_tokens: 50 as Amount };
    const [{ granted }] = await store.apply([
      { ...reserve("a"), op: "reserve", kind: "model", asked } as ReserveOperation,
    ]);
    expect(() => Object.assign(granted, { llm_tokens: 0 })).toThrow(TypeError);
    const [{ charged }] = await store.apply([{ op: "commit", call: "a", used: {} }]);
    expect(() => Object.assign(charged, { cost_usd: 5 })).toThrow(TypeError);
    await store.apply([{ op: "commit", call: "a", used: { llm_tokens: 10 as Amount } }]);
    expect((await store.budget("team"))?.used).toMatchObject({ llm_tokens: 10 });
  });
});

describe("a dimension that was not made with defineDimension()", () => {
  test.each([
    ["has no places", { id: "emails", kind: "sum", unit: "emails" }],
    ["has a name that cannot be written", { id: "e\ud800", kind: "sum", decimals: 0 }],
    ["is of no kind", { id: "emails", kind: "some", decimals: 0 }],
  ])("is refused: it %s", (_why, dimension) => {
    expect(() => STANDARD.with(dimension as unknown as Dimension)).toThrow("defineDimension()");
  });
});

import { describe, expect, test } from "vitest";
import type { Amount } from "../../src/core/amount.js";
import { Operations } from "../../src/core/apply.js";
import { verifyChain } from "../../src/core/chain/verify.js";
import { STANDARD } from "../../src/core/dimensions.js";
import { MemoryBooks } from "../../src/core/memory-books.js";
import type { Operation } from "../../src/core/operation.js";
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

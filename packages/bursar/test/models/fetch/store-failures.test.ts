import { describe, expect, test } from "vitest";
import { openBudget } from "../../../src/ambient/open-budget.js";
import type { Operation } from "../../../src/core/operation.js";
import { BudgetExceededError } from "../../../src/models/meter/budget-exceeded-error.js";
import type { Outcomes } from "../../../src/ports/store.js";
import { StoreError } from "../../../src/stores/durable/errors.js";
import { MemoryStore } from "../../../src/stores/memory.js";
import { ASK, errorOf, openScene, READ, STREAMED, toldWhile } from "./scene.js";

const ANSWER = { kind: "text", text: "Hello.", usage: { prompt_tokens: 30, completion_tokens: 7 } } as const;

/** A store that fails when it is told to: before it has done something, or after it. */
class FailingStore extends MemoryStore {
  fails: { readonly op: Operation["op"]; readonly when: "before" | "after"; times: number } | null = null;

  error: Error = new Error("The disk is full");

  override async apply<const Ops extends readonly Operation[]>(operations: Ops): Promise<Outcomes<Ops>> {
    const { fails } = this;
    const now = fails !== null && fails.times > 0 && operations.some(({ op }) => op === fails.op);
    if (!now) return super.apply(operations);
    fails.times--;
    if (fails.when === "after") await super.apply(operations);
    throw this.error;
  }
}

async function openFailing() {
  const store = new FailingStore();
  const budget = await openBudget({ cost_usd: 1 }, { store, name: "b" });
  return { store, budget };
}

describe("a store that fails when a call is reserved", () => {
  test.each(["before", "after"] as const)("nothing is sent and nothing stays held: %s", async (when) => {
    await using at = await openScene(() => ANSWER, { maxRetries: 0 });
    const { store, budget } = await openFailing();
    store.fails = { op: "reserve", when, times: 1 };
    const told = await toldWhile(() =>
      budget.run(async () => {
        const error = await errorOf(ASK.chat(at));
        expect(String(error.cause)).toContain("The disk is full");
      }),
    );
    expect(told).toMatchObject([{ outcome: "failed", charged: {} }]);
    expect(at.model.count).toBe(0);
    expect((await budget.state()).held).toEqual({});
    expect((await budget.state()).used.steps ?? 0).toBe(0);
    await budget.end();
  });

  test.each(["chat", "messages"] as const)(
    "what the store says is the message, and not that the network failed: %s",
    async (ask) => {
      await using at = await openScene(() => ANSWER, { maxRetries: 0 });
      const { store, budget } = await openFailing();
      store.error = new StoreError("store_full", "the disk of b.db is full: make room on it");
      store.fails = { op: "reserve", when: "before", times: 1 };
      const error = await budget.run(() => errorOf(ASK[ask](at)));
      expect(error).toMatchObject({ status: 503 });
      expect(error.message).toContain("the disk of b.db is full: make room on it; nothing was sent");
      expect(BudgetExceededError.from(error)).toBe(null);
      expect(at.model.count).toBe(0);
      await budget.end();
    },
  );

  test("an SDK that tries again sends one request", async () => {
    await using at = await openScene(() => ANSWER, { maxRetries: 1 });
    const { store, budget } = await openFailing();
    store.fails = { op: "reserve", when: "after", times: 1 };
    await budget.run(() => ASK.messages(at));
    expect(at.model.count).toBe(1);
    expect((await budget.state()).used).toMatchObject({ llm_tokens: 37, steps: 1 });
    await budget.end();
  });
});

describe("a store that fails when a call is settled", () => {
  test.each(["before", "after"] as const)("once: it is asked again, and counts once (%s)", async (when) => {
    await using at = await openScene(() => ANSWER);
    const { store, budget } = await openFailing();
    store.fails = { op: "commit", when, times: 1 };
    await budget.run(async () => {
      expect((await ASK.chat(at)).choices[0]?.message.content).toBe("Hello.");
    });
    expect(at.model.count).toBe(1);
    expect((await budget.state()).used).toMatchObject({ llm_tokens: 37, steps: 1 });
    expect((await budget.state()).held).toEqual({});
    await budget.end();
  });

  test("for good: the answer is not lost, nothing is sent again, and the reservation stays", async () => {
    await using at = await openScene(() => ANSWER);
    const { store, budget } = await openFailing();
    store.fails = { op: "commit", when: "before", times: Number.POSITIVE_INFINITY };
    const told = await toldWhile(() =>
      budget.run(async () => {
        expect((await ASK.chat(at)).choices[0]?.message.content).toBe("Hello.");
        expect((await ASK.embeddings(at)).data).toHaveLength(1);
        expect((await ASK.messages(at)).content).toMatchObject([{ text: "Hello." }]);
      }),
    );
    expect(told.map(({ outcome }) => outcome)).toEqual(["failed", "failed", "failed"]);
    expect(at.model.count).toBe(3);
    const { held } = await budget.state();
    expect(held).toMatchObject({ steps: 3, llm_output_tokens: 200 });
  });

  test.each(STREAMED)("for good, when a stream is over: it ends as it should (%s)", async (protocol) => {
    await using at = await openScene(() => ANSWER);
    const { store, budget } = await openFailing();
    store.fails = { op: "commit", when: "before", times: Number.POSITIVE_INFINITY };
    expect(await budget.run(() => READ[protocol](at))).toBe("Hello.");
    expect(at.model.count).toBe(1);
    expect((await budget.state()).held).toMatchObject({ steps: 1, llm_output_tokens: 100 });
  });
});

import { describe, expect, test } from "vitest";
import type { Amount, Amounts } from "../../../src/core/amount.js";
import type { BudgetPolicies } from "../../../src/core/input.js";
import { Gate } from "../../../src/runtime/gate.js";
import { MemoryStore } from "../../../src/stores/memory.js";

const amounts = (all: Record<string, number>): Amounts => all as Record<string, Amount>;
const ASKED = amounts({ steps: 1, llm_input_tokens: 100, llm_output_tokens: 4000, cost_usd: 41_000 });
const LEAST = amounts({ llm_output_tokens: 1, cost_usd: 1010 });
const LEARNED = amounts({ llm_output_tokens: 400, cost_usd: 5000 });

async function scene(limits: Record<string, number>, policies: BudgetPolicies = {}) {
  const store = new MemoryStore();
  const gate = new Gate({ store });
  await gate.open("team", { limits, policies, scope: "shared" });
  const reserve = async (call: string, more: { learned?: Amounts; asked?: Amounts } = { learned: LEARNED }) => {
    const { asked = ASKED, learned } = more;
    const op = { op: "reserve", budget: "team", call, kind: "model", asked, least: LEAST } as const;
    const [outcome] = await store.apply([learned === undefined ? op : { ...op, learned }]);
    return outcome;
  };
  return { store, reserve };
}

describe("what is held for a call of which something was learned", () => {
  test("is all of it for who is alone, and what was learned for those beside him", async () => {
    const { reserve } = await scene({ llm_tokens: 6000 });
    const [first, second] = [await reserve("a"), await reserve("b")];
    expect(first.granted).toMatchObject({ llm_output_tokens: 4000, llm_tokens: 4100 });
    expect(second.granted).toEqual({
      steps: 1,
      llm_input_tokens: 100,
      llm_output_tokens: 400,
      llm_tokens: 500,
      cost_usd: 5000,
    });
  });

  test("is all of it as long as there is plenty for four like it", async () => {
    const { reserve } = await scene({ llm_output_tokens: 24_000 });
    const granted = [];
    for (const call of ["a", "b", "c", "d"]) granted.push((await reserve(call)).granted.llm_output_tokens);
    expect(granted).toEqual([4000, 4000, 4000, 400]);
  });

  test("lets calls in that would have had to wait", async () => {
    const { reserve } = await scene({ cost_usd: 0.00006 });
    const kinds = async (learned: Amounts | undefined, from: string) => {
      const decisions = [];
      for (let at = 0; at < 4; at++) {
        const more = learned === undefined ? {} : { learned };
        decisions.push((await reserve(`${from}${at}`, more)).decision.kind);
      }
      return decisions;
    };
    expect((await reserve("a")).decision.kind).toBe("admitted");
    expect(await kinds(undefined, "full")).toEqual(["busy", "busy", "busy", "busy"]);
    expect(await kinds(LEARNED, "learned")).toEqual(["admitted", "admitted", "admitted", "busy"]);
  });

  test("is what is left, where not even what was learned fits", async () => {
    const { store, reserve } = await scene({ llm_output_tokens: 1000 });
    await reserve("a", { asked: amounts({ llm_output_tokens: 700 }) });
    await store.apply([{ op: "commit", call: "a", used: amounts({ llm_output_tokens: 700 }) }]);
    await reserve("b", { asked: amounts({ llm_output_tokens: 10 }) });
    // It waits for the ten, and takes what is left then: 300, and not the 400 that calls like it need.
    expect((await reserve("c")).decision.kind).toBe("busy");
    await store.apply([{ op: "release", call: "b" }]);
    expect((await reserve("c")).granted.llm_output_tokens).toBe(300);
  });

  test("is all of it where a limit only warns", async () => {
    const { reserve } = await scene({ llm_tokens: 6000 }, { llm_tokens: "soft_warn" });
    await reserve("a");
    expect((await reserve("b")).granted.llm_output_tokens).toBe(4000);
  });

  test("is never more than was asked for", async () => {
    const { reserve } = await scene({ llm_tokens: 6000 });
    await reserve("a");
    const learned = amounts({ llm_output_tokens: 9000, cost_usd: 90_000, fuel: 3 });
    const { granted } = await reserve("b", { asked: amounts({ llm_output_tokens: 200, cost_usd: 900 }), learned });
    expect(granted).toEqual({ llm_output_tokens: 200, llm_tokens: 200, cost_usd: 900 });
  });

  test("is told in the chain, with what it would have been", async () => {
    const { store, reserve } = await scene({ llm_tokens: 6000 });
    await reserve("a");
    await reserve("b");
    const started = [];
    for await (const line of store.chain("team")) {
      const { action_type, data } = JSON.parse(line);
      if (action_type === "StepStarted") started.push(data);
    }
    expect(started[0]).not.toHaveProperty("full");
    expect(started[1]).toMatchObject({
      asked: { llm_output_tokens: 400, cost_usd: 0.000005 },
      full: { llm_output_tokens: 4000, cost_usd: 0.000041 },
    });
  });

  test("is the same when it is asked for again", async () => {
    const { reserve } = await scene({ llm_tokens: 6000 });
    await reserve("a");
    const first = await reserve("b");
    const again = await reserve("b");
    expect([again.repeated, again.granted]).toEqual([true, first.granted]);
  });

  test("has to be amounts", async () => {
    const { reserve } = await scene({ llm_tokens: 6000 });
    await expect(reserve("a", { learned: amounts({ llm_output_tokens: -1 }) })).rejects.toThrow(/learned/);
    await expect(reserve("a", { learned: amounts({ tokens: 1 }) })).rejects.toThrow(/learned/);
  });
});

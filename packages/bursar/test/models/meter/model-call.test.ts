import { describe, expect, test } from "vitest";
import { openBudget } from "../../../src/ambient/open-budget.js";
import { governedFetch } from "../../../src/models/fetch/governed-fetch.js";
import { Meter } from "../../../src/models/meter/meter.js";
import { callRead } from "../../../src/models/meter/model-call.js";
import { OPENAI_CHAT } from "../../../src/models/wire/openai-chat.js";
import { ASK, HELLO, openScene, PRICES, toldWhile } from "../fetch/scene.js";

const ANSWER = { kind: "text", text: "Hello.", usage: { prompt_tokens: 30, completion_tokens: 7 } } as const;
const BODY = { model: "gpt-4-scripted", messages: HELLO, max_tokens: 100 };
const CALL = {
  protocol: OPENAI_CHAT,
  wire: OPENAI_CHAT.read(BODY, { bytes: JSON.stringify(BODY).length, compatible: false }),
};

describe("a call of which the wire is not seen", () => {
  test("is charged what it is said to have used, and the reservation where nothing is said", async () => {
    await using budget = await openBudget({ cost_usd: 1 });
    const meter = new Meter({ prices: PRICES });
    const told = await callRead(meter, budget.purse, CALL, "seen", async () => ({
      value: 1,
      counts: { input: 30, output: 7 },
    }));
    expect(told).toMatchObject({ kind: "done", value: 1, settled: { estimated: false } });
    const silent = await callRead(meter, budget.purse, CALL, "seen", async () => ({ value: 2, counts: null }));
    expect(silent).toMatchObject({ kind: "done", value: 2, settled: { estimated: true } });
    expect((await budget.state()).used).toMatchObject({ steps: 2, llm_output_tokens: 107 });
  });

  test.each([
    ["seen", { status: 429 }, 0],
    ["seen", { statusCode: 503 }, 0],
    ["seen", { cause: { code: "ECONNREFUSED" } }, 0],
    ["seen", { status: 500 }, 100],
    ["seen", {}, 100],
    // A client that tries again by itself may have been answered before, and told nobody.
    ["unseen", { status: 400 }, 0],
    ["unseen", { statusCode: 401 }, 0],
    ["unseen", { status: 429 }, 100],
    ["unseen", { statusCode: 503 }, 100],
    ["unseen", { cause: { code: "ECONNREFUSED" } }, 100],
  ] as const)(
    "whose attempts are %s and that fails with %j is charged %d tokens of output",
    async (attempts, about, output) => {
      await using budget = await openBudget({ cost_usd: 1 });
      const failed = await callRead(new Meter({ prices: PRICES }), budget.purse, CALL, attempts, () =>
        Promise.reject(Object.assign(new Error("no"), about)),
      );
      expect(failed).toMatchObject({ kind: "failed" });
      expect((await budget.state()).used.llm_output_tokens ?? 0).toBe(output);
      expect((await budget.state()).used.steps).toBe(1);
    },
  );

  test("is metered by the wire below, if there is one, whichever budget that was given", async () => {
    await using at = await openScene(() => ANSWER);
    await using budget = await openBudget({ cost_usd: 1 });
    await using other = await openBudget({ cost_usd: 1 });
    const meter = new Meter({ prices: PRICES });
    const wires = [governedFetch({ prices: PRICES }), governedFetch({ prices: PRICES, budget })];
    const url = `${at.model.url}/chat/completions`;
    const body = JSON.stringify(BODY);
    for (const wire of [...wires, governedFetch({ prices: PRICES, budget: other })]) {
      await callRead(meter, budget.purse, CALL, "seen", async () => {
        // An SDK that sends twice: each of them counts.
        await wire(url, { method: "POST", body });
        await wire(url, { method: "POST", body });
        return { value: null, counts: { input: 30, output: 7 } };
      });
    }
    expect(at.model.count).toBe(6);
    expect((await budget.state()).used).toMatchObject({ steps: 4, llm_tokens: 4 * 37 });
    expect((await other.state()).used).toMatchObject({ steps: 2, llm_tokens: 2 * 37 });
    expect((await budget.state()).held).toEqual({});
  });

  test("costs nothing when it is refused further down", async () => {
    await using at = await openScene(() => ANSWER);
    await using budget = await openBudget({ cost_usd: 1 });
    const told = await toldWhile(() =>
      callRead(new Meter({ prices: PRICES }), budget.purse, CALL, "seen", async () => {
        await ASK.chat(at, "nobody-knows-this-model");
        return { value: null, counts: null };
      }),
    );
    expect(told.map(({ outcome }) => outcome)).toEqual(["refused", "done"]);
    expect((await budget.state()).used.steps ?? 0).toBe(0);
    expect(at.model.count).toBe(0);
  });
});

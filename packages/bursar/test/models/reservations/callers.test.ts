import { describe, expect, test } from "vitest";
import { openBudget } from "../../../src/ambient/open-budget.js";
import { governedFetch } from "../../../src/models/fetch/governed-fetch.js";
import { MemoryStore } from "../../../src/stores/memory.js";
import { openScriptedModel } from "../../../src/testing/scripted-model.js";
import { opened } from "../../gateway/opened.js";
import { PRICES } from "../fetch/scene.js";
import { answerOf, MODEL } from "./scene.js";

const CALLERS = 1000;
/** So many connections at once are enough for a thousand callers to stand in each other's way. */
const AT_ONCE = 200;
/** What a question and its answer have: ten tokens and three hundred. */
const EACH = 310;

const bodyOf = (model: string) =>
  JSON.stringify({ model, max_tokens: 4096, messages: [{ role: "user", content: "300" }] });

/** Calls so many times, so many at once, and counts what was answered by its status. */
async function callAll(call: () => Promise<Response>, count = CALLERS): Promise<Readonly<Record<number, number>>> {
  const statuses: Record<number, number> = {};
  let left = count;
  const caller = async () => {
    while (left > 0) {
      left--;
      const response = await call();
      await response.text();
      statuses[response.status] = (statuses[response.status] ?? 0) + 1;
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, caller));
  return statuses;
}

/** A provider that answers when nobody new comes any more, so that as many are there at once as were let in. */
class Together {
  most = 0;
  private came = 0;
  private now = 0;

  async answer({ text, max_tokens }: { readonly text: string; readonly max_tokens: number | null }) {
    this.most = Math.max(this.most, ++this.now);
    this.came++;
    await this.stillness();
    this.now--;
    return answerOf(text, max_tokens);
  }

  private async stillness(): Promise<void> {
    for (let seen = -1; seen !== this.came; ) {
      seen = this.came;
      await new Promise((resolve) => setTimeout(resolve, 30));
    }
  }
}

describe("a thousand callers with limits of 4,096 tokens whose answers have 300", () => {
  test("through governedFetch: all that fit are served, and the limit is never passed", async () => {
    const together = new Together();
    await using model = await openScriptedModel({ script: (request) => together.answer(request), models: [MODEL] });
    const store = new MemoryStore();
    // Room for nine in ten of them, and less than five full quotes when it comes to the end.
    const limit = CALLERS * 0.9 * EACH;
    await using budget = await openBudget({ llm_tokens: limit }, { store, parent: null, wait_ms: 600_000 });
    const governed = governedFetch({ budget, prices: PRICES });
    // A connection that is kept may be closed by the other side in the very moment in which it is used again.
    const headers = { "content-type": "application/json", connection: "close" };
    const init = { method: "POST", headers, body: bodyOf(MODEL) };

    const statuses = await callAll(() => governed(`${model.url}/chat/completions`, init));

    const { used, held } = await budget.state();
    expect(held).toEqual({});
    expect(used.llm_tokens).toBeLessThanOrEqual(limit);
    // What is left is too little for another question, whose size is not known to the token beforehand.
    expect(limit - (used.llm_tokens ?? 0)).toBeLessThan(EACH);
    expect(statuses[200]).toBeGreaterThanOrEqual(CALLERS * 0.9);
    expect((statuses[200] ?? 0) + (statuses[402] ?? 0)).toBe(CALLERS);
    expect(used.steps).toBe(statuses[200]);
    expect(together.most).toBeGreaterThan(Math.ceil(limit / 4096));
  });

  test("through the gateway: nobody starves, and the limit is never passed", async () => {
    const together = new Together();
    const limit = CALLERS * EACH + 4096 + 100;
    await using at = await opened((request) => together.answer(request), { llm_tokens: limit }, { wait_ms: 600_000 });

    const statuses = await callAll(() => at.post("/v1/chat/completions", bodyOf("gpt-4o")));

    expect(statuses).toEqual({ 200: CALLERS });
    expect(await at.held()).toEqual({});
    expect(await at.used()).toMatchObject({ llm_tokens: CALLERS * EACH, steps: CALLERS });
    expect(together.most).toBeGreaterThan(Math.ceil(limit / 4096));
  });
});

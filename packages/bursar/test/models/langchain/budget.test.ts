import { InMemoryCache } from "@langchain/core/caches";
import OpenAI from "openai";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { openBudget } from "../../../src/ambient/open-budget.js";
import { withBudget } from "../../../src/ambient/with-budget.js";
import { governedFetch } from "../../../src/models/fetch/governed-fetch.js";
import { budget as langChainBudget } from "../../../src/models/langchain/budget.js";
import { BudgetExceededError } from "../../../src/models/meter/budget-exceeded-error.js";
import { deferred } from "../../../src/runtime/deferred.js";
import { openScriptedModel } from "../../../src/testing/scripted-model.js";
import { openai, openScene, PRICES, WAYS } from "./scene.js";

const ways = Object.keys(WAYS) as (keyof typeof WAYS)[];
const USAGE = { prompt_tokens: 100, completion_tokens: 20, cached_tokens: 40 };
const SAYS = { kind: "text", text: "Rain.", usage: USAGE } as const;

// LangChain writes to the console whatever a callback throws.
beforeEach(() => void vi.spyOn(console, "error").mockImplementation(() => {}));
afterEach(() => void vi.restoreAllMocks());

describe.each(ways)("%s", (way) => {
  test("a call is charged what the provider says it used", async () => {
    await using at = await openScene([SAYS], way);
    await withBudget({ cost_usd: 1 }, async (budget) => {
      expect((await at.model.invoke("Hi")).text).toBe("Rain.");
      const { used, held } = await budget.state();
      expect(held).toEqual({});
      expect(used).toMatchObject({ steps: 1, llm_input_tokens: 100, llm_output_tokens: 20, cost_usd: 0.0003 });
    });
    expect(at.provider.count).toBe(1);
  });

  test("a stream is charged the same, and is in the books when it has been read", async () => {
    await using at = await openScene([SAYS], way);
    await withBudget({ cost_usd: 1 }, async (budget) => {
      let text = "";
      for await (const chunk of await at.model.stream("Hi")) text += chunk.text;
      expect(text).toBe("Rain.");
      const { used, held } = await budget.state();
      expect(held).toEqual({});
      // LangChain adds up what Anthropic says at the beginning and in the end, which is one token too many.
      const output = way === "the callback alone, Anthropic" ? 21 : 20;
      expect(used).toMatchObject({ steps: 1, llm_input_tokens: 100, llm_output_tokens: output });
    });
  });

  test("a call that does not fit is not sent", async () => {
    await using at = await openScene([SAYS], way);
    await withBudget({ llm_tokens: 10 }, async () => {
      const error: unknown = await at.model.invoke("Hi").catch((each: unknown) => each);
      expect(BudgetExceededError.from(error)?.report).toMatchObject({ dimension: "llm_tokens", limit: 10, used: 0 });
      const streamed: unknown = await at.model.stream("Hi").catch((each: unknown) => each);
      expect(BudgetExceededError.from(streamed)?.report.dimension).toBe("llm_tokens");
    });
    const outside: unknown = await at.model.invoke("Hi").catch((each: unknown) => each);
    expect(BudgetExceededError.from(outside)?.report.code).toBe("no_budget");
    expect(at.provider.count).toBe(0);
  });

  test("parallel calls never pass the limit", async () => {
    await using at = await openScene(() => SAYS, way);
    await withBudget({ steps: 5, cost_usd: 1 }, async (budget) => {
      const calls = Array.from({ length: 12 }, () =>
        at.model.invoke("Hi").then(
          () => 1,
          () => 0,
        ),
      );
      expect((await Promise.all(calls)).filter((each) => each === 1)).toHaveLength(5);
      const { used, held } = await budget.state();
      expect(used).toMatchObject({ steps: 5, llm_tokens: 600 });
      expect(held).toEqual({});
    });
    expect(at.provider.count).toBe(5);
  });

  test("a failure that costs nothing is charged nothing but the attempt", async () => {
    await using at = await openScene([{ kind: "status", status: 400, message: "no" }], way);
    await withBudget({ cost_usd: 1 }, async (budget) => {
      await expect(at.model.invoke("Hi")).rejects.toThrow("no");
      const { used, held } = await budget.state();
      expect(used).toMatchObject({ steps: 1, cost_usd: 0 });
      expect(held).toEqual({});
    });
  });

  test("a broken stream is charged no less than it can have used", async () => {
    await using at = await openScene([{ kind: "half", text: "word ".repeat(40), events: 4, usage: USAGE }], way);
    await withBudget({ cost_usd: 1 }, async (budget) => {
      const reading = (async () => {
        for await (const _ of await at.model.stream("Hi"));
      })();
      await reading.catch(() => null);
      const { used, held } = await budget.state();
      expect(held).toEqual({});
      expect(used.steps).toBe(1);
      expect(used.llm_output_tokens).toBe(500);
    });
  });

  test("an aborted call is charged and holds nothing", async () => {
    await using at = await openScene([{ kind: "hang" }], way);
    const control = new AbortController();
    const budget = await openBudget({ cost_usd: 1 });
    await budget.run(async () => {
      const call = at.model.invoke("Hi", { signal: control.signal });
      await expect.poll(() => at.provider.count).toBe(1);
      control.abort();
      await expect(call).rejects.toThrow();
    });
    await budget.end();
    const { used, held } = await budget.state();
    expect(held).toEqual({});
    expect(used.llm_output_tokens).toBe(500);
    await expect.poll(() => at.provider.aborted).toBe(1);
  });
});

test("what is sent again counts where the wire is seen, and once where it is not", async () => {
  const storm = [{ kind: "status", status: 429, retry_after_s: 0 }, { kind: "status", status: 500 }, SAYS] as const;
  const steps = async (way: keyof typeof WAYS) => {
    await using at = await openScene(storm, way);
    return await withBudget({ steps: 10 }, async (budget) => {
      await at.model.invoke("Hi");
      expect(at.provider.count).toBe(3);
      return (await budget.state()).used.steps;
    });
  };
  expect(await steps("both, OpenAI")).toBe(3);
  expect(await steps("both, Anthropic")).toBe(3);
  expect(await steps("the callback alone, OpenAI")).toBe(1);
});

test("answers are held to what is left by the wire; without one, all of the answer has to fit", async () => {
  const long = { kind: "text", text: "word ".repeat(400) } as const;
  await using wired = await openScene([long], "both, OpenAI");
  await withBudget({ llm_output_tokens: 60 }, async (budget) => {
    await wired.model.invoke("Hi");
    expect((await budget.state()).used.llm_output_tokens).toBe(60);
  });
  expect(wired.provider.requests[0]?.max_tokens).toBe(60);

  await using alone = await openScene([long], "the callback alone, OpenAI");
  await withBudget({ llm_output_tokens: 60 }, async () => {
    await expect(alone.model.invoke("Hi")).rejects.toBeInstanceOf(BudgetExceededError);
  });
  expect(alone.provider.count).toBe(0);
});

test("over a governed wire of somebody else's a call is metered once too", async () => {
  await using provider = await openScriptedModel({ script: () => SAYS });
  const { callbacks } = langChainBudget({ prices: PRICES, wire: true });
  const model = openai(provider, { callbacks, configuration: { fetch: governedFetch({ prices: PRICES }) } });
  await withBudget({ cost_usd: 1, iterations: 5 }, async (budget) => {
    await Promise.all([model.invoke("a"), model.invoke("b"), model.invoke("c")]);
    const { used, held } = await budget.state();
    expect(used).toMatchObject({ steps: 3, iterations: 3, llm_tokens: 360 });
    expect(held).toEqual({});
  });
});

test("a handler that is named twice counts once", async () => {
  await using provider = await openScriptedModel({ script: () => SAYS });
  const { callbacks } = langChainBudget({ prices: PRICES });
  await withBudget({ cost_usd: 1 }, async (budget) => {
    await openai(provider, { callbacks }).invoke("Hi", { callbacks });
    const { used, held } = await budget.state();
    expect(used).toMatchObject({ steps: 1, llm_tokens: 120 });
    expect(held).toEqual({});
  });
});

test("an answer without usage is charged as reserved", async () => {
  await using at = await openScene([{ kind: "text", text: "Rain.", usage: null }], "the callback alone, OpenAI");
  await withBudget({ cost_usd: 1 }, async (budget) => {
    await at.model.invoke("Hi");
    expect((await budget.state()).used.llm_output_tokens).toBe(500);
  });
});

test("what has no bound is refused: tools of the provider's own, and files", async () => {
  await using at = await openScene([SAYS], "the callback alone, OpenAI");
  await withBudget({ cost_usd: 1 }, async () => {
    const search = await at.model
      .bindTools([{ type: "web_search" }])
      .invoke("Hi")
      .catch((each: unknown) => each);
    expect(BudgetExceededError.from(search)?.report.code).toBe("unbounded");
    const file = { type: "file", source_type: "url", url: "http://127.0.0.1/x.pdf" };
    const read = await at.model.invoke([{ role: "user", content: [file] }]).catch((each: unknown) => each);
    expect(BudgetExceededError.from(read)?.report.code).toBe("unbounded");
  });
  expect(at.provider.count).toBe(0);
});

test("what LangChain has in its own cache is not paid for again", async () => {
  await using provider = await openScriptedModel({ script: () => SAYS });
  const { callbacks } = langChainBudget({ prices: PRICES });
  const model = openai(provider, { callbacks, cache: new InMemoryCache(new Map()) });
  await withBudget({ cost_usd: 1 }, async (budget) => {
    await model.invoke("Hi");
    expect((await model.invoke("Hi")).text).toBe("Rain.");
    const { used, held } = await budget.state();
    expect(used).toMatchObject({ steps: 1, llm_tokens: 120 });
    expect(held).toEqual({});
  });
  expect(provider.count).toBe(1);
});

test("a stream that is left in the middle hangs up, is charged by the wire, and holds nothing", async () => {
  const half = { kind: "half", text: "word ".repeat(40), events: 4, ending: "hang" } as const;
  await using at = await openScene([half], "both, OpenAI");
  const budget = await openBudget({ cost_usd: 1 });
  await budget.run(async () => {
    for await (const _ of await at.model.stream("Hi")) break;
  });
  await expect.poll(() => at.provider.aborted).toBe(1);
  await expect.poll(async () => (await budget.state()).held).toEqual({});
  expect((await budget.state()).used).toMatchObject({ steps: 1, llm_output_tokens: 500 });
});

test("what the callback holds alone is nobody else's to take", async () => {
  const release = deferred<typeof SAYS>();
  await using provider = await openScriptedModel({ script: ({ number }) => (number === 1 ? release.promise : SAYS) });
  const alone = openai(provider, { callbacks: langChainBudget({ prices: PRICES }).callbacks });
  const wired = openai(provider, langChainBudget({ prices: PRICES }).openai);
  const client = new OpenAI({ apiKey: "k", baseURL: provider.url, fetch: governedFetch({ prices: PRICES }) });
  await withBudget({ cost_usd: 10 }, async (budget) => {
    const first = alone.invoke("Hi");
    await expect.poll(() => provider.count).toBe(1);
    // The same model and the same budget, while the first call is under way.
    await client.chat.completions.create({ model: "scripted", messages: [{ role: "user", content: "Hi" }] });
    await wired.invoke("Hi");
    release.resolve(SAYS);
    await first;
    const { used, held } = await budget.state();
    expect(used).toMatchObject({ steps: 3, llm_tokens: 360 });
    expect(held).toEqual({});
  });
});

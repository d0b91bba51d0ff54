import { Agent, OpenAIProvider, Runner, setOpenAIResponsesTransport } from "@openai/agents";
import OpenAI from "openai";
import { describe, expect, test } from "vitest";
import { openBudget } from "../../../src/ambient/open-budget.js";
import { withBudget } from "../../../src/ambient/with-budget.js";
import { BudgetExceededError } from "../../../src/models/meter/budget-exceeded-error.js";
import { govern } from "../../../src/models/openai-agents/govern.js";
import { governedProvider } from "../../../src/models/openai-agents/governed-provider.js";
import { openScene, PRICES, WAYS, weatherAgent } from "./scene.js";

const ways = Object.keys(WAYS) as (keyof typeof WAYS)[];
const USAGE = { prompt_tokens: 100, completion_tokens: 20, cached_tokens: 40 };
const ASKS = {
  kind: "text",
  text: "",
  tool_calls: [{ name: "weather", arguments: { city: "Rome" } }],
  usage: USAGE,
} as const;
const SAYS = { kind: "text", text: "Rain.", usage: USAGE } as const;

describe.each(ways)("%s", (way) => {
  test("a run with tools is charged what the provider says it used", async () => {
    await using at = await openScene([ASKS, SAYS], way);
    const { agent, asked } = weatherAgent();

    const used = await withBudget({ cost_usd: 1, steps: 10 }, async (budget) => {
      const result = await at.runner.run(agent, "How is Rome?");
      expect(result.finalOutput).toBe("Rain.");
      const { used, held } = await budget.state();
      expect(held).toEqual({});
      return used;
    });

    expect(asked).toEqual(["Rome"]);
    expect(at.model.count).toBe(2);
    expect(used).toMatchObject({ steps: 2, llm_input_tokens: 200, llm_output_tokens: 40, cost_usd: 0.0006 });
  });

  test("a streamed run is charged the same, and is in the books when it has been read", async () => {
    await using at = await openScene([ASKS, SAYS], way);
    const { agent } = weatherAgent();

    await withBudget({ cost_usd: 1 }, async (budget) => {
      const result = await at.runner.run(agent, "How is Rome?", { stream: true });
      let text = "";
      for await (const piece of result.toTextStream()) text += piece;
      await result.completed;
      expect(text).toBe("Rain.");
      const { used, held } = await budget.state();
      expect(held).toEqual({});
      expect(used).toMatchObject({ steps: 2, llm_input_tokens: 200, llm_output_tokens: 40, cost_usd: 0.0006 });
    });
    expect(at.model.requests.every(({ stream }) => stream)).toBe(true);
  });

  test("a call that does not fit is not sent", async () => {
    await using at = await openScene([SAYS], way);
    const { agent } = weatherAgent();

    await withBudget({ llm_tokens: 10 }, async (budget) => {
      const error: unknown = await at.runner.run(agent, "How is Rome?").catch((each: unknown) => each);
      expect(error).toBeInstanceOf(BudgetExceededError);
      expect((error as BudgetExceededError).report).toMatchObject({ dimension: "llm_tokens", limit: 10, used: 0 });
      expect((await budget.state()).used).toMatchObject({ llm_tokens: 0 });
    });
    expect(at.model.count).toBe(0);
  });

  test("a streamed call that does not fit is not sent", async () => {
    await using at = await openScene([SAYS], way);
    const { agent } = weatherAgent();

    await withBudget({ llm_tokens: 10 }, async () => {
      const result = await at.runner.run(agent, "How is Rome?", { stream: true });
      await expect(result.completed).rejects.toBeInstanceOf(BudgetExceededError);
    });
    expect(at.model.count).toBe(0);
  });

  test("outside of any budget nothing is sent", async () => {
    await using at = await openScene([SAYS], way);
    const { agent } = weatherAgent();

    const error: unknown = await at.runner.run(agent, "How is Rome?").catch((each: unknown) => each);

    expect(BudgetExceededError.from(error)?.report.code).toBe("no_budget");
    expect(at.model.count).toBe(0);
  });

  test("parallel runs never pass the limit", async () => {
    await using at = await openScene(() => SAYS, way);
    const agent = new Agent({ name: "Teller", model: "scripted", modelSettings: { maxTokens: 20 } });

    const used = await withBudget({ steps: 5, cost_usd: 1 }, async (budget) => {
      const runs = Array.from({ length: 12 }, () =>
        at.runner.run(agent, "Go.").then(
          () => "done",
          () => "refused",
        ),
      );
      const outcomes = await Promise.all(runs);
      expect(outcomes.filter((each) => each === "done")).toHaveLength(5);
      return (await budget.state()).used;
    });

    expect(at.model.count).toBe(5);
    expect(used).toMatchObject({ steps: 5, llm_tokens: 600 });
  });

  test("output is held to what is left", async () => {
    const text = "word ".repeat(400);
    await using at = await openScene(() => ({ kind: "text", text }), way);
    const agent = new Agent({ name: "Teller", model: "scripted" });

    const used = await withBudget({ llm_output_tokens: 50 }, async (budget) => {
      await at.runner.run(agent, "Go.").catch(() => null);
      return (await budget.state()).used;
    });

    expect(at.model.requests[0]?.max_tokens).toBe(50);
    expect(used.llm_output_tokens).toBe(50);
  });
});

test("what is sent again counts where the wire is seen, and once where it is not", async () => {
  const storm = [
    { kind: "status", status: 429, retry_after_s: 0 },
    { kind: "status", status: 429, retry_after_s: 0 },
    SAYS,
  ] as const;
  const steps = async (way: keyof typeof WAYS) => {
    await using at = await openScene(storm, way);
    const { agent } = weatherAgent();
    return await withBudget({ steps: 10, cost_usd: 1 }, async (budget) => {
      await at.runner.run(agent, "How is Rome?");
      expect(at.model.count).toBe(3);
      const { used, held } = await budget.state();
      expect(held).toEqual({});
      expect(used.llm_tokens).toBe(120);
      return used.steps;
    });
  };

  expect(await steps("the wire")).toBe(3);
  expect(await steps("the model over a governed wire")).toBe(3);
  expect(await steps("the model")).toBe(1);
});

test.for([
  ["has no room in the end", 429, "what it may have used"],
  ["does not take the request at all", 400, "nothing"],
] as const)("a provider that %s, where the wire is not seen", async ([, status, charged]) => {
  await using at = await openScene(() => ({ kind: "status", status, retry_after_s: 0 }), "the model");

  const { used, held } = await withBudget({ llm_output_tokens: 50, llm_tokens: 10_000 }, async (budget) => {
    await at.runner.run(new Agent({ name: "Teller", model: "scripted" }), "Go.").catch(() => null);
    return await budget.state();
  });

  expect(held).toEqual({});
  // An answer may have been computed before the last attempt, and lost.
  expect(used.llm_output_tokens ?? 0).toBe(charged === "nothing" ? 0 : 50);
});

test("a governed wire is used whatever transport the SDK is set to", async () => {
  await using at = await openScene([SAYS], "the wire");
  setOpenAIResponsesTransport("websocket");
  try {
    await withBudget({ steps: 1 }, async (budget) => {
      await at.runner.run(weatherAgent().agent, "How is Rome?");
      expect((await budget.state()).used).toMatchObject({ steps: 1, llm_tokens: 120 });
    });
  } finally {
    setOpenAIResponsesTransport("http");
  }
});

test("a budget that is given pays in place of the one around", async () => {
  await using at = await openScene(() => SAYS, "the wire");
  await using own = await openBudget({ steps: 5, iterations: 5 });
  const wire = governedProvider({ apiKey: "k", baseURL: at.model.url, prices: PRICES, budget: own });
  const above = govern(new OpenAIProvider({ apiKey: "k", baseURL: at.model.url }), { prices: PRICES, budget: own });
  await withBudget({ steps: 5 }, async (around) => {
    for (const modelProvider of [wire, above]) await new Runner({ modelProvider }).run(weatherAgent().agent, "Go.");
    expect((await around.state()).used.steps ?? 0).toBe(0);
  });
  expect((await own.state()).used).toMatchObject({ steps: 2, iterations: 2, llm_tokens: 240 });
});

test("what is no provider, and options that nobody knows, are said to be so", () => {
  expect(() => govern({} as OpenAIProvider)).toThrow("allowed: a provider of models");
  expect(() => govern(new OpenAIProvider(), { price: {} } as object)).toThrow("did you mean prices?");
  expect(() => governedProvider({ useResponses: "yes" } as object)).toThrow("useResponses");
});

describe("a model whose address shows", () => {
  const RESPONSE = {
    id: "resp_1",
    object: "response",
    status: "completed",
    model: "gpt-5.6-sol",
    output: [
      {
        id: "m",
        type: "message",
        role: "assistant",
        status: "completed",
        content: [{ type: "output_text", text: "Rain.", annotations: [] }],
      },
    ],
    usage: { input_tokens: 1000, output_tokens: 0, total_tokens: 1000 },
  };

  async function asked(baseURL: string, providerData?: Record<string, unknown>) {
    const bodies: unknown[] = [];
    const answer = (_: unknown, init?: RequestInit) => {
      bodies.push(JSON.parse(String(init?.body)));
      return Promise.resolve(
        new Response(JSON.stringify(RESPONSE), { headers: { "content-type": "application/json" } }),
      );
    };
    const openAIClient = new OpenAI({ apiKey: "k", baseURL, fetch: answer }) as never;
    const prices = { "gpt-5.6-sol": { input_usd_per_mtok: 1, output_usd_per_mtok: 10 } };
    const modelProvider = govern(new OpenAIProvider({ openAIClient }), { prices });
    const modelSettings = providerData === undefined ? {} : { providerData };
    const agent = new Agent({ name: "Forecaster", model: "gpt-5.6-sol", modelSettings });
    await withBudget({ cost_usd: 5 }, () => new Runner({ modelProvider }).run(agent, "Rome?"));
    return bodies[0];
  }

  test("is told the usual tier at OpenAI's own server, and no tier elsewhere", async () => {
    for (const host of ["api.openai.com", "eu.api.openai.com"]) {
      expect(await asked(`https://${host}/v1`)).toMatchObject({ service_tier: "default" });
    }
    const auto = { service_tier: "auto", extra_body: { service_tier: "auto" } };
    expect(await asked("https://api.openai.com/v1", auto)).toMatchObject({ service_tier: "default" });
    expect(await asked("https://api.openai.com/v1", { service_tier: "flex" })).toMatchObject({ service_tier: "flex" });
    expect(await asked("https://models.example.test/v1")).not.toHaveProperty("service_tier");
  });
});

import { Agent, type Model, type ModelProvider, OpenAIProvider, Runner } from "@openai/agents";
import { describe, expect, test } from "vitest";
import { openBudget } from "../../../src/ambient/open-budget.js";
import { withBudget } from "../../../src/ambient/with-budget.js";
import { BudgetExceededError } from "../../../src/models/meter/budget-exceeded-error.js";
import { govern } from "../../../src/models/openai-agents/govern.js";
import { openScene, PRICES, type WAYS } from "./scene.js";

const ways = ["the model", "the wire", "the model over a governed wire"] as const satisfies (keyof typeof WAYS)[];
const text = "one two three four five six seven eight";
const USAGE = { prompt_tokens: 100, completion_tokens: 20 };
const teller = () => new Agent({ name: "Teller", model: "scripted", modelSettings: { maxTokens: 1000 } });

describe.each(ways)("%s", (way) => {
  test("a stream that breaks off is charged for no less than it can have used", async () => {
    await using at = await openScene([{ kind: "half", text, usage: USAGE, events: 6 }], way);
    await withBudget({ cost_usd: 1 }, async (budget) => {
      const result = await at.runner.run(teller(), "Go.", { stream: true });
      await expect(result.completed).rejects.toThrow();
      const { used, held } = await budget.state();
      expect(held).toEqual({});
      // Nobody knows whether it has thought, so all that was reserved of output is gone.
      expect(used.llm_output_tokens).toBe(1000);
      expect(used.steps).toBe(1);
    });
    expect(at.model.count).toBe(1);
  });

  test("an aborted run hangs up, is charged and holds nothing", async () => {
    await using at = await openScene([{ kind: "half", text, events: 3, ending: "hang" }], way);
    const control = new AbortController();
    const budget = await openBudget({ cost_usd: 1 });
    await budget.run(async () => {
      const result = await at.runner.run(teller(), "Go.", { stream: true, signal: control.signal });
      for await (const event of result) if (event.type === "raw_model_stream_event") break;
      control.abort();
      await result.completed.catch(() => null);
    });
    await budget.end();
    const { used, held } = await budget.state();
    expect(held).toEqual({});
    expect(used.llm_output_tokens).toBe(1000);
    await expect.poll(() => at.model.aborted).toBe(1);
  });

  test("a failure that costs nothing is not charged but for the attempts", async () => {
    await using at = await openScene([{ kind: "status", status: 400, message: "no" }], way);
    await withBudget({ cost_usd: 1 }, async (budget) => {
      await expect(at.runner.run(teller(), "Go.")).rejects.toThrow("no");
      expect((await budget.state()).used).toMatchObject({ steps: 1, cost_usd: 0 });
    });
  });

  test("an answer without usage is charged as reserved", async () => {
    await using at = await openScene([{ kind: "text", text, usage: null }], way);
    await withBudget({ cost_usd: 1 }, async (budget) => {
      await at.runner.run(teller(), "Go.");
      const { used, held } = await budget.state();
      expect(used.llm_output_tokens).toBe(1000);
      expect(held).toEqual({});
    });
  });

  test("tools that the provider runs by itself are refused", async () => {
    await using at = await openScene([text], way);
    const agent = new Agent({
      name: "Searcher",
      model: "scripted",
      tools: [{ type: "hosted_tool", name: "web_search", providerData: { type: "web_search" } }],
    });
    await withBudget({ cost_usd: 1 }, async () => {
      const error: unknown = await at.runner.run(agent, "Go.").catch((each: unknown) => each);
      expect(BudgetExceededError.from(error)?.report.code).toBe("unbounded");
    });
    expect(at.model.count).toBe(0);
  });

  test("a limit that the SDK passes on unseen is no way around the budget", async () => {
    await using at = await openScene([text], way);
    const agent = new Agent({
      name: "Teller",
      model: "scripted",
      modelSettings: { providerData: { max_output_tokens: 5000 } },
    });
    await withBudget({ llm_output_tokens: 70 }, async () => {
      await at.runner.run(agent, "Go.");
    });
    expect(at.model.requests[0]?.max_tokens).toBe(70);
  });

  test("a model nobody knows the price of is not called", async () => {
    await using at = await openScene([text], way);
    await withBudget({ cost_usd: 1 }, async () => {
      const error: unknown = await at.runner
        .run(new Agent({ name: "Teller", model: "no-such-model" }), "Go.")
        .catch((each: unknown) => each);
      expect(BudgetExceededError.from(error)?.report.code).toBe("unknown_price");
    });
    expect(at.model.count).toBe(0);
  });
});

test("other requests, passed on unseen, are refused", async () => {
  await using at = await openScene([text]);
  for (const providerData of [
    { n: 5 },
    { model: "gpt-5" },
    { extra_body: { messages: [] } },
    { service_tier: "priority" },
  ]) {
    const agent = new Agent({ name: "Teller", model: "scripted", modelSettings: { providerData } });
    await withBudget({ cost_usd: 1 }, async () => {
      const error: unknown = await at.runner.run(agent, "Go.").catch((each: unknown) => each);
      expect(BudgetExceededError.from(error)?.report.code).toBe("unbounded");
    });
  }
  expect(at.model.count).toBe(0);
});

/** A provider whose caller hangs up in the moment in which the usage of an answer is looked at. */
function leavingAtUsage(url: string, stop: AbortController): ModelProvider {
  const provider = new OpenAIProvider({ apiKey: "k", baseURL: url });
  const wrapped = (model: Model): Model => ({
    getResponse: (request) => model.getResponse(request),
    async *getStreamedResponse(request) {
      for await (const event of model.getStreamedResponse(request)) {
        if (event.type !== "response_done") yield event;
        else {
          const { usage } = event.response;
          const look = () => {
            stop.abort();
            return usage;
          };
          const response = Object.defineProperty({ ...event.response }, "usage", { get: look, enumerable: true });
          yield { ...event, response };
        }
      }
    },
  });
  return { getModel: async (name) => wrapped(await provider.getModel(name)) };
}

test("a stream that is aborted at its very end is charged what was reported", async () => {
  await using at = await openScene([{ kind: "text", text, usage: USAGE }]);
  const stop = new AbortController();
  const runner = new Runner({ modelProvider: govern(leavingAtUsage(at.model.url, stop), { prices: PRICES }) });
  const budget = await openBudget({ cost_usd: 1 });
  await budget.run(async () => {
    const result = await runner.run(teller(), "Go.", { stream: true, signal: stop.signal });
    await (async () => {
      for await (const _ of result);
      await result.completed;
    })().catch(() => null);
  });
  await budget.end();
  expect(stop.signal.aborted).toBe(true);
  expect((await budget.state()).used).toMatchObject({ steps: 1, llm_input_tokens: 100, llm_output_tokens: 20 });
});

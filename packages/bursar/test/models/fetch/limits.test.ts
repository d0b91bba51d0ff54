import { describe, expect, test } from "vitest";
import { openBudget } from "../../../src/ambient/open-budget.js";
import { withBudget } from "../../../src/ambient/with-budget.js";
import type { BudgetAmounts } from "../../../src/core/input.js";
import type { ApprovalQuestion } from "../../../src/runtime/purse.js";
import { FakeClock } from "../../../src/testing/clock/fake-clock.js";
import { ASK, type Asked, HELLO, openScene, PRICE, PRICES, READ, refusalOf, spent, toldWhile } from "./scene.js";

const ANSWER = { kind: "text", text: "Hello.", usage: { prompt_tokens: 30, completion_tokens: 7 } } as const;
const ALL: readonly Asked[] = ["chat", "responses", "embeddings", "messages"];

describe("what does not fit is not sent", () => {
  test.each(ALL)("%s", async (protocol) => {
    await using at = await openScene(() => ANSWER);
    for (const limits of [{ llm_tokens: 50 }, { llm_input_tokens: 50 }, { cost_usd: 0.00005 }, { steps: 0 }]) {
      const [dimension] = Object.keys(limits);
      const told = await toldWhile(() =>
        spent(limits, async () => {
          const { code, ...report } = await refusalOf(ASK[protocol](at));
          expect(code).toMatch(/budget_exceeded|approval_required/);
          expect(report).toMatchObject({ dimension, used: 0, limit: Object.values(limits)[0] });
        }),
      );
      expect(told).toMatchObject([{ outcome: "refused", charged: {}, refusal: { dimension } }]);
    }
    expect(at.model.count).toBe(0);
  });

  test("every SDK shows why, and tries once", async () => {
    await using at = await openScene(() => ANSWER);
    await withBudget({ steps: 0 }, async () => {
      await expect(ASK.chat(at)).rejects.toThrow(/402.*steps/);
      await expect(ASK.responses(at)).rejects.toThrow(/402.*steps/);
      await expect(ASK.messages(at)).rejects.toThrow(/402.*steps/);
      await expect(READ.chat(at)).rejects.toThrow(/402.*steps/);
      await expect(READ.messages(at)).rejects.toThrow(/402.*steps/);
    });
    expect(at.model.count).toBe(0);
  });

  test("without a budget nothing is sent", async () => {
    await using at = await openScene(() => ANSWER);
    expect(await refusalOf(ASK.chat(at))).toMatchObject({ code: "no_budget" });
    expect(await refusalOf(ASK.messages(at))).toMatchObject({ code: "no_budget" });
    expect(at.model.count).toBe(0);
  });

  test("exhaustion stays until somebody extends the budget", async () => {
    await using at = await openScene(() => ({ ...ANSWER, usage: { prompt_tokens: 30, completion_tokens: 100 } }));
    await withBudget({ llm_output_tokens: 100 }, async (budget) => {
      await ASK.chat(at);
      for (const protocol of ALL) {
        if (protocol === "embeddings") continue;
        expect(await refusalOf(ASK[protocol](at))).toMatchObject({ refusal: "exhausted", used: 100, remaining: 0 });
      }
      await budget.extend({ llm_output_tokens: 50 }, { approved_by: "ann" });
      await ASK.chat(at);
      expect(at.model.requests[1]?.max_tokens).toBe(50);
    });
    expect(at.model.count).toBe(2);
  });

  test("calls that wait for the same are let go by one yes", async () => {
    await using at = await openScene(() => ANSWER);
    const asked: BudgetAmounts[] = [];
    const approve = async ({ suggested_extension }: ApprovalQuestion) => {
      asked.push(suggested_extension);
      return suggested_extension;
    };
    const policies = { steps: "approval_required" } as const;
    await withBudget({ steps: 0 }, () => Promise.all([ASK.chat(at), ASK.responses(at), ASK.messages(at)]), {
      policies,
      approve,
    });
    expect(asked).toEqual([{ steps: 4 }]);
    expect(at.model.count).toBe(3);
  });

  test("a dimension that only warns lets calls pass", async () => {
    await using at = await openScene(() => ANSWER);
    await withBudget(
      { steps: 1 },
      async (budget) => {
        await ASK.chat(at);
        await ASK.chat(at);
        const state = await budget.state();
        expect(state.used.steps).toBe(2);
        expect(state.exhausted).toEqual(["steps"]);
      },
      { policies: { steps: "soft_warn" } },
    );
  });

  test("a deadline that has passed", async () => {
    await using at = await openScene(() => ANSWER);
    const clock = new FakeClock();
    const deadline = new Date(clock.now().instant + 1000);
    await using budget = await openBudget({}, { clock, timer: clock, deadline });
    await budget.run(async () => {
      await ASK.chat(at);
      clock.advance(1000);
      expect(await refusalOf(ASK.chat(at))).toMatchObject({ dimension: "deadline", code: "budget_exceeded" });
    });
    expect(at.model.count).toBe(1);
  });
});

describe("output is held to what is left, in every spelling", () => {
  const messages = HELLO;

  test.each<readonly [string, object, object]>([
    ["chat without a limit", {}, { max_tokens: 40 }],
    ["chat with the old limit", { max_tokens: 1000 }, { max_tokens: 40 }],
    ["chat with the new limit", { max_completion_tokens: 1000 }, { max_completion_tokens: 40 }],
    ["chat with both", { max_tokens: 1000, max_completion_tokens: 20 }, { max_tokens: 40, max_completion_tokens: 20 }],
    ["chat with less", { max_tokens: 10 }, { max_tokens: 10 }],
    ["chat for two answers", { max_tokens: 1000, n: 2 }, { max_tokens: 20, n: 2 }],
  ])("%s", async (_, said, sent) => {
    await using at = await openScene(() => ANSWER);
    await withBudget({ llm_output_tokens: 40 }, () =>
      at.openai.chat.completions.create({ model: "gpt-4-scripted", messages, ...said }),
    );
    expect(at.model.requests[0]?.body).toMatchObject({ ...said, ...sent });
  });

  test("responses, which have a least limit", async () => {
    await using at = await openScene(() => ANSWER);
    const ask = (max_output_tokens: number | null) =>
      at.openai.responses.create({ model: "gpt-4-scripted", input: "Hi", max_output_tokens });
    await withBudget({ llm_output_tokens: 40 }, () => ask(1000));
    await withBudget({ llm_output_tokens: 40 }, () => ask(null));
    expect(at.model.requests.map(({ body }) => body.max_output_tokens)).toEqual([40, 40]);
    await withBudget({ llm_output_tokens: 15 }, async () => {
      expect(await refusalOf(ask(1000))).toMatchObject({ dimension: "llm_output_tokens", asked: 16 });
    });
    expect(at.model.count).toBe(2);
  });

  test("messages, with thinking inside of the limit", async () => {
    await using at = await openScene(() => ANSWER);
    const thinking = { type: "enabled", budget_tokens: 5000 } as const;
    const ask = () =>
      at.anthropic.messages.create({ model: "claude-3-scripted", messages, max_tokens: 9000, thinking });
    await withBudget({ llm_output_tokens: 2000 }, ask);
    expect(at.model.requests[0]?.body).toMatchObject({ max_tokens: 2000, thinking: { budget_tokens: 1999 } });
    await withBudget({ llm_output_tokens: 1024 }, async () => {
      expect(await refusalOf(ask())).toMatchObject({ dimension: "llm_output_tokens", asked: 1025 });
    });
    await withBudget({ llm_output_tokens: 500 }, () =>
      at.anthropic.messages.create({ model: "claude-3-scripted", messages, max_tokens: 9000 }),
    );
    expect(at.model.requests[1]?.body).toMatchObject({ max_tokens: 500 });
  });

  test("by money, and never more than it buys", async () => {
    await using at = await openScene(() => ANSWER);
    const { used } = await spent({ cost_usd: 0.001 }, () =>
      at.openai.chat.completions.create({ model: "gpt-4-scripted", messages }),
    );
    const { max_tokens = 0, body } = at.model.requests[0] ?? {};
    const input = Buffer.byteLength(JSON.stringify(body));
    expect(Number(max_tokens)).toBeGreaterThan(50);
    expect(input * PRICE.input_usd_per_mtok + Number(max_tokens) * PRICE.output_usd_per_mtok).toBeLessThan(1000);
    expect(used.cost_usd).toBe(0.0001);
  });

  test("by all tokens together", async () => {
    await using at = await openScene(() => ANSWER);
    await withBudget({ llm_tokens: 400 }, () =>
      at.openai.chat.completions.create({ model: "gpt-4-scripted", messages }),
    );
    const { max_tokens, body } = at.model.requests[0] ?? {};
    expect(Number(max_tokens) + Buffer.byteLength(JSON.stringify(body))).toBeLessThanOrEqual(400);
    expect(Number(max_tokens)).toBeGreaterThan(100);
  });

  test("by what the options say where nobody else does", async () => {
    await using at = await openScene(() => ANSWER, { wire: { output_tokens: 77 } });
    await withBudget({ cost_usd: 1 }, async () => {
      await at.openai.chat.completions.create({ model: "scripted", messages });
      await at.openai.chat.completions.create({ model: "gpt-4-scripted", messages });
    });
    expect(at.model.requests.map(({ max_tokens }) => max_tokens)).toEqual([77, 4096]);
  });

  test("a limit that no price can be reckoned for", async () => {
    const prices = { ...PRICES, scripted: { input_usd_per_mtok: 1000, output_usd_per_mtok: 1000 } };
    await using at = await openScene(() => ANSWER, { wire: { prices } });
    await withBudget({ cost_usd: 3 }, () =>
      at.openai.chat.completions.create({ model: "scripted", messages, max_tokens: 1_000_000_000, n: 1024 }),
    );
    expect(at.model.requests[0]?.max_tokens).toBe(2);
  });
});

describe("prices", () => {
  test("a model without one is not called", async () => {
    await using at = await openScene(() => ANSWER, { model: { models: ["nobody-knows"] } });
    const told = await toldWhile(() =>
      withBudget({ cost_usd: 1 }, async () => {
        const report = await refusalOf(ASK.chat(at, "nobody-knows"));
        expect(report).toMatchObject({ code: "unknown_price" });
        expect(report.hint).toContain("nobody-knows");
      }),
    );
    expect(told).toMatchObject([{ outcome: "refused", refusal: { code: "unknown_price" } }]);
    expect(at.model.count).toBe(0);
  });

  test("one may be assumed", async () => {
    const assume = { input_usd_per_mtok: 100, output_usd_per_mtok: 1000 };
    await using at = await openScene(() => ANSWER, { wire: { assume }, model: { models: ["nobody-knows"] } });
    const { used } = await spent({ cost_usd: 1 }, () => ASK.chat(at, "nobody-knows"));
    expect(used.cost_usd).toBe(0.01);
  });

  test("the table knows the rest, and what is stated wins over it", async () => {
    const answer = { ...ANSWER, usage: { prompt_tokens: 1000, completion_tokens: 100 } };
    await using table = await openScene(() => answer, { model: { models: ["gpt-4o", "claude-3-haiku-20240307"] } });
    const { used } = await spent({ cost_usd: 1 }, async () => {
      await ASK.chat(table, "gpt-4o");
      await ASK.messages(table, "claude-3-haiku-20240307");
    });
    expect(used.cost_usd).toBe(0.0025 + 0.001 + 0.00025 + 0.000125);
    const prices = { "gpt-4o": { input_usd_per_mtok: 0, output_usd_per_mtok: 0 } };
    await using stated = await openScene(() => answer, { wire: { prices }, model: { models: ["gpt-4o"] } });
    const free = await spent({ cost_usd: 1 }, () => ASK.chat(stated, "gpt-4o"));
    expect(free.used.cost_usd ?? 0).toBe(0);
  });

  test("sound without a price of its own is refused", async () => {
    await using at = await openScene(() => ANSWER);
    const input_audio = { data: "AAAA", format: "wav" } as const;
    await withBudget({ cost_usd: 1 }, async () => {
      const messages = [{ role: "user" as const, content: [{ type: "input_audio" as const, input_audio }] }];
      const asked = at.openai.chat.completions.create({ model: "scripted", messages });
      expect(await refusalOf(asked)).toMatchObject({ code: "unbounded" });
    });
    expect(at.model.count).toBe(0);
  });
});

describe("input", () => {
  test("of unknown size is bounded by what the model can take, if that is known", async () => {
    const prices = { ...PRICES, scripted: { ...PRICE, context_window: 5000 } };
    await using at = await openScene(() => ANSWER, { wire: { prices } });
    const ask = (model: string, input = "Go on.") =>
      at.openai.responses.create({ model, input, previous_response_id: "resp_1", max_output_tokens: 100 });
    await withBudget({ llm_input_tokens: 10_000 }, async (budget) => {
      expect(await refusalOf(ask("gpt-4-scripted"))).toMatchObject({ code: "unbounded" });
      await ask("scripted");
      expect((await budget.state()).used.llm_input_tokens).toBe(30);
    });
    await withBudget({ llm_input_tokens: 4999 }, async () => {
      expect(await refusalOf(ask("scripted"))).toMatchObject({ dimension: "llm_input_tokens", asked: 5000 });
    });
    await withBudget({ llm_input_tokens: 7000 }, async () => {
      // More than the model is said to take: that may be a mistake, so it is bounded by what is there.
      const refused = await refusalOf(ask("scripted", "x".repeat(8000)));
      expect(refused.asked).toBeGreaterThan(8000);
    });
    expect(at.model.count).toBe(1);
  });

  test("that fits only by its tokens is counted, where a tokenizer may", async () => {
    const models = { models: ["gpt-4o"] };
    const prompt = "It was the best of times, it was the worst of times. ".repeat(100);
    const messages = [{ role: "user" as const, content: prompt }];
    await using counting = await openScene(() => ANSWER, { model: models });
    await using bytes = await openScene(() => ANSWER, { model: models, wire: { tokenizer: false } });
    const limits = { llm_input_tokens: 3000 };
    await withBudget(limits, () => counting.openai.chat.completions.create({ model: "gpt-4o", messages }));
    expect(counting.model.count).toBe(1);
    await withBudget(limits, async () => {
      const asked = bytes.openai.chat.completions.create({ model: "gpt-4o", messages });
      expect(await refusalOf(asked)).toMatchObject({ dimension: "llm_input_tokens" });
    });
    expect(bytes.model.count).toBe(0);
  });

  test("that the provider would charge for apart is refused", async () => {
    await using at = await openScene(() => ANSWER);
    await withBudget({ cost_usd: 1 }, async () => {
      const tools = [{ type: "web_search" as const }];
      const asked = at.openai.responses.create({ model: "gpt-4-scripted", input: "Hi", tools });
      expect(await refusalOf(asked)).toMatchObject({ code: "unbounded" });
    });
    expect(at.model.count).toBe(0);
  });
});

test("200 calls at once never pass the limit together", async () => {
  let given = 0;
  let most = 0;
  await using at = await openScene(
    async ({ max_tokens }) => {
      const tokens = Math.min(100, max_tokens ?? 0);
      given += 30 + tokens;
      most = Math.max(most, given);
      return { kind: "text", text: "Hello.", latency_ms: 1, usage: { prompt_tokens: 30, completion_tokens: tokens } };
    },
    { maxRetries: 0 },
  );
  const state = await spent({ llm_tokens: 5000 }, () =>
    Promise.allSettled(
      Array.from({ length: 200 }, (_, index) => {
        const protocol = (["chat", "responses", "messages"] as const)[index % 3] ?? "chat";
        return index % 2 === 0 ? ASK[protocol](at) : READ[protocol](at);
      }),
    ),
  );
  expect(most).toBeLessThanOrEqual(5000);
  expect(state.used.llm_tokens).toBe(given);
  expect(state.used.steps).toBe(at.model.count);
  expect(at.model.count).toBeLessThan(200);
  expect(at.model.count).toBeGreaterThan(30);
  expect(state.held).toEqual({});
});

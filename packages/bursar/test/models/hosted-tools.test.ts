import { describe, expect, test } from "vitest";
import { type OpenBudget, openBudget } from "../../src/ambient/open-budget.js";
import type { JsonObject } from "../../src/core/chain/canonical.js";
import type { BudgetLimits } from "../../src/core/input.js";
import { openBatches } from "../../src/models/batch/batches.js";
import { governedFetch } from "../../src/models/fetch/governed-fetch.js";
import { MemoryStore } from "../../src/stores/memory.js";
import { opened } from "../gateway/opened.js";

/** A dollar for a million tokens of input, ten for output; at most 100,000 of input. */
const PRICE = { input_usd_per_mtok: 1, output_usd_per_mtok: 10, context_window: 100_000 };
const PRICES = { "gpt-4.1": PRICE, "claude-3-5-haiku": { ...PRICE, cache_write_usd_per_mtok: 1 } };
/** What one round costs at most. */
const ROUND = 0.1;
const SEARCH = 0.01;
const OUTPUT = 0.001;

const OPENAI = "https://api.openai.com/v1/responses";
const ANTHROPIC = "https://api.anthropic.com/v1/messages";

const ASK = { model: "gpt-4.1", input: "Who won?", max_output_tokens: 100, tools: [{ type: "web_search" }] };
const CLAUDE = {
  model: "claude-3-5-haiku",
  max_tokens: 100,
  messages: [{ role: "user", content: "Who won?" }],
  tools: [{ type: "web_search_20250305", name: "web_search" }],
};

const call = (type: string, id = "a") => ({ type, id, status: "completed" });
const said = { type: "message", role: "assistant", content: [{ type: "output_text", text: "They did." }] };
const response = (...items: JsonObject[]): JsonObject => ({
  id: "resp_1",
  object: "response",
  status: "completed",
  model: "gpt-4.1",
  output: [...items, said],
  usage: { input_tokens: 20_000, output_tokens: 50, total_tokens: 20_050 },
});
const message = (usage: JsonObject, ...blocks: JsonObject[]): JsonObject => ({
  id: "msg_1",
  type: "message",
  role: "assistant",
  model: "claude-3-5-haiku",
  stop_reason: "end_turn",
  content: [...blocks, { type: "text", text: "They did." }],
  usage: { input_tokens: 20_000, output_tokens: 50, ...usage },
});
/** What those tokens cost. */
const TOKENS = 0.0205;

const events = (...all: JsonObject[]) =>
  all.map((each) => `event: ${String(each.type)}\ndata: ${JSON.stringify(each)}\n\n`).join("");

interface Tried {
  readonly sent: readonly JsonObject[];
  readonly status: number;
  readonly text: string;
  readonly used: Awaited<ReturnType<OpenBudget["state"]>>["used"];
}

async function tried(url: string, body: JsonObject, answer: JsonObject | string, limits: BudgetLimits): Promise<Tried> {
  const sent: JsonObject[] = [];
  const answering: typeof fetch = async (_, init) => {
    sent.push(JSON.parse(String(init?.body)) as JsonObject);
    const type = typeof answer === "string" ? "text/event-stream" : "application/json";
    return new Response(typeof answer === "string" ? answer : JSON.stringify(answer), {
      headers: { "content-type": type },
    });
  };
  const budget = await openBudget(limits);
  const send = governedFetch({ prices: PRICES, budget, fetch: answering });
  const got = await send(url, { method: "POST", body: JSON.stringify(body) });
  const text = await got.text();
  const { used } = await budget.state();
  await budget.end();
  return { sent, status: got.status, text, used };
}

describe("a web search of OpenAI's", () => {
  test.each([
    ["five times where the budget pays for it", 10, 5],
    ["as often as the budget pays for", 3 * ROUND + 2 * SEARCH + 2 * OUTPUT, 2],
    ["once at least", 2 * ROUND + SEARCH + OUTPUT, 1],
  ])("may be used %s", async (_, cost_usd, uses) => {
    const { sent, status } = await tried(OPENAI, ASK, response(), { cost_usd });
    expect(status).toBe(200);
    expect(sent).toMatchObject([{ max_tool_calls: uses, service_tier: "default" }]);
  });

  test("is not sent where the budget does not pay for one", async () => {
    const { sent, status, text } = await tried(OPENAI, ASK, response(), { cost_usd: 2 * ROUND });
    expect([status, sent]).toEqual([402, []]);
    expect(text).toContain("--strip-tools");
  });

  test("keeps the cap of the request, however much the budget would pay for", async () => {
    expect(
      (await tried(OPENAI, { ...ASK, max_tool_calls: 1 }, response(), { cost_usd: 10 })).sent[0]?.max_tool_calls,
    ).toBe(1);
    const many = await tried(OPENAI, { ...ASK, max_tool_calls: 20 }, response(), { cost_usd: 2.2 });
    expect([many.status, many.sent]).toEqual([402, []]);
  });

  test.each([
    ["by the items of the answer", response(call("web_search_call"), call("web_search_call", "b")), 2 * SEARCH],
    [
      "by what the answer says beside them",
      { ...response(), tool_usage: { web_search: { num_requests: 3 } } },
      3 * SEARCH,
    ],
    ["not at all where none was made", response(), 0],
    ["by their own price where they search files", response(call("file_search_call")), 0.0025],
  ])("is charged %s", async (_, answer, cost) => {
    const { used } = await tried(OPENAI, ASK, answer, { cost_usd: 10 });
    expect(used).toMatchObject({ llm_input_tokens: 20_000, cost_usd: TOKENS + cost });
  });

  test("is charged by the items of a stream, whether its end repeats them or not", async () => {
    const item = (output_index: number) => ({
      type: "response.output_item.done",
      output_index,
      item: call("web_search_call"),
    });
    const added = (output_index: number) => ({ ...item(output_index), type: "response.output_item.added" });
    for (const whole of [response(), response(call("web_search_call"), call("web_search_call"))]) {
      const stream = events(added(0), item(0), added(1), item(1), { type: "response.completed", response: whole });
      const { used, text } = await tried(OPENAI, { ...ASK, stream: true }, stream, { cost_usd: 10 });
      expect(text).toContain("response.completed");
      expect(used.cost_usd).toBe(TOKENS + 2 * SEARCH);
    }
  });

  test("that broke off, or does not say what it used, is charged what was held", async () => {
    const held = 6 * ROUND + 5 * SEARCH + OUTPUT;
    const { usage: _, ...silent } = response();
    expect((await tried(OPENAI, ASK, silent, { cost_usd: 10 })).used.cost_usd).toBeCloseTo(held, 6);
  });
});

describe("a web search of Anthropic's", () => {
  test("is held to as many uses as the budget pays for, each tool by itself", async () => {
    const { sent } = await tried(ANTHROPIC, CLAUDE, message({}), { cost_usd: 10 });
    expect(sent[0]?.tools).toEqual([{ type: "web_search_20250305", name: "web_search", max_uses: 5 }]);
    const fewer = await tried(ANTHROPIC, CLAUDE, message({}), { cost_usd: 2 * ROUND + SEARCH + OUTPUT });
    expect(fewer.sent[0]?.tools).toMatchObject([{ max_uses: 1 }]);
    const both = [
      { ...CLAUDE.tools[0], max_uses: 2 },
      { type: "web_fetch_20250910", name: "web_fetch", max_uses: 1 },
    ];
    const kept = await tried(ANTHROPIC, { ...CLAUDE, tools: both }, message({}), { cost_usd: 10 });
    expect(kept.sent[0]?.tools).toEqual(both);
  });

  test("of a newer version is called by the model alone", async () => {
    const tool = { type: "web_search_20260318", name: "web_search" };
    const { sent } = await tried(ANTHROPIC, { ...CLAUDE, tools: [tool] }, message({}), { cost_usd: 10 });
    expect(sent[0]?.tools).toEqual([{ ...tool, max_uses: 5, allowed_callers: ["direct"] }]);
    const byCode = { ...tool, allowed_callers: ["code_execution_20260120"] };
    expect((await tried(ANTHROPIC, { ...CLAUDE, tools: [byCode] }, message({}), { cost_usd: 10 })).status).toBe(402);
  });

  const searched = { type: "server_tool_use", id: "s", name: "web_search", input: { query: "who" } };

  test.each([
    ["as its usage says", message({ server_tool_use: { web_search_requests: 2, web_fetch_requests: 4 } }, searched), 2],
    ["by its blocks where its usage says nothing", message({}, searched, searched, searched), 3],
    ["not at all where none was made", message({ server_tool_use: null }), 0],
  ])("is charged %s", async (_, answer, searches) => {
    const { used } = await tried(ANTHROPIC, CLAUDE, answer, { cost_usd: 10 });
    expect(used.cost_usd).toBeCloseTo(TOKENS + searches * SEARCH, 9);
  });

  test("is charged in a stream by what its end says", async () => {
    const { usage: _, content: __, ...start } = message({});
    const stream = events(
      { type: "message_start", message: { ...start, content: [], usage: { input_tokens: 10, output_tokens: 1 } } },
      { type: "content_block_start", index: 0, content_block: searched },
      { type: "content_block_stop", index: 0 },
      {
        type: "message_delta",
        delta: { stop_reason: "end_turn" },
        usage: { input_tokens: 20_000, output_tokens: 50, server_tool_use: { web_search_requests: 4 } },
      },
      { type: "message_stop" },
    );
    const { used } = await tried(ANTHROPIC, { ...CLAUDE, stream: true }, stream, { cost_usd: 10 });
    expect(used.cost_usd).toBeCloseTo(TOKENS + 4 * SEARCH, 9);
  });
});

test.each([
  "web_search_preview",
  "mcp",
  "code_interpreter",
  "image_generation",
  "shell",
  "x_search",
  "openrouter:web_search",
])("the tool %s of Responses is refused", async (type) => {
  const { status, sent } = await tried(OPENAI, { ...ASK, tools: [{ type }] }, response(), { cost_usd: 100 });
  expect([status, sent]).toEqual([402, []]);
});

test.each(["code_execution_20250825", "tool_search_tool_bm25_20251119", "advisor_20260301", "mcp_toolset"])(
  "the tool %s of Messages is refused",
  async (type) => {
    const { status, sent } = await tried(ANTHROPIC, { ...CLAUDE, tools: [{ type }] }, message({}), { cost_usd: 100 });
    expect([status, sent]).toEqual([402, []]);
  },
);

test("tools of other providers have prices and caps of their own, so that they are refused there", async () => {
  for (const host of ["api.x.ai", "openrouter.ai", "api.groq.com", "acme.openai.azure.com", "acme.openai.azure.us"]) {
    const { status } = await tried(`https://${host}/v1/responses`, ASK, response(), { cost_usd: 100 });
    expect(status).toBe(402);
  }
});

test("what a search finds has no bound where the model's window is not known", async () => {
  const { context_window: _, ...price } = PRICE;
  const budget = await openBudget({ cost_usd: 100 });
  const send = governedFetch({ prices: { "gpt-4.1": price }, budget, fetch: () => Promise.reject(new Error("sent")) });
  const refused = await send(OPENAI, { method: "POST", body: JSON.stringify(ASK) });
  expect(await refused.text()).toContain("what web_search finds adds input of unknown size");
  await budget.end();
});

test("a batch cannot hold them to what is left, and refuses them", async () => {
  const options = { store: new MemoryStore(), provider: "anthropic", model: CLAUDE.model, prices: PRICES } as const;
  await using batches = openBatches(options);
  const { model: _, ...request } = CLAUDE;
  await expect(batches.terms(request)).rejects.toMatchObject({ code: "unbounded" });
});

/** The models that the scripted provider has. */
const SERVED = { "gpt-4o": PRICE, "claude-sonnet-4-5": PRICE };

describe("a gateway that strips tools", () => {
  const own = { type: "function", name: "look", parameters: {} };
  const opening = () => opened(() => "Yes.", { cost_usd: 10 }, { prices: SERVED, strip_tools: true });

  test("sends what is left, and keeps the caller's own", async () => {
    await using at = await opening();
    const beside = { ...own, name: "search", google_search: {} };
    const tools = [
      { type: "web_search" },
      own,
      beside,
      { type: "local_shell" },
      { type: "mcp", server_url: "https://a" },
    ];
    const { status } = await at.post("/v1/responses", {
      ...ASK,
      model: "gpt-4o",
      tools,
      tool_choice: { type: "web_search" },
    });
    expect(status).toBe(200);
    expect(at.model.requests[0]?.body).toMatchObject({ tools: [own, { type: "local_shell" }] });
    expect(at.model.requests[0]?.body).not.toHaveProperty("tool_choice");
    expect(at.model.requests[0]?.body).not.toHaveProperty("max_tool_calls");
  });

  test("strips the older list of functions too", async () => {
    await using at = await opening();
    const chat = { model: "gpt-4o", messages: [{ role: "user", content: "a" }], function_call: { name: "look" } };
    const look = { name: "look", parameters: {} };
    expect((await at.post("/v1/chat/completions", { ...chat, functions: [{ googleSearch: {} }, look] })).status).toBe(
      200,
    );
    expect(at.model.requests[0]?.body).toMatchObject({ functions: [look], function_call: { name: "look" } });
    expect((await at.post("/v1/chat/completions", { ...chat, functions: [{ googleSearch: {} }] })).status).toBe(200);
    expect(at.model.requests[1]?.body).not.toHaveProperty("functions");
    expect(at.model.requests[1]?.body).not.toHaveProperty("function_call");
  });

  test("sends nothing of tools where none is left", async () => {
    await using at = await opening();
    const chat = {
      model: "gpt-4o",
      messages: [{ role: "user", content: "a" }],
      max_tokens: 10,
      plugins: [{ id: "web" }],
    };
    const tools = [{ type: "openrouter:web_search" }];
    for (const [path, body] of [
      ["/v1/responses", { ...ASK, model: "gpt-4o", tool_choice: "auto", parallel_tool_calls: true }],
      ["/v1/messages", { ...CLAUDE, model: "claude-sonnet-4-5" }],
      ["/v1/chat/completions", { ...chat, tools }],
      ["/v1/chat/completions", { ...chat, web_search_options: {} }],
    ] as const) {
      const headers = { authorization: `Bearer ${at.secret}`, "anthropic-version": "2023-06-01" };
      const answer = await fetch(`${at.gateway.url}${path}`, { method: "POST", headers, body: JSON.stringify(body) });
      expect([answer.status, await answer.text()]).toEqual([200, expect.any(String)]);
      const sent = Object.keys(at.model.requests.at(-1)?.body ?? {});
      for (const name of ["tools", "tool_choice", "parallel_tool_calls", "plugins", "web_search_options"]) {
        expect(sent).not.toContain(name);
      }
    }
  });
});

test("Codex works through a gateway as it is, and its search is capped", async () => {
  await using at = await opened(() => "Yes.", { cost_usd: 10 }, { prices: SERVED });
  const text = (text: string) => [{ type: "input_text", text }];
  const body = {
    model: "gpt-4o",
    instructions: "You are Codex.",
    stream: true,
    store: false,
    include: [],
    input: [
      { type: "message", role: "developer", content: text("Be brief.") },
      { type: "message", role: "user", content: text("Who won?") },
    ],
    tools: [
      { type: "function", name: "shell", strict: false, parameters: { type: "object", properties: {} } },
      { type: "custom", name: "apply_patch", format: { type: "grammar", syntax: "lark", definition: "start: A" } },
      { type: "web_search", external_web_access: false },
    ],
    tool_choice: "auto",
    parallel_tool_calls: false,
    prompt_cache_key: "a",
    client_metadata: { x: "y" },
  };
  const response = await at.post("/v1/responses", body);
  expect(await response.text()).toContain("response.completed");
  expect(at.model.requests[0]?.body).toMatchObject({ tools: body.tools, max_tool_calls: expect.any(Number) });
});

import Anthropic, {
  APIError,
  AuthenticationError,
  BadRequestError,
  InternalServerError,
  RateLimitError,
} from "@anthropic-ai/sdk";
import { describe, expect, test } from "vitest";
import type { ScriptedText } from "../../../src/testing/scripted/answer.js";
import { openScriptedModel, type Script, type ScriptedModel } from "../../../src/testing/scripted-model.js";
import { collect } from "./collect.js";

const MODEL = "claude-opus-4-5";
const TEXT = "Grüße from a script, long enough for several pieces: 1, 2, 3, 4, 5, 6, 7.";
const ASKED = { model: MODEL, max_tokens: 4000, messages: [{ role: "user" as const, content: "Hello?" }] };
const THINKING = { thinking: { type: "enabled" as const, budget_tokens: 1024 } };
const CALL = { name: "search", arguments: { query: "bolts and nuts of all kinds", most: 3 } };
const USAGE = {
  prompt_tokens: 100,
  completion_tokens: 40,
  cached_tokens: 60,
  cache_write_tokens: 8,
  cache_write_1h_tokens: 5,
  reasoning_tokens: 25,
};
const FULL: ScriptedText = {
  kind: "text",
  text: TEXT,
  thinking: "Let me see. ".repeat(5),
  tool_calls: [CALL],
  usage: USAGE,
};

async function opened(script: Script): Promise<{ server: ScriptedModel; client: Anthropic } & AsyncDisposable> {
  const server = await openScriptedModel({ script, models: [MODEL], apiKey: "sk-1" });
  const client = new Anthropic({ baseURL: server.origin, apiKey: "sk-1", maxRetries: 0 });
  return { server, client, [Symbol.asyncDispose]: () => server[Symbol.asyncDispose]() };
}

describe("Anthropic's client", () => {
  const counts = {
    input_tokens: 27,
    cache_read_input_tokens: 60,
    cache_creation_input_tokens: 13,
    output_tokens: 40,
    output_tokens_details: { thinking_tokens: 25 },
  };

  test("reads an answer with thinking, a text, tool calls and usage", async () => {
    await using world = await opened([FULL]);
    const message = await world.client.messages.create({ ...ASKED, ...THINKING });
    expect(message).toMatchObject({ type: "message", role: "assistant", model: MODEL, stop_reason: "tool_use" });
    expect(message.content).toMatchObject([
      { type: "thinking", thinking: FULL.thinking, signature: expect.any(String) },
      { type: "text", text: TEXT },
      { type: "tool_use", id: "toolu_1_0", name: "search", input: CALL.arguments },
    ]);
    const cache_creation = { ephemeral_5m_input_tokens: 8, ephemeral_1h_input_tokens: 5 };
    expect(message.usage).toEqual({ ...counts, cache_creation, service_tier: "standard" });
    expect(world.server.requests[0]).toMatchObject({
      number: 1,
      protocol: "anthropic-messages",
      path: "/v1/messages",
      text: "Hello?",
      max_tokens: 4000,
      stream: false,
      headers: { "anthropic-version": expect.any(String) },
    });
  });

  test("streams, by the helper, to the same message", async () => {
    await using world = await opened(() => FULL);
    const whole = await world.client.messages.create({ ...ASKED, ...THINKING });
    const stream = world.client.messages.stream({ ...ASKED, ...THINKING });
    const texts: string[] = [];
    const thoughts: string[] = [];
    stream.on("text", (text) => texts.push(text)).on("thinking", (thought) => thoughts.push(thought));
    const final = await stream.finalMessage();
    expect([texts.join(""), thoughts.join("")]).toEqual([TEXT, FULL.thinking]);
    expect(Math.min(texts.length, thoughts.length)).toBeGreaterThan(2);
    expect(final.content).toMatchObject([
      { type: "thinking", thinking: FULL.thinking, signature: expect.stringMatching(/./) },
      { type: "text", text: TEXT },
      { type: "tool_use", name: "search", input: CALL.arguments },
    ]);
    expect(final.usage).toEqual(whole.usage);
    expect([final.stop_reason, final.stop_sequence]).toEqual(["tool_use", null]);
  });

  test("gets the events in Anthropic's order: the input's usage first, a ping, the output's total last", async () => {
    await using world = await opened(() => FULL);
    const raw = await fetch(`${world.server.origin}/messages`, {
      method: "POST",
      headers: { "x-api-key": "sk-1", "anthropic-version": "2023-06-01" },
      body: JSON.stringify({ ...ASKED, ...THINKING, stream: true }),
    });
    const events = (await raw.text()).split("\n\n").filter((event) => event !== "");
    const names = events.map((event) => /^event: (\w+)\ndata: \{"type":"\1"/.exec(event)?.[1]);
    const block = ["content_block_start", "content_block_delta", "content_block_stop"];
    expect(names.filter((name, index) => name !== names[index - 1])).toEqual([
      "message_start",
      "content_block_start",
      "ping",
      "content_block_delta",
      "content_block_stop",
      ...block,
      ...block,
      "message_delta",
      "message_stop",
    ]);
    const dataOf = (name: string) => JSON.parse(events[names.indexOf(name)]?.split("data: ")[1] ?? "");
    expect(dataOf("message_start").message).toMatchObject({
      content: [],
      stop_reason: null,
      usage: { input_tokens: 27, cache_read_input_tokens: 60, cache_creation_input_tokens: 13, output_tokens: 1 },
    });
    expect(dataOf("message_delta")).toMatchObject({ delta: { stop_reason: "tool_use" }, usage: counts });
    expect(world.server.requests[0]?.path).toBe("/messages");
  });

  test("is told when it asks for a count with what has no place there", async () => {
    await using world = await opened([]);
    const { messages } = ASKED;
    const extra = { model: MODEL, messages, max_tokens: 100 };
    await expect(
      world.client.messages.countTokens(extra as { model: string; messages: typeof messages }),
    ).rejects.toThrow("max_tokens: Extra inputs are not permitted");
    expect((await world.client.messages.countTokens({ model: MODEL, messages })).input_tokens).toBeGreaterThan(0);
  });

  test("sees thinking only if it asked for it, and pays for thinking that it does not want to see", async () => {
    await using world = await opened(() => ({ kind: "text", text: "Yes.", thinking: "Hmmm" }));
    const none = await world.client.messages.create(ASKED);
    expect([none.content, none.usage.output_tokens]).toEqual([[{ type: "text", text: "Yes." }], 1]);
    const display = "omitted" as const;
    const hidden = await world.client.messages
      .stream({ ...ASKED, thinking: { type: "adaptive", display } })
      .finalMessage();
    expect(hidden.content[0]).toMatchObject({ type: "thinking", thinking: "", signature: expect.stringMatching(/./) });
    expect(hidden.usage).toMatchObject({ output_tokens: 2, output_tokens_details: { thinking_tokens: 1 } });
  });

  test("holds thinking to its limit, and the answer to the other one", async () => {
    await using world = await opened(() => ({ kind: "text", text: TEXT, thinking: "x".repeat(9000) }));
    const held = await world.client.messages.create({ ...ASKED, ...THINKING });
    expect(held).toMatchObject({
      stop_reason: "end_turn",
      content: [{ thinking: "x".repeat(4096) }, { text: TEXT }],
      usage: { output_tokens: 1024 + 19 },
    });
    const asked = { ...ASKED, ...THINKING, max_tokens: 1030 };
    for (const cut of [
      await world.client.messages.create(asked),
      await world.client.messages.stream(asked).finalMessage(),
    ]) {
      expect(cut).toMatchObject({ stop_reason: "max_tokens", usage: { output_tokens: 1030 } });
      expect(cut.content[1]).toMatchObject({ type: "text", text: "Grüße from a script, l" });
    }
  });

  test("cuts a tool call short at the limit", async () => {
    await using world = await opened(() => ({ kind: "text", text: "", tool_calls: [CALL, CALL] }));
    const short = { ...ASKED, max_tokens: 4 };
    expect(await world.client.messages.create(short)).toMatchObject({
      stop_reason: "max_tokens",
      content: [{ type: "tool_use", input: {} }],
      usage: { output_tokens: 4 },
    });
    const events = await collect(await world.client.messages.create({ ...short, stream: true }));
    const json = events.map((event) =>
      event.type === "content_block_delta" && event.delta.type === "input_json_delta" ? event.delta.partial_json : "",
    );
    expect(json.join("")).toBe('{"query":"bolts ');
  });

  test("stops where it is told to, and when a filter says so", async () => {
    await using world = await opened(({ number }) => ({ kind: "text", text: TEXT, filtered: number === 2 }));
    const stopped = await world.client.messages.create({ ...ASKED, stop_sequences: ["several", "long"] });
    expect(stopped).toMatchObject({ stop_reason: "stop_sequence", stop_sequence: "long" });
    expect(stopped.content).toEqual([{ type: "text", text: "Grüße from a script, " }]);
    expect((await world.client.messages.create(ASKED)).stop_reason).toBe("refusal");
  });

  test("counts what it would be asked, and the script is left alone", async () => {
    await using world = await opened(["Yes."]);
    const tools = [{ name: "search", input_schema: { type: "object" as const } }];
    const { max_tokens: _, ...asked } = { ...ASKED, system: "Be kind.", tools };
    const counted = await world.client.messages.countTokens(asked);
    const message = await world.client.messages.create({ ...asked, max_tokens: 10 });
    expect(counted).toEqual({ input_tokens: message.usage.input_tokens });
    expect(world.server.count).toBe(1);
    expect(world.server.countingRequests).toMatchObject([
      { protocol: "anthropic-messages", path: "/v1/messages/count_tokens" },
    ]);
  });

  test("uses tools, and the script reads their results", async () => {
    await using world = await opened(({ text, number }) =>
      number === 1 ? { kind: "text", text: "", tool_calls: [CALL] } : `It says ${text}`,
    );
    const first = await world.client.messages.create(ASKED);
    const [use] = first.content;
    const tool_use_id = use?.type === "tool_use" ? use.id : "";
    const result = { type: "tool_result" as const, tool_use_id, content: [{ type: "text" as const, text: "none" }] };
    const messages = [...ASKED.messages, { role: "assistant" as const, content: first.content }];
    const second = await world.client.messages.create({
      ...ASKED,
      messages: [...messages, { role: "user", content: [result] }],
    });
    expect(second.content).toMatchObject([{ text: "It says none" }]);
  });

  test("lists the models", async () => {
    await using world = await opened([]);
    expect((await world.client.models.list()).data).toMatchObject([{ id: MODEL, type: "model" }]);
    expect(await world.client.models.retrieve(MODEL)).toMatchObject({ id: MODEL, display_name: MODEL });
  });
});

describe("Anthropic's client understands errors as Anthropic's:", () => {
  test.for([
    [429, RateLimitError, "rate_limit_error"],
    [500, InternalServerError, "api_error"],
    [529, InternalServerError, "overloaded_error"],
    [402, APIError, "billing_error"],
    [400, BadRequestError, "invalid_request_error"],
  ] as const)("%d", async ([status, kind, type]) => {
    await using world = await opened([{ kind: "status", status, message: "not now", retry_after_s: 20 }]);
    const error = (await world.client.messages.create(ASKED).catch((reason: unknown) => reason)) as APIError;
    expect(error).toBeInstanceOf(kind);
    expect([error.status, error.requestID]).toEqual([status, "req_scripted_1"]);
    expect(error.error).toEqual({ type: "error", error: { type, message: "not now" }, request_id: "req_scripted_1" });
    expect(error.headers?.get("retry-after")).toBe("20");
    expect(error.headers?.get("anthropic-ratelimit-requests-remaining")).toBe(status === 429 ? "0" : "9999");
  });

  test("a wrong key, in either header", async () => {
    await using world = await opened(() => "Yes.");
    const bearer = new Anthropic({ baseURL: world.server.origin, apiKey: null, authToken: "sk-1" });
    expect(await bearer.messages.create(ASKED)).toMatchObject({ content: [{ text: "Yes." }] });
    const wrong = new Anthropic({ baseURL: world.server.origin, apiKey: "sk-2", maxRetries: 0 });
    await expect(wrong.messages.create(ASKED)).rejects.toBeInstanceOf(AuthenticationError);
    expect(world.server.count).toBe(1);
  });

  test.for([
    [{ max_tokens: undefined }, "max_tokens: Field required"],
    [{ thinking: { type: "enabled", budget_tokens: 1023 } }, "budget_tokens is 1023"],
    [{ thinking: { type: "enabled", budget_tokens: 4000 } }, "must be greater than thinking.budget_tokens"],
    [{ thinking: { type: "enabled" } }, "budget_tokens: Field required"],
    [{ messages: [{ role: "robot", content: "" }] }, "messages.0.role is"],
    [{ stop_sequences: [7] }, "stop_sequences"],
    [{ model: "other" }, "does not exist"],
  ] as const)("nonsense such as %j", async ([more, said]) => {
    await using world = await opened([]);
    const error = await world.client.messages
      .create({ ...ASKED, ...(more as object) })
      .catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(APIError);
    expect(String(error)).toContain(said);
    expect(world.server.count).toBe(0);
  });

  test("one that comes in the middle of a stream", async () => {
    await using world = await opened(() => ({ kind: "half", text: TEXT, events: 4, ending: "error" }));
    const error = await world.client.messages
      .stream(ASKED)
      .finalMessage()
      .catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(APIError);
    expect(error).toMatchObject({ type: "overloaded_error" });
  });
});

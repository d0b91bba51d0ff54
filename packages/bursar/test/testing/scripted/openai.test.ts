import OpenAI, { APIError, BadRequestError, InternalServerError, NotFoundError, RateLimitError } from "openai";
import { describe, expect, test } from "vitest";
import type { ScriptedText } from "../../../src/testing/scripted/answer.js";
import { openScriptedModel, type Script, type ScriptedModel } from "../../../src/testing/scripted-model.js";
import { collect } from "./collect.js";

const MODEL = "gpt-5";
const TEXT = "Grüße from a script, long enough for several pieces: 1, 2, 3, 4, 5, 6, 7.";
const MESSAGES = [{ role: "user" as const, content: "Hello?" }];
const CALL = { name: "search", arguments: { query: "bolts and nuts of all kinds", most: 3 } };
const USAGE = {
  prompt_tokens: 100,
  completion_tokens: 40,
  cached_tokens: 60,
  cache_write_tokens: 8,
  reasoning_tokens: 25,
};
const FULL: ScriptedText = {
  kind: "text",
  text: TEXT,
  thinking: "Let me see. ".repeat(5),
  tool_calls: [CALL],
  usage: USAGE,
};

/** What an item says, without what tells one answer from another. */
function saidBy({ id: _, ...item }: OpenAI.Responses.ResponseOutputItem & { id?: string | null | undefined }): object {
  return { ...item, encrypted_content: null, call_id: null };
}

async function opened(script: Script): Promise<{ server: ScriptedModel; client: OpenAI } & AsyncDisposable> {
  const server = await openScriptedModel({ script, models: [MODEL], apiKey: "sk-1" });
  const client = new OpenAI({ baseURL: server.url, apiKey: "sk-1", maxRetries: 0 });
  return { server, client, [Symbol.asyncDispose]: () => server[Symbol.asyncDispose]() };
}

describe("OpenAI's client, chat completions", () => {
  const chatUsage = {
    prompt_tokens: 100,
    completion_tokens: 40,
    total_tokens: 140,
    prompt_tokens_details: { cached_tokens: 60, cache_write_tokens: 8 },
    completion_tokens_details: { reasoning_tokens: 25 },
  };

  test("reads an answer with a text, tool calls and usage, and never sees the thinking", async () => {
    await using world = await opened([FULL]);
    const answer = await world.client.chat.completions.create({ model: MODEL, messages: MESSAGES });
    expect(answer.choices[0]).toMatchObject({
      finish_reason: "tool_calls",
      message: { role: "assistant", content: TEXT },
    });
    const [call] = answer.choices[0]?.message.tool_calls ?? [];
    expect(call).toMatchObject({ id: "call_1_0", type: "function", function: { name: "search" } });
    expect(call?.type === "function" && JSON.parse(call.function.arguments)).toEqual(CALL.arguments);
    expect(answer.usage).toMatchObject(chatUsage);
    expect(JSON.stringify(answer)).not.toContain("Let me see");
    expect(world.server.requests[0]).toMatchObject({
      number: 1,
      protocol: "openai-chat",
      path: "/v1/chat/completions",
      text: "Hello?",
      stream: false,
      headers: { authorization: "Bearer sk-1" },
    });
  });

  test("streams, by the helper, to the same answer", async () => {
    await using world = await opened([FULL, FULL]);
    const whole = await world.client.chat.completions.create({ model: MODEL, messages: MESSAGES });
    const stream = world.client.chat.completions.stream({
      model: MODEL,
      messages: MESSAGES,
      stream_options: { include_usage: true },
    });
    const pieces: string[] = [];
    stream.on("content", (piece) => pieces.push(piece));
    const final = await stream.finalChatCompletion();
    expect(pieces.length).toBeGreaterThan(2);
    expect(final.choices[0]).toMatchObject({ finish_reason: "tool_calls", message: { content: TEXT } });
    expect(final.choices[0]?.message.tool_calls?.[0]).toMatchObject({
      function: { name: "search", arguments: JSON.stringify(CALL.arguments) },
    });
    expect(final.usage).toEqual(whole.usage);
  });

  test("tells a stream's usage only to those who ask, and says null before it", async () => {
    await using world = await opened([TEXT, TEXT]);
    const chunks = async (more: object) => {
      const asked = { model: MODEL, messages: MESSAGES, stream: true as const, ...more };
      return collect(await world.client.chat.completions.create(asked));
    };
    const asked = await chunks({ stream_options: { include_usage: true } });
    const silent = await chunks({});
    expect(asked.slice(0, -1).map(({ usage }) => usage)).toEqual(asked.slice(1).map(() => null));
    expect(asked.at(-1)).toMatchObject({ choices: [], usage: { completion_tokens: 19 } });
    expect(silent.map((chunk) => "usage" in chunk)).toEqual(asked.slice(1).map(() => false));
  });

  test("gives as many answers as are wanted, and ends them where they should end", async () => {
    await using world = await opened(() => TEXT);
    const asked = { model: MODEL, messages: MESSAGES, n: 2, stop: [": 1", ","] };
    const { choices, usage } = await world.client.chat.completions.create(asked);
    const part = "Grüße from a script";
    expect(choices.map(({ index, message }) => [index, message.content])).toEqual([
      [0, part],
      [1, part],
    ]);
    expect(choices[0]?.finish_reason).toBe("stop");
    expect(usage?.completion_tokens).toBe(12);
    const streamed = await world.client.chat.completions.stream({ ...asked, stream: true }).finalChatCompletion();
    expect(streamed.choices.map(({ message }) => message.content)).toEqual([part, part]);
  });

  test("reads structured answers", async () => {
    await using world = await opened(() => '{"a":1}');
    const schema = {
      type: "object",
      properties: { a: { type: "number" } },
      required: ["a"],
      additionalProperties: false,
    };
    const response_format = { type: "json_schema" as const, json_schema: { name: "a", strict: true, schema } };
    const { choices } = await world.client.chat.completions.parse({
      model: MODEL,
      messages: MESSAGES,
      response_format,
    });
    expect(choices[0]?.message.content).toBe('{"a":1}');
  });
});

describe("OpenAI's client, responses", () => {
  const responseUsage = {
    input_tokens: 100,
    output_tokens: 40,
    total_tokens: 140,
    input_tokens_details: { cached_tokens: 60, cache_write_tokens: 8 },
    output_tokens_details: { reasoning_tokens: 25 },
  };
  const asked = {
    model: MODEL,
    input: "Hello?",
    reasoning: { effort: "low", summary: "auto" },
    include: ["reasoning.encrypted_content"],
  } satisfies OpenAI.Responses.ResponseCreateParamsNonStreaming;

  test("reads an answer with thinking, a text, tool calls and usage", async () => {
    await using world = await opened([FULL]);
    const answer = await world.client.responses.create(asked);
    expect(answer).toMatchObject({ object: "response", status: "completed", error: null, incomplete_details: null });
    expect(answer.output_text).toBe(TEXT);
    expect(answer.output.map(({ type }) => type)).toEqual(["reasoning", "message", "function_call"]);
    expect(answer.output[0]).toMatchObject({
      summary: [{ text: FULL.thinking }],
      encrypted_content: expect.any(String),
    });
    expect(answer.output[2]).toMatchObject({ call_id: "call_1_0", name: "search" });
    expect(answer.usage).toEqual(responseUsage);
    expect(world.server.requests[0]).toMatchObject({
      protocol: "openai-responses",
      path: "/v1/responses",
      text: "Hello?",
      max_tokens: null,
    });
  });

  test("streams, by the helper, to the same answer, with events in order", async () => {
    await using world = await opened(() => FULL);
    const whole = await world.client.responses.create(asked);
    const stream = world.client.responses.stream(asked);
    const events = await collect(stream);
    const final = await stream.finalResponse();
    expect(final.output.map(saidBy)).toMatchObject(whole.output.map(saidBy));
    expect(final.usage).toEqual(responseUsage);
    expect(events.map((event) => "sequence_number" in event && event.sequence_number)).toEqual(
      events.map((_, at) => at),
    );
    const types = events.map(({ type }) => type).filter((type, index, all) => type !== all[index - 1]);
    expect(types).toEqual([
      "response.created",
      "response.in_progress",
      "response.output_item.added",
      "response.reasoning_summary_part.added",
      "response.reasoning_summary_text.delta",
      "response.reasoning_summary_text.done",
      "response.reasoning_summary_part.done",
      "response.output_item.done",
      "response.output_item.added",
      "response.content_part.added",
      "response.output_text.delta",
      "response.output_text.done",
      "response.content_part.done",
      "response.output_item.done",
      "response.output_item.added",
      "response.function_call_arguments.delta",
      "response.function_call_arguments.done",
      "response.output_item.done",
      "response.completed",
    ]);
  });

  test("hides its thinking from those who did not ask", async () => {
    await using world = await opened(() => ({ kind: "text", text: "Yes.", thinking: "Hm." }));
    const { output, usage } = await world.client.responses.create({ model: MODEL, input: MESSAGES });
    expect(output[0]).toEqual({ id: "rs_1", type: "reasoning", summary: [] });
    expect(usage).toMatchObject({ output_tokens: 2, output_tokens_details: { reasoning_tokens: 1 } });
  });

  test("is incomplete at its limit, streamed or not, and refuses a limit below sixteen", async () => {
    await using world = await opened(() => ({ kind: "text", text: TEXT.repeat(9) }));
    const limited = { model: MODEL, input: "Hello?", max_output_tokens: 16 };
    for (const answer of [
      await world.client.responses.create(limited),
      await world.client.responses.stream(limited).finalResponse(),
    ]) {
      expect(answer).toMatchObject({
        status: "incomplete",
        incomplete_details: { reason: "max_output_tokens" },
        max_output_tokens: 16,
        output: [{ type: "message", status: "incomplete" }],
        usage: { output_tokens: 16 },
      });
      expect(Buffer.byteLength(answer.output_text)).toBeLessThanOrEqual(64);
    }
    const less = world.client.responses.create({ ...limited, max_output_tokens: 15 });
    await expect(less).rejects.toThrow("max_output_tokens is 15");
    expect(world.server.count).toBe(2);
  });

  test("counts what it would be asked, and the script is left alone", async () => {
    await using world = await opened([TEXT]);
    const tools = [{ type: "function" as const, name: "search", parameters: {}, strict: false }];
    const counted = await world.client.responses.inputTokens.count({ model: MODEL, input: "Hello?", tools });
    const { usage } = await world.client.responses.create({ model: MODEL, input: "Hello?", tools });
    expect(counted).toEqual({ object: "response.input_tokens", input_tokens: usage?.input_tokens });
    expect(world.server.count).toBe(1);
    expect(world.server.countingRequests).toMatchObject([
      { protocol: "openai-responses", path: "/v1/responses/input_tokens" },
    ]);
  });

  test("takes results of tools for the last thing said", async () => {
    await using world = await opened(({ text }) => `It says ${text}`);
    const input = [
      { role: "user" as const, content: "Search." },
      { type: "function_call" as const, call_id: "c", name: "search", arguments: "{}" },
      { type: "function_call_output" as const, call_id: "c", output: "nothing" },
    ];
    expect((await world.client.responses.create({ model: MODEL, input })).output_text).toBe("It says nothing");
  });
});

describe("OpenAI's client, the rest", () => {
  test("embeds, in either encoding, the same text always to the same vector", async () => {
    await using world = await opened(() => "");
    const input = ["one", "two", "one"];
    const { data, usage } = await world.client.embeddings.create({ model: MODEL, input, dimensions: 8 });
    expect(usage).toEqual({ prompt_tokens: 3, total_tokens: 3 });
    const [one, two, again] = data.map(({ embedding }) => [...embedding]);
    expect(one).toHaveLength(8);
    expect(one).toEqual(again);
    expect(one).not.toEqual(two);
    expect(Math.hypot(...(one ?? []))).toBeCloseTo(1, 5);
    const floats = await world.client.embeddings.create({
      model: MODEL,
      input: "one",
      dimensions: 8,
      encoding_format: "float",
    });
    expect(floats.data[0]?.embedding).toEqual(one);
    expect((await world.client.embeddings.create({ model: MODEL, input: [1, 2, 3] })).data[0]?.embedding).toHaveLength(
      1536,
    );
    expect(world.server.requests[0]).toMatchObject({ protocol: "openai-embeddings", text: "one", messages: [] });
  });

  test("gets the vectors that a script gives, and an error when their number is wrong", async () => {
    const usage = { prompt_tokens: 7, completion_tokens: 0 };
    await using world = await opened(() => ({ kind: "embedding", vectors: [[0.5, -0.25]], usage }));
    const got = await world.client.embeddings.create({ model: MODEL, input: "one" });
    expect([got.data[0]?.embedding, got.usage.prompt_tokens]).toEqual([[0.5, -0.25], 7]);
    await expect(world.client.embeddings.create({ model: MODEL, input: ["a", "b"] })).rejects.toThrow("1 vectors");
    const wrong = world.client.chat.completions.create({ model: MODEL, messages: MESSAGES });
    await expect(wrong).rejects.toThrow("it answers with an embedding, and the request speaks openai-chat");
  });

  test("lists the models", async () => {
    await using world = await opened([]);
    expect((await world.client.models.list()).data).toMatchObject([{ id: MODEL, object: "model" }]);
    expect(await world.client.models.retrieve(MODEL)).toMatchObject({ id: MODEL });
    await expect(world.client.models.retrieve("other")).rejects.toBeInstanceOf(NotFoundError);
  });

  test("understands errors as OpenAI's", async () => {
    await using world = await opened([
      { kind: "status", status: 429, retry_after_s: 20 },
      {
        kind: "status",
        status: 429,
        type: "insufficient_quota",
        code: "insufficient_quota",
        headers: { "x-should-retry": "false" },
      },
      { kind: "status", status: 500 },
    ]);
    const ask = () => world.client.responses.create({ model: MODEL, input: "Hello?" }).catch((error: unknown) => error);
    const limited = (await ask()) as RateLimitError;
    expect(limited).toBeInstanceOf(RateLimitError);
    expect([limited.code, limited.type, limited.requestID]).toEqual([
      "rate_limit_exceeded",
      "requests",
      "req_scripted_1",
    ]);
    expect(Object.fromEntries(limited.headers?.entries() ?? [])).toMatchObject({
      "retry-after": "20",
      "x-ratelimit-remaining-requests": "0",
      "x-ratelimit-reset-requests": "20s",
    });
    const empty = (await ask()) as RateLimitError;
    expect([empty.code, empty.headers?.get("x-should-retry")]).toEqual(["insufficient_quota", "false"]);
    expect(await ask()).toBeInstanceOf(InternalServerError);
    const wrong = await world.client.chat.completions
      .create({ model: MODEL, messages: [] })
      .catch((error: unknown) => error);
    expect(wrong).toBeInstanceOf(BadRequestError);
    expect(wrong).toMatchObject({ param: "messages", type: "invalid_request_error" });
  });

  test("tries again when it is told to, and every attempt is a request", async () => {
    const limited = { kind: "status", status: 429, headers: { "retry-after-ms": "1" } } as const;
    await using world = await opened([limited, limited, "At last."]);
    const patient = world.client.withOptions({ maxRetries: 2 });
    expect((await patient.responses.create({ model: MODEL, input: "Hello?" })).output_text).toBe("At last.");
    expect(world.server.count).toBe(3);
  });

  test.for(["chat", "responses"] as const)("sees an error in the middle of a stream: %s", async (which) => {
    await using world = await opened(() => ({ kind: "half", text: TEXT, events: 5, ending: "error" }));
    let seen = 0;
    const reading = async () => {
      const stream =
        which === "chat"
          ? await world.client.chat.completions.create({ model: MODEL, messages: MESSAGES, stream: true })
          : await world.client.responses.create({ model: MODEL, input: "Hello?", stream: true });
      for await (const _ of stream) seen++;
    };
    await expect(reading()).rejects.toBeInstanceOf(APIError);
    expect(seen).toBe(5);
  });
});

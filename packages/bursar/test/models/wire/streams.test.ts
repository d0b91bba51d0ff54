import Anthropic from "@anthropic-ai/sdk";
import OpenAI from "openai";
import { describe, expect, test } from "vitest";
import type { JsonObject } from "../../../src/core/chain/canonical.js";
import type { EventReading, StreamReader } from "../../../src/models/wire/protocol.js";
import { protocolFor } from "../../../src/models/wire/protocols.js";
import { CHAT_TEXT, CHAT_TOOLS, CHAT_TWO, dataOf, MESSAGE, RESPONSES, type TraceEvent, written } from "./traces.js";

function readerFor(path: string, body: JsonObject): StreamReader {
  const protocol = protocolFor("POST", path);
  if (protocol === null) throw new Error(`no protocol for ${path}`);
  return protocol.stream(protocol.read(body, { bytes: JSON.stringify(body).length, compatible: false }));
}

const HELLO = [{ role: "user", content: "hello" }];
const chat = (more: JsonObject = {}) =>
  readerFor("/v1/chat/completions", { model: "gpt-5", messages: HELLO, stream: true, ...more });
const responses = () => readerFor("/v1/responses", { model: "gpt-5", input: "hello", stream: true });
const messages = () =>
  readerFor("/v1/messages", { model: "claude-sonnet-5", max_tokens: 100, messages: HELLO, stream: true });

function feed(reader: StreamReader, trace: readonly TraceEvent[]): EventReading[] {
  return trace.map(([event, data]) => reader.read(event, dataOf(data)));
}

function canned(text: string): { fetch: typeof fetch; apiKey: string; maxRetries: number } {
  const headers = { "content-type": "text/event-stream" };
  return { fetch: async () => new Response(text, { headers }), apiKey: "k", maxRetries: 0 };
}

const asChat = (text: string) =>
  new OpenAI(canned(text)).chat.completions
    .stream({ model: "gpt-5", messages: [{ role: "user", content: "hello" }] })
    .finalChatCompletion();
const asResponse = (text: string) =>
  new OpenAI(canned(text)).responses.stream({ model: "gpt-5", input: "hello" }).finalResponse();
const asMessage = (text: string) =>
  new Anthropic(canned(text)).messages
    .stream({ model: "claude-sonnet-5", max_tokens: 100, messages: [{ role: "user", content: "hello" }] })
    .finalMessage();

describe("the stream of a completion", () => {
  test("tells exact usage, and ends with [DONE]", () => {
    const reader = chat({ stream_options: { include_usage: true } });

    const readings = feed(reader, CHAT_TEXT);

    expect(readings.map(({ pass }) => pass)).toEqual(Array(6).fill("same"));
    expect(readings.map(({ last }) => last)).toEqual([false, false, false, false, false, true]);
    expect(reader.usage).toEqual({ counts: { input: 120, output: 40, cache_read: 64, reasoning: 30 }, final: true });
    expect(reader.seen_bytes).toBe(Buffer.byteLength("Grüß Gott 👋"));
    expect(reader.seen_tokens).toBe(2);
    expect(reader.finish()).toBe("");
  });

  test("keeps to itself the chunk that the caller has not asked for", () => {
    const readings = feed(chat(), CHAT_TEXT);

    expect(readings.map(({ pass }) => pass)).toEqual(["same", "same", "same", "same", null, "same"]);
  });

  test("counts arguments of tools, refusals, sound and thinking that is shown", () => {
    for (const delta of [
      { refusal: "123456789" },
      { audio: { id: "a", transcript: "1234", data: "56789" } },
      { reasoning_content: "123456789" },
      { reasoning_details: [{ type: "reasoning.text", text: "123456789" }] },
      { function_call: { name: "1234", arguments: "56789" } },
      { tool_calls: [{ index: 0, id: "call_1", type: "function", function: { name: "1234", arguments: "56789" } }] },
    ]) {
      const reader = chat();
      reader.read("", JSON.stringify({ id: "c", choices: [{ index: 0, delta, finish_reason: null }] }));
      expect(reader.seen_bytes).toBe(9);
    }
  });

  test("usage is not final while an answer is open, and a chunk with impossible usage leaves none", () => {
    const reader = chat({ n: 2 });
    const chunk = (index: number, finish_reason: string | null, output: number) =>
      JSON.stringify({
        choices: [{ index, delta: { content: "a" }, finish_reason }],
        usage: { prompt_tokens: 5, completion_tokens: output, total_tokens: 5 + output },
      });

    reader.read("", chunk(0, "stop", 1));
    expect(reader.usage).toEqual({ counts: { input: 5, output: 1 }, final: false });
    reader.read("", chunk(1, "stop", 2));
    expect(reader.usage).toEqual({ counts: { input: 5, output: 2 }, final: true });
    reader.read("", chunk(1, null, -1));
    expect(reader.usage).toBeNull();
  });

  test("an error ends it, and garbage counts as output", () => {
    expect(chat().read("", '{"error":{"message":"overloaded"}}')).toEqual({ pass: "same", last: true });
    const reader = chat();
    expect(reader.read("", "<html>")).toEqual({ pass: "same", last: false });
    expect(reader.seen_bytes).toBe(6);
  });

  test.each([
    ["text", CHAT_TEXT, 1],
    ["tools", CHAT_TOOLS, 1],
    ["two answers", CHAT_TWO, 2],
  ] as const)("%s can be ended after any event: the SDK takes it for a whole answer", async (_what, trace, n) => {
    for (let count = 0; count < trace.length; count++) {
      const reader = chat({ n, stream_options: { include_usage: true } });
      const before = trace.slice(0, count);
      feed(reader, before);

      const completion = await asChat(written(before) + reader.finish());

      expect(completion.choices.length).toBeGreaterThan(0);
      const [first] = completion.choices;
      const finished = before.some(([, data]) => dataOf(data).includes('"finish_reason":"'));
      expect(first?.finish_reason).toBe(finished ? (trace === CHAT_TOOLS ? "tool_calls" : "stop") : "length");
      expect(reader.finish()).toBe("");
    }
  });

  test("a failure is an error to the SDK", async () => {
    const text = chat().failure({ type: "budget_exceeded", code: "budget_exceeded", message: "nothing is left" });

    await expect(asChat(written(CHAT_TEXT.slice(0, 2)) + text)).rejects.toThrow("nothing is left");
  });
});

describe("the stream of a response", () => {
  test("tells exact usage at its end", () => {
    const reader = responses();

    const readings = feed(reader, RESPONSES);

    expect(readings.every(({ pass }) => pass === "same")).toBe(true);
    expect(readings.findIndex(({ last }) => last)).toBe(RESPONSES.length - 1);
    const counts = { input: 200, output: 90, cache_read: 128, cache_write: 50, reasoning: 64 };
    expect(reader.usage).toEqual({ counts, final: true });
    // Beside the texts, the names of both tools.
    expect(reader.seen_bytes).toBe(Buffer.byteLength('Hm, well.Grüß Gott 👋{"a":1}addselect 1sql'));
  });

  test.each(["response.incomplete", "response.failed"])("%s ends it too", (type) => {
    const reader = responses();

    const reading = reader.read(type, JSON.stringify({ type, response: { usage: null } }));

    expect(reading.last).toBe(true);
    expect(reader.usage).toBeNull();
  });

  test("counts items that no delta has told", () => {
    const reader = responses();
    const item = { type: "message", id: "m", content: [{ type: "output_text", text: "0123456789" }] };

    reader.read("", JSON.stringify({ type: "response.output_item.done", output_index: 0, item }));

    expect(reader.seen_bytes).toBe(10);
  });

  test("can be ended after any event: the SDK takes it for a whole answer and keeps what was said", async () => {
    for (let count = 0; count < RESPONSES.length; count++) {
      const reader = responses();
      const before = RESPONSES.slice(0, count);
      feed(reader, before);

      const response = await asResponse(written(before) + reader.finish());

      expect(response.status).toBe("incomplete");
      expect(response.incomplete_details).toEqual({ reason: "max_output_tokens" });
      const deltas = before.flatMap(([event, data]) =>
        event === "response.output_text.delta" ? [data as JsonObject] : [],
      );
      expect(response.output_text).toBe(deltas.map(({ delta }) => delta).join(""));
      expect(response.output).toHaveLength(before.filter(([event]) => event === "response.output_item.added").length);
    }
  });

  test("types that every object has by itself are types nobody knows", () => {
    for (const type of ["constructor", "__proto__", "toString"]) {
      const reader = responses();
      const item = { type, id: "x", status: "in_progress" };
      reader.read("", JSON.stringify({ type: "response.output_item.added", output_index: 0, item }));
      reader.read("", JSON.stringify({ type: "response.content_part.added", output_index: 0, part: { type } }));

      reader.read("", JSON.stringify({ type, output_index: 0, delta: "a" }));

      expect(reader.finish()).toContain("response.incomplete");
      expect(reader.finish()).not.toContain("undefined");
    }
  });

  test("events of the end are numbered on, and every open thing is closed once", () => {
    const reader = responses();
    feed(reader, RESPONSES.slice(0, 13));

    const types = [...reader.finish().matchAll(/"type":"(response\.[^"]+)".*?"sequence_number":(\d+)/g)];

    expect(types.map(([, type, number]) => `${type} ${number}`)).toEqual([
      "response.output_text.done 13",
      "response.content_part.done 14",
      "response.output_item.done 15",
      "response.incomplete 16",
    ]);
  });

  test("a failure is an error to the SDK", async () => {
    const text = responses().failure({ type: "budget_exceeded", code: "budget_exceeded", message: "nothing is left" });

    await expect(asResponse(written(RESPONSES.slice(0, 5)) + text)).rejects.toThrow("nothing is left");
  });
});

describe("the stream of a message", () => {
  test("tells exact usage: later counts take the place of earlier ones", () => {
    const reader = messages();

    feed(reader, MESSAGE.slice(0, 1));
    const input = { input: 1310, cache_read: 1000, cache_write: 100, cache_write_1h: 200 };
    expect(reader.usage).toEqual({ counts: { ...input, output: 2 }, final: false });
    const readings = feed(reader, MESSAGE.slice(1));

    expect(reader.usage).toEqual({ counts: { ...input, output: 88 }, final: true });
    expect(readings.findIndex(({ last }) => last)).toBe(MESSAGE.length - 2);
    // The seal of what was thought is no output; the name of the tool is.
    expect(reader.seen_bytes).toBe(Buffer.byteLength('Hm, well.Grüß Gott 👋add{"a": 1}'));
    expect(reader.seen_tokens).toBe(6);
  });

  test("can be ended after any event: the SDK takes it for a whole answer", async () => {
    for (let count = 0; count < MESSAGE.length; count++) {
      const reader = messages();
      const before = MESSAGE.slice(0, count);
      feed(reader, before);

      const message = await asMessage(written(before) + reader.finish());

      const stopped = before.some(([event]) => event === "message_delta");
      expect(message.stop_reason).toBe(stopped ? "tool_use" : "max_tokens");
      expect(message.content).toHaveLength(before.filter(([event]) => event === "content_block_start").length);
      expect(message.usage.output_tokens).toBe(stopped ? 88 : Math.max(count === 0 ? 0 : 2, reader.seen_tokens));
      expect(reader.finish()).toBe("");
    }
  });

  test("what is open is closed before the message is, and nothing else", () => {
    const typesAfter = (count: number): (string | undefined)[] => {
      const reader = messages();
      feed(reader, MESSAGE.slice(0, count));
      return [...reader.finish().matchAll(/^event: (.*)$/gm)].map(([, type]) => type);
    };

    expect(typesAfter(0)).toEqual(["message_start", "message_delta", "message_stop"]);
    expect(typesAfter(4)).toEqual(["content_block_stop", "message_delta", "message_stop"]);
    expect(typesAfter(6)).toEqual(["message_delta", "message_stop"]);
    expect(typesAfter(16)).toEqual(["message_stop"]);
    expect(typesAfter(17)).toEqual([]);
  });

  test("an error ends it", () => {
    const error = { type: "error", error: { type: "overloaded_error", message: "Overloaded" } };

    expect(messages().read("error", JSON.stringify(error))).toEqual({ pass: "same", last: true });
  });

  test("a failure is an error to the SDK", async () => {
    const text = messages().failure({ type: "budget_exceeded", code: "budget_exceeded", message: "nothing is left" });

    await expect(asMessage(written(MESSAGE.slice(0, 5)) + text)).rejects.toThrow("nothing is left");
  });
});

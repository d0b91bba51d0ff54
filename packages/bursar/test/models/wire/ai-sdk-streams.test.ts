import { createAnthropic } from "@ai-sdk/anthropic";
import { createOpenAI } from "@ai-sdk/openai";
import { jsonSchema, type LanguageModel, streamText, tool } from "ai";
import { describe, expect, test } from "vitest";
import type { JsonObject } from "../../../src/core/chain/canonical.js";
import { protocolFor } from "../../../src/models/wire/protocols.js";
import { CHAT_TEXT, CHAT_TOOLS, dataOf, MESSAGE, RESPONSES, type TraceEvent, written } from "./traces.js";

const HELLO = [{ role: "user", content: "hello" }];

interface Way {
  readonly name: string;
  readonly path: string;
  readonly body: JsonObject;
  readonly trace: readonly TraceEvent[];
  model(fetch: typeof globalThis.fetch): LanguageModel;
}

const WAYS: readonly Way[] = [
  {
    name: "a completion",
    path: "/chat/completions",
    body: { model: "gpt-5", messages: HELLO, stream: true },
    trace: CHAT_TEXT,
    model: (fetch) => createOpenAI({ apiKey: "k", fetch }).chat("gpt-5"),
  },
  {
    name: "a completion with tools",
    path: "/chat/completions",
    body: { model: "gpt-5", messages: HELLO, stream: true },
    trace: CHAT_TOOLS,
    model: (fetch) => createOpenAI({ apiKey: "k", fetch }).chat("gpt-5"),
  },
  {
    name: "a response",
    path: "/responses",
    body: { model: "gpt-5", input: "hello", stream: true },
    // The AI SDK knows tools of free form only when they are offered as such.
    trace: RESPONSES.slice(0, 21),
    model: (fetch) => createOpenAI({ apiKey: "k", fetch }).responses("gpt-5"),
  },
  {
    name: "a message",
    path: "/messages",
    body: { model: "claude-sonnet-5", max_tokens: 100, messages: HELLO, stream: true },
    trace: MESSAGE,
    model: (fetch) => createAnthropic({ apiKey: "k", fetch })("claude-sonnet-5"),
  },
];

describe("the AI SDK", () => {
  test.each(WAYS)(
    "takes $name that was ended after any event for a whole answer",
    async ({ path, body, trace, model }) => {
      const protocol = protocolFor("POST", path);
      const inputSchema = jsonSchema<{ a?: number }>({ type: "object", properties: { a: { type: "number" } } });
      const add = tool({ inputSchema, outputSchema: jsonSchema<number>({ type: "number" }) });
      for (let count = 0; count < trace.length; count++) {
        const reader = protocol?.stream(protocol.read(body, { bytes: 100, compatible: false }));
        const before = trace.slice(0, count);
        for (const [event, data] of before) reader?.read(event, dataOf(data));
        const text = written(before) + reader?.finish();
        const headers = { "content-type": "text/event-stream" };
        const errors: unknown[] = [];

        const { finishReason } = streamText({
          model: model(async () => new Response(text, { headers })),
          prompt: "hello",
          tools: { add },
          maxRetries: 0,
          onError: ({ error }) => void errors.push(error),
        });

        const reason = await finishReason;
        expect(errors).toEqual([]);
        const stopped = /"finish_reason":"(?!length)|"stop_reason":"(?!max_tokens)/.test(text);
        expect(reason).toBe(stopped ? (trace === CHAT_TEXT ? "stop" : "tool-calls") : "length");
      }
    },
  );
});

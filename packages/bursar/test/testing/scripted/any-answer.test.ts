import Anthropic from "@anthropic-ai/sdk";
import fc from "fast-check";
import OpenAI from "openai";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { ScriptedText } from "../../../src/testing/scripted/answer.js";
import { openScriptedModel, type ScriptedModel } from "../../../src/testing/scripted-model.js";

/** An answer as any client sees it. */
interface Seen {
  readonly text: string;
  readonly calls: readonly string[];
  readonly output: number;
  readonly cut: boolean;
}

let answer: ScriptedText = { kind: "text", text: "" };
let server: ScriptedModel;
let openai: OpenAI;
let anthropic: Anthropic;

beforeAll(async () => {
  server = await openScriptedModel({ script: () => answer, models: ["m"] });
  openai = new OpenAI({ baseURL: server.url, apiKey: "k", maxRetries: 0 });
  anthropic = new Anthropic({ baseURL: server.origin, apiKey: "k", maxRetries: 0 });
});

afterAll(() => server[Symbol.asyncDispose]());

const messages = [{ role: "user" as const, content: "Hello?" }];

const CLIENTS: Readonly<Record<string, (most: number, stream: boolean) => Promise<Seen>>> = {
  "chat completions": async (most, stream) => {
    const asked = { model: "m", messages, max_completion_tokens: most };
    const { choices, usage } = stream
      ? await openai.chat.completions
          .stream({ ...asked, stream_options: { include_usage: true } })
          .finalChatCompletion()
      : await openai.chat.completions.create(asked);
    const [choice] = choices;
    const calls =
      choice?.message.tool_calls?.map((call) => (call.type === "function" ? call.function.arguments : "")) ?? [];
    const text = choice?.message.content ?? "";
    return { text, calls, output: usage?.completion_tokens ?? -1, cut: choice?.finish_reason === "length" };
  },
  responses: async (most, stream) => {
    const asked = { model: "m", input: "Hello?", max_output_tokens: most };
    const final = stream ? await openai.responses.stream(asked).finalResponse() : await openai.responses.create(asked);
    const calls = final.output.flatMap((item) => (item.type === "function_call" ? [item.arguments] : []));
    return {
      text: final.output_text,
      calls,
      output: final.usage?.output_tokens ?? -1,
      cut: final.status === "incomplete",
    };
  },
  messages: async (most, stream) => {
    const asked = { model: "m", messages, max_tokens: most };
    const final = stream
      ? await anthropic.messages.stream(asked).finalMessage()
      : await anthropic.messages.create(asked);
    const text = final.content.map((block) => (block.type === "text" ? block.text : "")).join("");
    const calls = final.content.flatMap((block) => (block.type === "tool_use" ? [JSON.stringify(block.input)] : []));
    return { text, calls, output: final.usage.output_tokens, cut: final.stop_reason === "max_tokens" };
  },
};

const anyAnswer = fc.record({
  text: fc.oneof(fc.string({ unit: "grapheme", maxLength: 200 }), fc.string({ unit: "binary", maxLength: 50 })),
  tool_calls: fc.array(
    fc.record({
      name: fc.constant("search"),
      arguments: fc.dictionary(fc.stringMatching(/^[a-z]{1,5}$/), fc.string()),
    }),
    { maxLength: 3 },
  ),
});

describe.for(Object.entries(CLIENTS))("whatever a script says in %s", ([, seenBy]) => {
  test("arrives the same streamed or not, whole if it may, and never longer than it may", async () => {
    await fc.assert(
      fc.asyncProperty(anyAnswer, fc.integer({ min: 16, max: 120 }), async (said, most) => {
        answer = { kind: "text", ...said };
        const [whole, streamed] = [await seenBy(most, false), await seenBy(most, true)];
        expect(streamed.text).toBe(whole.text);
        expect([streamed.output, streamed.cut]).toEqual([whole.output, whole.cut]);
        expect(whole.output).toBeLessThanOrEqual(most);
        expect(said.text.startsWith(whole.text)).toBe(true);
        if (whole.cut) return;
        expect(whole.text).toBe(said.text);
        const calls = said.tool_calls.map((call) => JSON.stringify(call.arguments));
        expect([whole.calls, streamed.calls]).toEqual([calls, calls]);
      }),
      { numRuns: 60 },
    );
  });
});

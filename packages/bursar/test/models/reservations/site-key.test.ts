import { describe, expect, test } from "vitest";
import type { JsonObject } from "../../../src/core/chain/canonical.js";
import { siteKey } from "../../../src/models/reservations/site-key.js";
import { ANTHROPIC_MESSAGES } from "../../../src/models/wire/anthropic-messages.js";
import { OPENAI_CHAT } from "../../../src/models/wire/openai-chat.js";
import { OPENAI_RESPONSES } from "../../../src/models/wire/openai-responses.js";
import type { Protocol } from "../../../src/models/wire/protocol.js";

function keyOf(protocol: Protocol, body: JsonObject, site: string | null = null, within = ""): string {
  const facts = { bytes: Buffer.byteLength(JSON.stringify(body)), compatible: true };
  return siteKey(site, within, protocol.read({ model: "m", ...body }, facts));
}

const user = (content: string) => ({ role: "user", content });
const system = (content: string) => ({ role: "system", content });
const tool = (name: string) => ({ type: "function", function: { name, parameters: {} } });

describe("a site", () => {
  test("is the same whatever is asked, and however long the answer may be", () => {
    const chat = (question: string, max_tokens: number) =>
      keyOf(OPENAI_CHAT, { messages: [system("Be brief."), user(question)], max_tokens });
    expect(chat("One?", 10)).toBe(chat("Two?", 4000));
    const messages = (question: string, max_tokens: number) =>
      keyOf(ANTHROPIC_MESSAGES, { system: "Be brief.", messages: [user(question)], max_tokens });
    expect(messages("One?", 10)).toBe(messages("Two?", 4000));
    const responses = (input: string) => keyOf(OPENAI_RESPONSES, { instructions: "Be brief.", input });
    expect(responses("One?")).toBe(responses("Two?"));
  });

  test("is told apart by what it says to the model, its tools, its format, and how hard the model thinks", () => {
    const messages = [system("Be brief."), user("One?")];
    const kinds: readonly JsonObject[] = [
      { messages },
      { messages: [system("Be long."), user("One?")] },
      { messages: [user("One?")] },
      { messages, tools: [tool("look")] },
      { messages, tools: [tool("look"), tool("go")] },
      { messages, response_format: { type: "json_object" } },
      { messages, response_format: { type: "json_schema", json_schema: { name: "plan", schema: {} } } },
      { messages, reasoning_effort: "high" },
      { messages, model: "other" },
    ];
    const keys = kinds.map((body) => keyOf(OPENAI_CHAT, body));
    expect(new Set(keys).size).toBe(kinds.length);
  });

  test("is what the caller says, whatever the shape", () => {
    const one = keyOf(OPENAI_CHAT, { messages: [system("A"), user("One?")] }, "summaries");
    expect(keyOf(OPENAI_CHAT, { messages: [system("B"), user("One?")] }, "summaries")).toBe(one);
    expect(keyOf(OPENAI_CHAT, { messages: [system("A"), user("One?")] }, "plans")).not.toBe(one);
    expect(keyOf(OPENAI_CHAT, { messages: [system("A"), user("One?")] })).not.toBe(one);
    expect(keyOf(OPENAI_CHAT, { messages: [user("One?")], model: "other" }, "summaries")).not.toBe(one);
  });

  test("is another in another program", () => {
    const body = { messages: [user("One?")] };
    expect(keyOf(OPENAI_CHAT, body, null, "a")).not.toBe(keyOf(OPENAI_CHAT, body, null, "b"));
    expect(keyOf(OPENAI_CHAT, body, "s", "a")).not.toBe(keyOf(OPENAI_CHAT, body, "s", "b"));
  });

  test("takes little of a request, however long it is", () => {
    const long = "x".repeat(100_000);
    const body = {
      messages: [system(long), user(long)],
      tools: Array.from({ length: 200 }, () => tool(long.slice(0, 64))),
    };
    expect(keyOf(OPENAI_CHAT, body).length).toBeLessThan(2000);
    expect(keyOf(OPENAI_CHAT, body, long, "p").length).toBeLessThan(200);
  });
});

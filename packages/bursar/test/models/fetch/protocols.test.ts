import { expect, test } from "vitest";
import { ASK, type Asked, HELLO, openScene, READ, STREAMED, spent } from "./scene.js";

const USAGE = { prompt_tokens: 30, completion_tokens: 7 };
const ANSWER = { kind: "text", text: "Hello to you.", usage: USAGE } as const;
const ALL: readonly Asked[] = ["chat", "responses", "embeddings", "messages"];

test.each(ALL)("an answer is charged what the provider says: %s", async (protocol) => {
  await using at = await openScene([ANSWER]);
  const { used, held } = await spent({ cost_usd: 1 }, () => ASK[protocol](at));
  const output = protocol === "embeddings" ? 0 : 7;
  const cost_usd = (30 * 1 + output * 10) / 1_000_000;
  expect(used).toMatchObject({ llm_input_tokens: 30, llm_tokens: 30 + output, cost_usd, steps: 1 });
  expect(held).toEqual({});
});

test.each(STREAMED)("a stream is charged what the provider says, when it has been read: %s", async (protocol) => {
  await using at = await openScene([ANSWER]);
  const { used, held } = await spent({ cost_usd: 1 }, async () => {
    expect(await READ[protocol](at)).toBe("Hello to you.");
  });
  expect(used).toMatchObject({ llm_input_tokens: 30, llm_output_tokens: 7, cost_usd: 0.0001, steps: 1 });
  expect(held).toEqual({});
});

test("the helpers of the SDKs put streams together", async () => {
  await using at = await openScene([ANSWER, ANSWER, ANSWER]);
  const { used } = await spent({ cost_usd: 1 }, async () => {
    const chat = at.openai.chat.completions.stream({ model: "gpt-4-scripted", messages: HELLO });
    expect((await chat.finalChatCompletion()).choices[0]?.message.content).toBe("Hello to you.");
    const response = at.openai.responses.stream({ model: "gpt-4-scripted", input: "Hello?" });
    expect((await response.finalResponse()).output_text).toBe("Hello to you.");
    const message = at.anthropic.messages.stream({
      model: "claude-3-scripted",
      messages: HELLO,
      max_tokens: 100,
    });
    expect(await message.finalText()).toBe("Hello to you.");
  });
  expect(used).toMatchObject({ llm_input_tokens: 90, llm_output_tokens: 21, cost_usd: 0.0003, steps: 3 });
});

test("tools are asked for through the wire, streamed or not", async () => {
  const tool_calls = [{ name: "weather", arguments: { city: "Oslo" } }];
  const answer = { ...ANSWER, text: "", tool_calls } as const;
  await using at = await openScene(Array(6).fill(answer));
  const parameters = { type: "object" as const, properties: { city: { type: "string" } } };
  const chat = {
    model: "gpt-4-scripted",
    messages: HELLO,
    tools: [{ type: "function" as const, function: { name: "weather", parameters } }],
  };
  const response = {
    model: "gpt-4-scripted",
    input: "Hello?",
    tools: [{ type: "function" as const, name: "weather", parameters, strict: false }],
  };
  const message = {
    model: "claude-3-scripted",
    messages: HELLO,
    max_tokens: 100,
    tools: [{ name: "weather", input_schema: parameters }],
  };
  const { used } = await spent({ cost_usd: 1 }, async () => {
    const said = (await at.openai.chat.completions.create(chat)).choices[0]?.message.tool_calls?.[0];
    expect(said).toMatchObject({ function: { name: "weather", arguments: '{"city":"Oslo"}' } });
    const streamed = await at.openai.chat.completions.stream(chat).finalChatCompletion();
    expect(streamed.choices[0]?.message.tool_calls?.[0]).toMatchObject({ function: { name: "weather" } });
    const item = { type: "function_call", name: "weather", arguments: '{"city":"Oslo"}' };
    expect((await at.openai.responses.create(response)).output).toMatchObject([item]);
    expect((await at.openai.responses.stream(response).finalResponse()).output).toMatchObject([item]);
    const block = { type: "tool_use", name: "weather", input: { city: "Oslo" } };
    expect((await at.anthropic.messages.create(message)).content).toMatchObject([block]);
    expect((await at.anthropic.messages.stream(message).finalMessage()).content).toMatchObject([block]);
  });
  expect(used).toMatchObject({ llm_input_tokens: 180, llm_output_tokens: 42, steps: 6 });
});

test("calls of all protocols at once add up", async () => {
  await using at = await openScene(() => ANSWER);
  const { used, held } = await spent({ cost_usd: 1 }, () =>
    Promise.all([
      ...[1, 2, 3].flatMap(() => ALL.map((protocol) => ASK[protocol](at))),
      ...STREAMED.map((protocol) => READ[protocol](at)),
    ]),
  );
  expect(used).toMatchObject({ llm_input_tokens: 450, llm_output_tokens: 84, steps: 15 });
  expect(used.cost_usd).toBe((450 + 84 * 10) / 1_000_000);
  expect(held).toEqual({});
});

test("cached input has its own prices, read and written, for five minutes and for an hour", async () => {
  const usage = { prompt_tokens: 1000, completion_tokens: 10, cached_tokens: 500, cache_write_tokens: 200 };
  const longer = { ...usage, cache_write_1h_tokens: 100 };
  await using at = await openScene([
    { kind: "text", text: "Hi", usage },
    { kind: "text", text: "Hi", usage: longer },
    { kind: "text", text: "Hi", usage: longer },
  ]);
  const cost = (input: number, short: number, long: number) => input + 500 * 0.1 + short * 1.25 + long * 2 + 10 * 10;
  const chat = await spent({ cost_usd: 1 }, () => ASK.chat(at, "cached"));
  expect(chat.used).toMatchObject({ llm_tokens: 1010, cost_usd: cost(300, 200, 0) / 1_000_000 });
  const messages = await spent({ cost_usd: 1 }, () => ASK.messages(at, "cached"));
  expect(messages.used).toMatchObject({ llm_tokens: 1010, cost_usd: cost(200, 200, 100) / 1_000_000 });
  const streamed = await spent({ cost_usd: 1 }, () => READ.messages(at, "cached"));
  expect(streamed.used).toMatchObject({ llm_tokens: 1010, cost_usd: cost(200, 200, 100) / 1_000_000 });
});

test("thinking is output, shown or not", async () => {
  const usage = { prompt_tokens: 30, completion_tokens: 90, reasoning_tokens: 80 };
  const answer = { kind: "text", text: "Four.", thinking: "Two and two, hm.", usage } as const;
  await using at = await openScene([answer, answer, answer, answer]);
  const { used } = await spent({ cost_usd: 1 }, async () => {
    await ASK.chat(at, "scripted");
    await READ.chat(at, "scripted");
    await READ.responses(at, "scripted");
    const stream = at.anthropic.messages.stream({
      model: "claude-3-scripted",
      messages: HELLO,
      max_tokens: 3000,
      thinking: { type: "enabled", budget_tokens: 2000 },
    });
    expect((await stream.finalMessage()).content.map(({ type }) => type)).toEqual(["thinking", "text"]);
  });
  expect(used).toMatchObject({ llm_input_tokens: 120, llm_output_tokens: 360, steps: 4 });
});

test("several answers to one question are charged together, and each is held to its part", async () => {
  await using at = await openScene([{ kind: "text", text: "Hi", usage: { prompt_tokens: 30, completion_tokens: 60 } }]);
  const { used } = await spent({ llm_output_tokens: 100 }, () =>
    at.openai.chat.completions.create({ model: "gpt-4-scripted", messages: HELLO, n: 3, max_tokens: 100 }),
  );
  expect(used).toMatchObject({ llm_input_tokens: 30 });
  expect(at.model.requests[0]?.max_tokens).toBe(33);
});

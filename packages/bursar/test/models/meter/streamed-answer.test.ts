import { describe, expect, test } from "vitest";
import type { JsonObject } from "../../../src/core/chain/canonical.js";
import { StreamedAnswer } from "../../../src/models/meter/streamed-answer.js";
import { ANTHROPIC_MESSAGES } from "../../../src/models/wire/anthropic-messages.js";
import { OPENAI_CHAT } from "../../../src/models/wire/openai-chat.js";
import type { Protocol } from "../../../src/models/wire/protocol.js";

const MESSAGES = [{ role: "user", content: "Hi" }];
const SLACK = 256;

function opened(protocol: Protocol, body: JsonObject, most: number): StreamedAnswer {
  const request = { messages: MESSAGES, stream: true, max_tokens: 1000, ...body };
  const wire = protocol.read(request, { bytes: 100, compatible: true });
  return new StreamedAnswer(wire, protocol.stream(wire), most);
}

function event(data: JsonObject | string): Buffer {
  const name = typeof data === "string" ? "" : typeof data.type === "string" ? `event: ${data.type}\n` : "";
  return Buffer.from(`${name}data: ${typeof data === "string" ? data : JSON.stringify(data)}\n\n`);
}

function chunk(content: string, more: JsonObject = {}): Buffer {
  return event({ choices: [{ index: 0, delta: { content }, finish_reason: null }], ...more });
}

const START = event({
  type: "message_start",
  message: { id: "m", role: "assistant", content: [], usage: { input_tokens: 40, output_tokens: 1 } },
});
const DELTA = event({ type: "content_block_delta", index: 0, delta: { type: "text_delta", text: "word" } });

describe("an answer that is cut off because it had more than it was granted", () => {
  test("is not charged by what was told at its beginning", () => {
    const answer = opened(ANTHROPIC_MESSAGES, { model: "claude-3-x" }, 2);
    answer.push(START);
    answer.push(event({ type: "content_block_start", index: 0, content_block: { type: "text", text: "" } }));
    for (let each = 0; each < 3; each++) answer.push(DELTA);
    expect(answer.state).toBe("capped");
    expect(answer.counts).toBeNull();
    expect(answer.bound).toEqual({ reported: { input: 40, output: 1 }, output: 3 });
    expect(Buffer.concat(answer.last).toString()).toContain("message_stop");
  });

  test("passes nothing on after that", () => {
    const answer = opened(OPENAI_CHAT, { model: "gpt-4o" }, 1);
    expect(answer.push(chunk("a"))).toHaveLength(1);
    expect(answer.push(Buffer.concat([chunk("b"), chunk("c"), event("[DONE]")]))).toHaveLength(1);
    expect(answer.push(chunk("d"))).toEqual([]);
    expect(
      Buffer.concat(answer.last)
        .toString()
        .match(/\[DONE\]/g),
    ).toHaveLength(1);
  });
});

describe("an answer that breaks off", () => {
  test("is bounded by its bytes and some more, and by what it may have", () => {
    const answer = opened(OPENAI_CHAT, { model: "gpt-4o" }, 1000);
    expect(answer.bound).toEqual({ reported: null, output: SLACK });
    answer.push(chunk("12345"));
    expect(answer.bound).toEqual({ reported: null, output: SLACK + 5 });
    answer.push(chunk("x".repeat(2000)));
    expect(answer.bound).toEqual({ reported: null, output: 1000 });
  });

  test("is charged no less than the provider had said by then", () => {
    const usage = { prompt_tokens: 9, completion_tokens: 1500, total_tokens: 1509 };
    const answer = opened(OPENAI_CHAT, { model: "gpt-4o" }, 1000);
    answer.push(chunk("a", { usage }));
    expect(answer.counts).toBeNull();
    expect(answer.bound).toEqual({ reported: { input: 9, output: 1500 }, output: 1500 });
  });

  test("may have thought all the time", () => {
    const answer = opened(OPENAI_CHAT, { model: "gpt-5" }, 1000);
    answer.push(chunk("a"));
    expect(answer.bound).toEqual({ reported: null, output: 1000 });
  });

  test.each([
    [OPENAI_CHAT, { error: { message: "no" } }],
    [ANTHROPIC_MESSAGES, { type: "error", error: { type: "overloaded_error", message: "no" } }],
  ] as const)("with an error in the middle is no whole one", (protocol, data) => {
    const answer = opened(protocol, { model: "gpt-4o" }, 5000);
    answer.push(event(data));
    expect(answer.state).toBe("ended");
    expect(answer.bound).not.toBeNull();
  });
});

test("an answer that is whole and tells no usage is bounded by nothing that was seen", () => {
  const answer = opened(OPENAI_CHAT, { model: "gpt-4o" }, 1000);
  answer.push(chunk("a"));
  answer.push(event("[DONE]"));
  expect(answer.counts).toBeNull();
  expect(answer.bound).toBeNull();
});

test("what lies together is passed on together, and what is left out or came in two pieces parts it", () => {
  const answer = opened(OPENAI_CHAT, { model: "gpt-4o" }, 1000);
  const usage = event({ choices: [], usage: { prompt_tokens: 9, completion_tokens: 1, total_tokens: 10 } });
  const all = Buffer.concat([chunk("a"), chunk("b"), usage, chunk("c"), chunk("d"), chunk("e")]);
  const half = all.length - 20;
  const passed = [...answer.push(all.subarray(0, half)), ...answer.push(all.subarray(half))];
  const wanted = [[chunk("a"), chunk("b")], [chunk("c"), chunk("d")], [chunk("e")]];
  expect(passed.map((bytes) => Buffer.from(bytes).toString())).toEqual(
    wanted.map((each) => String(Buffer.concat(each))),
  );
});

test("the last event is kept back", () => {
  const answer = opened(OPENAI_CHAT, { model: "gpt-4o", stream_options: { include_usage: true } }, 1000);
  const usage = { prompt_tokens: 9, completion_tokens: 1, total_tokens: 10 };
  const end = event({ choices: [{ index: 0, delta: {}, finish_reason: "stop" }] });
  const before = Buffer.concat([chunk("a"), end, event({ choices: [], usage })]);
  const passed = answer.push(Buffer.concat([before, event("[DONE]")]));
  expect(Buffer.concat(passed)).toEqual(before);
  expect(Buffer.concat(answer.last).toString()).toBe("data: [DONE]\n\n");
  expect(answer.counts).toEqual({ input: 9, output: 1 });
});

import { describe, expect, test } from "vitest";
import { FakeClock } from "../../src/testing/clock/fake-clock.js";
import { openScriptedModel, type Script, ScriptedModel } from "../../src/testing/scripted-model.js";

const MESSAGES = [{ role: "user", content: "What is it?" }];

function ask(model: ScriptedModel, body: object = {}, headers: Record<string, string> = {}): Promise<Response> {
  const text = JSON.stringify({ model: "scripted", messages: MESSAGES, ...body });
  return fetch(`${model.url}/chat/completions`, { method: "POST", body: text, headers });
}

async function events(response: Response): Promise<unknown[]> {
  const text = await response.text();
  const lines = text.split("\n\n").filter((line) => line !== "");
  expect(lines.pop()).toBe("data: [DONE]");
  return lines.map((line) => JSON.parse(line.replace(/^data: /, "")) as unknown);
}

describe("a scripted model", () => {
  test("answers in order, with what it has used, and says that it is scripted", async () => {
    await using model = await openScriptedModel({ script: ["One.", "Two."] });
    const first = await ask(model);
    expect(first.headers.get("x-bursar-scripted")).toBe("true");
    expect(await first.json()).toMatchObject({
      object: "chat.completion",
      model: "scripted",
      system_fingerprint: "scripted",
      choices: [{ index: 0, message: { role: "assistant", content: "One." }, finish_reason: "stop" }],
      usage: { prompt_tokens: 11, completion_tokens: 1, total_tokens: 12 },
    });
    expect(await (await ask(model)).json()).toMatchObject({ choices: [{ message: { content: "Two." } }] });
    expect(model.count).toBe(2);
    expect(model.requests.map(({ number, text }) => [number, text])).toEqual([
      [1, "What is it?"],
      [2, "What is it?"],
    ]);
    const list = await fetch(`${model.url}/models`);
    expect(await list.json()).toMatchObject({
      scripted: true,
      data: [{ id: "scripted", owned_by: "bursar-scripted" }],
    });
  });

  test("fails when its script is over, and counts that too", async () => {
    await using model = await openScriptedModel({ script: ["One."] });
    await ask(model);
    const second = await ask(model);
    expect(second.status).toBe(500);
    expect(await second.json()).toMatchObject({
      error: { message: "the script has 1 answers, and this is request 2" },
    });
    expect(model.count).toBe(2);
  });

  test("asks a function, and says so when that fails", async () => {
    const script: Script = ({ text, number }) => {
      if (number === 2) throw new Error("no idea");
      return `You said: ${text}`;
    };
    await using model = await openScriptedModel({ script });
    expect(await (await ask(model)).json()).toMatchObject({
      choices: [{ message: { content: "You said: What is it?" } }],
    });
    const failed = await ask(model);
    expect([failed.status, await failed.text()]).toEqual([500, expect.stringContaining("the script failed: no idea")]);
  });

  test("streams, and tells its usage only to those who ask for it", async () => {
    const text = "A text that is long enough for several events.";
    await using model = await openScriptedModel({ script: () => text });
    const plain = (await events(await ask(model, { stream: true }))) as {
      choices: { delta: { content?: string } }[];
    }[];
    expect(plain.map(({ choices }) => choices[0]?.delta.content ?? "").join("")).toBe(text);
    expect(plain.length).toBeGreaterThan(3);
    expect(plain.at(-1)).toMatchObject({ choices: [{ finish_reason: "stop" }] });
    const asked = await events(await ask(model, { stream: true, stream_options: { include_usage: true } }));
    expect(asked).toHaveLength(plain.length + 1);
    expect(asked.at(-1)).toMatchObject({ choices: [], usage: { completion_tokens: 12 } });
  });

  test("wants tools to be used, streamed or not", async () => {
    const tool_calls = [{ name: "search", arguments: { query: "bolts" } }];
    await using model = await openScriptedModel({ script: () => ({ kind: "text", text: "", tool_calls }) });
    const wanted = { type: "function", function: { name: "search", arguments: '{"query":"bolts"}' } };
    expect(await (await ask(model)).json()).toMatchObject({
      choices: [{ finish_reason: "tool_calls", message: { tool_calls: [wanted] } }],
    });
    const streamed = JSON.stringify(await events(await ask(model, { stream: true })));
    expect(streamed).toContain('"tool_calls":[{"index":0,"id":"call_2_0"');
  });

  test("never answers with more than the request allows", async () => {
    await using model = await openScriptedModel({ script: () => "äöü and so on, for quite a while" });
    for (const limit of [{ max_tokens: 1 }, { max_completion_tokens: 1 }]) {
      expect(await (await ask(model, limit)).json()).toMatchObject({
        choices: [{ finish_reason: "length", message: { content: "äö" } }],
        usage: { completion_tokens: 1 },
      });
    }
  });

  test.each([
    [{ kind: "status", status: 429, retry_after_s: 7 }, 429, "rate_limit_exceeded"],
    [{ kind: "status", status: 500, message: "on fire" }, 500, "on fire"],
    [{ kind: "garbage" }, 200, '{"choices": [{"mess'],
    [{ kind: "garbage", body: "<html>" }, 200, "<html>"],
  ] as const)("fails as it is told: %j", async (answer, status, said) => {
    await using model = await openScriptedModel({ script: [answer] });
    const response = await ask(model);
    expect(response.status).toBe(status);
    expect(response.headers.get("retry-after")).toBe(status === 429 ? "7" : null);
    expect(await response.text()).toContain(said);
  });

  test("leaves its usage out when it is told to", async () => {
    await using model = await openScriptedModel({ script: () => ({ kind: "text", text: "Hm.", usage: null }) });
    expect(await (await ask(model)).json()).not.toHaveProperty("usage");
    const streamed = await events(await ask(model, { stream: true, stream_options: { include_usage: true } }));
    expect(JSON.stringify(streamed)).not.toContain("usage");
  });

  test("breaks off in the middle, streamed or not", async () => {
    await using model = await openScriptedModel({ script: () => ({ kind: "half", text: "half of this ".repeat(20) }) });
    for (const stream of [true, false]) {
      const response = await ask(model, { stream });
      expect(response.status).toBe(200);
      let seen = "";
      const reading = (async () => {
        for await (const piece of response.body as unknown as AsyncIterable<Uint8Array>) seen += Buffer.from(piece);
      })();
      await expect(reading).rejects.toThrow("terminated");
      expect(seen).toContain("half of this");
      expect(seen).not.toContain("[DONE]");
    }
  });

  test("hangs until the other side gives up, and is closed all the same", async () => {
    const model = await openScriptedModel({ script: [{ kind: "hang" }, { kind: "hang" }] });
    const impatient = new AbortController();
    const first = ask(model);
    const second = fetch(`${model.url}/chat/completions`, {
      method: "POST",
      body: JSON.stringify({ model: "scripted", messages: MESSAGES }),
      signal: impatient.signal,
    });
    first.catch(() => {});
    second.catch(() => {});
    while (model.count < 2) await new Promise((resolve) => setImmediate(resolve));
    impatient.abort();
    await expect(second).rejects.toThrow("aborted");
    await model[Symbol.asyncDispose]();
    await expect(first).rejects.toThrow("fetch failed");
  });

  test("is late by the clock it was given", async () => {
    const clock = new FakeClock();
    const script: Script = [{ kind: "text", text: "At last.", latency_ms: 60_000 }];
    await using model = await openScriptedModel({ script, clock, timer: clock });
    let answered = false;
    const asking = ask(model).finally(() => {
      answered = true;
    });
    while (model.count < 1) await new Promise((resolve) => setImmediate(resolve));
    clock.advance(59_999);
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(answered).toBe(false);
    clock.advance(1);
    expect((await asking).status).toBe(200);
  });

  test("wants the key it was given, and repeats a wrong one as providers do", async () => {
    await using model = await openScriptedModel({ script: () => "Yes.", apiKey: "right" });
    expect((await ask(model, {}, { authorization: "Bearer right" })).status).toBe(200);
    const wrong = await ask(model, {}, { authorization: "Bearer wrong" });
    expect([wrong.status, await wrong.text()]).toEqual([401, expect.stringContaining("provided: wrong")]);
    expect(model.count).toBe(1);
  });

  test.each([
    ["POST", "/v1/completions", "{}", 404, "there is no POST /v1/completions"],
    ["POST", "/v1/chat/completions", "{", 400, "no JSON"],
    ["POST", "/v1/chat/completions", "[]", 400, "no object"],
    ["POST", "/v1/chat/completions", '{"messages":[]}', 400, "model is undefined"],
    ["POST", "/v1/chat/completions", '{"model":"scripted","messages":[]}', 400, "messages"],
    ["POST", "/v1/chat/completions", '{"model":"scripted","messages":[{}]}', 400, "messages"],
    ["POST", "/v1/chat/completions", '{"model":"other","messages":[{"role":"user"}]}', 404, "does not exist"],
    ["POST", "/v1/chat/completions", `{"a":"${"x".repeat(9_000_000)}"}`, 413, "too large"],
    [
      "POST",
      "/v1/chat/completions",
      '{"model":"scripted","max_tokens":0,"messages":[{"role":"user"}]}',
      400,
      "max_tokens is 0",
    ],
    [
      "POST",
      "/v1/chat/completions",
      '{"model":"scripted","stream":1,"messages":[{"role":"user"}]}',
      400,
      "stream is 1",
    ],
  ])("%s %s with nonsense is refused and counts as nothing", async (method, path, body, status, said) => {
    await using model = await openScriptedModel({ script: () => "Yes." });
    const response = await fetch(new URL(path, model.url), { method, body });
    expect(response.status).toBe(status);
    expect(response.headers.get("x-bursar-scripted")).toBe("true");
    expect(await response.text()).toContain(said);
    expect(model.count).toBe(0);
  });
});

test.each([
  [{ script: 7 }, "script is 7"],
  [{ script: [{ kind: "txt" }] }, "kind is text, status, hang, garbage, half, embedding"],
  [{ script: [{ kind: "text", text: "x", usages: null }] }, "answer.usages is not known here; did you mean usage?"],
  [{ script: [{ kind: "text" }] }, "answer.text is undefined"],
  [{ script: [{ kind: "status", status: 200 }] }, "answer.status is 200"],
  [{ script: [{ kind: "text", text: "x", latency_ms: -1 }] }, "answer.latency_ms is -1"],
  [{ script: [], answers: [] }, "options.answers is not known here"],
])("a script that makes no sense is refused at once: %j", (options, message) => {
  expect(() => new ScriptedModel(options as never)).toThrow(message);
});

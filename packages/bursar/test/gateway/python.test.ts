import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { opened } from "./opened.js";
import { openRaw, readRaw } from "./raw.js";
import { until } from "./until.js";

const TRACES = new URL("traces/", import.meta.url);
const HELLO = { kind: "text", text: "Hello.", usage: { prompt_tokens: 50, completion_tokens: 20 } } as const;
const NAMES = readdirSync(TRACES).filter((name) => name.endsWith(".http"));
const COUNTING = NAMES.filter((name) => name.endsWith("-count.http"));
const ANSWERED = NAMES.filter((name) => !COUNTING.includes(name));

interface Trace {
  readonly request: string;
  readonly body: Readonly<Record<string, unknown>>;
  readonly stream: boolean;
}

/** A request as a Python client has written it, byte for byte, to another address and with another key. */
function traceOf(name: string, url: string, key: string): Trace {
  const text = readFileSync(new URL(name, TRACES), "utf8");
  const [head = "", body = ""] = text.split("\n\n");
  const filled = head.replace("{{host}}", new URL(url).host).replace("{{key}}", key);
  const parsed = JSON.parse(body) as Readonly<Record<string, unknown>>;
  return { request: `${filled.replaceAll("\n", "\r\n")}\r\n\r\n${body}`, body: parsed, stream: parsed.stream === true };
}

/** Whether the whole of an answer has come, as a client that keeps its connection sees it. */
function isWhole(heard: string): boolean {
  const { headers, body } = readRaw(heard);
  const length = /^content-length: (\d+)/im.exec(headers)?.[1];
  return length === undefined ? body.endsWith("0\r\n\r\n") : Buffer.byteLength(body) === Number(length);
}

test("there are traces of the official clients, in neighbouring versions", () => {
  const clients = new Set(NAMES.map((name) => /^[a-z]+-\d+/.exec(name)?.[0]));
  expect([...clients].sort()).toEqual(["anthropic-1", "openai-2", "openai-3"]);
});

describe.each(COUNTING)("%s", (name) => {
  test("is told how many tokens it has, and is not charged", async () => {
    await using at = await opened([], { steps: 1 });
    const { request } = traceOf(name, at.gateway.url, at.secret);
    using connection = await openRaw(at.gateway.url);
    connection.write(request);
    await until("the answer is whole", () => isWhole(connection.heard()));
    const { status, body } = readRaw(connection.heard());
    expect([status, JSON.parse(body)]).toMatchObject([200, { input_tokens: expect.any(Number) }]);
    expect([at.model.countingRequests.length, at.model.count]).toEqual([1, 0]);
    expect(await at.used()).toMatchObject({ steps: 0 });
  });
});

describe.each(ANSWERED)("%s", (name) => {
  test("is answered on a connection that is kept, and charged", async () => {
    await using at = await opened(() => HELLO, { cost_usd: 1 });
    const { request, body, stream } = traceOf(name, at.gateway.url, at.secret);
    using connection = await openRaw(at.gateway.url);
    connection.write(request);
    await until("the answer is whole", () => isWhole(connection.heard()));
    const answer = readRaw(connection.heard());
    expect(answer.status).toBe(200);
    expect(answer.headers).toMatch(/^x-bursar-budget: team\r?$/m);
    expect(answer.headers).toMatch(stream ? /^content-type: text\/event-stream/m : /^content-type: application\/json/m);
    expect(answer.headers).not.toMatch(/content-encoding/i);
    connection.write(request);
    await until("there is a second", () => readRaw(connection.heard()).answers === 2);
    await until("both are charged", async () => (await at.used()).steps === 2);
    const [sent] = at.model.requests;
    // What the client asked for is what the provider gets, but for what holds it to its budget.
    const { max_completion_tokens: _, stream_options: __, ...asked } = body;
    expect(sent?.body).toMatchObject(asked);
    expect(sent?.headers).toMatchObject({
      "x-stainless-lang": "python",
      "user-agent": expect.stringMatching(/\/Python \d/),
      "x-stainless-retry-count": name.endsWith("-again.http") ? "1" : "0",
    });
    expect(JSON.stringify(sent?.headers)).not.toContain(at.secret);
  });

  test("is refused in a way that it does not try again", async () => {
    await using at = await opened([], { llm_tokens: 1 }, { policies: { llm_tokens: "hard_stop" } });
    const { request } = traceOf(name, at.gateway.url, at.secret);
    using connection = await openRaw(at.gateway.url);
    connection.write(request);
    await until("the answer is whole", () => isWhole(connection.heard()));
    const { status, headers, body } = readRaw(connection.heard());
    expect([status, JSON.parse(body)]).toMatchObject([402, { error: { code: "budget_exceeded" } }]);
    expect(headers).toMatch(/^x-should-retry: false\r?$/m);
    expect(at.model.count).toBe(0);
  });
});

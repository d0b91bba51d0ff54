import { Agent, request } from "node:http";
import { gzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import type { Served } from "../../src/gateway/gateway.js";
import { MemoryStore } from "../../src/stores/memory.js";
import { FakeClock } from "../../src/testing/clock/fake-clock.js";
import { opened } from "./opened.js";
import { openRaw, readRaw, written } from "./raw.js";
import { openServer } from "./server.js";
import { until } from "./until.js";

const HELLO = { kind: "text", text: "Hello.", usage: { prompt_tokens: 100, completion_tokens: 20 } } as const;
const ASK = { model: "gpt-4o", messages: [{ role: "user" as const, content: "Hi" }], max_tokens: 5000 };
const LONG = { text: "word ".repeat(100), piece_ms: 2, usage: HELLO.usage } as const;

function ask(url: string, key: string, body: object, agent: Agent): Promise<{ status: number; text: string }> {
  return new Promise((resolve, reject) => {
    const headers = { authorization: `Bearer ${key}` };
    const asked = request(`${url}/v1/chat/completions`, { method: "POST", headers, agent }, async (answer) => {
      let text = "";
      for await (const piece of answer) text += piece;
      resolve({ status: answer.statusCode ?? 0, text });
    });
    asked.on("error", reject);
    asked.end(JSON.stringify(body));
  });
}

interface Link {
  readonly action_type: string;
  readonly data: Readonly<Record<string, unknown>>;
}

describe("a gateway that closes", () => {
  test("lets those under way come to their end, and does not wait for those who only keep a connection", async () => {
    await using at = await opened([HELLO, { kind: "text", ...LONG }], { cost_usd: 1 });
    const agent = new Agent({ keepAlive: true });
    await ask(at.gateway.url, at.secret, ASK, agent);
    using _idle = await openRaw(at.gateway.url);
    const streaming = ask(at.gateway.url, at.secret, { ...ASK, stream: true }, agent);
    await until("the provider is asked", () => at.model.count === 2);
    // It waits for nobody but the stream: with so much patience the test would never end.
    await at.gateway.close({ within_ms: 2 ** 30 });
    expect((await streaming).text).toMatch(/data: \[DONE\]\n\n$/);
    expect(await at.used()).toMatchObject({ steps: 2, llm_tokens: 240 });
    expect(await at.held()).toEqual({});
    agent.destroy();
  });

  test("hangs up on those who are not done in time, and settles their calls first", async () => {
    const served: Served[] = [];
    const onServed = (each: Served) => void served.push(each);
    await using at = await opened([{ kind: "half", ...LONG, ending: "hang" }], { cost_usd: 1 }, { onServed });
    const response = await at.post("/v1/chat/completions", { ...ASK, stream: true });
    const text = response.text();
    await Promise.all([
      expect(text).resolves.toContain('"code":"gateway_stopped"'),
      at.gateway.close({ within_ms: 50 }),
    ]);
    expect(await at.held()).toEqual({});
    expect(await at.used()).toMatchObject({ steps: 1 });
    expect(served).toMatchObject([{ status: 200, stream: true, failed: "gateway_stopped", estimated: true }]);
    const links: Link[] = [];
    for await (const line of at.store.chain("team")) links.push(JSON.parse(line) as Link);
    const call = links.find(({ action_type }) => action_type === "StepStarted");
    expect(links.at(-1)).toMatchObject({
      action_type: "CallBrokenOff",
      data: { budget: "team", why: "gateway_stopped" },
    });
    expect(call).toBeDefined();
    await until("the provider is left", () => at.model.aborted === 1);
  });

  test("takes no more requests on connections that it has", async () => {
    await using at = await opened([{ kind: "text", ...LONG }], { cost_usd: 1 });
    using connection = await openRaw(at.gateway.url);
    const body = JSON.stringify({ ...ASK, stream: true });
    const headers = ["Host: a", `Authorization: Bearer ${at.secret}`, `Content-Length: ${body.length}`];
    const whole = written("POST /v1/chat/completions", headers, body);
    connection.write(whole);
    await until("the provider is asked", () => at.model.count === 1);
    const closing = at.gateway.close({ within_ms: 2 ** 30 });
    connection.write(whole);
    const { body: rest } = readRaw(await connection.closed);
    if (rest.includes("HTTP/1.1")) expect(rest).toMatch(/HTTP\/1\.1 503 /);
    await closing;
    expect(at.model.count).toBe(1);
  });

  test("may be closed twice", async () => {
    await using at = await opened([], { cost_usd: 1 });
    await Promise.all([at.gateway.close(), at.gateway.close()]);
  });
});

describe("time", () => {
  test("that runs out in a stream is told in its own words, also to a client that is slow to read", async () => {
    const clock = new FakeClock();
    const store = new MemoryStore({ clock });
    await using at = await opened(
      [{ kind: "half", ...LONG, ending: "hang" }],
      { wall_clock_ms: 60_000 },
      { store, timer: clock },
    );
    const response = await at.post("/v1/chat/completions", { ...ASK, stream: true });
    await until("the stream has begun", () => response.ok);
    clock.advance(60_000);
    expect(await response.text()).toMatch(/budget_exceeded/);
    expect(await at.held()).toEqual({});
  });
});

describe("a provider that compresses though nobody has asked for it", () => {
  const usage = { prompt_tokens: 100, completion_tokens: 20, total_tokens: 120 };
  const events = `data: {"choices":[{"index":0,"delta":{"content":"Hello."}}]}\n\ndata: {"choices":[],"usage":${JSON.stringify(usage)}}\n\ndata: [DONE]\n\n`;
  const whole = JSON.stringify({ choices: [{ index: 0, message: { role: "assistant", content: "Hello." } }], usage });
  test.each([
    ["text/event-stream", events],
    ["application/json", whole],
  ])("is read all the same: %s", async (type, text) => {
    await using provider = await openServer((_incoming, response) => {
      response.writeHead(200, { "content-type": type, "content-encoding": "gzip" });
      response.end(gzipSync(text));
    });
    const upstreams = [{ name: "zipped", url: provider.url }];
    await using at = await opened([], { cost_usd: 1 }, { upstreams });
    const answer = await at.post("/v1/chat/completions", { ...ASK, stream: type !== "application/json" });
    expect(await answer.text()).toContain("Hello.");
    expect(await at.used()).toMatchObject({ llm_input_tokens: 100, llm_output_tokens: 20 });
  });

  test("in an unknown way has failed, and the reservation is charged", async () => {
    await using provider = await openServer((_incoming, response) => {
      response.writeHead(200, { "content-type": "text/event-stream", "content-encoding": "sz" });
      response.end("?");
    });
    await using at = await opened([], { cost_usd: 1 }, { upstreams: [{ name: "odd", url: provider.url }] });
    const answer = await at.post("/v1/chat/completions", { ...ASK, stream: true });
    expect(answer.status).toBe(502);
    expect(await at.used()).toMatchObject({ llm_output_tokens: 5000 });
  });
});

describe("whoever runs it", () => {
  test("is told of every request, and cannot make one fail", async () => {
    const served: Served[] = [];
    const onServed = (each: Served) => {
      served.push(each);
      throw new Error("the screen is full");
    };
    const onError = () => {
      throw new Error("so is the log");
    };
    await using at = await opened(
      [HELLO, { kind: "status", status: 500 }],
      { llm_tokens: 12_000 },
      { onServed, onError },
    );
    await at.post("/v1/chat/completions", ASK);
    await at.post("/v1/chat/completions", ASK);
    await at.post("/v1/chat/completions", { ...ASK, messages: [{ role: "user", content: "x ".repeat(9000) }] });
    await at.post("/v1/files", {});
    await at.post("/v1/chat/completions", ASK, "sk-wrong");
    await until("all are told", () => served.length === 5);
    const about = { path: "/v1/chat/completions", key_id: at.key.id, label: "test", budget: "team" };
    expect(served).toMatchObject([
      { ...about, status: 200, model: "gpt-4o", upstream: "provider", charged: { llm_tokens: 120 }, estimated: false },
      { ...about, status: 500, estimated: true },
      { ...about, status: 402, refused: "approval_required", charged: {} },
      { path: "/v1/files", status: 404, model: null },
      { status: 401, key_id: null, budget: null },
    ]);
    expect(JSON.stringify(served)).not.toContain(at.secret);
  });
});

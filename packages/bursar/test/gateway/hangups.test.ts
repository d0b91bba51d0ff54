import { createServer } from "node:http";
import { type AddressInfo, createServer as createTcpServer, type Socket } from "node:net";
import OpenAI from "openai";
import { describe, expect, test } from "vitest";
import { opened } from "./opened.js";
import { until } from "./until.js";

const HELLO = { kind: "text", text: "Hello.", usage: { prompt_tokens: 100, completion_tokens: 20 } } as const;
const USER = [{ role: "user" as const, content: "Hi" }];
const ASK = { model: "gpt-4o", messages: USER, max_tokens: 5000 };
const LONG = { text: "wörd ".repeat(400), piece_ms: 1 } as const;

/** Reads a stream to its first piece. */
async function firstPiece(response: Response): Promise<ReadableStreamDefaultReader<Uint8Array>> {
  const reader = response.body?.getReader();
  if (reader === undefined) throw new Error("there is no body");
  await reader.read();
  return reader;
}

/** Passes on whole answers in one piece, and leaves the connection open behind them. */
async function openRelay() {
  const server = createServer(async (request, response) => {
    const pieces: Buffer[] = [];
    for await (const piece of request) pieces.push(piece as Buffer);
    const headers = { "content-type": "application/json" };
    const init = { method: "POST", headers, body: Buffer.concat(pieces) };
    const answer = await fetch(`${relay.to}${request.url}`, init);
    response.writeHead(answer.status, { "content-type": "text/event-stream" });
    response.write(await answer.text());
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const relay = {
    to: "",
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return relay;
}

describe("a client that hangs up", () => {
  test("before the answer has begun: the provider is hung up on, and the reservation is charged", async () => {
    await using at = await opened([{ kind: "hang" }], { cost_usd: 1 });
    const leaving = new AbortController();
    const asked = at.post("/v1/chat/completions", ASK, at.secret, { signal: leaving.signal });
    await until("the provider is asked", () => at.model.count === 1);
    leaving.abort();
    await expect(asked).rejects.toThrow();
    await until("the provider is left", () => at.model.aborted === 1);
    await until("nothing is held", async () => Object.keys(await at.held()).length === 0);
    expect(await at.used()).toMatchObject({ steps: 1, llm_output_tokens: 5000 });
  });

  test("before anything was sent: nothing is charged but the step", async () => {
    const connected = new Set<Socket>();
    // It takes connections, and says nothing on them, so that no request can be sent in secret.
    const silent = createTcpServer((socket) => void connected.add(socket.on("error", () => {})));
    await new Promise<void>((resolve) => silent.listen(0, "127.0.0.1", resolve));
    const url = `https://127.0.0.1:${(silent.address() as AddressInfo).port}/v1`;
    await using at = await opened([], { cost_usd: 1 }, { upstreams: [{ name: "silent", url, key: "k" }] });
    const leaving = new AbortController();
    const asked = at.post("/v1/chat/completions", ASK, at.secret, { signal: leaving.signal });
    await until("the provider is connected to", () => connected.size === 1);
    leaving.abort();
    await expect(asked).rejects.toThrow();
    await until("it is settled", async () => (await at.used()).steps === 1);
    await until("nothing is held", async () => Object.keys(await at.held()).length === 0);
    const { wall_clock_ms: _, ...used } = await at.used();
    expect(used).toEqual({ steps: 1, cost_usd: 0 });
    for (const socket of connected) socket.destroy();
    silent.close();
  });

  test("in the middle of a stream: it is charged by what was seen", async () => {
    await using at = await opened([{ kind: "half", ...LONG, ending: "hang" }], { cost_usd: 1 });
    const leaving = new AbortController();
    const response = await at.post("/v1/chat/completions", { ...ASK, stream: true }, at.secret, {
      signal: leaving.signal,
    });
    await firstPiece(response);
    leaving.abort();
    await until("the provider is left", () => at.model.aborted === 1);
    await until("nothing is held", async () => Object.keys(await at.held()).length === 0);
    const { llm_output_tokens: output } = await at.used();
    expect(output).toBeGreaterThan(0);
    expect(output).toBeLessThan(5000);
  });

  test("at the very end of a stream: it is charged what the provider has reported", async () => {
    await using relay = await openRelay();
    const usage = { prompt_tokens: 30, completion_tokens: 7 };
    const upstreams = [{ name: "relay", url: `${relay.url}/v1`, key: "k" }];
    await using at = await opened([{ kind: "text", text: "Hello.", usage }], { cost_usd: 1 }, { upstreams });
    relay.to = at.model.origin;
    const leaving = new AbortController();
    const response = await at.post("/v1/chat/completions", { ...ASK, stream: true }, at.secret, {
      signal: leaving.signal,
    });
    // With the first piece all of it has come.
    await firstPiece(response);
    leaving.abort();
    await until("nothing is held", async () => Object.keys(await at.held()).length === 0);
    expect(await at.used()).toMatchObject({ steps: 1, llm_input_tokens: 30, llm_output_tokens: 7 });
  });

  test("while it waits for what others hold: nothing is sent for it", async () => {
    await using at = await opened([{ kind: "hang" }, HELLO], { steps: 1 });
    const first = new AbortController();
    const second = new AbortController();
    const one = at.post("/v1/chat/completions", ASK, at.secret, { signal: first.signal });
    await until("the provider is asked", () => at.model.count === 1);
    const two = at.post("/v1/chat/completions", ASK, at.secret, { signal: second.signal });
    await until("the second has come", async () => (await at.connections()) === 2);
    second.abort();
    await expect(two).rejects.toThrow();
    first.abort();
    await expect(one).rejects.toThrow();
    await until("nothing is held", async () => Object.keys(await at.held()).length === 0);
    expect(at.model.count).toBe(1);
  });
});

describe("a provider that fails", () => {
  test("by never answering: it is given up after answer_ms, and the reservation is charged", async () => {
    await using at = await opened([{ kind: "hang" }], { cost_usd: 1 }, { answer_ms: 100 });
    const response = await at.post("/v1/chat/completions", ASK);
    expect([response.status, await response.json()]).toMatchObject([504, { error: { code: "upstream_timeout" } }]);
    expect(await at.used()).toMatchObject({ steps: 1, llm_output_tokens: 5000 });
    expect(await at.held()).toEqual({});
    await until("the provider is left", () => at.model.aborted === 1);
  });

  test("by falling silent in a stream: it is given up after silence_ms, and charged by what was seen", async () => {
    await using at = await opened([{ kind: "half", ...LONG, ending: "hang" }], { cost_usd: 1 }, { silence_ms: 150 });
    const response = await at.post("/v1/chat/completions", { ...ASK, stream: true });
    await expect(response.text()).rejects.toThrow();
    await until("nothing is held", async () => Object.keys(await at.held()).length === 0);
    const { llm_output_tokens: output } = await at.used();
    expect(output).toBeGreaterThan(256);
    expect(output).toBeLessThan(5000);
  });

  test.each(["half", "character", undefined] as const)(
    "by cutting a stream (%s of an event): the client sees that it is not whole",
    async (rest) => {
      const half = { kind: "half", ...LONG, ending: "cut", ...(rest && { rest }) } as const;
      await using at = await opened([half], { cost_usd: 1 });
      const client = new OpenAI({ baseURL: `${at.gateway.url}/v1`, apiKey: at.secret, maxRetries: 0 });
      const stream = await client.chat.completions.create({ ...ASK, stream: true });
      const read = async () => {
        for await (const _ of stream);
      };
      await expect(read()).rejects.toThrow();
      await until("nothing is held", async () => Object.keys(await at.held()).length === 0);
      expect((await at.used()).llm_output_tokens).toBeLessThan(5000);
    },
  );

  test("by cutting an answer in one piece: 502, and the reservation is charged", async () => {
    await using at = await opened([{ kind: "half", text: LONG.text, ending: "cut" }], { cost_usd: 1 });
    const response = await at.post("/v1/chat/completions", ASK);
    expect([response.status, await response.json()]).toMatchObject([502, { error: { code: "upstream_failed" } }]);
    expect(await at.used()).toMatchObject({ steps: 1, llm_output_tokens: 5000 });
  });

  test("by not being there: 502, and nothing is charged but the attempt", async () => {
    const upstreams = [{ name: "nobody", url: "http://127.0.0.1:1/v1" }];
    await using at = await opened([], { cost_usd: 1 }, { upstreams });
    const response = await at.post("/v1/chat/completions", ASK);
    expect([response.status, await response.json()]).toMatchObject([
      502,
      { error: { code: "upstream_failed", message: expect.stringContaining("nobody") } },
    ]);
    expect(await at.used()).toMatchObject({ steps: 1 });
    expect((await at.used()).cost_usd ?? 0).toBe(0);
  });

  test.each([
    [429, 0],
    [503, 0],
    [400, 0],
    [529, 0],
    [500, 5000],
  ])("with %d, which is passed on as it is and charged %d tokens of output", async (status, output) => {
    const headers = { "retry-after": "7", "x-bursar-used-cost-usd": "0", "x-own": "yes" };
    await using at = await opened([{ kind: "status", status, message: "no room", headers }], { cost_usd: 1 });
    const response = await at.post("/v1/chat/completions", ASK);
    expect(response.status).toBe(status);
    expect(await response.json()).toMatchObject({ error: { message: "no room" } });
    expect(response.headers.get("retry-after")).toBe("7");
    expect(response.headers.get("x-own")).toBe("yes");
    const used = await at.used();
    expect(used.steps).toBe(1);
    expect(used.llm_output_tokens ?? 0).toBe(output);
    if (output > 0) expect(Number(response.headers.get("x-bursar-used-cost-usd"))).toBeGreaterThan(0);
  });

  test.each([
    ["application/json", 200],
    ["text/html", 200],
    ["text/event-stream", 200],
  ])("with garbage as %s, which is charged in full", async (content_type, status) => {
    const body = "<html>what is \u0000 this";
    await using at = await opened([{ kind: "garbage", body, content_type, status }], { cost_usd: 1 });
    const response = await at.post("/v1/chat/completions", { ...ASK, max_tokens: 100 });
    expect(await response.text()).toBe(body);
    expect((await at.used()).llm_output_tokens).toBe(100);
  });

  test("again and again, while an SDK tries again: each attempt is a step, and one is paid for", async () => {
    const busy = { kind: "status", status: 429, headers: { "retry-after-ms": "1" } } as const;
    await using at = await opened([busy, busy, HELLO, busy, busy, busy], { cost_usd: 1, steps: 5 });
    const client = new OpenAI({ baseURL: `${at.gateway.url}/v1`, apiKey: at.secret, maxRetries: 2 });
    await client.chat.completions.create(ASK);
    expect(await at.used()).toMatchObject({ steps: 3, llm_input_tokens: 100, llm_output_tokens: 20 });
    const error = await client.chat.completions.create(ASK).catch((each: unknown) => each);
    // The third attempt does not fit, and the refusal is not tried again.
    expect(error).toMatchObject({ status: 402 });
    expect(at.model.count).toBe(5);
  });
});

import { once } from "node:events";
import { type IncomingMessage, request } from "node:http";
import { pipeline, Readable } from "node:stream";
import { describe, expect, test } from "vitest";
import { MemoryStore } from "../../src/stores/memory.js";
import { FakeClock } from "../../src/testing/clock/fake-clock.js";
import { opened } from "./opened.js";
import { askRaw, openRaw, readRaw, written } from "./raw.js";
import { openServer } from "./server.js";
import { until } from "./until.js";

const USER = [{ role: "user" as const, content: "Hi" }];
const ASK = { model: "gpt-4o", messages: USER, max_tokens: 5000 };
const PATH = "POST /v1/chat/completions";

describe("what is too much", () => {
  test("a body that is too long is refused, whether it says so beforehand or not, and nothing is sent", async () => {
    await using at = await opened([], { cost_usd: 1 }, { body_bytes: 2000 });
    const long = { ...ASK, messages: [{ role: "user", content: "x".repeat(3000) }] };
    const said = await at.post("/v1/chat/completions", long);
    expect([said.status, await said.json()]).toMatchObject([413, { error: { code: "too_long" } }]);
    const chunk = "x".repeat(1500);
    const chunked = `5dc\r\n${chunk}\r\n5dc\r\n${chunk}\r\n0\r\n\r\n`;
    const headers = ["Host: a", `Authorization: Bearer ${at.secret}`, "Transfer-Encoding: chunked"];
    const unsaid = await askRaw(at.gateway.url, written(PATH, headers, chunked));
    expect(unsaid).toMatchObject({ status: 413, headers: expect.stringMatching(/connection: close/i) });
    expect(at.model.count).toBe(0);
    expect((await at.used()).steps ?? 0).toBe(0);
  });

  test("a body that is announced to be far too long is refused before it is read", async () => {
    await using at = await opened([], { cost_usd: 1 }, { body_bytes: 2000 });
    const headers = ["Host: a", `X-Api-Key: ${at.secret}`, "Content-Length: 99999999999"];
    const answer = await askRaw(at.gateway.url, written(PATH, headers, "{"));
    expect(answer.status).toBe(413);
  });

  test("a body that never ends is cut off", async () => {
    await using at = await opened([], { cost_usd: 1 }, { body_bytes: 2000 });
    using connection = await openRaw(at.gateway.url);
    const headers = ["Host: a", `Authorization: Bearer ${at.secret}`, "Transfer-Encoding: chunked"];
    connection.write(written(PATH, headers));
    const more = () => connection.write(`400\r\n${"x".repeat(1024)}\r\n`);
    const pouring = setInterval(more, 1);
    const text = await connection.closed.finally(() => clearInterval(pouring));
    expect(text === "" ? 413 : readRaw(text).status).toBe(413);
    expect(at.model.count).toBe(0);
  });

  test("headers that are too long are refused with 431", async () => {
    await using at = await opened([], { cost_usd: 1 }, { header_bytes: 4096 });
    const answer = await askRaw(at.gateway.url, written(PATH, ["Host: a", `X-Long: ${"x".repeat(5000)}`]));
    expect(answer.status).toBe(431);
  });

  test("a client that sends one byte at a time is hung up on after request_ms", async () => {
    await using at = await opened([], { cost_usd: 1 }, { request_ms: 200 });
    const body = JSON.stringify(ASK);
    const headers = ["Host: a", `Authorization: Bearer ${at.secret}`, `Content-Length: ${body.length}`];
    for (const whole of [written(PATH, headers, body), written(PATH, headers)]) {
      using connection = await openRaw(at.gateway.url);
      let sent = 0;
      const drip = setInterval(() => connection.write(whole.slice(sent, ++sent) || " "), 20);
      const text = await connection.closed.finally(() => clearInterval(drip));
      expect(text).toMatch(/^HTTP\/1\.1 408 /);
    }
    expect(at.model.count).toBe(0);
    expect((await at.used()).steps ?? 0).toBe(0);
  });
});

/** A provider that streams as fast as it is read, and counts what it could send. */
async function openPouring(events: number) {
  const event = { choices: [{ index: 0, delta: { content: "x".repeat(64 * 1024) } }] };
  const bytes = `data: ${JSON.stringify(event)}\n\n`;
  const state = { sent: 0, left: false, size: bytes.length * events };
  function* pouring() {
    for (let number = 0; number < events; number++) {
      state.sent += bytes.length;
      yield Buffer.from(bytes);
    }
  }
  const server = await openServer((_incoming, response) => {
    response.writeHead(200, { "content-type": "text/event-stream" });
    pipeline(Readable.from(pouring()), response, () => {
      state.left = true;
    });
  });
  return { ...server, state };
}

describe("a client that does not read", () => {
  test("holds no more than what fits into the buffers, is hung up on after silence_ms, and is charged", async () => {
    await using provider = await openPouring(4000);
    const upstreams = [{ name: "pouring", url: provider.url }];
    await using at = await opened([], { cost_usd: 10 }, { upstreams, silence_ms: 500 });
    using connection = await openRaw(at.gateway.url);
    connection.socket.pause();
    const body = JSON.stringify({ ...ASK, stream: true });
    const headers = ["Host: a", `Authorization: Bearer ${at.secret}`, `Content-Length: ${body.length}`];
    connection.write(written(PATH, headers, body));
    await until("it is hung up on", () => provider.state.left);
    // Buffers of four sockets are in between, and a few pieces on their way; the rest was never sent.
    expect(provider.state.sent).toBeLessThan(provider.state.size / 4);
    await until("nothing is held", async () => Object.keys(await at.held()).length === 0);
    expect((await at.used()).llm_output_tokens).toBe(5000);
  });

  test("and then does so gets everything", async () => {
    await using provider = await openPouring(200);
    const upstreams = [{ name: "pouring", url: provider.url }];
    await using at = await opened([], { cost_usd: 10 }, { upstreams });
    const { hostname, port } = new URL(at.gateway.url);
    const headers = { authorization: `Bearer ${at.secret}` };
    const asked = request({ hostname, port, path: "/v1/chat/completions", method: "POST", headers });
    asked.end(JSON.stringify({ ...ASK, stream: true }));
    const [answer] = (await once(asked, "response")) as [IncomingMessage];
    await until("it has to wait", async () => {
      const before = provider.state.sent;
      await new Promise((resolve) => setTimeout(resolve, 50));
      return provider.state.sent === before;
    });
    let size = 0;
    for await (const piece of answer as AsyncIterable<Buffer>) size += piece.length;
    expect(size).toBe(provider.state.size);
  });
});

describe("a client that does not read while its time runs out", () => {
  test("finds what it was sent, and that its budget is exceeded, as the last word", async () => {
    const clock = new FakeClock();
    const store = new MemoryStore({ clock });
    await using provider = await openPouring(4000);
    const upstreams = [{ name: "pouring", url: provider.url }];
    await using at = await opened([], { wall_clock_ms: 60_000 }, { upstreams, store, timer: clock });
    using connection = await openRaw(at.gateway.url);
    connection.socket.pause();
    const body = JSON.stringify({ ...ASK, stream: true });
    const headers = ["Host: a", `Authorization: Bearer ${at.secret}`, `Content-Length: ${body.length}`];
    connection.write(written(PATH, headers, body));
    await until("it has to wait", async () => {
      const before = provider.state.sent;
      await new Promise((resolve) => setTimeout(resolve, 50));
      return before > 0 && provider.state.sent === before;
    });
    clock.advance(60_000);
    await until("the provider is left", () => provider.state.left);
    connection.socket.resume();
    await until("it is over", () => connection.heard().endsWith("0\r\n\r\n"));
    expect(connection.heard().slice(-1000)).toContain("budget_exceeded");
    expect(await at.held()).toEqual({});
  });
});

describe("many at once", () => {
  test("200 calls on one key never use more than its limit", async () => {
    const usage = { prompt_tokens: 20, completion_tokens: 30 };
    await using at = await opened(() => ({ kind: "text", text: "Hello.", usage, latency_ms: 2 }), { llm_tokens: 3000 });
    const ask = { ...ASK, max_tokens: 30 };
    const counts = await Promise.all(
      Array.from({ length: 200 }, async () => {
        const answer = await at.post("/v1/chat/completions", ask);
        const body = (await answer.json()) as { readonly usage: { readonly total_tokens: number } };
        if (answer.status !== 200) expect(answer.status).toBe(402);
        return answer.status === 200 ? body.usage.total_tokens : 0;
      }),
    );
    const passed = counts.filter((count) => count > 0).length;
    expect(at.model.count).toBe(passed);
    const { llm_tokens } = await at.used();
    expect(llm_tokens).toBe(counts.reduce((sum, count) => sum + count));
    expect(llm_tokens).toBeLessThanOrEqual(3000);
    expect(passed).toBeGreaterThan(50);
    expect(await at.held()).toEqual({});
  });
});

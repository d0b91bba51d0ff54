import { connect } from "node:net";
import { expect, test } from "vitest";
import type { Asked } from "../../../src/gateway/clients/asked.js";
import { opened } from "../opened.js";
import { openRaw, readRaw, written } from "../raw.js";
import { openServer } from "../server.js";
import { until } from "../until.js";
import { openClients } from "./stage.js";
const wait = (ms: number) => new Promise((r) => setTimeout(r, ms));
const HOST = "Host: a";
const count = (c: unknown) => (c as { connected: Set<unknown> }).connected.size;

test("slowloris: CRLF dribble, byte dribble, chunk dribble, trailer dribble all end", async () => {
  await using at = await openClients(undefined, { request_ms: 400 });
  const starts = ["", "GET / HTTP/1.1\r\nX: ", "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1000\r\n\r\n", "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n", "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nX: "];
  const drips = ["\r\n", "a", "a", "1\r\nx\r\n", "a"];
  const lives = await Promise.all(starts.map(async (start, i) => {
    using c = await openRaw(at.url);
    c.write(start);
    const began = Date.now();
    let over = false;
    void c.closed.then(() => (over = true));
    while (!over && Date.now() - began < 5000) { if (!c.socket.destroyed && c.socket.writable) c.write(drips[i] as string); await wait(30); }
    return Date.now() - began;
  }));
  console.log(lives);
  for (const l of lives) expect(l).toBeLessThan(4000);
});
test("a client that does not read a stream: bounded, hung up on after silence_ms, settled", async () => {
  let written_ = 0;
  await using provider = await openServer((_i, response) => {
    response.writeHead(200, { "content-type": "text/event-stream" });
    const go = () => { while (written_ < 60_000_000) { written_ += 10_000; if (!response.write(`data: {"choices":[{"index":0,"delta":{"content":"${"x".repeat(9_900)}"}}]}\n\n`)) return void response.once("drain", go); } response.end("data: [DONE]\n\n"); };
    go();
  });
  await using at = await opened([], { cost_usd: 1000 }, { upstreams: [{ name: "p", url: provider.url }], silence_ms: 500 });
  const s = connect(Number(new URL(at.gateway.url).port), "127.0.0.1");
  s.on("error", () => {});
  const body = JSON.stringify({ model: "gpt-4o", stream: true, max_tokens: 16_000, messages: [{ role: "user", content: "x" }] });
  s.write(written("POST /v1/chat/completions", [HOST, `Authorization: Bearer ${at.secret}`, `Content-Length: ${body.length}`], body));
  s.pause();
  await wait(300);
  console.log("provider wrote", written_);
  await until("gone", async () => (await at.connections()) === 0);
  await until("nothing held", async () => Object.keys(await at.held()).length === 0);
  s.destroy();
});
test("keys that are looked up slowly: client leaves, or sends body meanwhile", async () => {
  const kept: Asked[] = [];
  await using at = await openClients(async (a) => { kept.push(a); await wait(200); const b = await a.body(1_000_000); a.reply.answer(200, {}, Buffer.from(String(b?.length))); });
  for (const size of [10, 100_000, 500_000]) {
    using c = await openRaw(at.url);
    c.write(written("POST /", [HOST, `Content-Length: ${size}`, "Connection: close"], "x".repeat(size)));
    expect(readRaw(await c.closed).body).toBe(String(size));
    using d = await openRaw(at.url);
    d.write(written("POST /", [HOST, `Content-Length: ${size}`, "Connection: close"], "x".repeat(size - 1)));
    await wait(50);
    d.socket.destroy();
  }
  await until("all gone", () => count(at.clients) === 0);
  await until("failed", () => at.failed.length === 3);
  expect(at.failed).toMatchObject([{ name: "ClientGone" }, { name: "ClientGone" }, { name: "ClientGone" }]);
});
test("end in the same packet as a request", async () => {
  await using at = await openClients(({ reply }) => reply.answer(200, {}, Buffer.from("x")));
  const s = connect(Number(new URL(at.url).port), "127.0.0.1");
  let heard = "";
  s.on("data", (p) => (heard += p));
  s.end(written("GET /", [HOST]).repeat(3));
  await new Promise((r) => s.on("close", r));
  console.log("answers to three and FIN:", heard.match(/200 OK/g)?.length);
});

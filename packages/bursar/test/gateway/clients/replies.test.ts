import { Agent, request } from "node:http";
import { connect } from "node:net";
import { describe, expect, test } from "vitest";
import type { ClientRequest as Asked } from "../../../src/gateway/client-request.js";
import { openRaw, readRaw, written } from "../raw.js";
import { until } from "../until.js";
import { openClients, tell } from "./stage.js";

const HOST = "Host: a";
const CLOSE = "Connection: close";

/** Keeps requests, and answers none. */
function keeping() {
  const asked: Asked[] = [];
  return { asked, keep: (each: Asked) => void asked.push(each) };
}

/** Answers in pieces. */
function stream({ reply }: Asked): void {
  reply.begin(200, { "content-type": "text/event-stream" });
  reply.write(Buffer.from("data: 1\n\n"));
  reply.write(Buffer.alloc(0));
  reply.write(Buffer.from("x".repeat(20_000)));
  reply.end(Buffer.from("data: ö\n\n"));
}
const STREAMED = `data: 1\n\n${"x".repeat(20_000)}data: ö\n\n`;

describe("an answer", () => {
  test("says what comes after it", async () => {
    await using at = await openClients();
    const kept = written("GET /", [HOST]);
    const answer = await tell(at.url, [`${kept}${written("GET /", [HOST, CLOSE])}`]);
    const heads = answer.split("HTTP/1.1 200 OK\r\n").slice(1);
    expect(heads).toHaveLength(2);
    expect(heads[0]).toMatch(/^content-type: application\/json\r\ncontent-length: \d+\r\ndate: [^\r]+ GMT\r\n/i);
    expect(heads[0]).toMatch(/connection: keep-alive\r\nkeep-alive: timeout=65\r\n/i);
    expect(heads[1]).toMatch(/connection: close\r\n\r\n/i);
  });

  test.each([100, 8192, 8193, 5_000_000])("of %d bytes arrives as it was", async (size) => {
    const bytes = Buffer.from(Array.from({ length: size }, (_, at) => (at * 7) & 0xff));
    await using at = await openClients(({ reply }) => reply.answer(200, {}, bytes));
    const answer = await fetch(at.url);
    expect(answer.headers.get("content-length")).toBe(String(size));
    expect(Buffer.from(await answer.arrayBuffer()).equals(bytes)).toBe(true);
  });

  test("in pieces goes in chunks, and to HTTP/1.0 until the connection is closed", async () => {
    await using at = await openClients(stream);
    expect(await (await fetch(at.url)).text()).toBe(STREAMED);
    const old = readRaw(await tell(at.url, ["GET / HTTP/1.0\r\n\r\n"]));
    expect(old.body).toBe(STREAMED);
    expect(old.headers).not.toMatch(/transfer-encoding|content-length/);
    expect(old.headers).toMatch(/connection: close/i);
  });

  test("to HEAD has no body, whatever it is", async () => {
    for (const answer of [stream, ({ reply }: Asked) => reply.answer(200, {}, Buffer.from("hello"))]) {
      await using at = await openClients(answer);
      expect(readRaw(await tell(at.url, [written("HEAD /", [HOST, CLOSE])]))).toMatchObject({ status: 200, body: "" });
    }
  });

  test.each([204, 304])("with the status %d has none either", async (status) => {
    await using at = await openClients(({ reply }) => reply.answer(status, {}, Buffer.from("hello")));
    const { body, headers } = readRaw(await tell(at.url, [written("GET /", [HOST, CLOSE])]));
    expect(body).toBe("");
    expect(headers).not.toMatch(/content-length/);
  });

  test("holds no lines but its own", async () => {
    await using at = await openClients(({ reply }) => reply.answer(200, { "x-a": "b\r\nx-c: d" }, Buffer.from("")));
    using connection = await openRaw(at.url);
    connection.write(written("GET /", [HOST]));
    await until("it is refused", () => at.failed.length === 1);
    expect(connection.heard()).toBe("");
  });

  test("does not say twice where it ends", async () => {
    const headers = { "content-length": 7, "transfer-encoding": "chunked", connection: "x", "keep-alive": "y" };
    await using at = await openClients(({ reply }) => reply.answer(200, headers, Buffer.from("abc")));
    const { headers: head, body } = readRaw(await tell(at.url, [written("GET /", [HOST, CLOSE])]));
    expect(body).toBe("abc");
    expect(head.toLowerCase().match(/content-length|transfer-encoding|connection|keep-alive/g)).toEqual([
      "content-length",
      "connection",
    ]);
  });

  test("that is broken off has had what was written before", async () => {
    await using at = await openClients(({ reply }) => {
      reply.begin(200, {});
      reply.write(Buffer.from("half"));
      reply.hangUp();
    });
    const text = await tell(at.url, [written("GET /", [HOST])]);
    expect(text).toMatch(/\r\n\r\n4\r\nhalf\r\n$/);
  });

  test("begins before its first bytes are there", async () => {
    const { asked, keep } = keeping();
    await using at = await openClients((each) => {
      keep(each);
      each.reply.begin(200, { "x-a": "b" });
      each.reply.flush();
    });
    const answer = await fetch(at.url);
    expect(answer.headers.get("x-a")).toBe("b");
    asked[0]?.reply.end(Buffer.from("later"));
    expect(await answer.text()).toBe("later");
  });
});

describe("a body", () => {
  test("is wanted only once somebody asks for it", async () => {
    await using at = await openClients(({ headers, reply }) => {
      reply.answer(headers.authorization === undefined ? 401 : 200, {}, Buffer.from(""));
    });
    using connection = await openRaw(at.url);
    connection.write(written("POST /", [HOST, "Expect: 100-continue", "Content-Length: 10"]));
    const text = await connection.closed;
    expect(readRaw(text)).toMatchObject({
      status: 401,
      answers: 1,
      headers: expect.stringContaining("connection: close"),
    });
  });

  test("that is not read does not keep whoever sent it from hearing why", async () => {
    await using at = await openClients(({ reply }) => reply.answer(401, {}, Buffer.from("no key")));
    const size = 4_000_000;
    const answer = await new Promise<number>((resolve, reject) => {
      const asking = request(at.url, { method: "POST", headers: { "content-length": size } }, (each) => {
        each.resume();
        resolve(each.statusCode ?? 0);
      });
      asking.on("error", reject);
      asking.end(Buffer.alloc(size));
    });
    expect(answer).toBe(401);
  });

  test.each([10, 100_000, 500_000])("of %d bytes may be asked for long after it has come", async (size) => {
    const { asked, keep } = keeping();
    await using at = await openClients(keep);
    using connection = await openRaw(at.url);
    connection.write(written("POST /", [HOST, `Content-Length: ${size}`], "x".repeat(size)));
    await until("it is served", () => asked.length === 1);
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect((await asked[0]?.body(1_000_000))?.equals(Buffer.alloc(size, "x"))).toBe(true);
  });

  test("that nobody has asked for yet is held back", async () => {
    const { asked, keep } = keeping();
    await using at = await openClients(keep);
    const socket = connect(Number(new URL(at.url).port), "127.0.0.1");
    const size = 50 * 1024 * 1024;
    socket.write(written("POST /", [HOST, `Content-Length: ${size}`]));
    for (let sent = 0; sent < size; sent += 1024 * 1024) socket.write(Buffer.alloc(1024 * 1024));
    // What fits into the buffers of the system goes, and no more.
    let before = -1;
    await until("it comes to rest", async () => {
      const isSame = socket.writableLength === before;
      before = socket.writableLength;
      await new Promise((resolve) => setTimeout(resolve, 50));
      return isSame && asked.length === 1;
    });
    expect(before).toBeGreaterThan(size / 2);
    const body = (await asked[0]?.body(64 * 1024 * 1024)) as Buffer;
    expect(body.length).toBe(size);
    socket.destroy();
  });
});

describe("a client", () => {
  test("that sends requests ahead is answered each of them, in their order", async () => {
    await using at = await openClients(({ url, reply }) => reply.answer(200, {}, Buffer.from(`<${url}>`)));
    using connection = await openRaw(at.url);
    const paths = Array.from({ length: 900 }, (_, place) => `/${place}`);
    connection.write(paths.map((path) => written(`GET ${path}`, [HOST])).join(""));
    await until("all are answered", () => connection.heard().endsWith("</899>"));
    expect(connection.heard().match(/<[^>]+>/g)).toEqual(paths.map((path) => `<${path}>`));
  });

  test("that sends more than 1,000 requests ahead is disconnected", async () => {
    await using at = await openClients(() => {});
    using connection = await openRaw(at.url);
    connection.write(written("GET /", [HOST]).repeat(1500));
    expect(await connection.closed).toBe("");
  });

  test("that hangs up is noticed while its answer is made", async () => {
    const { asked, keep } = keeping();
    await using at = await openClients(keep);
    using connection = await openRaw(at.url);
    connection.write(written("GET /", [HOST]));
    await until("it is served", () => asked.length === 1);
    const { leaving, reply } = asked[0] as Asked;
    expect(leaving.aborted).toBe(false);
    connection.socket.destroy();
    await until("it has left", () => leaving.aborted);
    expect(reply.isGone).toBe(true);
    reply.answer(200, {}, Buffer.from("to nobody"));
  });

  test("that asks again and again without reading is not answered without end", async () => {
    let served = 0;
    await using at = await openClients(({ reply }) => {
      served++;
      reply.answer(200, {}, Buffer.alloc(1024 * 1024));
    });
    using connection = await openRaw(at.url);
    connection.socket.pause();
    let before = -1;
    await until("it comes to rest", async () => {
      connection.write(written("GET /", [HOST]).repeat(20));
      const isSame = served === before;
      before = served;
      await new Promise((resolve) => setTimeout(resolve, 50));
      return isSame && served > 0;
    });
    expect(served).toBeLessThan(50);
  });

  test("that reads slowly is told when to go on", async () => {
    let drained = 0;
    const pieces = 300;
    await using at = await openClients(async ({ reply }) => {
      reply.begin(200, {});
      for (let piece = 0; piece < pieces; piece++) {
        if (reply.write(Buffer.alloc(100_000, piece))) continue;
        drained++;
        await new Promise((resolve) => reply.flow.once("drain", resolve));
      }
      reply.end();
    });
    const answer = await fetch(at.url);
    await new Promise((resolve) => setTimeout(resolve, 50));
    const body = Buffer.from(await answer.arrayBuffer());
    expect(body.length).toBe(pieces * 100_000);
    expect(body.at(-1)).toBe((pieces - 1) & 0xff);
    expect(drained).toBeGreaterThan(0);
  });

  test("uses one connection for many requests", async () => {
    await using at = await openClients();
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    const sockets = new Set<unknown>();
    for (let each = 0; each < 20; each++) {
      await new Promise<void>((resolve, reject) => {
        const asking = request(at.url, { agent, method: "POST" }, (answer) => answer.resume().on("end", resolve));
        asking.on("socket", (socket) => sockets.add(socket));
        asking.on("error", reject);
        asking.end("{}");
      });
    }
    expect(sockets.size).toBe(1);
    agent.destroy();
  });
});

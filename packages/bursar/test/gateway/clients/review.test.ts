import { EventEmitter } from "node:events";
import { readFileSync } from "node:fs";
import { connect } from "node:net";
import { connect as connectSecure } from "node:tls";
import { describe, expect, test } from "vitest";
import type { Asked } from "../../../src/gateway/clients/asked.js";
import { openRaw, readRaw, written } from "../raw.js";
import { until } from "../until.js";
import { openClients, readIn, readsIn, tell } from "./stage.js";

const HOST = "Host: a";
const CLOSE = "Connection: close";
const TLS = {
  cert: readFileSync(new URL("../tls/cert.pem", import.meta.url), "utf8"),
  key: readFileSync(new URL("../tls/key.pem", import.meta.url), "utf8"),
};
const wait = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

/** How many are connected to it. */
function count(clients: unknown): number {
  return (clients as { connected: Set<unknown> }).connected.size;
}

describe("review: reading", () => {
  test("the end of a line before a request may be split", async () => {
    await using at = await openClients();
    const get = written("GET /x", [HOST, CLOSE]);
    using connection = await openRaw(at.url);
    connection.socket.setNoDelay(true);
    connection.write("\r");
    await wait(30);
    connection.write("\n");
    await wait(30);
    connection.write(get);
    expect(readIn(await connection.closed)).toMatchObject({ url: "/x" });
  });

  test("extensions of chunks are bounded for a whole body, and so is what is kept because of them", async () => {
    await using eager = await openClients(async (asked) => {
      const body = await asked.body(1024 * 1024);
      asked.reply.answer(200, {}, Buffer.from(String(body?.length)));
    });
    using connection = await openRaw(eager.url);
    connection.write(written("POST /", [HOST, "Transfer-Encoding: chunked"]));
    const chunk = Buffer.from(`1;${"a".repeat(1000)}\r\nx\r\n`);
    const many = Buffer.concat(Array.from({ length: 1000 }, () => chunk));
    const before = process.memoryUsage().arrayBuffers;
    let most = 0;
    let ended = false;
    void connection.closed.then(() => (ended = true));
    for (let each = 0; each < 100 && !ended; each++) {
      await new Promise<void>((resolve) => {
        connection.socket.write(many, () => resolve());
        connection.socket.once("close", () => resolve());
      });
      most = Math.max(most, process.memoryUsage().arrayBuffers - before);
    }
    // A hundred thousand bytes of body, in a hundred million.
    expect(most).toBeLessThan(30_000_000);
  }, 30_000);
});

describe("review: a head in many pieces", () => {
  test("takes no longer for each of them the more there are", async () => {
    const { ClientConnection } = await import("../../../src/gateway/clients/client-connection.js");
    const took = (pieces: number) => {
      const socket = new EventEmitter();
      const limits = { body_bytes: 1, header_bytes: 1024 * 1024, request_ms: 60_000, silence_ms: 60_000 };
      new ClientConnection(socket as never, { limits, isClosing: false, serve: () => {}, gone: () => {} });
      socket.emit("data", Buffer.from("GET / HTTP/1.1\r\nX: "));
      const began = performance.now();
      for (let piece = 0; piece < pieces; piece++) socket.emit("data", Buffer.from("aaaaaaaaaa"));
      return performance.now() - began;
    };
    took(2000);
    const [few, many] = [took(2000), took(16_000)];
    // Eight times as many; it is some fifty times as long.
    expect(many / few).toBeLessThan(20);
  }, 30_000);
});

describe("review: sending ahead", () => {
  test("is held back, whatever is answered at once", async () => {
    await using at = await openClients(({ reply }) => reply.answer(200, {}, Buffer.from("{}")));
    using connection = await openRaw(at.url);
    const text = written("GET /health", [HOST]).repeat(3000);
    let most = 0;
    let isOver = false;
    const send = () => {
      while (!isOver && connection.socket.write(text));
    };
    connection.socket.on("drain", send);
    send();
    const until_ms = performance.now() + 1500;
    while (performance.now() < until_ms) {
      for (const each of (at.clients as unknown as { connected: Set<{ held: Buffer | null }> }).connected) {
        most = Math.max(most, each.held?.length ?? 0);
      }
      await wait(5);
    }
    isOver = true;
    // 64 KB, and what one look at the socket has brought on top of that.
    expect(most).toBeLessThan(256 * 1024);
  });
});

describe("review: who does not read, or reads slowly", () => {
  test("and asks for the connection to be closed is not kept for ever", async () => {
    await using at = await openClients(({ reply }) => reply.answer(200, {}, Buffer.alloc(20_000_000)), {
      ...{ request_ms: 200, silence_ms: 200 },
    });
    using connection = await openRaw(at.url);
    connection.socket.pause();
    connection.write(written("GET /", [HOST, CLOSE]));
    await wait(4000);
    expect(count(at.clients)).toBe(0);
  }, 10_000);

  async function readSlowly(url: string, text: string, ms: number): Promise<number> {
    const socket = connect({ port: Number(new URL(url).port), host: "127.0.0.1" });
    let size = 0;
    socket.on("error", () => {});
    const closed = new Promise<void>((resolve) => socket.on("close", () => resolve()));
    let isOver = false;
    void closed.then(() => (isOver = true));
    socket.write(text);
    socket.on("data", (piece: Buffer) => {
      size += piece.length;
      socket.pause();
      setTimeout(() => socket.resume(), ms);
    });
    let before = -1;
    let same = 0;
    while (!isOver && same < 8) {
      same = size === before ? same + 1 : 0;
      before = size;
      await wait(100);
    }
    socket.destroy();
    return size;
  }

  test("but all the time is not cut off after silence_ms", async () => {
    const size = 20_000_000;
    await using at = await openClients(({ reply }) => reply.answer(200, {}, Buffer.alloc(size)), { silence_ms: 500 });
    expect(await readSlowly(at.url, written("GET /", [HOST]), 10)).toBeGreaterThan(size);
  }, 30_000);

  test("but all the time is not cut off because something stood behind his last request", async () => {
    const size = 20_000_000;
    await using at = await openClients(({ reply }) => reply.answer(200, {}, Buffer.alloc(size)));
    expect(await readSlowly(at.url, `${written("GET /", [HOST, CLOSE])}\r\n`, 15)).toBeGreaterThan(size);
  }, 30_000);

  // As Python's http.client does, and what is built on it.
  test.each([
    [30_000_000, 0],
    [3_000_000, 3500],
  ])("who sends %d bytes in %d ms, which nobody wants, and only then reads, hears why", async (size, ms) => {
    await using at = await openClients(({ reply }) => reply.answer(401, {}, Buffer.from("no key")));
    using connection = await openRaw(at.url);
    const { socket } = connection;
    socket.pause();
    let failed: unknown = null;
    socket.on("error", (error) => (failed = error));
    connection.write(written("POST /", [HOST, `Content-Length: ${size}`]));
    for (let each = 0; each < 30 && failed === null; each++) {
      await wait(ms / 30);
      await new Promise<void>((resolve) => void socket.write(Buffer.alloc(size / 30), () => resolve()));
    }
    expect(failed).toBeNull();
    socket.resume();
    await until("it hears why", () => readRaw(connection.heard()).status === 401);
  }, 15_000);

  test("who is asked for his body after it is too late hears that it is too late", async () => {
    const kept: Asked[] = [];
    await using at = await openClients(async (asked) => {
      await wait(350);
      kept.push(asked);
      await asked.body(1000);
    }, { request_ms: 100 });
    using connection = await openRaw(at.url);
    connection.socket.pause();
    connection.write(written("POST /", [HOST, "Expect: 100-continue", "Content-Length: 10"]));
    await until("asked", () => kept.length === 1);
    await wait(50);
    // It is listened to for two seconds, as everybody else.
    expect(count(at.clients)).toBe(1);
    connection.socket.resume();
    expect(readRaw(await connection.closed).status).toBe(408);
  });
});

describe("review: a client that hangs up", () => {
  test("is noticed, however much it has sent ahead", async () => {
    const kept: Asked[] = [];
    await using at = await openClients((asked) => void kept.push(asked));
    using connection = await openRaw(at.url);
    connection.write(written("GET /", [HOST]));
    await until("it is served", () => kept.length === 1);
    const { leaving } = kept[0] as Asked;
    connection.write(written("POST /", [HOST, "Content-Length: 1000000"], "x".repeat(200_000)));
    await wait(100);
    connection.socket.destroy();
    await wait(1000);
    expect(leaving.aborted).toBe(true);
  });
});

describe("review: over TLS", () => {
  test("a connection that is kept lasts as long as it was told", async () => {
    await using at = await openClients(undefined, { tls: TLS, silence_ms: 300, request_ms: 1000 });
    const socket = connectSecure({ port: Number(new URL(at.url).port), host: "127.0.0.1", rejectUnauthorized: false });
    let heard = "";
    let isOver = false;
    socket.on("data", (piece) => (heard += piece));
    socket.on("close", () => (isOver = true));
    socket.on("error", () => {});
    socket.write(written("GET /", [HOST]));
    await until("answered", () => heard.includes("timeout=65"));
    await wait(1000);
    expect(isOver).toBe(false);
    socket.destroy();
  });

  test("closing does not wait for those who have not shaken hands", async () => {
    const at = await openClients(undefined, { tls: TLS });
    using connection = await openRaw(at.url);
    await wait(50);
    const closed = at.clients.close(100).then(() => "closed");
    const first = await Promise.race([closed, wait(2000).then(() => "waiting")]);
    connection.socket.destroy();
    await closed;
    expect(first).toBe("closed");
  });

  test("who does not shake hands is given as long as any other", async () => {
    await using at = await openClients(undefined, { tls: TLS, request_ms: 100 });
    using connection = await openRaw(at.url);
    const first = await Promise.race([connection.closed.then(() => "closed"), wait(2000).then(() => "waiting")]);
    connection.socket.destroy();
    expect(first).toBe("closed");
  });
});

describe("review: controls", () => {
  test("pipelined behind chunks", async () => {
    await using at = await openClients();
    const one = written("POST /1", [HOST, "Transfer-Encoding: chunked"], "3\r\nabc\r\n0\r\n\r\n");
    const text = `${one}${one.replace("/1", "/2")}${written("GET /3", [HOST, CLOSE])}`;
    for (let place = 1; place < text.length; place++) {
      const answer = await tell(at.url, [text.slice(0, place), text.slice(place)]);
      expect(readsIn(answer).map(({ url, body }) => [url, body])).toEqual([["/1", "abc"], ["/2", "abc"], ["/3", ""]]);
    }
  });
});

import { describe, expect, test } from "vitest";
import { bodyOfAnswer } from "../../../src/gateway/received.js";
import { UpstreamClient } from "../../../src/gateway/upstream-client.js";
import { ConnectionLost, MalformedResponse } from "../../../src/gateway/upstream-errors.js";
import { isUnsent } from "../../../src/models/meter/answer-status.js";
import { until } from "../until.js";
import { answer, ask, openRawServer, PATIENT, said, send } from "./raw-server.js";
import { CUT, MALFORMED, RECORDED, TOLERATED } from "./recorded.js";

/** What a promise fails with. */
function failure(promise: Promise<unknown>): Promise<unknown> {
  return promise.then(
    () => expect.unreachable("it has not failed"),
    (error: unknown) => error,
  );
}

describe("a connection", () => {
  test("is used again, one request after another", async () => {
    await using server = await openRawServer(({ socket, nth }) => socket.write(said(`${nth}`)));
    using client = new UpstreamClient(PATIENT);
    const bodies: unknown[] = [];
    for (let nth = 1; nth <= 20; nth++) bodies.push((await ask(client, server.url)).body);
    expect(bodies).toEqual(Array.from({ length: 20 }, (_, at) => `${at + 1}`));
    expect(server.seen.requests).toBe(20);
    // One is only free in the next turn, and by then the next request may have opened another.
    expect(server.seen.connections).toBeLessThanOrEqual(2);
  });

  test("carries one request at a time: as many are opened as there are requests at once, and all are kept", async () => {
    const waiting: (() => void)[] = [];
    await using server = await openRawServer(({ socket, text }) => {
      const [, name = ""] = /x-name: (\w+)/.exec(text) ?? [];
      waiting.push(() => socket.write(said(name)));
    });
    using client = new UpstreamClient(PATIENT);
    for (const round of ["a", "b"]) {
      const names = Array.from({ length: 10 }, (_, at) => `${round}${at}`);
      const asked = names.map((name) => ask(client, server.url, { headers: { "x-name": name } }));
      await until("all have come", () => waiting.length === 10);
      for (const each of waiting.splice(0).reverse()) each();
      expect((await Promise.all(asked)).map(({ body }) => body)).toEqual(names);
      // They are free in the next turn.
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    expect(server.seen.requests).toBe(20);
    expect(server.seen.connections).toBeLessThanOrEqual(11);
  });

  test.each(RECORDED)("reads an answer %s, and carries the next", async (_, bytes, body) => {
    await using server = await openRawServer(({ socket, nth }) =>
      socket.write(nth === 1 ? bytes : said("next"), "latin1"),
    );
    using client = new UpstreamClient(PATIENT);
    expect((await ask(client, server.url)).body).toBe(body);
    expect((await ask(client, server.url)).body).toBe("next");
    expect(server.seen.connections).toBeLessThanOrEqual(2);
  });

  test("is not used again when the provider says so, speaks HTTP/1.0, or ends its answer with it", async () => {
    const answers = [
      said("1", "connection: close"),
      said("2").replace("1.1", "1.0"),
      answer([], "3"),
      said("4", "keep-alive: timeout=1"),
      said("5"),
    ];
    await using server = await openRawServer(({ socket, nth }) => {
      socket.write(answers[nth - 1] ?? "");
      if (nth === 3) socket.end();
    });
    using client = new UpstreamClient(PATIENT);
    for (const nth of ["1", "2", "3", "4", "5"]) expect((await ask(client, server.url)).body).toBe(nth);
    expect(server.seen.connections).toBe(5);
    await until("the others are closed", () => server.open() === 1);
  });

  test("that nobody uses is closed in time, and then another is opened", async () => {
    await using server = await openRawServer(({ socket }) => socket.write(said("hello", "keep-alive: timeout=2")));
    using client = new UpstreamClient({ answerMs: 100, silenceMs: 100 });
    await ask(client, server.url);
    expect(server.open()).toBe(1);
    await until("it is closed", () => server.open() === 0);
    await ask(client, server.url);
    expect(server.seen.connections).toBe(2);
  });

  test.each<[string, (socket: { write(text: string): void; end(): void; resetAndDestroy(): void }) => void]>([
    ["has something said on it", (socket) => socket.write(said("to nobody"))],
    ["has one byte said on it", (socket) => socket.write("\r")],
    ["is closed by the provider", (socket) => socket.end()],
    ["is reset by the provider", (socket) => socket.resetAndDestroy()],
  ])("that nobody uses and that %s is used by nobody", async (_, act) => {
    await using server = await openRawServer(({ socket, nth }) => socket.write(said(`${nth}`)));
    using client = new UpstreamClient(PATIENT);
    await ask(client, server.url);
    server.each(act);
    await until("it is closed", () => server.open() === 0);
    expect((await ask(client, server.url)).body).toBe("2");
    expect(server.seen.connections).toBe(2);
  });

  test("that the provider closes right after its answer, without a word, is used by nobody", async () => {
    await using server = await openRawServer(({ socket, nth }) => void socket.end(said(`${nth}`)));
    using client = new UpstreamClient(PATIENT);
    for (let nth = 1; nth <= 5; nth++) {
      expect((await ask(client, server.url)).body).toBe(`${nth}`);
      await until("it is closed", () => server.open() === 0);
    }
    expect(server.seen).toMatchObject({ connections: 5, requests: 5 });
  });

  test("that the provider closes under a request fails it: nothing is sent twice", async () => {
    await using server = await openRawServer(({ socket, nth }) => {
      if (nth === 1) socket.write(said("hello"));
      else socket.destroy();
    });
    using client = new UpstreamClient(PATIENT);
    await ask(client, server.url);
    const error = await failure(ask(client, server.url));
    expect(isUnsent(error, null)).toBe(false);
    expect(server.seen.requests).toBe(2);
  });

  test("is not used again when it was answered before all of the request was read", async () => {
    await using server = await openRawServer(({ socket }) => socket.write(said("next")));
    server.early = (socket) => {
      socket.pause();
      socket.write(answer(["content-length: 8"], "too long", "413 Content Too Large"));
    };
    using client = new UpstreamClient(PATIENT);
    const body = "x".repeat(64 * 1024 * 1024);
    expect(await ask(client, server.url, { body })).toMatchObject({ status: 413, body: "too long" });
    server.early = null;
    expect((await ask(client, server.url)).body).toBe("next");
    expect(server.seen.connections).toBe(2);
  });

  test("goes on after it was held back at the very end of an answer", async () => {
    const long = "x".repeat(1_000_000);
    await using server = await openRawServer(({ socket, nth }) => socket.write(said(nth % 2 === 1 ? long : "short")));
    using client = new UpstreamClient(PATIENT);
    for (let round = 0; round < 5; round++) {
      const received = await send(client, server.url);
      // It is all there before anybody reads, as far as it may be.
      await new Promise((resolve) => setTimeout(resolve, 10));
      expect((await bodyOfAnswer(received, 1e9))?.length).toBe(long.length);
      expect((await ask(client, server.url)).body).toBe("short");
    }
    expect(server.seen.connections).toBeLessThanOrEqual(2);
  });
});

describe("an answer that is malformed fails its request, and the next gets its own", () => {
  test.each(MALFORMED)("%s", async (what, bytes) => {
    await using server = await openRawServer(({ socket, nth }) =>
      socket.write(nth === 1 ? bytes : said("mine"), "latin1"),
    );
    // Some of them could still become an answer, which is not waited for without end.
    using client = new UpstreamClient({ answerMs: 200, silenceMs: 200 });
    if (TOLERATED.has(what)) expect((await ask(client, server.url)).body).toMatch(/^(?:hello)?$/);
    else expect(isUnsent(await failure(ask(client, server.url)), null)).toBe(false);
    expect((await ask(client, server.url)).body).toBe("mine");
    expect(server.seen.connections).toBe(2);
    if (!TOLERATED.has(what)) await until("the first is closed", () => server.open() === 1);
  });

  test.each(CUT)("one that is cut off %s", async (_, bytes) => {
    await using server = await openRawServer(({ socket, nth }) => {
      socket.write(nth === 1 ? bytes : said("mine"), "latin1");
      if (nth === 1) socket.end();
    });
    using client = new UpstreamClient(PATIENT);
    const error = await failure(ask(client, server.url));
    expect(error).toBeInstanceOf(ConnectionLost);
    expect(isUnsent(error, null)).toBe(false);
    expect((await ask(client, server.url)).body).toBe("mine");
  });

  test("it is told from one that is lost", async () => {
    await using server = await openRawServer(({ socket }) => socket.write("SSH-2.0\r\n\r\n"));
    using client = new UpstreamClient(PATIENT);
    expect(await failure(ask(client, server.url))).toBeInstanceOf(MalformedResponse);
  });
});

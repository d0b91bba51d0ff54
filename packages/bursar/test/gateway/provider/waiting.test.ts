import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { UpstreamClient } from "../../../src/gateway/upstream-client.js";
import { UpstreamTimeout } from "../../../src/gateway/upstream-errors.js";
import { isUnsent } from "../../../src/models/meter/answer-status.js";
import { until } from "../until.js";
import { answer, ask, openRawServer, PATIENT, said, send } from "./raw-server.js";

const LONG = 64 * 1024 * 1024;

describe("a provider that is silent", () => {
  test("before it answers is given up after answerMs, also if it says a byte from time to time", async () => {
    const [head] = said("hello").split("hello");
    await using server = await openRawServer(async ({ socket, nth }) => {
      for (const byte of nth === 1 ? "" : (head ?? "")) {
        socket.write(byte);
        await sleep(150);
      }
    });
    using client = new UpstreamClient({ answerMs: 100, silenceMs: 60_000 });
    for (const _ of ["silent", "slow"]) {
      const error = await ask(client, server.url).catch((each: unknown) => each);
      expect(error).toBeInstanceOf(UpstreamTimeout);
      expect(error).toMatchObject({
        code: "upstream_timeout",
        message: "the provider has said nothing for 100 ms",
      });
      expect(isUnsent(error, null)).toBe(false);
    }
    await until("it is hung up on", () => server.open() === 0);
  });

  test("in the middle of its answer is given up after silenceMs, and what it has said is shown", async () => {
    await using server = await openRawServer(({ socket }) => socket.write(answer(["content-length: 10"], "hello")));
    using client = new UpstreamClient({ answerMs: 60_000, silenceMs: 100 });
    const received = await send(client, server.url);
    const pieces: string[] = [];
    const error = await received.read((piece) => void pieces.push(piece.toString())).catch((each: unknown) => each);
    expect(error).toBeInstanceOf(UpstreamTimeout);
    expect(error).toMatchObject({ message: "the provider has said nothing for 100 ms" });
    expect(pieces).toEqual(["hello"]);
    await until("it is hung up on", () => server.open() === 0);
  });

  test("for less than that, again and again, may take as long as it likes", async () => {
    await using server = await openRawServer(async ({ socket }) => {
      socket.write(answer(["content-length: 20"]));
      for (let at = 0; at < 20; at++) {
        await sleep(50);
        socket.write("x");
      }
    });
    using client = new UpstreamClient({ answerMs: 60_000, silenceMs: 800 });
    expect((await ask(client, server.url)).body).toBe("x".repeat(20));
  });

  test("because nobody takes what it says, is not given up", async () => {
    await using server = await openRawServer(({ socket }) => {
      socket.write(answer([`content-length: ${LONG}`]));
      socket.write(Buffer.alloc(LONG));
    });
    using client = new UpstreamClient({ answerMs: 60_000, silenceMs: 500 });
    const received = await send(client, server.url);
    await sleep(1500);
    let size = 0;
    let isFirst = true;
    await received.read((piece) => {
      size += piece.length;
      if (!isFirst) return;
      isFirst = false;
      return sleep(1500);
    });
    expect(size).toBe(LONG);
  });
});

test("an answer that nobody takes stays where it comes from", async () => {
  let written = 0;
  await using server = await openRawServer(({ socket }) => {
    socket.write(answer([`content-length: ${LONG}`]));
    const piece = Buffer.alloc(64 * 1024);
    const more = () => {
      while (written < LONG) {
        written += piece.length;
        if (!socket.write(piece)) return;
      }
    };
    socket.on("drain", more);
    more();
  });
  using client = new UpstreamClient(PATIENT);
  const received = await send(client, server.url);
  let before = -1;
  await until("it has stopped", async () => {
    if (before === written) return true;
    before = written;
    await sleep(100);
    return false;
  });
  // What the system keeps for both sides, and little else.
  expect(written).toBeLessThan(LONG / 2);
  let [size, most] = [0, 0];
  await received.read(async (piece) => {
    size += piece.length;
    most = Math.max(most, piece.length);
    await new Promise((resolve) => setImmediate(resolve));
  });
  expect(size).toBe(LONG);
  expect(most).toBeLessThanOrEqual(256 * 1024);
});

describe("whoever asks hangs up", () => {
  const reason = new Error("not any more");
  const GIVEN_UP = { code: "given_up", cause: reason };

  test("before anything: nobody is connected to", async () => {
    await using server = await openRawServer(({ socket }) => socket.write(said("hello")));
    using client = new UpstreamClient(PATIENT);
    await expect(ask(client, server.url, { signal: AbortSignal.abort(reason) })).rejects.toMatchObject(GIVEN_UP);
    expect(server.seen.connections).toBe(0);
  });

  test("before it is sent: nothing is sent", async () => {
    await using server = await openRawServer(({ socket }) => socket.write(said("hello")));
    using client = new UpstreamClient(PATIENT);
    const leaving = new AbortController();
    const asked = ask(client, server.url, { signal: leaving.signal });
    leaving.abort(reason);
    await expect(asked).rejects.toMatchObject(GIVEN_UP);
    expect((await ask(client, server.url)).body).toBe("hello");
    expect(server.seen.requests).toBe(1);
  });

  test("while it waits: the provider is hung up on", async () => {
    await using server = await openRawServer(({ socket, nth }) => nth === 2 && socket.write(said("hello")));
    using client = new UpstreamClient(PATIENT);
    const leaving = new AbortController();
    const asked = ask(client, server.url, { signal: leaving.signal });
    await until("it has come", () => server.seen.requests === 1);
    leaving.abort(reason);
    await expect(asked).rejects.toBe(reason);
    await until("it is hung up on", () => server.open() === 0);
    expect((await ask(client, server.url)).body).toBe("hello");
  });

  test("in the middle of the answer: what has come is shown, and the provider is hung up on", async () => {
    await using server = await openRawServer(({ socket }) => socket.write(answer(["content-length: 10"], "hello")));
    using client = new UpstreamClient(PATIENT);
    const leaving = new AbortController();
    const received = await send(client, server.url, { signal: leaving.signal });
    const pieces: string[] = [];
    const read = received.read((piece) => void pieces.push(piece.toString()));
    leaving.abort(reason);
    await expect(read).rejects.toBe(reason);
    expect(pieces).toEqual(["hello"]);
    await until("it is hung up on", () => server.open() === 0);
  });

  test("because he does not want the rest: the provider is hung up on, and reading fails", async () => {
    await using server = await openRawServer(({ socket }) => socket.write(answer(["content-length: 10"], "hello")));
    using client = new UpstreamClient(PATIENT);
    const received = await send(client, server.url);
    await expect(received.read(() => received.drop())).rejects.toThrow("the rest is not wanted");
    await until("it is hung up on", () => server.open() === 0);
  });

  test("after the answer: whoever uses its connection then is not disturbed", async () => {
    const waiting: (() => void)[] = [];
    await using server = await openRawServer(({ socket, nth }) => {
      if (nth === 1) socket.write(said("first"));
      else waiting.push(() => socket.write(said("second")));
    });
    using client = new UpstreamClient(PATIENT);
    const leaving = new AbortController();
    const first = await send(client, server.url, { signal: leaving.signal });
    const second = ask(client, server.url);
    await until("the second has come", () => waiting.length === 1);
    // Whoever reads the first is behind, and then fails, and then hangs up: none of it is about the connection any more.
    const read = first.read(() => Promise.reject(new Error("full")));
    await expect(read).rejects.toThrow();
    first.drop();
    leaving.abort(reason);
    await sleep(20);
    for (const each of waiting) each();
    expect((await second).body).toBe("second");
  });
});

describe("a client that is closed", () => {
  test("ends all that is under way and all that is kept, and sends nothing more", async () => {
    await using server = await openRawServer(
      ({ socket, text }) => text.includes("x-idle") && socket.write(said("hello")),
    );
    const client = new UpstreamClient(PATIENT);
    const asked = ask(client, server.url);
    await until("it has come", () => server.seen.requests === 1);
    await ask(client, server.url, { headers: { "x-idle": "1" } });
    expect(server.open()).toBe(2);
    const over = expect(asked).rejects.toThrow("the gateway is closed");
    client[Symbol.dispose]();
    await over;
    await until("all are closed", () => server.open() === 0);
    const error = await ask(client, server.url).catch((each: unknown) => each);
    expect(isUnsent(error, null)).toBe(true);
    expect(server.seen.connections).toBe(2);
  });

  test("sends nothing that was only about to be sent", async () => {
    await using server = await openRawServer(({ socket }) => socket.write(said("hello")));
    const client = new UpstreamClient(PATIENT);
    await ask(client, server.url);
    const asked = ask(client, server.url).catch((each: unknown) => each);
    client[Symbol.dispose]();
    expect(isUnsent(await asked, null)).toBe(true);
    await until("all are closed", () => server.open() === 0);
    expect(server.seen.requests).toBe(1);
  });
});

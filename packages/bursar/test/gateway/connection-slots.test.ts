import { describe, expect, test } from "vitest";
import { BOTH, openClients, openTo } from "./clients/stage.js";
import { openRaw, type RawConnection, readRaw, written } from "./raw.js";
import { until } from "./until.js";

const ASK = written("GET /", ["Host: a"]);

/** A server that is asked by raw connections, and how many of those are open. */
interface Asked extends AsyncDisposable {
  readonly url: string;
}

async function answeredOn(connection: RawConnection, request = ASK): Promise<number> {
  connection.write(request);
  await until("it is answered", () => connection.heard().includes("\r\n\r\n"));
  return readRaw(connection.heard()).status;
}

function open(limits: { connections: number; connections_per_address: number }): Promise<Asked> {
  return openClients((asked) => {
    const { reply } = asked;
    if (asked.url === "/") reply.answer(200, {}, Buffer.from("{}"));
    else {
      reply.begin(200, {});
      reply.flush();
    }
  }, limits);
}

const LIMITS = [
  ["in all", { connections: 50, connections_per_address: 1000 }],
  ["from one address", { connections: 1000, connections_per_address: 50 }],
] as const;

describe("a server", () => {
  test.each(LIMITS)(
    "that has as many connections %s as it may serves the next client that asks",
    async (_in, limits) => {
      await using at = await open(limits);
      const idle: RawConnection[] = [];
      for (let each = 0; each < 120; each++) idle.push(await openRaw(at.url));
      using honest = await openRaw(at.url);
      expect(await answeredOn(honest)).toBe(200);
      // The oldest have made room.
      expect(await idle[0]?.closed).toBe("");
      expect(await idle[70]?.closed).toBe("");
      expect(idle[119]?.socket.closed).toBe(false);
      for (const connection of idle) connection[Symbol.dispose]();
    },
  );

  test("closes those that were never used before those that wait for their next request, and none that waits for an answer", async () => {
    await using at = await open({ connections: 3, connections_per_address: 3 });
    using busy = await openRaw(at.url);
    await answeredOn(busy, written("GET /never", ["Host: a"]));
    using kept = await openRaw(at.url);
    expect(await answeredOn(kept)).toBe(200);
    using unused = await openRaw(at.url);
    using another = await openRaw(at.url);
    expect(await unused.closed).toBe("");
    expect(await answeredOn(another)).toBe(200);
    expect(kept.socket.closed).toBe(false);
    // Then the one that has waited the longest.
    using last = await openRaw(at.url);
    await kept.closed;
    expect(await answeredOn(last)).toBe(200);
    expect([busy.socket.closed, another.socket.closed]).toEqual([false, false]);
  });

  test("closes the one first that has been idle for the longest, and not the one that was opened first", async () => {
    await using at = await open({ connections: 2, connections_per_address: 2 });
    using first = await openRaw(at.url);
    using second = await openRaw(at.url);
    expect([await answeredOn(first), await answeredOn(second)]).toEqual([200, 200]);
    first.write(ASK);
    await until("it is answered again", () => readRaw(first.heard()).answers === 2);
    using third = await openRaw(at.url);
    await second.closed;
    expect(await answeredOn(third)).toBe(200);
    expect(first.socket.closed).toBe(false);
  });

  test("takes no more where all of them wait for an answer", async () => {
    await using at = await open({ connections: 10, connections_per_address: 2 });
    using one = await openRaw(at.url);
    using two = await openRaw(at.url);
    for (const each of [one, two]) await answeredOn(each, written("GET /never", ["Host: a"]));
    const three = await openRaw(at.url);
    expect(await three.closed).toBe("");
    one[Symbol.dispose]();
    await until("there is room again", async () => {
      using next = await openRaw(at.url);
      next.write(ASK);
      return (await Promise.race([next.closed, until("heard", () => next.heard() !== "").then(() => "200")])) === "200";
    });
  });
});

test.each([
  ["which stays open", []],
  ["which is the last one", ["Connection: close"]],
])("an answer is not cut off for a new connection while its client reads it, %s", async (_name, last) => {
  let isAnswered = false;
  // More than the system takes at once, so that most of it waits in the process.
  const bytes = Buffer.alloc(20_000_000);
  await using at = await openClients(
    ({ reply }) => {
      reply.begin(200, {});
      reply.end(bytes);
      isAnswered = true;
    },
    { connections: 1, connections_per_address: 1 },
  );
  using slow = await openRaw(at.url);
  slow.socket.pause();
  slow.write(written("GET /", ["Host: a", ...last]));
  await until("it is answered", () => isAnswered);
  using next = await openRaw(at.url);
  expect(await next.closed).toBe("");
  let size = 0;
  slow.socket.on("data", (piece) => {
    size += piece.length;
  });
  slow.socket.resume();
  await until("all of it is read", () => size > bytes.length || slow.socket.closed);
  expect(size).toBeGreaterThan(bytes.length);
});

test.each(BOTH)("connections that do nothing, %s, do not keep the next client out", async (_name, tls) => {
  await using at = await openClients(undefined, { tls, connections: 5, connections_per_address: 5 });
  const idle: RawConnection[] = [];
  const { port } = new URL(at.url);
  // Of those, some have not even shaken hands.
  for (let each = 0; each < 12; each++) idle.push(await openRaw(`http://127.0.0.1:${port}`));
  for (let each = 0; each < 6; each++) idle.push(await openTo(at.url));
  using honest = await openTo(at.url);
  expect(await answeredOn(honest)).toBe(200);
  for (const connection of idle) connection[Symbol.dispose]();
});

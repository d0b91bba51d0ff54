import { getEventListeners } from "node:events";
import { Agent, request } from "node:http";
import type { Socket } from "node:net";
import { describe, expect, test } from "vitest";
import type { ClientRequest as Asked } from "../../../src/gateway/client-request.js";
import { clientSignalOf } from "../../../src/http/client-gone.js";
import { opened } from "../opened.js";
import { openRaw, type RawConnection, readRaw, written } from "../raw.js";
import { until } from "../until.js";
import { BOTH, connectedTo, openClients, openTo, wait } from "./stage.js";

type Opened = Awaited<ReturnType<typeof opened>>;

const HOST = "Host: a";
const HANG = { kind: "hang" } as const;
const HALF = { kind: "half", text: "word ".repeat(100), ending: "hang" } as const;
const USAGE = { prompt_tokens: 100, completion_tokens: 20 };
const ASK = { model: "gpt-4o", messages: [{ role: "user", content: "Hi" }], max_tokens: 100 };
const LONG = { ...ASK, messages: [{ role: "user", content: "x ".repeat(60_000) }] };

/** A request for the gateway, with its key. */
function asking(secret: string, body: object): string {
  const text = JSON.stringify(body);
  const headers = [HOST, `Authorization: Bearer ${secret}`, `Content-Length: ${text.length}`];
  return written("POST /v1/chat/completions", headers, text);
}

/** Those who are connected to a gateway. */
function connectedWith({ gateway }: Opened): readonly Socket[] {
  return connectedTo((gateway as unknown as { readonly server: unknown }).server);
}

/** However a client has left: nobody works for it any more, and nothing is held for it. */
async function settled(at: Opened): Promise<void> {
  await until("the provider is left", () => at.model.aborted === 1);
  await until("nothing is held", async () => Object.keys(await at.held()).length === 0);
  await until("the client is gone", async () => (await at.connections()) === 0);
}

const WAYS: readonly (readonly [string, (socket: Socket) => void])[] = [
  ["says that it sends nothing more", (socket) => void socket.end()],
  ["closes", (socket) => void socket.destroy()],
  // TLS has no way to take everything back.
  ["breaks off", (socket) => void ("encrypted" in socket ? socket.destroy() : socket.resetAndDestroy())],
];

describe.each(BOTH)("a client, %s,", (_name, tls) => {
  const options = tls === null ? {} : { tls };

  test.each(WAYS)("that %s is noticed while its provider is silent", async (_way, leave) => {
    for (const body of [ASK, LONG]) {
      await using at = await opened([HANG], { cost_usd: 10 }, options);
      using connection = await openTo(at.gateway.url);
      connection.write(asking(at.secret, body));
      await until("the provider is asked", () => at.model.count === 1);
      leave(connection.socket);
      await settled(at);
    }
  });

  test.each(WAYS)("that %s is noticed in the middle of its answer", async (_way, leave) => {
    await using at = await opened([HALF], { cost_usd: 10 }, options);
    using connection = await openTo(at.gateway.url);
    connection.write(asking(at.secret, { ...ASK, stream: true }));
    await until("it has begun", () => connection.heard().includes("data:"));
    leave(connection.socket);
    await settled(at);
  });

  test.each([100, 10_000])("that leaves is noticed with %d bytes sent ahead", async (size) => {
    await using at = await opened([HANG], { cost_usd: 10 }, options);
    using connection = await openTo(at.gateway.url);
    connection.write(asking(at.secret, ASK));
    await until("the provider is asked", () => at.model.count === 1);
    connection.write(written("POST /", [HOST, "Content-Length: 1000000"], "x".repeat(size)));
    await wait(50);
    connection.socket.destroy();
    await settled(at);
  });

  test("that leaves in the middle of its request is forgotten", async () => {
    await using at = await opened([], { cost_usd: 1 }, options);
    const whole = asking(at.secret, ASK);
    for (const cut of [0, 1, 20, 60, whole.length - 40, whole.length - 1]) {
      for (const [, leave] of WAYS) {
        using connection = await openTo(at.gateway.url);
        connection.write(whole.slice(0, cut));
        await until("it has come", () => (connectedWith(at)[0]?.bytesRead ?? -1) >= cut);
        leave(connection.socket);
        await until("it is gone", async () => (await at.connections()) === 0);
      }
    }
    expect([at.model.count, await at.held()]).toEqual([0, {}]);
  });

  test("is not waited for for ever when the gateway closes, whatever it is about", async () => {
    await using at = await opened([HANG, HALF], { cost_usd: 1, steps: 2 }, options);
    const whole = asking(at.secret, ASK);
    const unknown = asking("nobody", ASK).slice(0, -3);
    const half = [whole.slice(0, 60), whole.slice(0, -3), unknown, "G", "\r", "\r\n", "bad\r\n\r\n", ""];
    const clients: RawConnection[] = [];
    // The last of them waits for what the others hold.
    for (const text of [...half, whole, asking(at.secret, { ...ASK, stream: true }), whole]) {
      const client = await openTo(at.gateway.url);
      client.write(text);
      clients.push(client);
    }
    await until("the provider is asked", () => at.model.count === 2);
    await at.gateway.close({ within_ms: 100 });
    await Promise.all(clients.map((client) => client.closed));
    expect(await at.held()).toEqual({});
    expect(connectedWith(at)).toEqual([]);
  });
});

describe("a client", () => {
  test("that says in one breath what it asks and that it sends nothing more is answered what is known at once", async () => {
    await using at = await openClients(({ reply }) => reply.answer(200, {}, Buffer.from("x")));
    using connection = await openRaw(at.url);
    connection.socket.end(written("GET /", [HOST]));
    expect(readRaw(await connection.closed)).toMatchObject({ status: 200, body: "x" });
  });

  test.each([10, 100_000, 500_000])(
    "that leaves before anybody asks for its %d bytes is noticed then",
    async (size) => {
      const asked: Asked[] = [];
      await using at = await openClients((each) => void asked.push(each));
      using connection = await openRaw(at.url);
      connection.write(written("POST /", [HOST, `Content-Length: ${size}`], "x".repeat(size - 1)));
      await until("it is served", () => asked.length === 1);
      connection.socket.destroy();
      await expect(asked[0]?.body(1_000_000)).rejects.toMatchObject({ name: "ClientGone" });
      await until("it is gone", () => connectedTo(at.clients).length === 0);
    },
  );
});

/** How many listen to what happens on a connection. */
function listenersOn(socket: Socket): Readonly<Record<string, number>> {
  const leaving = clientSignalOf(socket);
  const names = socket.eventNames().map((name) => [String(name), socket.listenerCount(name)] as const);
  return { ...Object.fromEntries(names), leaving: getEventListeners(leaving, "abort").length };
}

/** Asks by way of an agent, which uses its connection again. */
function askBy(agent: Agent, at: Opened, body: object): Promise<number> {
  return new Promise((resolve, reject) => {
    const headers = { authorization: `Bearer ${at.secret}` };
    const asked = request(`${at.gateway.url}/v1/chat/completions`, { agent, method: "POST", headers }, (answer) => {
      answer.resume().on("end", () => resolve(answer.statusCode ?? 0));
    });
    asked.on("error", reject);
    asked.end(JSON.stringify(body));
  });
}

test("nothing is left on a connection that is used again and again", async () => {
  const round = [
    { kind: "text", text: "w ".repeat(100), usage: USAGE },
    { kind: "status", status: 500 },
    { kind: "text", text: "x", usage: USAGE },
  ] as const;
  const rounds = 10;
  await using at = await opened(Array.from({ length: rounds }, () => round).flat(), {
    cost_usd: 100,
    llm_tokens: 200_000,
  });
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const tooLong = { ...ASK, messages: [{ role: "user", content: "x ".repeat(150_000) }] };
  const seen = new Set<Socket>();
  const before: Readonly<Record<string, number>>[] = [];
  for (let each = 0; each < rounds; each++) {
    const statuses: number[] = [];
    for (const body of [{ ...ASK, stream: true }, ASK, { ...ASK, stream: each % 2 === 0 }, tooLong]) {
      statuses.push(await askBy(agent, at, body));
      for (const connection of connectedWith(at)) seen.add(connection);
    }
    expect(statuses).toEqual([200, 500, 200, 402]);
    const [connection] = connectedWith(at);
    if (connection !== undefined) before.push(listenersOn(connection));
  }
  const [connection] = seen;
  expect(seen.size).toBe(1);
  await until("nobody listens but those who did at first", () => {
    return JSON.stringify(listenersOn(connection as Socket)) === JSON.stringify(before[0]);
  });
  agent.destroy();
});

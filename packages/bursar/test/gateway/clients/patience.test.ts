import { describe, expect, test } from "vitest";
import type { ClientRequest as Asked } from "../../../src/gateway/client-request.js";
import { opened } from "../opened.js";
import { openRaw, type RawConnection, readRaw, written } from "../raw.js";
import { openServer } from "../server.js";
import { until } from "../until.js";
import { BOTH, connectedTo, openClients, openTo, TLS, wait } from "./stage.js";

const HOST = "Host: a";
const CLOSE = "Connection: close";
const GET = written("GET /", [HOST]);
const LAST = written("GET /", [HOST, CLOSE]);
const CHUNKED = written("POST /", [HOST, "Transfer-Encoding: chunked"]);
/** More than the buffers of the system take, so that a part of it waits in ours. */
const LARGE = 40_000_000;
const BYTES = Buffer.alloc(LARGE);

/** Answers with more than goes out at once. */
function answerLarge({ reply }: Asked): void {
  reply.answer(200, {}, BYTES);
}

/** Refuses without reading what is sent. */
function refuse({ reply }: Asked): void {
  reply.answer(401, {}, Buffer.from("no key"));
}

/** Sends a little again and again until the other side has closed, and gives all that came back. */
async function drip(connection: RawConnection, little: string): Promise<string> {
  const dripping = setInterval(() => {
    if (connection.socket.writable) connection.write(little);
  }, 10);
  try {
    return await connection.closed;
  } finally {
    clearInterval(dripping);
  }
}

/** All the rests are longer together than a client may be silent, and one of them is by far shorter, also on a busy machine. */
const [REST_MS, SILENCE_MS] = [80, 2500];

/**
 * Reads a part, and rests, and reads another part, and says how many bytes came before nothing more did. The parts are so large that the
 * system lets more be written after each of them.
 */
async function readSlowly(url: string, text: string): Promise<number> {
  using connection = await openTo(url);
  const { socket } = connection;
  let [size, part] = [0, 0];
  socket.on("data", (piece: Buffer) => {
    size += piece.length;
    part += piece.length;
    if (part < 1_000_000) return;
    part = 0;
    socket.pause();
    setTimeout(() => socket.resume(), REST_MS);
  });
  connection.write(text);
  await until("all of it has come", () => socket.destroyed || size > LARGE);
  return size;
}

describe("who is slow to send", () => {
  test.each([
    ["ends of lines before a request", "", "\r\n", 408],
    ["a head", "GET / HTTP/1.1\r\nX: ", "a", 408],
    ["a body", written("POST /", [HOST, "Content-Length: 1000000"]), "a", 408],
    ["chunks", CHUNKED, "1\r\nx\r\n", 408],
    ["an extension of a chunk", `${CHUNKED}1;`, "a", 408],
    ["a trailer", `${CHUNKED}0\r\nX: `, "a", 408],
  ])("gains no time by sending little by little: %s", async (_name, start, little, status) => {
    await using at = await openClients(undefined, { request_ms: 100 });
    using connection = await openRaw(at.url);
    connection.write(start);
    expect(readRaw(await drip(connection, little)).status).toBe(status);
    await until("it is gone", () => connectedTo(at.clients).length === 0);
  });

  test("and is asked for a body when it is too late hears just that, and is not told to send it", async () => {
    const asked: Asked[] = [];
    await using at = await openClients((each) => void asked.push(each), { request_ms: 100 });
    using connection = await openRaw(at.url);
    connection.socket.pause();
    connection.write(written("POST /", [HOST, "Expect: 100-continue", "Content-Length: 10"]));
    await until("it is given up", () => asked[0]?.reply.isGone === true);
    await expect(asked[0]?.body(1000)).rejects.toMatchObject({ name: "ClientGone" });
    // Who has not read the answer yet is listened to for a while, as everybody else.
    await wait(50);
    expect(connectedTo(at.clients)).toHaveLength(1);
    connection.socket.resume();
    expect(readRaw(await connection.closed)).toMatchObject({ status: 408, answers: 1 });
  });
});

describe("who sends what nobody wants", () => {
  // As Python's http.client does, and what is built on it.
  test("and reads only when everything is sent hears why", async () => {
    await using at = await openClients(refuse);
    using connection = await openRaw(at.url);
    const { socket } = connection;
    socket.pause();
    const failed: unknown[] = [];
    socket.on("error", (error) => failed.push(error));
    const [pieces, size] = [30, 1_000_000];
    connection.write(written("POST /", [HOST, `Content-Length: ${pieces * size}`]));
    for (let each = 0; each < pieces && failed.length === 0; each++) {
      await new Promise<void>((resolve) => void socket.write(Buffer.alloc(size), () => resolve()));
    }
    expect(failed).toEqual([]);
    socket.resume();
    await until("it hears why", () => readRaw(connection.heard()).status === 401);
  });

  /** A client that was answered, has not read it, and is only listened to for a while. */
  async function refused(url: string) {
    const connection = await openRaw(url);
    connection.socket.pause();
    connection.write(written("POST /", [HOST, "Content-Length: 1000000000"]));
    return connection;
  }

  test("is listened to for as long as he does not fall silent, and no longer", async () => {
    await using at = await openClients(refuse);
    using connection = await refused(at.url);
    // Together longer than the silence that ends it.
    for (let each = 0; each < 6; each++) {
      await wait(500);
      connection.write("more");
    }
    expect(connectedTo(at.clients)).toHaveLength(1);
    connection.socket.resume();
    expect(readRaw(await connection.closed).status).toBe(401);
  });

  test("is not listened to for longer than a request may take", async () => {
    await using at = await openClients(refuse, { request_ms: 100 });
    using connection = await refused(at.url);
    const dripping = drip(connection, "more");
    await until("he is hung up on", () => connectedTo(at.clients).length === 0);
    connection.socket.resume();
    await dripping;
  });

  test("is not listened to for more than 64 MB", async () => {
    await using at = await openClients(refuse);
    using connection = await refused(at.url);
    await until("it is connected", () => connectedTo(at.clients).length === 1);
    const [lingering] = connectedTo(at.clients);
    for (let each = 0; each < 80; each++) connection.write(Buffer.alloc(1_000_000));
    await until("he is hung up on", () => lingering?.destroyed === true);
    expect(lingering?.bytesRead).toBeGreaterThan(60_000_000);
    expect(lingering?.bytesRead).toBeLessThan(70_000_000);
  });
});

const ASKED = [
  ["and keeps the connection", GET],
  ["and wants it closed", LAST],
  ["and wants it closed, with the end of a line behind that", `${LAST}\r\n`],
  ["and wants it closed, with another request behind that", `${LAST}${GET}`],
] as const;

describe("who does not read what he is answered", () => {
  test.each(ASKED)("%s, is hung up on", async (_name, text) => {
    let served = 0;
    await using at = await openClients(
      (asked) => {
        served++;
        answerLarge(asked);
      },
      { silence_ms: 100 },
    );
    using connection = await openRaw(at.url);
    connection.socket.pause();
    connection.write(text);
    await until("it is answered", () => served === 1);
    await until("it is gone", () => connectedTo(at.clients).length === 0);
  });

  test("does not keep a provider writing, and his call is settled when he is hung up on", async () => {
    const most = 60_000_000;
    let sent = 0;
    const event = `data: {"choices":[{"index":0,"delta":{"content":"${"x".repeat(9_900)}"}}]}\n\n`;
    await using provider = await openServer((_incoming, response) => {
      response.writeHead(200, { "content-type": "text/event-stream" });
      const go = () => {
        let fits = true;
        while (fits && sent < most) {
          sent += event.length;
          fits = response.write(event);
        }
      };
      response.on("drain", go);
      go();
    });
    const upstreams = [{ name: "endless", url: provider.url }];
    await using at = await opened([], { cost_usd: 1000 }, { upstreams, silence_ms: 200 });
    using connection = await openRaw(at.gateway.url);
    connection.socket.pause();
    const messages = [{ role: "user", content: "x" }];
    const body = JSON.stringify({ model: "gpt-4o", stream: true, max_tokens: 16_000, messages });
    const headers = [HOST, `Authorization: Bearer ${at.secret}`, `Content-Length: ${body.length}`];
    connection.write(written("POST /v1/chat/completions", headers, body));
    await until("it is answered", () => sent > 0);
    await until("it is gone", async () => (await at.connections()) === 0);
    await until("nothing is held", async () => Object.keys(await at.held()).length === 0);
    expect(sent).toBeLessThan(most);
  });
});

test.each(BOTH)("who reads slowly, but all the time, gets everything: %s", async (_name, tls) => {
  await using at = await openClients(answerLarge, { tls, silence_ms: SILENCE_MS });
  const began = performance.now();
  const sizes = await Promise.all(ASKED.map(([, text]) => readSlowly(at.url, text)));
  expect(performance.now() - began).toBeGreaterThan(SILENCE_MS);
  for (const size of sizes) expect(size).toBeGreaterThan(LARGE);
});

describe("a connection that is kept", () => {
  test.each(BOTH)("lasts as long as its client was told, also after much was read: %s", async (_name, tls) => {
    // Over TLS nothing goes out at once, so that less is enough.
    const bytes = tls === null ? BYTES : BYTES.subarray(0, 1_000_000);
    await using at = await openClients(({ reply }) => reply.answer(200, {}, bytes), { tls, silence_ms: 150 });
    using connection = await openTo(at.url);
    let size = 0;
    connection.socket.on("data", (piece: Buffer) => {
      size += piece.length;
    });
    connection.write(GET);
    await until("it is answered", () => size > bytes.length);
    await wait(300);
    connection.write(GET);
    await until("it is answered again", () => size > 2 * bytes.length || connection.socket.destroyed);
    expect(size).toBeGreaterThan(2 * bytes.length);
  });

  test("lasts longer than a request may take", async () => {
    await using at = await openClients(undefined, { request_ms: 100 });
    using connection = await openRaw(at.url);
    connection.write(GET);
    await until("it is answered", () => readRaw(connection.heard()).answers === 1);
    await wait(250);
    connection.write(LAST);
    expect(readRaw(await connection.closed).answers).toBe(2);
  });
});

describe("who never shakes hands", () => {
  test("is given as long as any other", async () => {
    await using at = await openClients(undefined, { tls: TLS, request_ms: 100 });
    using connection = await openRaw(at.url);
    expect(await connection.closed).toBe("");
  });

  test("is not waited for when everything is closed", async () => {
    const at = await openClients(undefined, { tls: TLS });
    using connection = await openRaw(at.url);
    const { sockets } = (at.clients as unknown as { readonly clients: { readonly sockets: ReadonlySet<unknown> } })
      .clients;
    await until("it is connected", () => sockets.size === 1);
    await at.clients.close(50);
    expect(await connection.closed).toBe("");
  });
});

import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createServer } from "node:https";
import { type AddressInfo, createServer as createTcpServer } from "node:net";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { UpstreamClient } from "../../../src/gateway/upstream-client.js";
import { isUnsent } from "../../../src/models/meter/answer-status.js";
import { until } from "../until.js";
import { ask, openRawServer, PATIENT } from "./raw-server.js";

const CERTIFICATE = fileURLToPath(new URL("../tls/cert.pem", import.meta.url));
const PROGRAM = fileURLToPath(new URL("./ask-secure.mjs", import.meta.url));
const LONG = "0123456789".repeat(100_000);

/** A provider behind TLS. It says who was asked for, by which protocol, and whether the client had been there before. */
async function openSecureServer(isKept: boolean, host = "127.0.0.1") {
  const seen = { connections: 0, requests: 0 };
  const key = readFileSync(new URL("../tls/key.pem", import.meta.url));
  const server = createServer({ key, cert: readFileSync(CERTIFICATE) }, (incoming, response) => {
    incoming.resume();
    seen.requests++;
    const { servername, alpnProtocol, isSessionReused } = incoming.socket as import("node:tls").TLSSocket;
    if (!isKept) response.setHeader("connection", "close");
    if (incoming.url === "/long") response.end(LONG);
    else response.end(JSON.stringify([servername, alpnProtocol, isSessionReused.call(incoming.socket)]));
  });
  server.keepAliveTimeout = 60_000;
  server.on("secureConnection", () => seen.connections++);
  server.listen(0, host);
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return {
    seen,
    port,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** Asks in a process of its own that trusts the certificate, or does not. */
async function asked(addresses: readonly string[], isTrusting: boolean) {
  const { PATH = "" } = process.env;
  const env = { PATH, ...(isTrusting && { NODE_EXTRA_CA_CERTS: CERTIFICATE }) };
  const child = spawn(process.execPath, [PROGRAM, ...addresses], { env, timeout: 60_000, killSignal: "SIGKILL" });
  let [out, complaints] = ["", ""];
  child.stdout.on("data", (piece) => {
    out += piece;
  });
  child.stderr.on("data", (piece) => {
    complaints += piece;
  });
  const [code] = await once(child, "close");
  expect([code, complaints]).toEqual([0, ""]);
  return out
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as unknown);
}

describe("a provider behind TLS", () => {
  test("is asked by its name, on a connection that is used again and keeps no process alive", async () => {
    await using server = await openSecureServer(true);
    const url = `https://localhost:${server.port}/`;
    const outcomes = await asked([...Array.from({ length: 30 }, () => url), `${url}long`], true);
    const body = JSON.stringify(["localhost", "http/1.1", false]);
    const answers = Array.from({ length: 30 }, () => ({ status: 200, body }));
    expect(outcomes).toEqual([...answers, { status: 200, body: LONG }]);
    expect(server.seen).toEqual({ connections: 1, requests: 31 });
  });

  test("that closes after each answer is connected to again in fewer steps", async () => {
    await using server = await openSecureServer(false);
    const url = `https://localhost:${server.port}/`;
    const bodies = (await asked([url, url], true)).map(
      (each) => JSON.parse((each as { body: string }).body) as unknown,
    );
    expect(bodies).toEqual([
      ["localhost", "http/1.1", false],
      ["localhost", "http/1.1", true],
    ]);
  });

  test("can be known by its address, which is no name", async () => {
    await using server = await openSecureServer(true);
    const [answer] = await asked([`https://127.0.0.1:${server.port}/`], true);
    expect(answer).toEqual({ status: 200, body: JSON.stringify([false, "http/1.1", false]) });
  });

  test("that cannot prove who it is gets nothing, and it is clear that it got nothing", async () => {
    await using server = await openSecureServer(true);
    using client = new UpstreamClient(PATIENT);
    const error = await ask(client, new URL(`https://localhost:${server.port}/`)).catch((each: unknown) => each);
    expect(error).toMatchObject({ code: "DEPTH_ZERO_SELF_SIGNED_CERT" });
    expect(isUnsent(error, null)).toBe(true);
    expect(await asked([`https://localhost:${server.port}/`], false)).toMatchObject([
      { code: "DEPTH_ZERO_SELF_SIGNED_CERT" },
    ]);
    expect(server.seen.requests).toBe(0);
  });

  test("that is trusted under another name gets nothing", async () => {
    await using server = await openSecureServer(true, "0.0.0.0");
    const [outcome] = await asked([`https://127.0.0.2:${server.port}/`], true);
    // Not every system has such an address.
    expect(outcome).toMatchObject({ code: expect.stringMatching(/^(?:ERR_TLS_CERT_ALTNAME_INVALID|ECONNREFUSED)$/) });
    expect(server.seen.requests).toBe(0);
  });
});

/** A server that is there, and then does this. */
async function openStranger(act: (socket: import("node:net").Socket) => void) {
  const open = new Set<import("node:net").Socket>();
  const server = createTcpServer((socket) => {
    open.add(socket);
    socket.on("error", () => {});
    socket.on("close", () => open.delete(socket));
    socket.on("data", () => {});
    act(socket);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    open,
    url: new URL(`https://127.0.0.1:${(server.address() as AddressInfo).port}/`),
    [Symbol.asyncDispose]: async () => {
      for (const socket of open) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

describe("a provider that cannot be reached got nothing, and it is clear that it did not", () => {
  test.each<[string, (socket: import("node:net").Socket) => void, string]>([
    ["hangs up before it has proven who it is", (socket) => socket.end(), "connect_failed"],
    ["resets the connection before that", (socket) => socket.resetAndDestroy(), "connect_failed"],
    ["speaks something else", (socket) => socket.write("HTTP/1.1 400 Bad Request\r\n\r\n"), "connect_failed"],
    ["says nothing", () => {}, "connect_timeout"],
  ])("because it %s", async (_, act, code) => {
    await using stranger = await openStranger(act);
    using client = new UpstreamClient({ ...PATIENT, connectMs: 500 });
    const error = await ask(client, stranger.url).catch((each: unknown) => each);
    expect(error).toMatchObject({ code });
    expect(isUnsent(error, null)).toBe(true);
    await until("nothing is left open", () => stranger.open.size === 0);
  });

  test("because nobody is there, or nobody of that name", async () => {
    const gone = await openRawServer(() => {});
    await gone[Symbol.asyncDispose]();
    using client = new UpstreamClient(PATIENT);
    const error = await ask(client, gone.url).catch((each: unknown) => each);
    expect(error).toMatchObject({ code: "ECONNREFUSED" });
    expect(isUnsent(error, null)).toBe(true);
    const nobody = await ask(client, new URL("http://nobody.invalid/")).catch((each: unknown) => each);
    expect(isUnsent(nobody, null)).toBe(true);
  });

  test("because whoever asks hangs up while it is being connected", async () => {
    await using stranger = await openStranger(() => {});
    using client = new UpstreamClient(PATIENT);
    const leaving = new AbortController();
    const asking = ask(client, stranger.url, { signal: leaving.signal });
    await until("it is connected", () => stranger.open.size === 1);
    const reason = new Error("not any more");
    leaving.abort(reason);
    const error = await asking.catch((each: unknown) => each);
    expect(error).toMatchObject({ code: "given_up", cause: reason });
    expect(isUnsent(error, null)).toBe(true);
    await until("it is hung up on", () => stranger.open.size === 0);
  });
});

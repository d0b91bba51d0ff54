import { once } from "node:events";
import { type AddressInfo, createServer, type Socket } from "node:net";
import { bodyOfAnswer } from "../../../src/gateway/received.js";
import { Upstream } from "../../../src/gateway/upstream.js";
import type { UpstreamClient, UpstreamTimeLimits } from "../../../src/gateway/upstream-client.js";

/** One request as it came, and how to answer it with whatever bytes. */
export interface Asked {
  /** All of it. */
  readonly text: string;
  readonly socket: Socket;
  /** Which one it is on this server, and which on its connection; the first is 1. */
  readonly nth: number;
  readonly nthHere: number;
}

/** A provider that writes what no server would. */
export async function openRawServer(answer: (asked: Asked) => void) {
  const sockets = new Set<Socket>();
  const seen = { connections: 0, requests: 0, closed: 0 };
  const listening = createServer({ noDelay: true }, (socket) => {
    seen.connections++;
    sockets.add(socket);
    socket.on("error", () => {});
    socket.on("close", () => {
      seen.closed++;
      sockets.delete(socket);
    });
    let text = "";
    let nthHere = 0;
    socket.on("data", (bytes) => {
      if (server.early !== null) return server.early(socket);
      text += bytes.toString("latin1");
      const end = endOf(text);
      if (end === null) return;
      const asked = text.slice(0, end);
      text = text.slice(end);
      nthHere++;
      seen.requests++;
      answer({ text: asked, socket, nth: seen.requests, nthHere });
    });
  });
  listening.listen(0, "127.0.0.1");
  await once(listening, "listening");
  const { port } = listening.address() as AddressInfo;
  const server = {
    seen,
    port,
    url: new URL(`http://127.0.0.1:${port}/v1/ask`),
    /** How many connections are open. */
    open: () => sockets.size,
    /** Writes on all of them, or hangs up. */
    each: (act: (socket: Socket) => void) => {
      for (const socket of sockets) act(socket);
    },
    [Symbol.asyncDispose]: async () => {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => listening.close(resolve));
    },
    /** Answers before a request is whole. */
    early: null as ((socket: Socket) => void) | null,
  };
  return server;
}

/** Where the first request in a text ends; null if it is not whole. */
function endOf(text: string): number | null {
  const head = text.indexOf("\r\n\r\n");
  if (head < 0) return null;
  const [, length = "0"] = /\r\ncontent-length: (\d+)\r\n/.exec(text.slice(0, head + 2)) ?? [];
  const end = head + 4 + Number(length);
  return text.length < end ? null : end;
}

/** Time enough for whatever is not about time. */
export const PATIENT: UpstreamTimeLimits = { answerMs: 60_000, silenceMs: 60_000 };

export interface Question {
  readonly body?: string | null;
  readonly headers?: Record<string, string | string[]>;
  readonly signal?: AbortSignal;
  readonly upstream?: Upstream;
}

const upstreams = new Map<string, Upstream>();

/** The provider at an address. */
function upstreamAt(url: URL): Upstream {
  const known = upstreams.get(url.origin) ?? new Upstream({ name: "test", url: url.href });
  upstreams.set(url.origin, known);
  return known;
}

/** Sends a request. */
export function send(client: UpstreamClient, url: URL, question: Question = {}) {
  const { body = "{}", headers = {}, signal = NEVER, upstream = upstreamAt(url) } = question;
  return client.send(upstream, { method: body === null ? "GET" : "POST", url, headers, body }, signal);
}

const NEVER = new AbortController().signal;

/** Sends a request, and reads the whole of its answer. */
export async function ask(client: UpstreamClient, url: URL, question: Question = {}) {
  const received = await send(client, url, question);
  const { status, headers } = received;
  const body = await bodyOfAnswer(received, 1e9);
  return { status, headers, body: body?.toString("latin1") ?? null };
}

/** An answer written out. */
export function answer(headers: readonly string[], body = "", status = "200 OK"): string {
  return `HTTP/1.1 ${status}\r\n${headers.map((header) => `${header}\r\n`).join("")}\r\n${body}`;
}

/** A whole answer with this body. */
export function said(body: string, ...headers: readonly string[]): string {
  return answer([`content-length: ${body.length}`, ...headers], body);
}

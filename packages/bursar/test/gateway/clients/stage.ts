import { createServer } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { connect as connectSecure } from "node:tls";
import { fileURLToPath } from "node:url";
import { describeMalformed } from "../../../src/gateway/answers.js";
import { ClientRequest } from "../../../src/gateway/client-request.js";
import { readTls } from "../../../src/gateway/options.js";
import { HttpServer, type HttpServerOptions } from "../../../src/http/http-server.js";
import { openRaw, type RawConnection, rawOn } from "../raw.js";

export const TLS = readTls(
  fileURLToPath(new URL("../tls/cert.pem", import.meta.url)),
  fileURLToPath(new URL("../tls/key.pem", import.meta.url)),
);
/** Nothing of what is promised depends on whether it is secret. */
export const BOTH = [
  ["plain", null],
  ["with TLS", TLS],
] as const;

interface StageOptions extends Omit<HttpServerOptions, "describeMalformed"> {
  readonly silence_ms: number;
}

const OPTIONS: StageOptions = {
  host: "127.0.0.1",
  port: 0,
  tls: null,
  url: null,
  connections_per_address: 10_000,
  connections: 100,
  header_bytes: 16 * 1024,
  request_ms: 60_000,
  silence_ms: 60_000,
};

/** A request as it was read. */
export interface Read {
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, unknown>>;
  /** Null when it was too long. */
  readonly body: string | null;
}

/** Answers with what it was asked. */
async function echo(asked: ClientRequest): Promise<void> {
  const body = await asked.body(64 * 1024 * 1024);
  const { method, url, headers } = asked;
  const read: Read = { method, url, headers, body: body?.toString("latin1") ?? null };
  asked.reply.answer(200, { "content-type": "application/json" }, Buffer.from(JSON.stringify(read)));
}

/** Listens as the gateway does, and gives every request to somebody. */
export async function openClients(
  answer: (asked: ClientRequest) => void | Promise<void> = echo,
  options: Partial<StageOptions> = {},
) {
  const failed: unknown[] = [];
  const settings = { ...OPTIONS, ...options, describeMalformed };
  const clients = new HttpServer(settings, (incoming, response) => {
    const answered = async () => await answer(new ClientRequest(incoming, response, settings.silence_ms));
    answered().catch((error: unknown) => failed.push(error));
  });
  await clients.listen();
  const { url } = clients;
  if (url === null) throw new Error("it does not listen");
  return { clients, url, failed, [Symbol.asyncDispose]: () => clients.close(0) };
}

/** A raw connection, or a secure one where that is spoken; the certificate is nobody's concern here. */
export function openTo(url: string): Promise<RawConnection> {
  const { protocol, port } = new URL(url);
  if (protocol === "http:") return openRaw(url);
  return rawOn(connectSecure({ port: Number(port), host: "127.0.0.1", rejectUnauthorized: false }), "secureConnect");
}

/** The sockets of those who are connected: they show without a clock what would take long to see from outside. */
export function connectedTo(server: unknown): readonly Socket[] {
  const { clients } = server as { readonly clients: { readonly connections: ReadonlyMap<Socket, unknown> } };
  return [...clients.connections.keys()];
}

export function wait(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

/** A server of Node's that does the same. */
export async function openNode() {
  const server = createServer({ maxHeaderSize: 16 * 1024 }, (incoming, response) => {
    const pieces: Buffer[] = [];
    incoming.on("data", (piece: Buffer) => pieces.push(piece));
    incoming.on("end", () => {
      const { method = "", url = "", headers } = incoming;
      const read: Read = { method, url, headers, body: Buffer.concat(pieces).toString("latin1") };
      response.end(JSON.stringify(read));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** Writes these pieces one by one, and gives all that came back when the other side has closed. */
export async function tell(url: string, pieces: readonly string[]): Promise<string> {
  using connection = await openRaw(url);
  connection.socket.setNoDelay(true);
  for (const piece of pieces) {
    connection.write(Buffer.from(piece, "latin1"));
    if (pieces.length > 1) await new Promise((resolve) => setImmediate(resolve));
  }
  return await connection.closed;
}

/** What the answers of `echo` say was read, one after the other; those that refuse are left out. */
export function readsIn(answers: string): readonly Read[] {
  const parts = answers.split(/HTTP\/1\.1 200 OK\r\n/).slice(1);
  return parts.map((part) => {
    const [text = "null"] =
      /\{"method":[^\0]*?\}(?=(?:\r\n|HTTP\/1\.1|$))/.exec(part.slice(part.indexOf("\r\n\r\n"))) ?? [];
    return JSON.parse(text) as Read;
  });
}

/** The only request that was read; null where none was. */
export function readIn(answer: string): Read | null {
  return readsIn(answer)[0] ?? null;
}

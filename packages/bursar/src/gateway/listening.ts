import { createServer, type RequestListener, type Server } from "node:http";
import { createServer as createSecureServer } from "node:https";
import type { AddressInfo, Server as TcpServer } from "node:net";
import { InputError } from "../core/errors.js";
import { Connections } from "./connections.js";
import { stopAfter } from "./leaving.js";

/** Where somebody listens, and how much of whoever asks is put up with. */
export interface ListeningOptions {
  readonly host: string;
  readonly port: number;
  readonly tls: { readonly cert: string; readonly key: string } | null;
  /** The longest headers, in bytes. */
  readonly header_bytes: number;
  /** How long a client may take to send its request. */
  readonly request_ms: number;
  /** How many connections at once, in all and from one address. */
  readonly connections: number;
  readonly connections_per_address: number;
  /** Where clients find it, if that is not the address it listens on. */
  readonly url: string | null;
}

/** How often it looks for clients that are too slow. */
const LOOK_MS = 5000;

/** Longer than most clients keep a connection they do not use, so that none is closed while they are about to. */
const KEEP_ALIVE_MS = 65_000;

/** A port that is listened on, for HTTP or HTTPS, and those who are connected to it. */
export class Listening {
  private readonly options: ListeningOptions;
  private readonly server: Server;
  private readonly clients: Connections;

  constructor(options: ListeningOptions, listener: RequestListener) {
    const { tls, header_bytes, request_ms } = options;
    this.options = options;
    const limits = {
      maxHeaderSize: header_bytes,
      requestTimeout: request_ms,
      headersTimeout: request_ms,
      connectionsCheckingInterval: Math.min(request_ms, LOOK_MS),
    };
    this.server =
      tls === null
        ? createServer(limits, listener)
        : certified(() => createSecureServer({ ...limits, ...tls }, listener));
    this.server.keepAliveTimeout = KEEP_ALIVE_MS;
    this.clients = new Connections(this.server, tls !== null, options);
  }

  /** Where clients find it; null as long as it does not listen. */
  get url(): string | null {
    return addressOf(this.server, this.options);
  }

  listen(): Promise<void> {
    return listenOn(this.server, this.options);
  }

  /** Takes no more connections, and waits for answers under way; who has none after so long is hung up on. */
  async close(within_ms: number): Promise<void> {
    const closed = new Promise<void>((resolve) => this.server.close(() => resolve()));
    this.clients.close();
    using _patience = stopAfter(this.clients.sockets, within_ms);
    await closed;
  }
}

/** Where clients find a server; null as long as it does not listen. */
export function addressOf(server: TcpServer, { host, tls, url }: ListeningOptions): string | null {
  const address = server.address() as AddressInfo | null;
  if (address === null) return null;
  if (url !== null) return url;
  const name = host.includes(":") ? `[${host}]` : host;
  return `${tls === null ? "http" : "https"}://${name}:${address.port}`;
}

export function listenOn(server: TcpServer, { host, port }: ListeningOptions): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, host, () => {
      server.off("error", reject);
      resolve();
    });
  });
}

/** Makes a server that needs a certificate. */
export function certified<Made>(make: () => Made): Made {
  try {
    return make();
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new InputError("tls", `is no certificate with its key, as PEM texts: ${why}`);
  }
}

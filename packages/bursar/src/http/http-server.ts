import { createServer, type RequestListener, type Server, type ServerOptions } from "node:http";
import { createServer as createSecureServer } from "node:https";
import type { AddressInfo } from "node:net";
import { InputError } from "../core/errors.js";
import { ClientConnections } from "./client-connections.js";
import { stopAfter } from "./client-gone.js";

/** Where a server listens, and what it accepts from clients. */
export interface HttpServerOptions {
  readonly host: string;
  readonly port: number;
  readonly tls: { readonly cert: string; readonly key: string } | null;
  /** The longest headers, in bytes. */
  readonly header_bytes: number;
  /** How long a client may take to send its request, or to complete the TLS handshake. */
  readonly request_ms: number;
  /** How many connections at once, in all and from one address. */
  readonly connections: number;
  readonly connections_per_address: number;
  /** Where clients find it, if that is not the address it listens on. */
  readonly url: string | null;
  /** The body of the answer to bytes that are no request, as JSON. */
  readonly describeMalformed: (message: string) => string;
}

/** How late a request whose time is over may be refused: a share of that time, and at most. */
const [LATE_SHARE, MOST_LATE_MS] = [0.1, 500];

/** Longer than most clients keep a connection they do not use, so that none is closed while they are about to. */
const KEEP_ALIVE_MS = 65_000;

/**
 * A server of `node:http` or `node:https` with limits: `bursar serve` and `bursar gateway` listen with it. Clients that are too slow, too
 * many or not understood are refused; idle connections make room for new ones; requests of one connection are served one at a time.
 */
export class HttpServer {
  private readonly options: HttpServerOptions;
  private readonly server: Server;
  private readonly clients: ClientConnections;

  constructor(options: HttpServerOptions, listener: RequestListener) {
    const { tls, header_bytes, request_ms } = options;
    this.options = options;
    const limits: ServerOptions = {
      maxHeaderSize: header_bytes,
      requestTimeout: request_ms,
      headersTimeout: request_ms,
      connectionsCheckingInterval: Math.max(1, Math.min(MOST_LATE_MS, request_ms * LATE_SHARE)),
      keepAliveTimeout: KEEP_ALIVE_MS,
      noDelay: true,
      // Checked with everything else that has to be there once.
      requireHostHeader: false,
      insecureHTTPParser: false,
    };
    this.server =
      tls === null
        ? createServer(limits)
        : certified(() => createSecureServer({ ...limits, ...tls, handshakeTimeout: request_ms }));
    // More are refused and not dropped unseen.
    this.server.maxHeadersCount = 0;
    this.clients = new ClientConnections(this.server, { ...options, isSecure: tls !== null, listener });
  }

  /** Where clients find it; null as long as it does not listen. */
  get url(): string | null {
    const { host, tls, url } = this.options;
    const address = this.server.address() as AddressInfo | null;
    if (address === null) return null;
    if (url !== null) return url;
    const name = host.includes(":") ? `[${host}]` : host;
    return `${tls === null ? "http" : "https"}://${name}:${address.port}`;
  }

  listen(): Promise<void> {
    const { host, port } = this.options;
    return new Promise((resolve, reject) => {
      this.server.once("error", reject);
      this.server.listen(port, host, () => {
        this.server.off("error", reject);
        resolve();
      });
    });
  }

  /** Accepts no more connections and waits for requests under way; after this time the others are told that it is stopped. */
  async close(withinMs: number): Promise<void> {
    const closed = new Promise<void>((resolve) => this.server.close(() => resolve()));
    this.clients.close();
    using _patience = stopAfter(this.clients.all, withinMs);
    await closed;
  }
}

function certified(createWithCertificate: () => Server): Server {
  try {
    return createWithCertificate();
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new InputError("tls", `is no certificate with its key, as PEM texts: ${why}`);
  }
}

/// <reference lib="esnext.disposable" preserve="true" />
// The public face of `bursar/gateway`: hard budgets for clients of any language, by a base address.

import { createServer, type IncomingMessage, type RequestListener, type Server, type ServerResponse } from "node:http";
import { createServer as createSecureServer, type ServerOptions } from "node:https";
import type { AddressInfo } from "node:net";
import { InputError } from "../core/errors.js";
import { Meter } from "../models/meter/meter.js";
import { Gate } from "../runtime/gate.js";
import { Connections } from "./connections.js";
import { KeyRing } from "./key-ring.js";
import { Keys } from "./keys.js";
import { type GatewayOptions, readSettings, type Settings } from "./options.js";
import { Requests } from "./requests.js";
import { Sender } from "./sender.js";

export { type CreateKeyOptions, type GatewayKey, KeyError, Keys, type NewKey } from "./keys.js";
export { type GatewayOptions, readTls } from "./options.js";
export type { Served } from "./served.js";
export type { Home, UpstreamOptions } from "./upstream.js";

/**
 * A reverse proxy that speaks the protocols of OpenAI and Anthropic. Clients give it as their base address, with a key of its own in
 * place of the provider's; every request is paid for by the budget behind that key, and one that does not fit is not sent.
 *
 * @example
 * ```ts
 * await using gateway = await openGateway({
 *   store: await openStore("sqlite:bursar.db"),
 *   upstreams: [{ name: "openai", url: "https://api.openai.com/v1", key: process.env.OPENAI_API_KEY }],
 * });
 * console.log(`OPENAI_BASE_URL=${gateway.url}/v1`);
 * ```
 */
export class Gateway implements AsyncDisposable {
  readonly keys: Keys;
  private readonly settings: Settings;
  private readonly server: Server;
  private readonly gate: Gate;
  private readonly sender: Sender;
  private readonly requests: Requests;
  private readonly connections: Connections;

  constructor(settings: Settings, sender: Sender) {
    const { store, wait_ms, timer } = settings;
    this.settings = settings;
    this.keys = new Keys(store);
    this.gate = new Gate({ store, ...(wait_ms !== null && { wait_ms }), ...(timer !== null && { timer }) });
    this.sender = sender;
    this.requests = new Requests({
      ...{ settings, gate: this.gate, sender, meter: new Meter(settings.meter) },
      ring: new KeyRing(this.keys, store.clock),
      base: () => this.url,
    });
    this.server = this.createServer();
    this.connections = new Connections(this.server, settings.tls !== null);
  }

  /** Where clients find it, without `/v1`. */
  get url(): string {
    const { host, tls, url } = this.settings;
    const address = this.server.address() as AddressInfo | null;
    if (address === null) throw new Error("the gateway does not listen; open it with openGateway()");
    if (url !== null) return url;
    const name = host.includes(":") ? `[${host}]` : host;
    return `${tls === null ? "http" : "https"}://${name}:${address.port}`;
  }

  listen(): Promise<void> {
    const { host, port } = this.settings;
    return new Promise((resolve, reject) => {
      this.server.once("error", reject);
      this.server.listen(port, host, () => {
        this.server.off("error", reject);
        resolve();
      });
    });
  }

  /**
   * Takes no more requests and waits for those under way; who is still not done after the time he is given is hung up on. Each is
   * settled before it is over.
   */
  async close({ within_ms = 10_000 }: { readonly within_ms?: number } = {}): Promise<void> {
    const { requests, server } = this;
    requests.closing = true;
    const closed = new Promise<void>((resolve) => server.close(() => resolve()));
    this.connections.close();
    const patience = setTimeout(() => server.closeAllConnections(), within_ms);
    await closed;
    clearTimeout(patience);
    await requests.settled();
    this.sender[Symbol.dispose]();
    this.gate[Symbol.dispose]();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close({ within_ms: 0 });
  }

  private createServer(): Server {
    const { tls, header_bytes, request_ms, connections } = this.settings;
    const limits = {
      ...{ maxHeaderSize: header_bytes, requestTimeout: request_ms, headersTimeout: request_ms },
      connectionsCheckingInterval: Math.min(request_ms, LOOK_MS),
    };
    const listener = (incoming: IncomingMessage, response: ServerResponse) => {
      void this.requests.serve(incoming, response);
    };
    const server = tls === null ? createServer(limits, listener) : secured({ ...limits, ...tls }, listener);
    server.maxConnections = connections;
    server.keepAliveTimeout = KEEP_ALIVE_MS;
    return server;
  }
}

function secured(options: ServerOptions, listener: RequestListener): Server {
  try {
    return createSecureServer(options, listener);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new InputError("tls", `is no certificate with its key, as PEM texts: ${why}`);
  }
}

/** How often it looks for clients that are too slow. */
const LOOK_MS = 5000;

/** Longer than most clients keep a connection they do not use, so that none is closed while they are about to. */
const KEEP_ALIVE_MS = 65_000;

/** Opens a gateway, which listens when this returns. */
export async function openGateway(options: GatewayOptions): Promise<Gateway> {
  const settings = readSettings(options);
  const { answer_ms, silence_ms } = settings;
  const gateway = new Gateway(settings, await Sender.open({ answer_ms, silence_ms }));
  await gateway.listen();
  return gateway;
}

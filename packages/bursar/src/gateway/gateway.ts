/// <reference lib="esnext.disposable" preserve="true" />
// The public face of `bursar/gateway`: hard budgets for clients of any language, by a base address.

import type { IncomingMessage, ServerResponse } from "node:http";
import { InputError, show } from "../core/errors.js";
import { isDiscarding } from "../http/discard-input.js";
import { HttpServer } from "../http/http-server.js";
import { Meter } from "../models/meter/meter.js";
import { keepSites } from "../models/reservations/sites.js";
import type { Store } from "../ports/store.js";
import { Gate } from "../runtime/gate.js";
import { describeMalformed } from "./answers.js";
import { ClientRequest } from "./client-request.js";
import { KeyRing } from "./key-ring.js";
import { Keys } from "./keys.js";
import { type GatewayOptions, type MountOptions, readSettings, type Settings } from "./options.js";
import { Requests } from "./requests.js";
import { UpstreamClient } from "./upstream-client.js";

export { type CreateKeyOptions, type GatewayKey, KeyError, Keys, type NewKey } from "./keys.js";
export { type GatewayOptions, type MountOptions, readTls } from "./options.js";
export type { Served } from "./served.js";
export type { Home, UpstreamOptions } from "./upstream.js";
export type { UpstreamTls } from "./upstream-client.js";

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
  /** What the paths begin with that it serves, for whoever serves others too. */
  readonly prefixes: readonly string[];
  private readonly base: () => string;
  /** Null when somebody else listens for it. */
  private readonly server: HttpServer | null;
  private readonly store: Store;
  private readonly gate: Gate;
  private readonly client: UpstreamClient;
  private readonly silenceMs: number;
  private readonly requests: Requests;

  constructor(settings: Settings, meter: Meter, client: UpstreamClient, elsewhere: (() => string) | null) {
    const { store, wait_ms, timer, upstreams } = settings;
    this.store = store;
    this.keys = new Keys(store);
    this.prefixes = ["/v1", "/bursar", ...upstreams.map(({ name }) => `/${name}`)];
    this.gate = new Gate({ store, ...(wait_ms !== null && { wait_ms }), ...(timer !== null && { timer }) });
    this.client = client;
    this.silenceMs = settings.silence_ms;
    this.server =
      elsewhere === null
        ? new HttpServer(
            { ...settings, describeMalformed },
            (incoming, response) => void this.handle(incoming, response),
          )
        : null;
    this.base = elsewhere ?? (() => this.server?.url ?? missing());
    this.requests = new Requests({
      settings,
      gate: this.gate,
      client,
      meter,
      base: this.base,
      ring: new KeyRing(this.keys, store.clock),
    });
  }

  /** Where clients find it, without `/v1`. */
  get url(): string {
    return this.base();
  }

  /** Listens, unless somebody else does. */
  async listen(): Promise<void> {
    await this.server?.listen();
  }

  /** Serves one request. It is settled, and the client has its answer or has left, when this is. */
  async handle(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    // Its client was told that the connection is closed: an answer would not reach it, and the call would be charged.
    if (isDiscarding(incoming.socket)) return;
    return this.requests.serve(new ClientRequest(incoming, response, this.silenceMs));
  }

  /**
   * Takes no more requests and waits for those under way; who is still not done after the time he is given is hung up on. Each is
   * settled before it is over. Where somebody else listens, it is up to him to hang up.
   */
  async close({ within_ms = 10_000 }: { readonly within_ms?: number } = {}): Promise<void> {
    this.requests.closing = true;
    await this.server?.close(within_ms);
    await this.requests.settled();
    await keepSites(this.store);
    this.client[Symbol.dispose]();
    this.gate[Symbol.dispose]();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close({ within_ms: 0 });
  }
}

function missing(): never {
  throw new Error("the gateway does not listen; open it with openGateway()");
}

/** Opens a gateway, which listens when this returns. */
export async function openGateway(options: GatewayOptions): Promise<Gateway> {
  const gateway = await gatewayFor(options, null);
  await gateway.listen();
  return gateway;
}

/**
 * A gateway that listens nowhere: whoever does hands it the requests that are meant for it, with `handle()`.
 *
 * @example
 * ```ts
 * const gateway = await mountGateway({ store, upstreams, url: () => "http://127.0.0.1:8787" });
 * const server = createServer((incoming, response) => void gateway.handle(incoming, response));
 * ```
 */
export function mountGateway({ url, ...options }: MountOptions): Promise<Gateway> {
  if (typeof url !== "function") throw new InputError("url", `is ${show(url)}; allowed: a function that gives it`);
  return gatewayFor(options, url);
}

async function gatewayFor(options: GatewayOptions, elsewhere: (() => string) | null): Promise<Gateway> {
  const settings = readSettings(options);
  const { answer_ms, silence_ms } = settings;
  const meter = new Meter(settings.meter);
  await meter.checkTiers();
  return new Gateway(settings, meter, new UpstreamClient({ answerMs: answer_ms, silenceMs: silence_ms }), elsewhere);
}

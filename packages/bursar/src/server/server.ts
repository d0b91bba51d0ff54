/// <reference lib="esnext.disposable" preserve="true" />
// The public face of `bursar/server`: everything that people and programs reach over HTTP.

import { InputError } from "../core/errors.js";
import { Keys } from "../gateway/keys.js";
import { HttpServer } from "../http/http-server.js";
import { openServerChain } from "../runtime/server-chain.js";
import { Feed } from "../views/views.js";
import { approvalRoutes } from "./approval-routes.js";
import { budgetRoutes } from "./budget-routes.js";
import { chainRoutes } from "./chain-routes.js";
import { Changes } from "./changes.js";
import { estimateRoutes } from "./estimate-routes.js";
import { eventRoutes } from "./event-routes.js";
import { Failures } from "./failures.js";
import { Hosts } from "./hosts.js";
import { keyRoutes } from "./key-routes.js";
import { loginRoutes } from "./login-routes.js";
import { Metrics } from "./metrics.js";
import { readServerSettings, type ServerOptions, type ServerSettings } from "./options.js";
import { Pace } from "./pace.js";
import { Page } from "./page.js";
import { Requests } from "./requests.js";
import { type Route, Routes } from "./route.js";
import { runRoutes } from "./run-routes.js";
import { Shared } from "./shared.js";
import { machineRoutes, stateRoutes } from "./state-routes.js";
import { Streams } from "./streams.js";
import { tokenRoutes } from "./token-routes.js";
import { Tokens } from "./tokens.js";
import { Visitors } from "./visitors.js";
import { viewOf, type World } from "./world.js";

export { SERVER_CHAIN } from "../runtime/server-chain.js";
export type {
  KnownHandler,
  Mount,
  ServedRequest,
  ServerOptions,
  ShownSandbox,
  WantedProgram,
  WantedRun,
} from "./options.js";
export type { Rate } from "./pace.js";
export { type CreateTokenOptions, type NewToken, ROLES, type Role, type Token, TokenError, Tokens } from "./tokens.js";

export { OWNER } from "./visitors.js";

/** Who guesses tokens gets so far: ten at once, and then one every six seconds. */
const STRICT = { burst: 10, per_second: 1 / 6 };
const HEADER_BYTES = 16 * 1024;
const REQUEST_MS = 60_000;

/**
 * A server for people and programs: an API over HTTP with live updates, the page, and what is mounted beside them.
 *
 * @example
 * ```ts
 * await using server = await openServer({ store, bursar, page: "apps/web/dist" });
 * console.log(server.url);
 * ```
 */
export class Server implements AsyncDisposable {
  readonly tokens: Tokens;
  private readonly listening: HttpServer;
  private readonly requests: Requests;
  private readonly world: World;
  private readonly ending = new AbortController();
  private readonly feed: Feed;
  /** Whether the feed is nobody else's. */
  private readonly ownsFeed: boolean;

  constructor(settings: ServerSettings, page: Page | null) {
    const { bursar, host, timer, tls, url, demanding, onError, rate } = settings;
    this.ownsFeed = settings.feed === null;
    this.feed = settings.feed ?? new Feed({ store: settings.store, timer, failed: onError });
    // What the server itself writes is told at once.
    const { store } = this.feed;
    this.tokens = new Tokens(store);
    const visitors = new Visitors(store, this.tokens, { demanding, secure: isSecure(settings) });
    this.world = {
      settings,
      store,
      bursar,
      visitors,
      tokens: this.tokens,
      keys: new Keys(store),
      metrics: new Metrics(),
      failures: new Failures(store),
      ending: this.ending.signal,
      strict: new Pace(STRICT, store.clock),
      streams: new Streams(visitors, timer, onError),
      changes: new Changes(this.feed, timer),
      views: new Shared(async (id) => JSON.stringify(await viewOf({ store, bursar }, id))),
    };
    const routes = new Routes(routesOf(this.world));
    const pace = new Pace(rate, store.clock);
    this.requests = new Requests({ world: this.world, routes, hosts: new Hosts(host, url), pace, page });
    this.listening = new HttpServer(
      {
        host,
        port: settings.port,
        tls,
        url,
        header_bytes: HEADER_BYTES,
        request_ms: REQUEST_MS,
        connections: settings.connections,
        connections_per_address: settings.connections_per_address,
        describeMalformed,
      },
      (incoming, response) => void this.requests.serve(incoming, response),
    );
  }

  /** Where clients find it. */
  get url(): string {
    const { url } = this.listening;
    if (url === null) throw new Error("the server does not listen; open it with openServer()");
    return url;
  }

  /** Whether everybody has to show a token. */
  get demanding(): boolean {
    return this.world.settings.demanding;
  }

  listen(): Promise<void> {
    return this.listening.listen();
  }

  /** Takes no more requests, ends the streams of events, and waits for what is under way; who is not done in time is hung up on. */
  async close({ within_ms = 10_000 }: { readonly within_ms?: number } = {}): Promise<void> {
    this.requests.closing = true;
    this.ending.abort();
    this.world.streams.end();
    await this.listening.close(within_ms);
    await this.requests.settled();
    this.world.changes[Symbol.dispose]();
    if (this.ownsFeed) this.feed[Symbol.dispose]();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close({ within_ms: 0 });
  }
}

function routesOf(world: World): readonly Route[] {
  const routes: Route[] = [
    ...loginRoutes(world),
    ...stateRoutes(world),
    ...runRoutes(world),
    ...estimateRoutes(world),
    ...budgetRoutes(world),
    ...chainRoutes(world),
    ...approvalRoutes(world),
    ...keyRoutes(world),
    ...tokenRoutes(world),
    ...eventRoutes(world),
    ...machineRoutes(world, () => routes),
  ];
  return routes;
}

/** Whether browsers reach it over HTTPS, here or at the proxy before it. */
function isSecure({ tls, url }: ServerSettings): boolean {
  return tls !== null || (url?.startsWith("https:") ?? false);
}

/**
 * Opens a server, which listens when this returns. On an address that other machines reach it does not open as long as there is no
 * token that somebody could show.
 */
export async function openServer(options: ServerOptions): Promise<Server> {
  const settings = readServerSettings(options);
  const page = settings.page === null ? null : Page.read(settings.page);
  const server = new Server(settings, page);
  await openServerChain(settings.store);
  if (settings.demanding && !(await server.tokens.has(["operator", "admin"]))) {
    throw new InputError(
      "host",
      `${settings.url ?? settings.host} demands a login, and there is no token of an operator or an admin; ` +
        "make one with `bursar tokens create --name <you> --role admin`",
    );
  }
  await server.listen();
  return server;
}

/** The body of an answer to what is no request. */
function describeMalformed(message: string): string {
  return JSON.stringify({ error: { code: "invalid_input", message, hint: "send a request of HTTP/1.1" } });
}

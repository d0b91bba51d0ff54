import { subscribe } from "node:diagnostics_channel";
import http from "node:http";
import http2 from "node:http2";
import { syncBuiltinESMExports } from "node:module";
import { currentPurse } from "../../runtime/purse.js";
import { BudgetExceededError } from "../meter/budget-exceeded-error.js";
import type { Passage } from "./passage.js";
import type { Providers } from "./providers.js";
import { isUnmeteredCall } from "./route.js";

/**
 * Shuts the ways to a provider that nothing meters: `node:http` and `node:https`, `node:http2`, web sockets, and every request of an
 * `undici`, which includes the redirects of the global `fetch`. Only looking is allowed there. A client that uses them fails with an
 * error that says so; all other hosts are reached as before. What is sent within a metered call passes.
 */
export function shutSideDoors(providers: Providers, passage: Passage): void {
  shutClientRequests(providers);
  shutUndici(providers, passage);
  shutHttp2(providers);
  shutSockets(providers);
  syncBuiltinESMExports();
}

/** A list of names and values, one of pairs, or what Node keeps: pairs by name in lower case. */
type StoredHeaders = readonly unknown[] | Readonly<Record<string, readonly [string, unknown]>> | null | undefined;

interface HeaderStore {
  readonly host?: string;
  _storeHeader?: (this: http.ClientRequest, firstLine: string, headers: StoredHeaders) => void;
}

/**
 * Every request of `node:http` and `node:https` writes its head here, however it was made and whatever agent carries it, once Node has
 * made its choice among URL, `host` and `hostname`.
 */
function shutClientRequests(providers: Providers): void {
  const prototype = http.ClientRequest.prototype as unknown as HeaderStore;
  const original = prototype._storeHeader;
  if (original === undefined) throw new Error("this version of Node.js has no known place to watch node:http at");
  prototype._storeHeader = function (firstLine, headers) {
    const refused = refusedRequest((this as unknown as HeaderStore).host ?? "", firstLine, headers, providers);
    if (refused === null) return original.call(this, firstLine, headers);
    // The error is thrown; a second one, for the connection that is given up, would have no listener.
    this.once("error", () => {});
    this.destroy();
    throw refused;
  };
}

function refusedRequest(
  connected: string,
  firstLine: string,
  headers: StoredHeaders,
  providers: Providers,
): BudgetExceededError | null {
  if (isMetered()) return null;
  const [method = "", path = ""] = firstLine.split(" ");
  const upgrades = headerIn(headers, "upgrade") !== null;
  const named = headerIn(headers, "host");
  // The port stands in the header alone. Where that names another machine, every port of this one counts.
  const isPlain = named !== null && hostnameOf(named) === hostnameOf(connected);
  const hosts = isPlain ? [named] : [named ?? "", ...providers.at(hostnameOf(connected)), connected];
  // To a proxy the path names the host: all of a URL, or host and port for a tunnel.
  if (/^https?:\/\//i.test(path) && URL.canParse(path)) hosts.push(new URL(path).host);
  if (method === "CONNECT") hosts.push(path, path.replace(/:\d+$/, ""));
  for (const host of hosts) {
    if (isUnmeteredCall({ host, method, path, upgrades }, providers)) return shut(`${method} to ${host} by node:http`);
  }
  return null;
}

function hostnameOf(host: string): string {
  return host
    .toLowerCase()
    .replace(/:\d+$/, (port) => (/^\[|^[^:]*:\d+$/.test(host) ? "" : port))
    .replace(/^\[|\]$/g, "");
}

function headerIn(headers: StoredHeaders, wanted: string): string | null {
  if (headers === null || headers === undefined) return null;
  for (const [name, value] of pairsOf(headers)) {
    if (String(name).toLowerCase() === wanted) return String(value);
  }
  return null;
}

function pairsOf(headers: NonNullable<StoredHeaders>): readonly (readonly unknown[])[] {
  if (!Array.isArray(headers)) return Object.values(headers as Readonly<Record<string, readonly unknown[]>>);
  if (headers.some(Array.isArray)) return headers as readonly (readonly unknown[])[];
  return headers.flatMap((name, index) => (index % 2 === 0 ? [[name, headers[index + 1]]] : []));
}

/** What undici tells of a request before it is sent. */
interface UndiciRequest {
  readonly origin?: string | URL;
  readonly method?: string;
  readonly path?: string;
  readonly upgrade?: unknown;
  onError?(error: Error): void;
}

/** The `undici` within Node and the package of that name tell their requests on the same channel. */
function shutUndici(providers: Providers, passage: Passage): void {
  subscribe("undici:request:create", (message) => {
    const { request } = message as { readonly request: UndiciRequest };
    const { method = "", path = "", upgrade } = request;
    // A tunnel is only the way: what is sent through it is told of again.
    if (method === "CONNECT") return;
    const url = `${String(request.origin ?? "").replace(/\/$/, "")}${path}`;
    if (!URL.canParse(url) || passage.admits(method, url)) return;
    const { host } = new URL(url);
    const upgrades = upgrade !== null && upgrade !== undefined && upgrade !== false;
    if (!isUnmeteredCall({ host, method, path, upgrades }, providers)) return;
    const error = shut(`${method} to ${host} by undici, or as a redirect,`);
    // Without a way to stop it, the process ends of this error.
    if (request.onError === undefined) throw error;
    request.onError(error);
  });
}

interface Http2Target {
  readonly hostname?: string;
  readonly host?: string;
  readonly port?: number | string;
}

function shutHttp2(providers: Providers): void {
  const { connect } = http2;
  http2.connect = ((authority: string | URL | Http2Target, ...rest: never[]) => {
    const host = authorityOf(authority);
    if (providers.has(host) && !isMetered()) throw shut(`HTTP/2 to ${host}`);
    const session = connect(authority as string, ...rest);
    const { request } = session;
    session.request = (headers = {}, options) => {
      for (const name of [headers[":authority"], headers.host]) {
        if (name !== undefined && providers.has(String(name)) && !isMetered()) throw shut(`HTTP/2 to ${String(name)}`);
      }
      return request.call(session, headers, options);
    };
    return session;
  }) as typeof connect;
}

function authorityOf(authority: string | URL | Http2Target): string {
  if (typeof authority === "string" || authority instanceof URL) {
    return URL.canParse(String(authority)) ? new URL(String(authority)).host : "";
  }
  const { hostname, host = "", port } = authority ?? {};
  const name = hostname || host;
  return port === undefined || port === "" ? name : `${name}:${port}`;
}

/** Node has web sockets of its own from version 22 on. */
function shutSockets(providers: Providers): void {
  const world = globalThis as { WebSocket?: new (url: string | URL, ...rest: unknown[]) => object };
  const { WebSocket: Original } = world;
  if (Original === undefined) return;
  world.WebSocket = class WebSocket extends Original {
    constructor(url: string | URL, ...rest: unknown[]) {
      const host = URL.canParse(String(url)) ? new URL(url).host : "";
      if (providers.has(host)) throw shut(`a web socket to ${host}`);
      super(url, ...rest);
    }
  };
}

/** Whether a call is being made that is paid for already. */
function isMetered(): boolean {
  return currentPurse()?.metered === true;
}

function shut(what: string): BudgetExceededError {
  return new BudgetExceededError({
    code: "not_governed",
    message: `${what} may cost something and is not metered, so it is not sent`,
    hint: "use a client that sends with the global fetch, or go through the gateway",
  });
}

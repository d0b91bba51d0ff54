import { subscribe } from "node:diagnostics_channel";
import { type EventEmitter, errorMonitor } from "node:events";
import http from "node:http";
import http2 from "node:http2";
import { syncBuiltinESMExports } from "node:module";
import type { Socket } from "node:net";
import { currentPurse } from "../../runtime/purse.js";
import { BudgetExceededError } from "../meter/budget-exceeded-error.js";
import type { Passage } from "./passage.js";
import type { Providers } from "./providers.js";
import { absoluteForm, unmeteredHost } from "./route.js";

/**
 * Shuts the ways to a provider that nothing meters: `node:http` and `node:https`, `node:http2`, web sockets, and every request of an
 * `undici`, which includes the redirects of the global `fetch`. Only looking is allowed there. A client that uses them fails with an
 * error that says so; all other hosts are reached as before. What is sent within a metered call passes.
 */
export function shutSideDoors(providers: Providers, passage: Passage): void {
  shutClientRequests(providers);
  shutUndici(providers, passage);
  shutHttp2(providers, passage);
  shutSockets(providers);
  syncBuiltinESMExports();
}

/** A list of names and values, one of pairs, or what Node keeps: pairs by name in lower case. */
type StoredHeaders = readonly unknown[] | Readonly<Record<string, readonly [string, unknown]>> | null | undefined;

interface HeaderStore {
  readonly host?: string;
  _header?: string | null;
  _storeHeader?: (this: http.ClientRequest, firstLine: string, headers: StoredHeaders) => void;
}

/** What stands for the head of a request that is given up: nothing of such a request is written. */
const NO_HEAD = "\r\n";

/**
 * Every request of `node:http` and `node:https` writes its head here, however it was made and whatever agent carries it, once Node has
 * made its choice among URL, `host` and `hostname`. A request that is refused fails as one that finds no server: with one error event.
 */
function shutClientRequests(providers: Providers): void {
  const prototype = http.ClientRequest.prototype as unknown as HeaderStore;
  const original = prototype._storeHeader;
  if (original === undefined) throw new Error("this version of Node.js has no known place to watch node:http at");
  prototype._storeHeader = function (firstLine, headers) {
    const store = this as unknown as HeaderStore;
    const refused = refusedRequest(store.host ?? "", firstLine, headers, providers);
    if (refused === null) return original.call(this, firstLine, headers);
    store._header = NO_HEAD;
    giveUp(this, refused);
  };
}

/** Fails a request. One that waits for a connection would say so only once it has one, and that may be never. */
function giveUp(request: http.ClientRequest, refused: Error): void {
  let isTold = false;
  request.once(errorMonitor, () => {
    isTold = true;
  });
  request.destroy(refused);
  // Node tells of it by the end of this turn where the agent has opened a connection, and later where there was one.
  setImmediate(() => {
    if (isTold || (request.socket as Socket | null) !== null) return;
    request.onSocket(null as unknown as Socket);
    request.onSocket = (socket: Socket | null) => void socket?.destroy();
  });
}

function refusedRequest(
  connected: string,
  firstLine: string,
  headers: StoredHeaders,
  providers: Providers,
): BudgetExceededError | null {
  if (isMetered()) return null;
  const [method = "", path = ""] = firstLine.split(" ");
  const upgrades = headersIn(headers, "upgrade").length > 0;
  const named = headersIn(headers, "host");
  // The port stands in the header alone. Where that names another machine, every port of this one counts.
  const isPlain = named.length === 1 && hostnameOf(named[0] ?? "") === hostnameOf(connected);
  const hosts = isPlain ? named : [...named, ...providers.at(hostnameOf(connected)), connected];
  const host = unmeteredHost({ hosts, method, path, upgrades }, providers);
  return host === null ? null : shut(`${method} to ${host} by node:http`);
}

function hostnameOf(host: string): string {
  return host
    .toLowerCase()
    .replace(/:\d+$/, (port) => (/^\[|^[^:]*:\d+$/.test(host) ? "" : port))
    .replace(/^\[|\]$/g, "");
}

/** The values of a header, however often it stands there. */
function headersIn(headers: StoredHeaders, wanted: string): readonly string[] {
  const pairs = headers === null || headers === undefined ? [] : pairsOf(headers);
  return pairs.filter(([name]) => String(name).toLowerCase() === wanted).map(([, value]) => String(value));
}

function pairsOf(headers: NonNullable<StoredHeaders>): readonly (readonly unknown[])[] {
  if (!Array.isArray(headers)) return Object.values(headers as Readonly<Record<string, readonly unknown[]>>);
  // Node looks at the first one alone, too.
  if (Array.isArray(headers[0])) return headers as readonly (readonly unknown[])[];
  return headers.flatMap((name, index) => (index % 2 === 0 ? [[name, headers[index + 1]]] : []));
}

/** What undici tells of a request before it is sent. */
interface UndiciRequest {
  readonly origin?: string | URL;
  readonly method?: string;
  readonly path?: string;
  readonly upgrade?: unknown;
  /** What its headers name. */
  readonly host?: string | null;
  /** How it is given up; undici 8 has another name for it than those before. */
  onError?(error: Error): void;
  onResponseError?(error: Error): void;
}

/** The `undici` within Node and the package of that name tell their requests on the same channel. */
function shutUndici(providers: Providers, passage: Passage): void {
  subscribe("undici:request:create", (message) => {
    const { request } = message as { readonly request: UndiciRequest };
    const { method = "", path = "", upgrade, host: named } = request;
    // A tunnel is only the way: what is sent through it is told of again.
    if (method === "CONNECT") return;
    const origin = String(request.origin ?? "").replace(/\/$/, "");
    const url = absoluteForm(path)?.href ?? `${origin}${path}`;
    if (!URL.canParse(url) || passage.admits(request, method, url)) return;
    const upgrades = upgrade !== null && upgrade !== undefined && upgrade !== false;
    const hosts = [
      new URL(url).host,
      ...(named ? [named] : []),
      ...(URL.canParse(origin) ? [new URL(origin).host] : []),
    ];
    const host = unmeteredHost({ hosts, method, path, upgrades }, providers);
    if (host === null) return;
    const error = shut(`${method} to ${host} by undici, or as a redirect,`);
    if (request.onError !== undefined) request.onError(error);
    else if (request.onResponseError !== undefined) request.onResponseError(error);
    // Without a way to stop it, the process ends of this error.
    else throw error;
  });
}

interface Http2Target {
  readonly hostname?: string;
  readonly host?: string;
  readonly port?: number | string;
}

/** A list of names and values, or an object of them. */
type Http2Headers = readonly unknown[] | Readonly<Record<string, unknown>> | null;

interface Http2Sender {
  request: (this: object, headers?: Http2Headers, options?: object) => EventEmitter;
}

/** Sessions are opened as before, because looking is free; each request looks where it goes. */
function shutHttp2(providers: Providers, passage: Passage): void {
  const { connect } = http2;
  const connected = new WeakMap<object, string>();
  let isShut = false;
  http2.connect = ((authority: string | URL | Http2Target, ...rest: never[]) => {
    const session = connect(authority as string, ...rest);
    connected.set(session, authorityOf(authority));
    // All of them have one prototype, which is found nowhere else.
    if (!isShut) shutSessions(Object.getPrototypeOf(session) as Http2Sender, connected, providers, passage);
    isShut = true;
    return session;
  }) as typeof connect;
}

function shutSessions(
  prototype: Http2Sender,
  connected: WeakMap<object, string>,
  providers: Providers,
  passage: Passage,
): void {
  const { request } = prototype;
  prototype.request = function (given, options) {
    const headers = Array.isArray(given) ? given : Object.entries(given ?? {});
    const [method = "GET"] = headersIn(headers, ":method");
    const [path = "/"] = headersIn(headers, ":path");
    const authority = connected.get(this) ?? "";
    const hosts = [...headersIn(headers, ":authority"), ...headersIn(headers, "host"), authority];
    const upgrades = headersIn(headers, ":protocol").length > 0;
    const host = unmeteredHost({ hosts, method, path: method === "CONNECT" ? "" : path, upgrades }, providers);
    if (host === null || passage.admitsHttp2(method, hosts[0] ?? "", path)) return request.call(this, given, options);
    return refusedStream(shut(`${method} to ${host} by HTTP/2`), (signal) =>
      request.call(this, given, { ...options, signal }),
    );
  };
}

/**
 * A stream that fails. Where Node finds a signal that has fired, it sends nothing. Some clients open another connection at once for a
 * request that throws, again and again.
 */
function refusedStream(refused: Error, open: (signal: AbortSignal) => EventEmitter): EventEmitter {
  const stream = open(AbortSignal.abort(refused));
  return stream.once(errorMonitor, (error: Error) => {
    error.message = refused.message;
  });
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

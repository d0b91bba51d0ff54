import { type Dispatcher, EnvHttpProxyAgent, Pool } from "undici";
import { isUnsent } from "../models/meter/answer-status.js";
import { offAbort, onAbort } from "../runtime/abort-listeners.js";
import { type Control, Received } from "./received.js";
import { ConnectionLost, MalformedResponse, NotSent, UpstreamTimeout } from "./upstream-errors.js";

/** One request to a provider. */
export interface UpstreamRequest {
  readonly method: "GET" | "POST";
  readonly url: URL;
  readonly headers: Record<string, string | string[]>;
  readonly body: string | null;
}

/** How a provider is connected to. */
export interface UpstreamOrigin {
  /** Its base address. */
  readonly url: URL;
  /** How many connections at once; null for no limit. */
  readonly connections: number | null;
  readonly tls: UpstreamTls | null;
}

/** PEM texts. */
export interface UpstreamTls {
  /** Certificate authorities that are trusted in place of those of Node. */
  readonly ca?: string;
  /** The certificate that the gateway shows, and its key. */
  readonly cert?: string;
  readonly key?: string;
}

export interface UpstreamTimeLimits {
  /** For how long a provider may not be reached. */
  readonly connectMs?: number;
  /** How long a provider may take until it begins to answer. */
  readonly answerMs: number;
  /** How long it may be silent in the middle of its answer. */
  readonly silenceMs: number;
}

const CONNECT_MS = 10_000;
const MOST_HEADER_BYTES = 16 * 1024;
const PROXY_VARIABLES = ["https_proxy", "HTTPS_PROXY", "http_proxy", "HTTP_PROXY"];

/**
 * Sends requests to providers with undici, on connections that are used again. Nothing is sent twice: a retry is a new call with a
 * reservation of its own. Proxies are those of HTTPS_PROXY, HTTP_PROXY and NO_PROXY.
 */
export class UpstreamClient implements Disposable {
  private readonly limits: Required<UpstreamTimeLimits>;
  private readonly dispatchers = new Map<UpstreamOrigin, Dispatcher>();
  private isClosed = false;

  constructor({ connectMs = CONNECT_MS, ...limits }: UpstreamTimeLimits) {
    this.limits = { connectMs, ...limits };
  }

  /** Sends a request, and gives the response once its headers are there. */
  send(upstream: UpstreamOrigin, request: UpstreamRequest, signal: AbortSignal): Promise<Received> {
    return new Promise((resolve, reject) => {
      if (signal.aborted) throw givenUp(signal.reason);
      if (this.isClosed) throw new NotSent("connect_failed", CLOSED);
      const { method, url, headers, body } = request;
      const dispatcher = this.dispatchers.get(upstream) ?? this.connect(upstream);
      const exchange = new UpstreamExchange(this.limits, signal, resolve, reject);
      if (upstream.connections !== null) exchange.limitWait();
      dispatcher.dispatch(
        { origin: url.origin, path: `${url.pathname}${url.search}`, method, headers, body },
        exchange,
      );
    });
  }

  [Symbol.dispose](): void {
    this.isClosed = true;
    for (const dispatcher of this.dispatchers.values()) void dispatcher.destroy(new ConnectionLost(CLOSED));
    this.dispatchers.clear();
  }

  private connect(upstream: UpstreamOrigin): Dispatcher {
    const { connectMs, answerMs, silenceMs } = this.limits;
    const { tls, connections } = upstream;
    const options = {
      connections,
      pipelining: 1,
      headersTimeout: answerMs,
      bodyTimeout: silenceMs,
      maxHeaderSize: MOST_HEADER_BYTES,
      connect: { timeout: connectMs, ...tls },
    };
    const usesProxy = PROXY_VARIABLES.some((name) => (process.env[name] ?? "") !== "");
    const dispatcher = usesProxy
      ? new EnvHttpProxyAgent({ ...options, ...(tls !== null && { requestTls: tls }) })
      : new Pool(upstream.url.origin, options);
    this.dispatchers.set(upstream, dispatcher);
    return dispatcher;
  }
}

const CLOSED = "the gateway is closed";

/** The client has hung up, or the call has no time left, before anything was sent. */
function givenUp(reason: unknown): NotSent {
  return new NotSent("given_up", "the request was given up before anything was sent", reason);
}

/** One request on its way, and its response on the way back. */
class UpstreamExchange implements Dispatcher.DispatchHandler, Control {
  private readonly limits: Required<UpstreamTimeLimits>;
  private readonly signal: AbortSignal;
  private readonly received = new Received();
  private readonly resolve: (received: Received) => void;
  private readonly reject: (error: unknown) => void;
  private controller: Dispatcher.DispatchController | null = null;
  /** Whether it was given to a connection. */
  private isSent = false;
  private isOver = false;
  private waitLimit: NodeJS.Timeout | null = null;
  private readonly onAborted = () => this.abort(this.isSent ? this.signal.reason : givenUp(this.signal.reason));

  constructor(
    limits: Required<UpstreamTimeLimits>,
    signal: AbortSignal,
    resolve: (received: Received) => void,
    reject: (error: unknown) => void,
  ) {
    this.limits = limits;
    this.signal = signal;
    this.resolve = resolve;
    this.reject = reject;
    onAbort(signal, this.onAborted);
  }

  /** Bounds how long it waits for one of a limited number of connections. */
  limitWait(): void {
    const { answerMs } = this.limits;
    const message = `no connection to the provider was free for ${answerMs} ms`;
    this.waitLimit = setTimeout(() => this.abort(new NotSent("connect_timeout", message)), answerMs).unref();
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.controller = controller;
    this.clearWaitLimit();
    if (this.isOver) controller.abort(givenUp(this.signal.reason));
    else this.isSent = true;
  }

  onResponseStart(
    _controller: Dispatcher.DispatchController,
    status: number,
    headers: Record<string, string | string[] | undefined>,
  ): void {
    // Informational responses are for nobody but the connection.
    if (status < 200) return;
    this.received.begin(status, headers, this);
    this.resolve(this.received);
  }

  onResponseData(_controller: Dispatcher.DispatchController, piece: Buffer): void {
    this.received.push(piece);
  }

  onResponseEnd(): void {
    this.release();
    this.received.end();
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    this.fail(this.isSent ? this.describeLoss(error) : describeUnsent(error));
  }

  pause(): void {
    this.controller?.pause();
  }

  resume(): void {
    this.controller?.resume();
  }

  abort(reason: unknown): void {
    if (this.isOver) return;
    this.fail(reason);
    this.controller?.abort(reason instanceof Error ? reason : new Error("aborted", { cause: reason }));
  }

  private fail(error: unknown): void {
    if (this.isOver) return;
    this.release();
    this.received.fail(error);
    this.reject(error);
  }

  private release(): void {
    this.isOver = true;
    this.clearWaitLimit();
    offAbort(this.signal, this.onAborted);
  }

  private clearWaitLimit(): void {
    if (this.waitLimit !== null) clearTimeout(this.waitLimit);
    this.waitLimit = null;
  }

  /** Why a request failed that was given to a connection. None of these may be read as one that was not sent. */
  private describeLoss(error: Error & { readonly code?: unknown }): Error {
    const { code = "" } = error;
    if (error instanceof ConnectionLost) return error;
    if (code === "UND_ERR_HEADERS_TIMEOUT") return new UpstreamTimeout(this.limits.answerMs);
    if (code === "UND_ERR_BODY_TIMEOUT") return new UpstreamTimeout(this.limits.silenceMs);
    if (error.name === "HTTPParserError" || MALFORMED.has(code) || /^bad (?:response|upgrade)$/.test(error.message)) {
      return new MalformedResponse(error);
    }
    return new ConnectionLost();
  }
}

const MALFORMED: ReadonlySet<unknown> = new Set(["UND_ERR_HEADERS_OVERFLOW", "UND_ERR_RES_CONTENT_LENGTH_MISMATCH"]);

/** Why a request failed before it was given to a connection. */
function describeUnsent(error: Error & { readonly code?: unknown }): Error {
  const { code } = error;
  if (code === "UND_ERR_CONNECT_TIMEOUT")
    return new NotSent("connect_timeout", "the provider was not reached in time", error);
  if (code === "UND_ERR_INVALID_ARG" || code === "UND_ERR_NOT_SUPPORTED")
    return new NotSent("invalid_header", error.message, error);
  if (isUnsent(error, null)) return error;
  return new NotSent("connect_failed", "the provider could not be reached", error);
}

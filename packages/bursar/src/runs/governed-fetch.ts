import { InputError, show } from "../core/errors.js";
import type { Doing } from "./deed.js";
import { RefusedInside, RunError } from "./error.js";

/** `fetch`, with what it sends counted before it is sent. */
export type GovernedFetch = (input: string | URL, init?: RequestInit) => Promise<Response>;

/** A request as it goes out; every redirect makes another one. */
interface Outgoing {
  readonly url: URL;
  readonly method: string;
  readonly headers: Headers;
  /** As a whole, because what is not known cannot be reserved. */
  readonly body: Uint8Array<ArrayBuffer> | null;
}

/**
 * What `fetch` adds to a request by itself: connection, accept, accept-language, accept-encoding, sec-fetch-mode, user-agent,
 * pragma, cache-control and content-length, which are 210 bytes at most. The rest is room for a version that adds another
 * one. What TLS and TCP put around it is not counted.
 */
const ADDED_BYTES = 320;
const MOST_REDIRECTS = 10;
const MOST_BODY_BYTES = 256 * 1024 * 1024;
const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);
/** By this answer a server says that it is the wrong one, and `fetch` sends the request a second time by itself. */
const MISDIRECTED = 421;
/** Meant for the server they were given for, and for no other one. */
const CREDENTIALS = ["authorization", "proxy-authorization", "cookie", "host"];
const ABOUT_THE_BODY = ["content-encoding", "content-language", "content-location", "content-type", "content-length"];

/**
 * The bytes a request sends are reserved first; one that does not fit is not made. Redirects are followed here, because each
 * of them sends everything again. When the tool's call is over, so is everything that it has not waited for.
 */
export function governedFetch(doing: Doing, over: AbortSignal): GovernedFetch {
  return async (input, init = {}) => {
    const signals = [doing.signal, ...(init.signal ? [init.signal] : [])];
    const follows = (init.redirect ?? "follow") === "follow";
    const options: RequestInit = follows ? { ...init, redirect: "manual" } : init;
    let request = await outgoing(input, init, [...signals, over]);
    for (let redirects = 0; ; redirects++) {
      for (const signal of signals) signal.throwIfAborted();
      const response = await send(doing, request, options, [...signals, over]);
      const next = follows ? redirected(request, response) : null;
      if (next === null) return described(readable(response, over, signals), request.url, redirects > 0);
      await response.body?.cancel();
      if (redirects === MOST_REDIRECTS) {
        throw new RunError("redirects", `${show(String(input))} leads to more than ${MOST_REDIRECTS} redirects`);
      }
      request = next;
    }
  };
}

/** Everything that can be wrong with a request is found here, before anything is charged for it. */
async function outgoing(input: string | URL, init: RequestInit, signals: readonly AbortSignal[]): Promise<Outgoing> {
  if (!URL.canParse(String(input))) {
    throw new InputError("url", `is ${show(String(input))}; allowed: a whole address, such as https://example.com/`);
  }
  // The request gives the body the type that goes with it.
  const whole: RequestInit = { ...init, duplex: "half" };
  const { url, method, headers, body } = new Request(input, whole);
  return { url: new URL(url), method, headers, body: body === null ? null : await bytesOf(body, signals) };
}

async function bytesOf(
  body: ReadableStream<Uint8Array>,
  signals: readonly AbortSignal[],
): Promise<Uint8Array<ArrayBuffer>> {
  const pieces: Uint8Array[] = [];
  let size = 0;
  for await (const piece of body.pipeThrough(new TransformStream<Uint8Array, Uint8Array>(), listening(signals))) {
    size += piece.length;
    if (size > MOST_BODY_BYTES) {
      throw new InputError(
        "body",
        `is longer than ${MOST_BODY_BYTES} bytes; allowed: what fits into memory as a whole`,
      );
    }
    pieces.push(piece);
  }
  const whole = new Uint8Array(size);
  let at = 0;
  for (const piece of pieces) {
    whole.set(piece, at);
    at += piece.length;
  }
  return whole;
}

async function send(
  { gate, run, key, inner }: Doing,
  request: Outgoing,
  init: RequestInit,
  signals: readonly AbortSignal[],
): Promise<Response> {
  const { url, method, headers, body } = request;
  const bytes = sizeOf(request, init);
  const gated = await gate.call<Response>(
    {
      budget: run.budget,
      capability_id: "fetch",
      kind: "tool",
      step_id: key,
      call_id: inner(),
      ...listening(signals),
      asked: { steps: 0, network_egress_bytes: bytes },
      inner: true,
    },
    async (signal) => {
      const response = await fetch(url, { ...init, method, headers, body, signal });
      const network_egress_bytes = response.status === MISDIRECTED ? 2 * bytes : bytes;
      return { value: response, usage: { network_egress_bytes } };
    },
  );
  if (gated.kind === "done") return gated.value;
  if (gated.kind === "failed") throw gated.error;
  // Who stops waiting was not refused.
  for (const signal of signals) signal.throwIfAborted();
  throw new RefusedInside(gated.decision, gated.message);
}

/** No fewer bytes than HTTP/1.1 puts on the wire. */
function sizeOf({ url, method, headers, body }: Outgoing, { referrer = "" }: RequestInit): number {
  const line = `${method} ${url.pathname}${url.search} HTTP/1.1\r\n`.length;
  const host = `host: ${url.host}\r\n`.length;
  const from = `referer: ${referrer}\r\n`.length;
  const given = [...headers].reduce((sum, [name, value]) => sum + `${name}: ${value}\r\n`.length, 0);
  return line + host + from + given + ADDED_BYTES + (body?.length ?? 0);
}

/** What a redirect asks for, as browsers understand it; null when the answer is none. */
function redirected({ url, method, headers, body }: Outgoing, { status, headers: told }: Response): Outgoing | null {
  const location = told.get("location");
  if (!REDIRECTS.has(status) || location === null) return null;
  const next = URL.canParse(location, url.href) ? new URL(location, url) : null;
  if (next === null || !["http:", "https:"].includes(next.protocol) || next.username !== "" || next.password !== "") {
    throw new RunError(
      "redirects",
      `${url.origin} redirects to ${show(location)}; allowed: http and https, no password`,
    );
  }
  if (next.hash === "") next.hash = url.hash;
  const kept = new Headers(headers);
  if (next.origin !== url.origin) for (const name of CREDENTIALS) kept.delete(name);
  const asGet = status === 303 ? !["GET", "HEAD"].includes(method) : status < 303 && method === "POST";
  if (!asGet) return { url: next, method, headers: kept, body };
  for (const name of ABOUT_THE_BODY) kept.delete(name);
  return { url: next, method: "GET", headers: kept, body: null };
}

/**
 * The answer, with a body that ends when one of the signals says so: the gate listens no longer than to the headers. What is
 * still read when the call is over stays without an answer, because nobody waits for an error any more.
 */
function readable(response: Response, over: AbortSignal, signals: readonly AbortSignal[]): Response {
  if (response.body === null) return response;
  const body = response.body
    .pipeThrough(new TransformStream<Uint8Array, Uint8Array>(), { signal: over, preventAbort: true })
    .pipeThrough(new TransformStream<Uint8Array, Uint8Array>(), listening(signals));
  return new Response(body, response);
}

/** A response that was made by hand does not know where it comes from. */
function described(response: Response, url: URL, redirected: boolean): Response {
  const clone = response.clone.bind(response);
  const { href } = new URL(url);
  return Object.defineProperties(response, {
    url: { value: href.replace(/#.*$/s, "") },
    redirected: { value: redirected },
    clone: { value: () => described(clone(), url, redirected) },
  });
}

/** A signal that fires with the first of several. */
function listening(signals: readonly AbortSignal[]): { readonly signal: AbortSignal } {
  return { signal: AbortSignal.any([...signals]) };
}

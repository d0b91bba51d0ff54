import { InputError } from "../../core/errors.js";

/** A request that is about to be sent. Its body is not touched until somebody wants to read it. */
export interface Outgoing {
  readonly url: URL;
  readonly method: string;
  readonly signal: AbortSignal | null;
  read(): Written | Promise<Written>;
}

/** A request whose body was read: it is sent from here, because what it was read from is used up. */
export interface Written {
  readonly text: string;
  /** Everything but the body and the signal. */
  readonly init: RequestInit;
}

const MOST_BYTES = 64 * 1024 * 1024;

/** Reads what was given to `fetch`, in any of its forms. */
export function readOutgoing(input: string | URL | Request, init: RequestInit = {}): Outgoing {
  const { body, signal, ...rest } = init;
  if (!(input instanceof Request)) {
    const url = addressOf(input);
    const { method = "GET" } = rest;
    checkArguments(url, rest, signal);
    return { url, method, signal: signal ?? null, read: () => written(url, { ...rest, body: body ?? null, method }) };
  }
  return {
    url: new URL(input.url),
    method: rest.method ?? input.method,
    signal: signal === undefined ? input.signal : signal,
    read: () => rewritten(new Request(input, streamed(init)), rest),
  };
}

/** The plain fetch does not take a password in an address either, but says so, with the password, when the call is paid for. */
function addressOf(input: string | URL): URL {
  const url = new URL(input);
  if (url.username === "" && url.password === "") return url;
  throw new TypeError("a request cannot be sent to an address with a name or a password in it; use a header");
}

/** What everybody gives, and what is looked at by itself. */
const USUAL: ReadonlySet<string> = new Set(["method", "headers"]);

/**
 * The plain fetch makes a request of its arguments, and fails before anything is sent where that cannot be done. Here it is found out
 * before the call is paid for; mostly there is nothing that could be wrong.
 */
function checkArguments(url: URL, { headers: _, ...rest }: RequestInit, signal: RequestInit["signal"]): void {
  const isUsual = Object.keys(rest).every((key) => USUAL.has(key));
  if (!isUsual) new Request(url, rest);
  if (signal !== undefined && signal !== null && !(signal instanceof AbortSignal)) new Request(url, { signal });
}

function written(url: URL, { body, ...rest }: RequestInit): Written | Promise<Written> {
  // What SDKs send is a text, and to make a request of it only to read it again takes longer than all the rest.
  return typeof body === "string" ? { text: body, init: rest } : readWhole(url, { ...rest, body: body ?? null });
}

async function readWhole(url: URL, { body, ...rest }: RequestInit): Promise<Written> {
  const request = new Request(url, streamed({ ...rest, body: body ?? null }));
  // A blob or a form brings its type along, which the text it is sent as does not.
  return { text: await textOf(request), init: { ...rest, headers: request.headers } };
}

async function rewritten(request: Request, rest: RequestInit): Promise<Written> {
  const { headers, method, redirect, referrer, referrerPolicy, credentials, mode, integrity } = request;
  const kept: RequestInit = { headers, method, redirect, referrer, referrerPolicy, credentials, mode, integrity };
  return { text: await textOf(request), init: { ...rest, ...kept } };
}

/** Node wants to be told that a stream is sent while nothing is read. */
export function streamed(init: RequestInit): RequestInit {
  return { ...init, duplex: "half" };
}

/** The whole body as a text, if that is not too long. */
export async function textOf({ body }: Request): Promise<string> {
  if (body === null) return "";
  const decoder = new TextDecoder();
  const reader = (body as ReadableStream<Uint8Array>).getReader();
  let text = "";
  for (let size = 0; ; ) {
    const { done, value } = await reader.read();
    if (done) return text + decoder.decode();
    size += value.length;
    if (size > MOST_BYTES) {
      // Of a copy nobody hears that it is not wanted any more before the other one is not either.
      void reader.cancel().catch(() => {});
      throw new InputError("body", `is longer than ${MOST_BYTES} bytes; send less at once`);
    }
    text += decoder.decode(value, { stream: true });
  }
}

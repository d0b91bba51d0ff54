import { setTimeout as delay } from "node:timers/promises";
import { describeError, PackageError } from "./errors.js";

export type Fetch = typeof globalThis.fetch;

export interface HttpOptions {
  readonly fetch: Fetch;
  readonly signal?: AbortSignal | undefined;
  /** Sent to the index and to nobody else. */
  readonly authorization?: { readonly origin: string; readonly value: string } | undefined;
}

export type HttpAnswer =
  | { readonly kind: "found"; readonly body: Buffer; readonly contentType: string; readonly url: string }
  | { readonly kind: "missing" };

const ATTEMPTS = 3;
const PAUSE_MS = 200;
const TIMEOUT_MS = 60_000;

/**
 * Gets a file over HTTP: a bounded number of bytes, within bounded time, with a second and third try where the network or
 * the server may only have stumbled.
 */
export async function get(url: string, accept: string, limitBytes: number, options: HttpOptions): Promise<HttpAnswer> {
  for (let attempt = 1; ; attempt++) {
    options.signal?.throwIfAborted();
    try {
      return await getOnce(url, accept, limitBytes, options);
    } catch (error) {
      options.signal?.throwIfAborted();
      const isFinal = error instanceof PackageError && error.code !== "source_unreachable";
      if (isFinal || attempt === ATTEMPTS) throw error;
      await delay(PAUSE_MS * attempt, undefined, options.signal === undefined ? {} : { signal: options.signal });
    }
  }
}

/** An address without what follows the question mark, where mirrors put keys that belong into no message and no record. */
export function shownUrl(url: string): string {
  return url.replace(/[?#].*$/s, "");
}

async function getOnce(url: string, accept: string, limitBytes: number, options: HttpOptions): Promise<HttpAnswer> {
  const { authorization } = options;
  const timeout = AbortSignal.timeout(TIMEOUT_MS);
  const signal = options.signal === undefined ? timeout : AbortSignal.any([options.signal, timeout]);
  const isIndex = authorization !== undefined && new URL(url).origin === authorization.origin;
  try {
    const response = await options.fetch(url, {
      headers: { accept, ...(isIndex ? { authorization: authorization.value } : {}) },
      signal,
    });
    if (response.status === 404 || response.status === 410) {
      await response.body?.cancel();
      return { kind: "missing" };
    }
    await checkAnswer(url, response);
    const body = await readBody(url, response, limitBytes);
    return { kind: "found", body, contentType: response.headers.get("content-type") ?? "", url: response.url || url };
  } catch (error) {
    if (error instanceof PackageError) throw error;
    throw new PackageError("source_unreachable", `${shownUrl(url)} cannot be reached: ${describeError(error)}`, {
      cause: error,
    });
  }
}

async function checkAnswer(url: string, response: Response): Promise<void> {
  if (url.startsWith("https:") && response.url.startsWith("http:")) {
    await response.body?.cancel();
    throw new PackageError("source_answer", `${shownUrl(url)} leads to an address without TLS, which is not followed`);
  }
  if (response.ok) return;
  await response.body?.cancel();
  const mayRecover = response.status >= 500 || response.status === 429;
  throw new PackageError(
    mayRecover ? "source_unreachable" : "source_answer",
    `${shownUrl(url)} answers ${response.status} ${response.statusText}`.trimEnd(),
  );
}

async function readBody(url: string, response: Response, limitBytes: number): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  let total = 0;
  for await (const chunk of response.body ?? []) {
    total += chunk.length;
    if (total > limitBytes)
      throw new PackageError("source_answer", `${shownUrl(url)} sends more than ${limitBytes} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks, total);
}

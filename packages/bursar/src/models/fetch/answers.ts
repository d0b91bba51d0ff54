import { STATUS_CODES } from "node:http";
import { BursarError } from "../../core/errors.js";
import { REFUSAL_HEADERS, type RefusalReport, refusalBody, refusalStatus } from "../meter/refusal.js";
import type { AnswerHeaders, WholeAnswer } from "../reuse/whole-answer.js";
import { WholeResponse } from "./whole-response.js";

/** The body is read and written anew, so these no longer describe it. */
const ABOUT_THE_BODY = ["content-encoding", "content-length", "transfer-encoding"];
/** These never have a body, and a response with one cannot be made of them. */
const WITHOUT_BODY: ReadonlySet<number> = new Set([204, 205, 304]);
/** An answer in one piece is kept until the call is settled; thousands of embeddings are far smaller. */
const MOST_BYTES = 256 * 1024 * 1024;

/** The same response with a body of ours. */
export function rebodied(response: Response, body: Uint8Array<ArrayBuffer> | ReadableStream<Uint8Array>): Response {
  const { status, statusText, url } = response;
  const headers = withoutBody(response.headers);
  const isEmpty = WITHOUT_BODY.has(status);
  if (!isEmpty && body instanceof Uint8Array) return new WholeResponse({ status, statusText, headers, url }, body);
  const made = new Response(isEmpty ? null : body, { status, statusText, headers });
  return Object.defineProperty(made, "url", { value: url });
}

/** Headers that say nothing about the body; those that never did are taken as they are. */
function withoutBody(given: Headers): Headers {
  if (!ABOUT_THE_BODY.some((name) => given.has(name))) return given;
  const headers = new Headers(given);
  for (const name of ABOUT_THE_BODY) headers.delete(name);
  return headers;
}

/** An answer that was given to somebody else, or to several at once, as a response of its own. */
export function responseOf({ status, headers, body }: WholeAnswer, url: string, reused: string | null): Response {
  const statusText = STATUS_CODES[status] ?? "";
  const made = new Response(WITHOUT_BODY.has(status) ? null : new Uint8Array(body), { status, statusText });
  for (const [name, value] of Object.entries(headers)) {
    if (!ABOUT_THE_BODY.includes(name)) for (const each of [value].flat()) made.headers.append(name, each);
  }
  if (reused !== null) made.headers.set("x-bursar-reused", reused);
  return Object.defineProperty(made, "url", { value: url });
}

/** A response as it can be given to others. */
export async function answerOf(response: Response): Promise<WholeAnswer> {
  return { status: response.status, headers: headersOf(response), body: await bytesOf(response) };
}

export function headersOf({ headers }: Response): AnswerHeaders {
  return Object.fromEntries(headers);
}

/** The whole body of a response. One that does not end is not read to its end. */
export async function bytesOf({ body }: Response): Promise<Buffer<ArrayBuffer>> {
  const pieces: Uint8Array[] = [];
  if (body === null) return Buffer.concat(pieces);
  const reader = (body as ReadableStream<Uint8Array>).getReader();
  let size = 0;
  // By hand, because to iterate over a stream takes twice as long.
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return Buffer.concat(pieces, size);
    size += value.length;
    if (size > MOST_BYTES) {
      void reader.cancel().catch(() => {});
      throw new BursarError("provider_answer", `the provider answers with more than ${MOST_BYTES} bytes`);
    }
    pieces.push(value);
  }
}

/** What an SDK gets in place of an answer: an error that it shows and does not try again. */
export function refusalResponse(report: RefusalReport): Response {
  return new Response(JSON.stringify(refusalBody(report)), {
    status: refusalStatus(report),
    headers: { ...REFUSAL_HEADERS, "x-bursar-refused": report.code },
  });
}

/**
 * What an SDK gets where the store failed before anything was sent: thrown, it would read as a failure of the network, and the
 * store's own words would be lost. SDKs show these, and try again after 503.
 */
export function storeFailureResponse({ code, message }: BursarError): Response {
  const error = { type: "api_error", code, message: `${message}; nothing was sent`, param: null };
  const headers = { "content-type": "application/json" };
  return new Response(JSON.stringify({ type: "error", error }), { status: 503, headers });
}

/** By its code, because the store may be of another copy of this package. */
export function isStoreFailure(error: unknown): error is BursarError {
  return error instanceof Error && "code" in error && /^store_/.test(String(error.code));
}

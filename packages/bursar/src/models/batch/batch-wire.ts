import type { JsonObject } from "../../core/chain/canonical.js";
import { bodyOf, shortened } from "../chat/response.js";
import { isFree, isUnsent } from "../meter/answer-status.js";
import { parsedObject } from "../wire/json-object.js";
import { KeyScrubber } from "../wire/key-scrubber.js";
import { Patience } from "./patience.js";
import { WireFailure } from "./wire-failure.js";

export interface BatchWireOptions {
  /** The base of all paths, without a slash at its end. */
  readonly base: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly apiKey: string | null;
  /** How long one request may take. */
  readonly timeout_ms: number;
  readonly fetch: typeof fetch;
}

/** No answer of a model is longer; one that does not wait may not be either. */
const LONGEST_LINE = 16 * 1024 * 1024;
const MOST_BYTES = 1024 * 1024 * 1024;
/** Results may take so many times as long as a request, because whoever reads them settles each one meanwhile. */
const RESULTS_REQUESTS = 30;
/** Of these it is certain that nothing was done, and they pass. */
const BUSY: ReadonlySet<number> = new Set([429, 503, 529]);

/** The way to a provider's interface for batches. */
export class BatchWire {
  private readonly options: BatchWireOptions;
  private readonly scrubber: KeyScrubber;

  constructor(options: BatchWireOptions) {
    this.options = options;
    this.scrubber = new KeyScrubber(options.apiKey);
  }

  get(path: string, signal: AbortSignal): Promise<JsonObject> {
    return this.json(path, { method: "GET" }, signal);
  }

  post(path: string, body: JsonObject, signal: AbortSignal, key?: string): Promise<JsonObject> {
    const named = key === undefined ? {} : { "idempotency-key": key };
    const headers = { "content-type": "application/json", ...named };
    return this.json(path, { method: "POST", headers, body: JSON.stringify(body) }, signal);
  }

  upload(path: string, form: FormData, signal: AbortSignal): Promise<JsonObject> {
    return this.json(path, { method: "POST", body: form }, signal);
  }

  /** The objects of a file with one on each line. A line that holds none is passed over. */
  async *lines(path: string, signal: AbortSignal): AsyncGenerator<JsonObject> {
    const { timeout_ms } = this.options;
    using patience = new Patience(timeout_ms);
    const stop = AbortSignal.any([signal, patience.signal, AbortSignal.timeout(RESULTS_REQUESTS * timeout_ms)]);
    patience.begin();
    const { body } = await this.send(path, { method: "GET" }, stop);
    try {
      yield* objectsIn(piecesOf(body, patience), this.scrubber);
    } catch (error) {
      throw error instanceof WireFailure ? error : this.explained(error);
    }
  }

  private async json(path: string, init: RequestInit, signal: AbortSignal): Promise<JsonObject> {
    const stop = AbortSignal.any([signal, AbortSignal.timeout(this.options.timeout_ms)]);
    const response = await this.send(path, init, stop);
    const text = await bodyOf(response).catch((error: unknown) => {
      throw this.explained(error);
    });
    const body = parsedObject(this.scrubber.answer(text));
    if (body !== null) return body;
    throw new WireFailure("unknown", `the provider answered ${response.status} with no object`, response.status);
  }

  private async send(path: string, init: RequestInit, signal: AbortSignal): Promise<Response> {
    const { base, headers, fetch: send, apiKey } = this.options;
    const all = { accept: "application/json", ...headers, ...(init.headers as Record<string, string> | undefined) };
    let response: Response;
    try {
      // Whoever is redirected would carry the key somewhere else.
      response = await send(`${base}${path}`, { ...init, headers: all, redirect: "error", signal });
    } catch (error) {
      throw this.explained(error);
    }
    if (response.ok) return response;
    const said = shortened(await bodyOf(response).catch(() => ""), apiKey);
    const { status } = response;
    const message = `the provider answered ${status}${said === "" ? "" : `: ${said}`}`;
    const kind = BUSY.has(status) ? "busy" : isFree(status) ? "refused" : "unknown";
    throw new WireFailure(kind, message, status);
  }

  private explained(error: unknown): WireFailure {
    const { base, apiKey } = this.options;
    const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
    const why = shortened(cause instanceof Error ? cause.message : String(cause), apiKey);
    const { origin } = new URL(base);
    // What nothing is ever sent to is no better later.
    const kind = isUnsent(error, null) ? "busy" : isUnsent(error, base) ? "refused" : "unknown";
    return new WireFailure(kind, `the connection to ${origin} failed: ${why}`);
  }
}

/** The pieces of a body. Whoever waits too long for one of them gives up; how long he takes himself does not count. */
async function* piecesOf(body: ReadableStream<Uint8Array> | null, patience: Patience): AsyncGenerator<Uint8Array> {
  if (body === null) return;
  const reader = body.getReader();
  let size = 0;
  try {
    for (;;) {
      patience.begin();
      const { done, value } = await reader.read();
      patience.rest();
      if (done) return;
      size += value.length;
      if (size > MOST_BYTES) throw new WireFailure("unknown", "the provider sends results without end");
      yield value;
    }
  } finally {
    patience.rest();
    await reader.cancel().catch(() => {});
  }
}

/** A line that is longer than any answer is passed over as well. */
async function* objectsIn(pieces: AsyncIterable<Uint8Array>, scrubber: KeyScrubber): AsyncGenerator<JsonObject> {
  const decoder = new TextDecoder();
  let line: string[] = [];
  let length = 0;
  const ended = (): JsonObject | null => {
    const object = length > LONGEST_LINE ? null : parsedObject(scrubber.answer(line.join("")));
    line = [];
    length = 0;
    return object;
  };
  for await (const piece of pieces) {
    for (const [index, text] of decoder.decode(piece, { stream: true }).split("\n").entries()) {
      const object = index === 0 ? null : ended();
      if (object !== null) yield object;
      length += text.length;
      if (length <= LONGEST_LINE) line.push(text);
      else line = [];
    }
  }
  line.push(decoder.decode());
  const last = ended();
  if (last !== null) yield last;
}

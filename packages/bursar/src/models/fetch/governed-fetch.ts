import { InputError, show } from "../../core/errors.js";
import { checkKeys } from "../../core/fields.js";
import { deferred } from "../../runtime/deferred.js";
import type { Effected } from "../../runtime/gate.js";
import { currentPurse, type Purse, withPurse } from "../../runtime/purse.js";
import { isFree, isUnsent } from "../meter/answer-status.js";
import { BudgetExceededError } from "../meter/budget-exceeded-error.js";
import {
  type Held,
  Meter,
  type MeteredEffect,
  type MeteredRequest,
  type MeterOptions,
  NOTHING_SENT,
  NOTHING_USED,
} from "../meter/meter.js";
import { invalid, readMetered } from "../meter/metered-request.js";
import type { RefusalReport } from "../meter/refusal.js";
import { isOutOfTime, toldError } from "../meter/told-error.js";
import { checkSiting, type Siting, takeSiting } from "../reservations/siting.js";
import type { ReuseOptions } from "../reuse/options.js";
import { type Reuse, reuseOf } from "../reuse/reuse.js";
import { takeWish, type Wish } from "../tiers/wish.js";
import { parsedObject } from "../wire/json-object.js";
import { protocolFor } from "../wire/protocols.js";
import { bytesOf, headersOf, rebodied, refusalResponse } from "./answers.js";
import { type Outgoing, readOutgoing, type Written } from "./outgoing.js";
import { reused, type Send, type Sent } from "./reused.js";
import { StreamedBody } from "./streamed-body.js";

export interface GovernedFetchOptions extends MeterOptions, Siting {
  /** The budget that pays; the one that a call is made in, unless it is said. */
  readonly budget?: { readonly purse: Purse };
  /** What sends requests: the global `fetch`. */
  readonly fetch?: typeof fetch;
  /** How long a call waits for what others hold. */
  readonly wait_ms?: number;
  /** What is used again or sent together, or what openReuse() has opened for several of these; nothing unless it is said. */
  readonly reuse?: ReuseOptions | Reuse;
}

const KEYS = [
  "budget",
  "fetch",
  "site",
  "full",
  "wait_ms",
  "reuse",
  "output_tokens",
  "tokenizer",
  "reservations",
  "tiers",
  "prices",
  "assume",
  "clock",
];
/** Nothing is computed for who only looks. */
const LOOKING: ReadonlySet<string> = new Set(["GET", "HEAD", "OPTIONS", "DELETE"]);
/** Counting tokens is free at both providers, and to cancel something costs nothing. */
const FREE_PATHS = /\/(?:messages\/count_tokens|responses\/input_tokens|cancel)\/?$/;

/**
 * A `fetch` that pays for model calls out of a budget: OpenAI's Chat Completions, Responses and Embeddings, Anthropic's
 * Messages, and all that speak like them. Every request is a reservation of its own, also one that an SDK sends again by itself. A
 * request that does not fit is not sent; the SDK gets an answer with status 402, which it shows and does not try again.
 *
 * @example
 * ```ts
 * const client = new OpenAI({ fetch: governedFetch() });
 * await withBudget({ cost_usd: 0.5 }, () => client.responses.create({ model: "gpt-5", input: "Hello" }));
 * ```
 */
export function governedFetch(options: GovernedFetchOptions = {}): typeof fetch {
  const wire = new Wire(options);
  return (input, init) => wire.fetch(input as string | URL | Request, init);
}

class Wire {
  private readonly meter: Meter;
  private readonly send: typeof fetch;
  private readonly purse: Purse | null;
  private readonly wait_ms: number | null;
  private readonly reuse: Reuse | null;
  private readonly siting: Siting;

  constructor(options: GovernedFetchOptions) {
    checkKeys(options, "options", KEYS);
    const { budget, fetch: given, wait_ms = null, reuse, site, full, ...meter } = options;
    this.siting = { ...(site !== undefined && { site }), ...(full !== undefined && { full }) };
    checkSiting(this.siting);
    if (budget !== undefined && typeof budget?.purse?.budget !== "string") {
      throw new InputError("budget", `is ${show(budget)}; allowed: what openBudget() or withBudget() gives`);
    }
    this.meter = new Meter(meter);
    // The global one is looked up with every call, so that whoever replaces it later is heard.
    this.send = given ?? ((input, init) => globalThis.fetch(input, init));
    this.purse = budget?.purse ?? null;
    this.wait_ms = wait_ms;
    this.reuse = reuseOf(reuse);
  }

  async fetch(input: string | URL | Request, init?: RequestInit): Promise<Response> {
    const around = currentPurse();
    if (around?.metered === true) return this.send(input, init);
    const outgoing = readOutgoing(input, init);
    const protocol = protocolFor(outgoing.method, outgoing.url.pathname);
    if (protocol === null) {
      const free = LOOKING.has(outgoing.method.toUpperCase()) || FREE_PATHS.test(outgoing.url.pathname);
      return free ? this.send(input, init) : refusalResponse(notGoverned(outgoing));
    }
    // Whoever holds something for this call further out hands it down, also to another budget than his own.
    const { hold, round } = around ?? {};
    const own = this.purse && { ...this.purse, ...(hold && { hold }), ...(round && { round }) };
    const purse = own ?? around;
    if (purse === null) return refusalResponse(NO_BUDGET);
    const { url, signal } = outgoing;
    const written = await reading(outgoing);
    if ("code" in written) return refusalResponse(written);
    const { text } = written;
    const { wish } = written;
    const request = readMetered({ protocol, url, body: text, bytes: Buffer.byteLength(text), wish });
    if ("code" in request) return refusalResponse(request);
    const sited = { ...request, ...this.siting, ...written.siting };
    const send: Send = (body) => this.send(url, { ...written.init, ...body });
    return this.governed({
      purse,
      request: this.patient(sited, signal),
      send,
      headers: written.init.headers ?? {},
    });
  }

  private async governed({ purse, request, send, headers }: Governed): Promise<Response> {
    const begun = deferred<Response>();
    let streaming: StreamedBody | null = null;
    const make: MeteredEffect<Sent | null> = async (held, request) => {
      const sent = await sending(purse, send, held);
      if (!("response" in sent)) return { value: sent, usage: NOTHING_SENT };
      const { response } = sent;
      if (!response.ok || response.body === null || !isStream(response, request)) return whole(request, response, held);
      streaming = new StreamedBody(request, response.body, held);
      begun.resolve(rebodied(response, streaming.body));
      const counts = await streaming.read();
      return counts === null ? { value: null } : { value: null, usage: held.usage(counts) };
    };
    const { meter, reuse } = this;
    const metered =
      reuse === null || request.wire.stream
        ? meter.call(purse, request, make)
        : reused(reuse, { meter, purse, request, headers, send, make });
    const answer = metered.then((outcome) => {
      if (outcome.kind === "refused") return refusalResponse(outcome.report);
      // A stream has been handed out already: it hears how the call ended.
      if (streaming !== null) streaming.end(outcome.kind === "failed" ? outcome.error : null);
      if (outcome.kind === "failed") return failed(outcome.error);
      if (outcome.value === null) return begun.promise;
      if ("error" in outcome.value) throw outcome.value.error;
      return outcome.value.response;
    });
    // To fail would make the SDK send it all again: what was answered is handed on, and the reservation stays behind it.
    const handed = answer.catch((error: unknown) => salvaged(error, streaming));
    return Promise.race([begun.promise, handed]);
  }

  private patient(request: MeteredRequest, signal: AbortSignal | null): MeteredRequest {
    const { wait_ms } = this;
    return { ...request, ...(signal !== null && { signal }), ...(wait_ms !== null && { wait_ms }) };
  }
}

/** A request on its way to be governed. */
interface Governed {
  readonly purse: Purse;
  readonly request: MeteredRequest;
  readonly send: Send;
  readonly headers: NonNullable<RequestInit["headers"]>;
}

/** What headers say to us alone. */
interface Said {
  readonly siting: Siting;
  readonly wish: Wish;
}

/** Reads the body. One that cannot be sent is no failure, because an SDK would try that again. */
async function reading(outgoing: Outgoing): Promise<(Written & Said) | RefusalReport> {
  try {
    const { text, init } = await outgoing.read();
    const headers = new Headers(init.headers);
    headers.delete("content-length");
    const said: Said = { siting: takeSiting(headers), wish: takeWish(headers) };
    return { text, init: { ...init, headers }, ...said };
  } catch (error) {
    if (error instanceof InputError) return invalid(error.message);
    throw error;
  }
}

/** Sends the request. A failure before anything was sent costs nothing; any other is not known to. */
async function sending(purse: Purse, send: Send, { text, signal }: Held): Promise<Sent> {
  try {
    return { response: await withPurse({ ...purse, metered: true }, () => send({ body: text, signal })) };
  } catch (error) {
    if (isUnsent(error)) return { error };
    throw error;
  }
}

/** An answer that comes in one piece. */
async function whole({ protocol }: MeteredRequest, response: Response, held: Held): Promise<Effected<Sent>> {
  const free = isFree(response.status);
  let bytes: Buffer<ArrayBuffer>;
  try {
    bytes = await bytesOf(response);
  } catch (error) {
    // Who says no has computed nothing, even if the words he says it with are lost.
    if (free) return { value: { error }, usage: NOTHING_USED };
    throw error;
  }
  const value = {
    response: rebodied(response, bytes),
    // Only for others who want the same, and mostly there are none.
    get answer() {
      return { status: response.status, headers: headersOf(response), body: bytes };
    },
  };
  if (free) return { value, usage: NOTHING_USED };
  const counts = response.ok ? protocol.usage(parsedObject(bytes.toString()) ?? {}) : null;
  return counts === null ? { value } : { value, usage: held.usage(counts) };
}

/** Some servers forget to say what they send; to wait for the end of it would be no stream. */
function isStream({ headers }: Response, { wire }: MeteredRequest): boolean {
  const type = (headers.get("content-type") ?? "").toLowerCase();
  return type.includes("text/event-stream") || (wire.stream && !type.includes("json"));
}

/** Who runs out of time is told so in a way that no SDK takes for a failure of the network and tries again. */
function failed(error: unknown): Response {
  const told = isOutOfTime(error) ? toldError(error) : error;
  if (told instanceof BudgetExceededError) return refusalResponse(told.report);
  throw told;
}

/** An answer whose cost could not be recorded is an answer all the same. */
function salvaged(error: unknown, streaming: StreamedBody | null): Response {
  if (streaming !== null) streaming.end(null);
  // By its code, because the gate may be of another copy of this package.
  const { code, value } = (error ?? {}) as { readonly code?: unknown; readonly value?: Sent | null };
  if (code === "not_settled" && typeof value === "object" && value !== null && "response" in value) {
    return value.response;
  }
  return failed(error);
}

const NO_BUDGET: RefusalReport = {
  code: "no_budget",
  message: "this call is made outside of any budget, so it is not sent",
  hint: "make it inside withBudget(limits, …), or give governedFetch({ budget }) one",
};

function notGoverned({ url, method }: Outgoing): RefusalReport {
  const message = `${method} ${url.pathname} may cost something and is not metered, so it is not sent`;
  return { code: "not_governed", message, hint: "send it with the plain fetch if it is to go past the budget" };
}

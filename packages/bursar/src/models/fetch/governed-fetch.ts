import { InputError, show } from "../../core/errors.js";
import { checkKeys } from "../../core/fields.js";
import type { Filling } from "../../runtime/filling.js";
import type { Effected } from "../../runtime/gate.js";
import { currentPurse, type Purse, withPurse } from "../../runtime/purse.js";
import { isFree, isUnsent } from "../meter/answer-status.js";
import { BudgetExceededError } from "../meter/budget-exceeded-error.js";
import { HandedOut } from "../meter/handed-out.js";
import { type Held, Meter, type Metered, type MeteredEffect, type MeteredRequest } from "../meter/meter.js";
import { METER_KEYS, type MeterOptions } from "../meter/meter-options.js";
import { invalid, readMetered } from "../meter/metered-request.js";
import { NOTHING_SENT, NOTHING_USED } from "../meter/nothing-used.js";
import { type Post, ProviderCounts } from "../meter/provider-count.js";
import type { RefusalReport } from "../meter/refusal.js";
import { reported } from "../meter/reported.js";
import { isOutOfTime, toldError } from "../meter/told-error.js";
import { checkSiting, type Siting } from "../reservations/siting.js";
import type { ReuseOptions } from "../reuse/options.js";
import { type Reuse, reuseOf } from "../reuse/reuse.js";
import { reportIn } from "../wire/answer-report.js";
import type { Protocol } from "../wire/protocol.js";
import { protocolFor } from "../wire/protocols.js";
import { bytesOf, headersOf, isStoreFailure, rebodied, refusalResponse, storeFailureResponse } from "./answers.js";
import { claimedBy } from "./claimed.js";
import { type Outgoing, readOutgoing, type Written } from "./outgoing.js";
import { takeOwn } from "./own-headers.js";
import { reused, type Send, type Sent } from "./reused.js";
import { type Streamed, StreamedBody } from "./streamed-body.js";

export interface GovernedFetchOptions extends MeterOptions, Siting {
  /** The budget that pays; the one that a call is made in, unless it is said. */
  readonly budget?: { readonly purse: Purse };
  /** What sends requests: the global `fetch`. */
  readonly fetch?: typeof fetch;
  /** How long a call waits for what others hold. */
  readonly wait_ms?: number;
  /**
   * Who bounds the input of a request that would not fit otherwise: nobody but its bytes and a tokenizer ("bytes"), or the provider
   * too, who is asked for a count first ("provider"). Only Anthropic's Messages and OpenAI's Responses can be counted so; each
   * question takes a step.
   */
  readonly count?: "bytes" | "provider";
  /** What is used again or sent together, or what openReuse() has opened for several of these; nothing unless it is said. */
  readonly reuse?: ReuseOptions | Reuse;
}

/** What of it is not the meter's. A record and no list, because then the compiler misses what was forgotten. */
const FIELDS: Readonly<Record<Exclude<keyof GovernedFetchOptions, keyof MeterOptions>, true>> = {
  budget: true,
  fetch: true,
  site: true,
  full: true,
  wait_ms: true,
  count: true,
  reuse: true,
};
export const FETCH_KEYS: readonly string[] = [...Object.keys(FIELDS), ...METER_KEYS];
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
  private readonly counts: ProviderCounts | null;
  private readonly siting: Siting;

  constructor(options: GovernedFetchOptions) {
    checkKeys(options, "options", FETCH_KEYS);
    const { budget, fetch: given, wait_ms = null, count, reuse, site, full, ...meter } = options;
    this.siting = { ...(site !== undefined && { site }), ...(full !== undefined && { full }) };
    checkSiting(this.siting);
    if (budget !== undefined && typeof budget?.purse?.budget !== "string") {
      throw new InputError("budget", `is ${show(budget)}; allowed: what openBudget() or withBudget() gives`);
    }
    this.counts = ProviderCounts.of(count);
    this.meter = new Meter(meter);
    // The global one is looked up with every call, so that whoever replaces it later is heard.
    this.send = given ?? ((input, init) => globalThis.fetch(input, init));
    this.purse = budget?.purse ?? null;
    this.wait_ms = wait_ms;
    this.reuse = reuseOf(reuse);
  }

  fetch(input: string | URL | Request, init?: RequestInit): Promise<Response> {
    // What is already metered is not even looked at.
    const around = currentPurse();
    if (around?.metered === true) return this.send(input, init);
    try {
      const prepared = this.prepare(around, input, init);
      return prepared instanceof Promise ? prepared.then((ready) => this.begin(ready)) : this.begin(prepared);
    } catch (error) {
      return Promise.reject(error);
    }
  }

  private begin(prepared: Governed | Response): Promise<Response> {
    return "purse" in prepared ? this.governed(prepared) : Promise.resolve(prepared);
  }

  /** What is to be governed, or the answer to what is not. */
  private prepare(
    around: Purse | null,
    input: string | URL | Request,
    init?: RequestInit,
  ): Governed | Response | Promise<Governed | Response> {
    const outgoing = readOutgoing(input, init);
    const protocol = protocolFor(outgoing.method, outgoing.url.pathname);
    if (protocol === null) {
      const free = LOOKING.has(outgoing.method.toUpperCase()) || FREE_PATHS.test(outgoing.url.pathname);
      return free ? this.send(input, init) : refusalResponse(notGoverned(outgoing));
    }
    // Whoever holds something for this call further out hands it down, also to another budget than his own.
    const { hold, round } = around ?? {};
    const own =
      this.purse === null || (hold === undefined && round === undefined)
        ? this.purse
        : { ...this.purse, ...(hold && { hold }), ...(round && { round }) };
    const purse = own ?? around;
    if (purse === null) return refusalResponse(NO_BUDGET);
    const read = outgoing.read();
    if (!(read instanceof Promise)) return this.read(outgoing, protocol, purse, read);
    return read.then((written) => this.read(outgoing, protocol, purse, written), unreadable);
  }

  private read(
    { url, signal }: Outgoing,
    protocol: Protocol,
    purse: Purse,
    { text, init }: Written,
  ): Governed | Response {
    const { siting, wish, headers } = takeOwn(init.headers);
    const { deployments } = this.meter;
    const allow = this.meter.allowedAt(url.href);
    const about = { bytes: Buffer.byteLength(text), wish, headers: headers.keys(), allow, deployments };
    const request = readMetered({ protocol, url, body: text, ...about });
    if ("code" in request) return refusalResponse(request);
    const sent: RequestInit = { ...init, headers };
    const { wait_ms } = this;
    const sited: Filling<MeteredRequest> = { ...request, ...this.siting, ...siting };
    if (this.counts !== null) sited.count = this.counts.over(this.posting(purse, sent));
    if (signal !== null) sited.signal = signal;
    if (wait_ms !== null) sited.wait_ms = wait_ms;
    return { purse, request: sited, send: (body) => this.send(url, { ...sent, ...body }), headers };
  }

  private governed(governed: Governed): Promise<Response> {
    const out = new HandedOut<Response>();
    const { promise } = out;
    this.carryOut(governed, out);
    return promise;
  }

  private carryOut({ purse, request, send, headers }: Governed, out: HandedOut<Response>): void {
    let streaming: StreamedBody | null = null;
    const make: MeteredEffect<Sent | null> = async (held, request) => {
      let response: Response | null = null;
      try {
        response = await withPurse({ ...purse, metered: true }, () => send({ body: held.text, signal: held.signal }));
        if (isStream(response, request)) {
          streaming = new StreamedBody(request, headers, response, held);
          handOut(response, streaming, out);
          const counts = await streaming.read();
          return counts === null ? { value: null } : { value: null, usage: held.usage(counts) };
        }
        return whole({ protocol: request.protocol, headers }, response, await bytesOf(response), held);
      } catch (error) {
        return free(error, request, response);
      }
    };
    const { meter, reuse } = this;
    const metered =
      reuse === null || request.wire.stream
        ? meter.call(purse, request, make)
        : reused(reuse, { meter, purse, request, headers, send, make });
    metered
      .then(
        (outcome) => answered(outcome, streaming),
        // To fail would make the SDK send it all again: what was answered is handed on, and the reservation stays behind it.
        (error: unknown) => salvaged(error, streaming),
      )
      .then(
        (response) => response !== null && out.give(response),
        (error: unknown) => out.fail(error),
      );
  }

  /** Asks a provider something beside a request, in its name. */
  private posting(purse: Purse, init: RequestInit): Post {
    return async (url, body, signal) => {
      const headers = new Headers(init.headers);
      // It is another request.
      headers.delete("idempotency-key");
      const response = await withPurse({ ...purse, metered: true }, () =>
        this.send(url, { ...init, headers, body, signal }),
      );
      return { status: response.status, body: (await bytesOf(response)).toString() };
    };
  }
}

/** A request on its way to be governed. */
interface Governed {
  readonly purse: Purse;
  readonly request: MeteredRequest;
  readonly send: Send;
  readonly headers: Headers;
}

/** A stream is handed out at once. By itself, because a function that waits would hold on to what it has made. */
function handOut(response: Response, streaming: StreamedBody, out: HandedOut<Response>): void {
  out.give(rebodied(response, streaming.openStream()));
}

/** A body that cannot be sent is no failure, because an SDK would try that again. */
function unreadable(error: unknown): Response {
  if (error instanceof InputError) return refusalResponse(invalid(error.message));
  throw error;
}

/** What costs nothing though it failed: nothing was sent, or who says no has computed nothing, even if his words are lost. */
function free(error: unknown, { url }: MeteredRequest, response: Response | null): Effected<Sent> {
  if (response === null && isUnsent(error, url)) return { value: { error }, usage: NOTHING_SENT };
  if (response !== null && isFree(response.status)) return { value: { error }, usage: NOTHING_USED };
  throw error;
}

/** An answer that came in one piece. */
function whole(
  { protocol, headers }: Pick<MeteredRequest, "protocol"> & Pick<Governed, "headers">,
  response: Response,
  bytes: Buffer<ArrayBuffer>,
  held: Held,
): Effected<Sent> {
  const value = {
    response: rebodied(response, bytes),
    // Only for others who want the same, and mostly there are none.
    get answer() {
      return { status: response.status, headers: headersOf(response), body: bytes };
    },
  };
  if (isFree(response.status)) return { value, usage: NOTHING_USED };
  if (!response.ok) return { value };
  const { counts, claims } = reportIn(protocol, bytes.toString());
  return reported(held, value, { counts, claims: claimedBy(headers, response.headers, claims) });
}

/** What a caller gets; null for who has it already, because it is a stream: that hears how the call ended. */
function answered(outcome: Metered<Sent | null>, streaming: StreamedBody | null): Response | null {
  if (outcome.kind === "refused") return refusalResponse(outcome.report);
  if (streaming !== null) streaming.end(outcome.kind === "failed" ? outcome.error : null);
  if (outcome.kind === "failed") return failed(outcome.error);
  if (outcome.value === null) return null;
  if ("error" in outcome.value) throw outcome.value.error;
  return outcome.value.response;
}

/** Some servers forget to say what they send; to wait for the end of it would be no stream. */
function isStream(response: Response, { wire }: MeteredRequest): response is Streamed {
  const { ok, body, headers } = response;
  if (!ok || body === null) return false;
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
  if (streaming === null && isStoreFailure(error)) return storeFailureResponse(error);
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

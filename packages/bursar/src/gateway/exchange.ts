import type { OutgoingHttpHeaders } from "node:http";
import type { Amounts } from "../core/amount.js";
import type { Path } from "../core/budget.js";
import { ClientGone } from "../http/client-gone.js";
import { isFree, isUnsent } from "../models/meter/answer-status.js";
import type { Held, Meter, Metered, MeteredEffect, MeteredRequest } from "../models/meter/meter.js";
import { NOTHING_SENT, NOTHING_USED } from "../models/meter/nothing-used.js";
import { reported } from "../models/meter/reported.js";
import { StreamedAnswer } from "../models/meter/streamed-answer.js";
import type { Reuse } from "../models/reuse/reuse.js";
import type { AnswerHeaders } from "../models/reuse/whole-answer.js";
import { type AnswerClaims, claimsInHeaders, joinedClaims } from "../models/wire/answer-claims.js";
import { reportIn } from "../models/wire/answer-report.js";
import { offAbort, onAbort } from "../runtime/abort-listeners.js";
import type { Filling } from "../runtime/filling.js";
import type { Effected } from "../runtime/gate.js";
import type { Purse } from "../runtime/purse.js";
import { SettlementError } from "../runtime/settlement-error.js";
import { OutOfTime } from "../runtime/time-limit.js";
import type { ClientReply } from "./client-reply.js";
import { endOfTurn } from "./end-of-turn.js";
import type { Figures } from "./figures.js";
import { returned } from "./headers.js";
import { type Upstream, UpstreamDenied } from "./upstream.js";
import type { UpstreamAnswer } from "./upstream-answer.js";
import type { UpstreamClient, UpstreamRequest } from "./upstream-client.js";

/** An answer is passed on as it comes; one that comes in one piece is kept until the call is settled. */
const MOST_ANSWER = 256 * 1024 * 1024;

export interface ExchangeOptions {
  readonly meter: Meter;
  readonly client: UpstreamClient;
  readonly purse: Purse;
  /** The exchange's own: how it is made is put into it. */
  readonly request: Filling<MeteredRequest>;
  /** What is used again, or sent together with what others ask; null for nothing. */
  readonly reuse: Reuse | null;
  readonly upstream: Upstream;
  readonly sending: Omit<UpstreamRequest, "body">;
  readonly reply: ClientReply;
  readonly figures: Figures;
  /** How many are under way at once. */
  readonly crowd: { readonly underWay: number };
  /** How long a client may leave unread what it was sent. */
  readonly silence_ms: number;
}

/** What came of a request that was sent. */
type Came =
  /** The headers are its own, and more are written into them. */
  | { readonly kind: "whole"; readonly status: number; readonly headers: OutgoingHttpHeaders; readonly body: Buffer }
  | { readonly kind: "streamed"; readonly answer: StreamedAnswer }
  /** Nothing of it is for the client to see: it was not sent, or the provider does not take the gateway's key. */
  | { readonly kind: "hidden"; readonly error: unknown };

/** One request on its way to a provider and back, paid for from a purse. */
export class Exchange {
  private readonly options: ExchangeOptions;
  private answer: StreamedAnswer | null = null;
  private reserved: Amounts = {};
  /** The id of the call under which it is charged, once one is made. */
  call_id: string | null = null;
  /** As it is made, once it is known which model answers it. */
  request: MeteredRequest;

  constructor(options: ExchangeOptions) {
    this.options = options;
    this.request = options.request;
  }

  /** Makes the call; whoever asked may hang up at any moment, and then the provider is hung up on too. */
  async run(): Promise<Metered<unknown>> {
    const { meter, purse, reuse, request } = this.options;
    try {
      const make: MeteredEffect<Came> = (held, made) => {
        this.request = made;
        return this.make(held);
      };
      const alone = reuse === null || request.wire.stream;
      // Sending and reading end when the signal fires; waiting for what others are answered need not.
      if (alone) request.heeds = true;
      // Its headers say what is left.
      if (!request.wire.stream) request.pathAfter = true;
      const metered = await (alone ? meter.call(purse, request, make) : this.reused(reuse, request, make));
      if (metered.kind !== "done") return metered;
      const { value, settled, path } = metered;
      await this.finish(value, settled.charged, path);
      return value.kind === "hidden" ? { kind: "failed", error: value.error, settled } : metered;
    } catch (error) {
      // What was answered is handed on, even if what it cost could not be recorded: its reservation stays behind it.
      if (error instanceof SettlementError && isCame(error.value)) await this.finish(error.value, {}, null);
      throw error;
    }
  }

  /** How far the answer has come, for whoever has to tell the client that it failed. */
  get begun(): StreamedAnswer | null {
    return this.answer;
  }

  /** Makes a call whose answer others may have too. What one key was answered is for that key's budget alone, unless all share. */
  private reused(reuse: Reuse, request: MeteredRequest, make: MeteredEffect<Came>): Promise<Metered<Came>> {
    const { meter, purse, upstream, client, sending } = this.options;
    let isDenied = false;
    return reuse.call<Came>({
      meter,
      purse,
      request,
      make,
      headers: sending.headers,
      tenant: purse.budget,
      send: async (text, signal) => {
        const answer = await upstream.send(client, { ...sending, body: text }, signal);
        const { status, headers } = answer;
        const body = await answer.whole(MOST_ANSWER);
        isDenied = answer.isDenial;
        return { status, headers: answerHeaders(returned(headers)), body };
      },
      give: ({ status, headers, body }, from, made) => {
        this.request = made;
        const told = from === null ? {} : { "x-bursar-reused": from };
        return this.came(status, { ...(headers as OutgoingHttpHeaders), ...told }, body, isDenied || status === 401);
      },
      fail: (error) => ({ kind: "hidden", error }),
      whole: (came) =>
        came.kind === "whole" ? { status: came.status, headers: answerHeaders(came.headers), body: came.body } : null,
    });
  }

  private came(status: number, headers: OutgoingHttpHeaders, body: Buffer, isDenied: boolean): Came {
    const { upstream } = this.options;
    return isDenied
      ? { kind: "hidden", error: new UpstreamDenied(upstream.name) }
      : { kind: "whole", status, headers, body };
  }

  private async make(held: Held): Promise<Effected<Came>> {
    const { upstream, client, sending } = this.options;
    const { request } = this;
    this.reserved = held.granted;
    this.call_id = held.id;
    let answer: UpstreamAnswer;
    try {
      answer = await upstream.send(client, { ...sending, body: held.text }, held.signal);
    } catch (error) {
      if (!isUnsent(error, null)) throw error;
      // Whoever hears of it wants to know why it was given up.
      const why = held.signal.aborted ? held.signal.reason : error;
      return { value: { kind: "hidden", error: why }, usage: NOTHING_SENT };
    }
    const { status, headers } = answer;
    const streamed = status < 300 && (headers["content-type"] ?? "").includes("text/event-stream");
    const claimed = claimsInHeaders((name) => headers[name]);
    if (streamed) return this.pipe(answer, held, claimed);
    const body = await answer.whole(MOST_ANSWER);
    const value = this.came(status, returned(headers), body, answer.isDenial);
    if (isFree(status)) return { value, usage: NOTHING_USED };
    if (status >= 300) return { value };
    const { counts, claims } = reportIn(request.protocol, body.toString("utf8"));
    return reported(held, value, { counts, claims: joinedClaims(claimed, claims) });
  }

  /** Passes events on as fast as they are read. */
  private async pipe(readable: UpstreamAnswer, held: Held, claimed: AnswerClaims): Promise<Effected<Came>> {
    const { reply, silence_ms } = this.options;
    const { protocol, wire } = this.request;
    const answer = new StreamedAnswer(wire, protocol.stream(wire), held.output_tokens);
    this.answer = answer;
    held.follow(
      () => answer.bound,
      () => answer.final,
      () => joinedClaims(claimed, answer.claims),
    );
    const headers = returned(readable.headers);
    this.tell(headers);
    reply.begin(readable.status, headers);
    let written = false;
    const pass = (piece: Buffer): void | Promise<void> => {
      if (answer.state === "capped") return;
      const passed = answer.push(piece);
      // Once its time is over the client has been told so, and nothing may come after that; what has come counts all the same.
      if (held.signal.aborted) return;
      // What came as one piece goes as one: each is a system call.
      const bytes = passed.length === 1 ? (passed[0] as Uint8Array) : Buffer.concat(passed);
      const full = bytes.length > 0 && !reply.write(bytes);
      written ||= bytes.length > 0;
      if (isCapped(answer)) readable.drop();
      else if (full) return drained(reply, held.signal, silence_ms);
    };
    const reading = readable.read(pass);
    // They go with the first bytes, if those are there already.
    if (!written) reply.flush();
    await reading.catch((error: unknown) => {
      if (!isCapped(answer)) throw error;
    });
    held.signal.throwIfAborted();
    const rest = answer.state === "running" ? answer.rest() : null;
    if (rest !== null) reply.write(rest);
    const { counts } = answer;
    const value: Came = { kind: "streamed", answer };
    return counts === null ? { value } : { value, usage: held.usage(counts) };
  }

  /** Says the last word, now that the call is settled. */
  private async finish(came: Came, charged: Amounts, after: Path | null = null): Promise<void> {
    const { reply, crowd, figures, purse } = this.options;
    // Whoever made the exchange tells it, as all that has failed.
    if (came.kind === "hidden") return;
    if (came.kind === "streamed") {
      const { last } = came.answer;
      reply.end(last.length === 1 ? last[0] : Buffer.concat(last));
      return;
    }
    const { status, headers, body } = came;
    this.tell(headers);
    figures.tell(headers, "used", charged);
    const { store, budget } = purse;
    const path = after ?? (await store.path(budget).catch(() => null));
    if (path !== null) figures.tellRemaining(headers, path, store.clock.now());
    // Who is alone has nobody to wait for.
    if (crowd.underWay > 1) await endOfTurn();
    reply.answer(status, headers, body);
  }

  /** Whoever asked is told what pays for it, what answers it, and how much of it is held. */
  private tell(headers: OutgoingHttpHeaders): void {
    const { chosen } = this.request;
    headers["x-bursar-budget"] = encodeURI(this.options.purse.budget);
    if (chosen !== undefined) {
      headers["x-bursar-model"] = encodeURI(chosen.model);
      headers["x-bursar-tier"] = chosen.tier;
    }
    this.options.figures.tell(headers, "reserved", this.reserved);
  }
}

function answerHeaders(headers: OutgoingHttpHeaders): AnswerHeaders {
  const kept: Record<string, string | readonly string[]> = {};
  for (const [name, value] of Object.entries(headers)) {
    if (value !== undefined) kept[name] = Array.isArray(value) ? value : String(value);
  }
  return kept;
}

export function isOutOfTime(error: unknown): error is OutOfTime {
  return error instanceof OutOfTime;
}

/** Its state has changed since it was last looked at, which the compiler cannot know. */
function isCapped({ state }: StreamedAnswer): boolean {
  return state === "capped";
}

function isCame(value: unknown): value is Came {
  return typeof value === "object" && value !== null && "kind" in value;
}

/** Waits until the client has read what was sent, and hangs up on one that does not; nothing is sent to it meanwhile. */
function drained(reply: ClientReply, over: AbortSignal, silence_ms: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const done = () => {
      reply.flow.off("drain", done);
      offAbort(over, gone);
      clearTimeout(patience);
      resolve();
    };
    const gone = () => {
      reply.flow.off("drain", done);
      clearTimeout(patience);
      reject(over.reason);
    };
    const patience = setTimeout(() => {
      reply.hangUp();
      reject(new ClientGone(`the client has read nothing for ${silence_ms} ms`));
    }, silence_ms);
    if (over.aborted) return gone();
    reply.flow.once("drain", done);
    onAbort(over, gone);
  });
}

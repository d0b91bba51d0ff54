import { isUtf8 } from "node:buffer";
import type { IncomingHttpHeaders, OutgoingHttpHeaders } from "node:http";
import type { Amounts } from "../core/amount.js";
import { type Decision, decide, outermost } from "../core/decision.js";
import { LedgerError } from "../core/errors.js";
import { Events } from "../core/events.js";
import { explainDecision } from "../core/explain.js";
import { readAmounts } from "../core/input.js";
import { GatewayStopped, isClientGone } from "../http/client-gone.js";
import type { Meter, Metered, MeteredRequest } from "../models/meter/meter.js";
import { readMetered } from "../models/meter/metered-request.js";
import type { InputCount, Post } from "../models/meter/provider-count.js";
import { type RefusalReport, reportDecision } from "../models/meter/refusal.js";
import type { WireRequest } from "../models/wire/protocol.js";
import type { ApprovalRequest } from "../runs/approval.js";
import { requestExtension } from "../runs/extension-request.js";
import { findOpenRequest } from "../runs/open-request.js";
import type { Filling } from "../runtime/filling.js";
import type { Gate } from "../runtime/gate.js";
import { newName } from "../runtime/names.js";
import type { Purse } from "../runtime/purse.js";
import { backgroundTimer } from "../runtime/system-clock.js";
import {
  CLOSING,
  encoded,
  type Failing,
  FROM_A_PAGE,
  NO_KEY,
  NO_TARGET,
  NO_WEBSOCKET,
  notReadYet,
  refuse,
  STOPPED,
  say,
  sayError,
  tooLong,
  tooManyBytes,
  tooManyCalls,
  unknownPath,
  unspoken,
} from "./answers.js";
import type { ClientReply } from "./client-reply.js";
import type { ClientRequest } from "./client-request.js";
import { Exchange, isOutOfTime } from "./exchange.js";
import { Figures } from "./figures.js";
import { forwarded, isFromPage, isOurs, returned, secretIn, sitedBy, wishedBy } from "./headers.js";
import { KeyLoads, type RequestLoad } from "./key-loads.js";
import type { KeyRing } from "./key-ring.js";
import type { GatewayKey } from "./keys.js";
import type { Settings } from "./options.js";
import { tellOwn } from "./own-pages.js";
import { RefusalRecord } from "./refusal-record.js";
import { type Route, Routes, type Target } from "./route.js";
import { tierModelAt, withTierModels } from "./tier-models.js";
import { type Upstream, UpstreamDenied } from "./upstream.js";
import type { UpstreamClient } from "./upstream-client.js";
import { UpstreamTimeout } from "./upstream-errors.js";
import { Visit } from "./visit.js";

export interface RequestsOptions {
  readonly settings: Settings;
  readonly gate: Gate;
  readonly meter: Meter;
  readonly client: UpstreamClient;
  readonly ring: KeyRing<GatewayKey>;
  /** The gateway's own address. */
  readonly base: () => string;
}

/** No list of models is longer. */
const MOST_FREE = 16 * 1024 * 1024;

/** Serves requests, one by one. Whatever goes wrong, the client gets an answer that says so, without a secret in it. */
export class Requests {
  /** Set when no more are taken. */
  closing = false;
  private readonly options: RequestsOptions;
  private readonly events: Events;
  private readonly routes: Routes;
  private readonly figures: Figures;
  private readonly loads: KeyLoads;
  private readonly refusals: RefusalRecord;
  underWay = 0;
  /** Who waits until nothing is under way. */
  private readonly waiting: (() => void)[] = [];

  constructor(options: RequestsOptions) {
    this.options = options;
    this.events = new Events(options.settings.store.dimensions);
    this.routes = new Routes(options.settings.upstreams);
    this.figures = new Figures(options.settings.store.dimensions);
    const { settings } = options;
    this.loads = new KeyLoads(settings, settings.store.clock);
    const onError = (error: unknown) => this.complain(error);
    this.refusals = new RefusalRecord({ timer: settings.timer ?? backgroundTimer, onError });
  }

  async serve(asked: ClientRequest): Promise<void> {
    const { clock } = this.options.settings.store;
    const visit = new Visit(asked, clock.now().monotonic);
    this.underWay++;
    try {
      await this.handle(visit);
    } catch (error) {
      this.fail(visit, error);
    } finally {
      this.tell(visit);
      if (--this.underWay === 0) for (const resolve of this.waiting.splice(0)) resolve();
    }
  }

  /** Waits until everything under way is settled. */
  async settled(): Promise<void> {
    if (this.underWay > 0) await new Promise<void>((resolve) => void this.waiting.push(resolve));
    await this.options.settings.reuse?.settled();
    await this.refusals.flush();
  }

  private async handle(visit: Visit): Promise<void> {
    const { asked, reply, method } = visit;
    if (this.closing) return sayError(reply, CLOSING, { connection: "close", "retry-after": "1" });
    const home = asked.headers["anthropic-version"] === undefined ? "openai" : "anthropic";
    const found = this.routes.find(method, asked.url, home);
    if (found === null) return sayError(reply, NO_TARGET);
    const { target, route } = found;
    const { pathname } = target;
    visit.path = pathname;
    if (pathname === "/health") return say(reply, 200, { status: "ok" });
    const payer = this.purseFor(visit);
    const purse = payer instanceof Promise ? await payer : payer;
    if ("status" in purse) {
      await this.holdBack(visit, NO_KEY_LOAD);
      return sayError(reply, purse);
    }
    visit.purse = purse;
    if (method === "GET" && pathname.startsWith("/bursar/")) return tellOwn(pathname, purse, this.events, reply);
    const list = method === "GET" ? tierModelAt(pathname, this.options.meter.lists, home) : null;
    if (list !== null) return say(reply, 200, list);
    if (route === null) {
      const isSocket = asked.headers.upgrade?.toLowerCase() === "websocket";
      return isSocket
        ? sayError(reply, NO_WEBSOCKET, { upgrade: "HTTP/1.1" })
        : sayError(reply, unknownPath(method, pathname));
    }
    if (route.kind === "unspoken") return sayError(reply, unspoken(method, pathname, route.home));
    visit.upstream = route.upstream.name;
    const load = this.loads.begin(visit.key?.id ?? "");
    if (load === null) {
      await this.holdBack(visit, visit.key?.id ?? "");
      return sayError(reply, tooManyCalls(this.options.settings.calls_per_key), { "retry-after": "1" });
    }
    try {
      await this.pass(visit, purse, load, route, target);
    } finally {
      load.end();
    }
  }

  /** Passes a request on, once it is known who pays. One that is refused whatever it asks for is answered before its body is read. */
  private async pass(
    visit: Visit,
    purse: Purse,
    load: RequestLoad,
    route: Exclude<Route, { kind: "unspoken" }>,
    target: Target,
  ): Promise<void> {
    const { asked, reply, method } = visit;
    // Whether a short body can be paid for is found out by its reservation, in one trip to the store.
    const isLookedAt = method !== "GET" && (route.kind === "free" || !this.isShort(visit, purse));
    if (isLookedAt && (await this.refusedUnread(visit, purse))) return;
    // A list needs none, and what comes with it all the same is left unread.
    const came = method === "GET" ? NO_BODY : this.bodyOf(asked, load);
    const body = came instanceof Promise ? await came : came;
    if (!Buffer.isBuffer(body)) {
      await this.holdBack(visit, visit.key?.id ?? "");
      return sayError(reply, body.failing, { ...body.headers, connection: "close" });
    }
    if (route.kind === "free") return this.passFree(visit, route, target, body);
    await this.govern(visit, purse, route, target, body);
    if (visit.metered === null || visit.metered.kind === "refused") load.wasted(body.length);
  }

  /** Whether a body is so short that it is read first. A key that was just refused is looked at before. */
  private isShort({ asked: { headers }, key }: Visit, { budget }: Purse): boolean {
    const length = Number(headers["content-length"] ?? Number.NaN);
    return length <= SHORT_BODY && !this.refusals.isCountingFor({ budget, key_id: key?.id ?? null });
  }

  /** Refuses what cannot be read; a key that pays for nothing is told that first. */
  private async refuseUnreadable(visit: Visit, purse: Purse, report: RefusalReport): Promise<void> {
    const isLooked = visit.seen !== null;
    if (!isLooked && (await this.refusedUnread(visit, purse))) return;
    refuse(visit.reply, report);
  }

  /**
   * Refuses a request whose budget takes no call at all, however small it is. Its body is left unread: to parse a long one for nothing
   * would keep all others waiting. Where a person may extend the budget, the first request is read, because they are asked for as
   * much as it needs.
   */
  private async refusedUnread(visit: Visit, purse: Purse): Promise<boolean> {
    const { store, budget, approve } = purse;
    const { dimensions } = store;
    const time = store.clock.now();
    let decision: Decision;
    try {
      const path = await store.path(budget);
      if (path[0]?.ended !== false) throw new LedgerError(`the budget ${budget} has ended`);
      visit.seen = { path, at: time.monotonic };
      decision = decide(path, askedUnread(purse), time, dimensions);
    } catch (error) {
      visit.metered = await this.withoutBudget(purse, error);
      if (visit.metered.kind === "refused") await this.refused(visit, visit.metered, UNREAD);
      return true;
    }
    if (decision.kind !== "stopped" && decision.kind !== "paused") return false;
    if (decision.kind === "paused" && approve !== undefined) return false;
    const key_id = visit.key?.id ?? null;
    if (!this.refusals.isCounting({ budget, key_id, decision })) {
      const decided = await this.decideUnread(purse);
      if (decided === null) return false;
      decision = decided;
    }
    const wanted = decision.kind === "paused" ? outermost(decision) : undefined;
    const open = wanted === undefined ? null : await findOpenRequest(store, wanted);
    if (decision.kind === "paused" && open === null) return false;
    const report = reportDecision(decision, explainDecision(decision, dimensions), dimensions);
    visit.metered = { kind: "refused", report, decision };
    await this.holdBack(visit, key_id ?? "");
    await this.refused(visit, visit.metered, { ...UNREAD, open });
    return true;
  }

  /** Waits before a request is answered whose long body is not read, if there were many of them; not for a client that hangs up. */
  private holdBack({ asked }: Visit, key: string): Promise<void> | void {
    const delay = this.loads.unreadDelay(key, asked.headers);
    if (delay === 0) return;
    const { timer } = this.options.settings;
    return new Promise((resolve) => {
      const done = () => {
        asked.leaving.removeEventListener("abort", done);
        alarm[Symbol.dispose]();
        resolve();
      };
      const alarm = (timer ?? backgroundTimer).after(delay, done);
      asked.leaving.addEventListener("abort", done);
      if (asked.leaving.aborted) done();
    });
  }

  /** Has the ledger decide, so that an exhaustion that nothing has met yet goes on record; null when it takes the call after all. */
  private async decideUnread(purse: Purse): Promise<Decision | null> {
    const { store, budget } = purse;
    const { instant } = store.clock.now();
    const call = newName(instant);
    const asked = askedUnread(purse);
    const expires = instant + UNREAD_EXPIRES_MS;
    try {
      const [{ decision }] = await store.apply([
        { op: "reserve", budget, call, kind: "model", asked, expires, unrecorded: true },
      ]);
      if (decision.kind === "stopped" || decision.kind === "paused") return decision;
      if (decision.kind === "admitted") await store.apply([{ op: "release", call }]);
      return null;
    } catch (error) {
      // A budget that is paused or has ended says so to the call itself.
      if (error instanceof LedgerError) return null;
      throw error;
    }
  }

  /** Whose budget pays; an answer in its place for those who have none here. */
  private purseFor(visit: Visit): Purse | Failing | Promise<Purse | Failing> {
    const { ring } = this.options;
    const secret = secretIn(visit.asked.headers);
    const known = secret === null ? null : ring.known(secret);
    if (secret === null || known !== null) return this.purseOf(visit, secret, known);
    return ring.find(secret).then((key) => this.purseOf(visit, secret, key));
  }

  private purseOf(visit: Visit, secret: string | null, key: GatewayKey | null): Purse | Failing {
    const { settings, gate } = this.options;
    visit.key = key;
    // What one client's answers are like says nothing about another's.
    if (key !== null) {
      const { budget } = key;
      return { gate, store: settings.store, budget, chain: budget, within: budget, unrecorded: true };
    }
    // A key that was revoked is no way into the budget of those who have none.
    if (settings.purse === null || (secret !== null && isOurs(secret))) return NO_KEY;
    return isFromPage(visit.asked.headers) ? FROM_A_PAGE : settings.purse;
  }

  private bodyOf(asked: ClientRequest, load: RequestLoad): Buffer | Unread | Promise<Buffer | Unread> {
    const { body_bytes, body_bytes_per_key } = this.options.settings;
    const { "content-encoding": encoding = "identity", "content-length": length } = asked.headers;
    if (encoding.toLowerCase() !== "identity") return { failing: encoded(encoding) };
    const { mostBody, wait_ms } = load;
    const announced = length === undefined ? null : Number(length);
    const tooMany: Unread = { failing: tooManyBytes(body_bytes_per_key), headers: { "retry-after": "1" } };
    let isFull = announced !== null && announced <= mostBody && !load.grow(announced);
    if (isFull) return tooMany;
    const grow = (bytes: number) => {
      isFull ||= announced === null && !load.grow(bytes);
      return !isFull;
    };
    const unread = (): Unread => {
      if (isFull) return tooMany;
      if (mostBody === body_bytes) return { failing: tooLong(body_bytes) };
      return { failing: notReadYet(mostBody, wait_ms), headers: { "retry-after": String(Math.ceil(wait_ms / 1000)) } };
    };
    // It is known beforehand, so nothing of it is read.
    if (announced !== null && announced > mostBody && mostBody < body_bytes) return unread();
    const body = asked.body(mostBody, grow);
    if (!(body instanceof Promise)) return body ?? unread();
    return body.then((whole) => whole ?? unread());
  }

  private async govern(
    visit: Visit,
    purse: Purse,
    { protocol, upstream }: Extract<Route, { kind: "model" }>,
    { search }: Target,
    bytes: Buffer,
  ): Promise<void> {
    const { asked, reply } = visit;
    const { headers: said } = asked;
    const { settings, meter, client } = this.options;
    // Bytes that are no text would be replaced by others, of which there are more.
    if (!isUtf8(bytes)) return this.refuseUnreadable(visit, purse, NO_TEXT);
    const url = upstream.addressOf(protocol, search);
    const wish = wishedBy(said);
    const { deployments } = meter;
    const { strip_tools } = settings;
    const allow = upstream.allowed(meter.allowedAt(url.href));
    const about = { bytes: bytes.length, wish, headers: Object.keys(said), allow, deployments, strip_tools };
    const request = readMetered({ protocol, url, body: bytes.toString("utf8"), ...about });
    if ("code" in request) return this.refuseUnreadable(visit, purse, request);
    visit.request = request;
    const headers = forwarded(said, upstream.credentials(protocol.home));
    headers["content-type"] = "application/json";
    const count = settings.counts?.over(this.posting(upstream, headers));
    const { silence_ms, reuse } = settings;
    const wanted = this.asked(request, said, count);
    wanted.signal = asked.leaving;
    const { seen } = visit;
    // A body that took a while was paid for by a budget that may have changed since.
    if (seen !== null && purse.store.clock.now().monotonic - seen.at <= FRESH_MS) wanted.path = seen.path;
    const sending = { method: "POST", url, headers } as const;
    const exchange = new Exchange({
      meter,
      client,
      purse,
      upstream,
      reply,
      crowd: this,
      figures: this.figuresFor(purse),
      silence_ms,
      reuse,
      request: wanted,
      sending,
    });
    const metered = await exchange.run().catch((error: unknown) => this.withoutBudget(purse, error));
    visit.metered = metered;
    visit.request = exchange.request;
    if (metered.kind === "refused") {
      const { wire } = exchange.request;
      return this.refused(visit, metered, { wire, capability_id: `llm:${wire.model}`, open: null });
    }
    if (metered.kind !== "failed") return;
    this.failed(visit, exchange, metered.error);
    if (metered.error instanceof GatewayStopped) await this.recordStop(purse, exchange);
  }

  /** Whoever has no key may be paid for from another store, which has dimensions of its own. */
  private figuresFor({ store: { dimensions } }: Purse): Figures {
    return dimensions === this.figures.dimensions ? this.figures : new Figures(dimensions);
  }

  /** Asks a provider something beside a request, in its name. What comes back is read here, and shown to nobody. */
  private posting(upstream: Upstream, headers: Record<string, string | string[]>): Post {
    const { client } = this.options;
    // It is another request.
    const { "idempotency-key": _, ...own } = headers;
    return async (url, body, signal) => {
      const answer = await upstream.send(client, { method: "POST", url, headers: own, body }, signal);
      return { status: answer.status, body: (await answer.whole(MOST_FREE)).toString("utf8") };
    };
  }

  /** A request as it is metered: what its client says about it, and what whoever runs the gateway does. */
  private asked(
    { protocol, wire, url, egress_bytes, open }: MeteredRequest,
    headers: IncomingHttpHeaders,
    count: InputCount | undefined,
  ): Filling<MeteredRequest> {
    const { wait_ms } = this.options.settings;
    const { site, full } = sitedBy(headers);
    const asked: Filling<MeteredRequest> = { protocol, wire, url, egress_bytes };
    if (open !== undefined) asked.open = open;
    if (site !== undefined) asked.site = site;
    if (full !== undefined) asked.full = full;
    if (count !== undefined) asked.count = count;
    if (wait_ms !== null) asked.wait_ms = wait_ms;
    return asked;
  }

  /** A key outlives its budget; then it pays for nothing, and that is no fault of the gateway's. */
  private async withoutBudget({ store, budget }: Purse, error: unknown): Promise<Metered<unknown>> {
    const found = error instanceof LedgerError ? await store.budget(budget) : undefined;
    if (found === undefined || found?.ended === false) throw error;
    const message = `the budget ${budget} ${found === null ? "is not there any more" : "has ended; it takes no calls"}`;
    const report = { code: "no_budget", message, hint: ANOTHER_KEY } as const;
    return { kind: "refused", report, decision: null };
  }

  private async refused(
    { reply, key, purse }: Visit,
    { report, decision }: Extract<Metered<unknown>, { kind: "refused" }>,
    { wire, capability_id, open }: RefusedRequest,
  ): Promise<void> {
    if (purse?.unrecorded === true && decision !== null) {
      const { store, budget } = purse;
      await this.refusals.note({ store, budget, key_id: key?.id ?? null, capability_id, decision });
    }
    // A client has no options to state prices in.
    if (report.code === "unknown_price" && wire !== null) return refuse(reply, { ...report, hint: whoPrices(wire) });
    if (report.code === "no_budget") return refuse(reply, { ...report, hint: ANOTHER_KEY });
    const worst = decision === null ? undefined : outermost(decision);
    // A shared budget lets smaller calls pass, and does not pause; a person is asked for the larger ones all the same.
    const asks = worst?.policy === "approval_required" && (decision?.kind === "paused" || decision?.kind === "refused");
    if (worst === undefined || !asks) return refuse(reply, report);
    const { settings, base } = this.options;
    const { budget, dimension, asked } = worst;
    // Whoever is asked knows keys by their labels, and budgets of keys not at all.
    const label = key?.label ?? "";
    const action = { ...(label !== "" && { key: label }), asked: report.asked ?? null, message: report.message };
    const wish = { budget, dimension, action, asked };
    const { id: approval_id } = open ?? (await requestExtension(settings.store, wish));
    const approval_url = settings.approval_url?.(approval_id) ?? `${base()}/bursar/approvals/${approval_id}`;
    const hint = "a person has to approve an extension; then the same call passes";
    return refuse(reply, { ...report, code: "approval_required", hint, approval_id, approval_url });
  }

  /** The chain says of a call that the gateway itself has cut why its usage is no more than an estimate. */
  private async recordStop({ store, budget }: Purse, { call_id }: Exchange): Promise<void> {
    const action = { action_type: "CallBrokenOff", data: { budget, call_id, why: "gateway_stopped" } };
    await store.apply([{ op: "record", budget, action }]);
  }

  /** A call that was made and failed. Where its answer has begun, the failure is told in the middle of it. */
  private failed(visit: Visit, exchange: Exchange, error: unknown): void {
    const { reply, upstream } = visit;
    visit.failed = codeOf(error);
    if (isClientGone(error)) return;
    const { begun } = exchange;
    if (error instanceof GatewayStopped && begun !== null) {
      const { code, message } = error;
      reply.end(begun.failure({ type: "api_error", code, message }));
      return;
    }
    if (isOutOfTime(error)) {
      const code = "budget_exceeded";
      const { message } = error;
      if (begun === null) refuse(reply, { code, message, hint: "give the budget more time" });
      else reply.end(begun.failure({ type: code, code, message }));
      return;
    }
    // The client has to see that the answer is not whole.
    if (begun !== null) reply.hangUp();
    else this.blame(reply, upstream ?? "", error);
  }

  private fail(visit: Visit, error: unknown): void {
    const { reply } = visit;
    visit.failed = codeOf(error);
    if (isClientGone(error) || reply.isGone) return;
    this.complain(error);
    // The client has its answer already: it is not the one that failed.
    if (reply.isEnded) return;
    if (reply.status !== 0) reply.hangUp();
    else {
      const message = `the gateway failed: ${codeOf(error)}; whoever runs it is told why`;
      sayError(reply, { status: 502, type: "api_error", code: "gateway_failed", message });
    }
  }

  private async passFree(
    visit: Visit,
    { upstream, ending, home }: Extract<Route, { kind: "free" }>,
    { search }: Target,
    body: Buffer,
  ): Promise<void> {
    const { asked, reply, method } = visit;
    const { client, meter } = this.options;
    const headers = forwarded(asked.headers, upstream.credentials(home));
    const url = upstream.below(ending, search);
    try {
      const sent = method === "GET" ? null : body.toString("utf8");
      const verb = method === "GET" ? "GET" : "POST";
      const answer = await upstream.send(client, { method: verb, url, headers, body: sent }, asked.leaving);
      const { status } = answer;
      const bytes = await answer.whole(MOST_FREE);
      if (answer.isDenial) throw new UpstreamDenied(upstream.name);
      const listed = ending === "/models" && status === 200 ? withTierModels(bytes, meter.lists, home) : bytes;
      reply.answer(status, returned(answer.headers), listed);
    } catch (error) {
      visit.failed = codeOf(error);
      if (!reply.isGone) this.blame(reply, upstream.name, error);
    }
  }

  /** Says that the provider has failed. */
  private blame(reply: ClientReply, upstream: string, error: unknown): void {
    if (error instanceof UpstreamDenied) this.complain(error);
    if (error instanceof GatewayStopped) sayError(reply, STOPPED, { connection: "close", "retry-after": "1" });
    else sayError(reply, failureOf(upstream, error));
  }

  private tell(visit: Visit): void {
    const { store, onServed } = this.options.settings;
    if (onServed === null) return;
    try {
      onServed(visit.served(store.clock.now().monotonic, this.events));
    } catch (error) {
      this.complain(error);
    }
  }

  /** Whoever listens cannot make the gateway fail. */
  private complain(error: unknown): void {
    try {
      this.options.settings.onError(error);
    } catch {
      // There is nobody else to tell.
    }
  }
}

function whoPrices({ model, deployment }: WireRequest): string {
  if (deployment === model) {
    return `whoever runs the gateway can say which model it runs: --deployment ${model}=gpt-4o-mini`;
  }
  return `whoever runs the gateway can state it: --price ${model}=in,out, in US dollars for a million tokens`;
}

/** A request that was refused, as far as it is known. */
interface RefusedRequest {
  /** Null where it was refused before it was read. */
  readonly wire: WireRequest | null;
  readonly capability_id: string;
  /** The request for approval that is open, where it is not known what this one needs: then it changes nothing in that. */
  readonly open: ApprovalRequest | null;
}

/** To read and parse a body of so many bytes takes less than a millisecond. */
const SHORT_BODY = 64 * 1024;

const NO_BODY = Buffer.alloc(0);

const UNREAD: RefusedRequest = { wire: null, capability_id: "llm", open: null };

/** Why a body is not read, with the headers that go with it. */
interface Unread {
  readonly failing: Failing;
  readonly headers?: OutgoingHttpHeaders;
}

/** What every model call needs, however small it is. */
function askedUnread({ store: { dimensions } }: Purse): Amounts {
  return dimensions.has("steps") ? readAmounts({ steps: 1 }, dimensions) : {};
}

/** All requests without a key that is taken count together. No key has a name like that. */
const NO_KEY_LOAD = "no key";

/** How a budget stood so long ago is how it stands now. */
const FRESH_MS = 20;

/** A reservation that is given back at once, unless the process dies in between. */
const UNREAD_EXPIRES_MS = 60_000;

/** A client can open no budget. */
const ANOTHER_KEY = "ask whoever runs the gateway for another key";

const NO_TEXT: RefusalReport = {
  code: "invalid_request",
  message: "the body is no text in UTF-8",
  hint: "correct the request",
};

/** Only what went wrong, and nothing that a provider or a client has sent. */
function failureOf(upstream: string, error: unknown): Failing {
  const type = "api_error";
  if (error instanceof UpstreamDenied) return { status: 502, type, code: error.code, message: error.message };
  if (!(error instanceof UpstreamTimeout)) {
    return { status: 502, type, code: "upstream_failed", message: `${upstream} failed: ${codeOf(error)}` };
  }
  return { status: 504, type, code: error.code, message: `${upstream}: ${error.message}` };
}

function codeOf(error: unknown): string {
  if (isClientGone(error)) return "client_gone";
  const code = (error as NodeJS.ErrnoException | null)?.code;
  return typeof code === "string" ? code : "no answer";
}

import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { InputError, show } from "../core/errors.js";
import { checkKeys } from "../core/fields.js";
import type { Clock } from "../ports/clock.js";
import type { Timer } from "../ports/timer.js";
import { systemClock, systemTimer } from "../runtime/system-clock.js";
import type { ReadAnswer, ScriptedAnswer, ScriptedHang, ScriptedStatus } from "./scripted/answer.js";
import { readAnswer } from "./scripted/answer.js";
import type { BatchLine, BatchResult, ScriptedBatch } from "./scripted/batch.js";
import { type BatchRoute, batchRouteTo } from "./scripted/batch-routes.js";
import { ScriptedBatches } from "./scripted/batches.js";
import { checkBatching, type ScriptedBatching } from "./scripted/batching.js";
import { listOf, modelOf } from "./scripted/catalogue.js";
import { errorBody, type Failure } from "./scripted/errors.js";
import { headersFor } from "./scripted/headers.js";
import { hear } from "./scripted/hear.js";
import { bodyOf } from "./scripted/incoming-body.js";
import { Line } from "./scripted/line.js";
import type { Heard, ScriptedRequest } from "./scripted/request.js";
import { answerRoute, type Route, routeTo } from "./scripted/routes.js";
import type { Provider, Wire, Writable } from "./scripted/wire.js";

/** What a scripted model answers: one answer after another, or whatever a function makes of a request. */
export type Script =
  | readonly ScriptedAnswer[]
  | ((request: ScriptedRequest) => ScriptedAnswer | Promise<ScriptedAnswer>);

export interface ScriptedModelOptions {
  readonly script: Script;
  /** The models it says it has: `scripted`. */
  readonly models?: readonly string[];
  /** The key it wants to see, as `authorization: Bearer` or as `x-api-key`; none unless it is said. */
  readonly apiKey?: string;
  /** What it says to a request that only asks how many tokens it has: what an answer would count, unless it is said. */
  readonly counting?: (request: ScriptedRequest) => number | ScriptedStatus | ScriptedHang;
  /** How it goes about batches, whose requests the script answers too. */
  readonly batches?: ScriptedBatching;
  /** So many requests of each kind are kept to be looked at: 1000. All of them are counted. */
  readonly keep?: number;
  readonly clock?: Clock;
  readonly timer?: Timer;
}

/** A request on its way through, and whoever waits for the answer. */
interface Visit {
  readonly provider: Provider;
  readonly request_id: string;
  readonly line: Line;
  /** Set once it has reached the script. */
  request: ScriptedRequest | null;
}

const KEYS = ["script", "models", "apiKey", "counting", "batches", "keep", "clock", "timer"];
const MOST_REQUESTS = 1000;
const MOST_CONNECTIONS = 1000;
const LOOPBACK = "127.0.0.1";

/**
 * A server on loopback that speaks as providers do and answers from a script: OpenAI's Chat Completions, Responses and Embeddings
 * and Anthropic's Messages, streamed or not and in batches, with the usage, the errors and the counting of tokens that belong to
 * each. Whatever calls a provider can be tried against it without a key, a network or a bill, with all that can go wrong there.
 *
 * @example
 * ```ts
 * await using model = await openScriptedModel({
 *   script: ["Hello.", { kind: "status", status: 429, retry_after_s: 1 }, { kind: "half", text: "To be cont", ending: "hang" }],
 * });
 * const openai = new OpenAI({ baseURL: model.url, apiKey: "none" });
 * const anthropic = new Anthropic({ baseURL: model.origin, apiKey: "none" });
 * ```
 */
export class ScriptedModel implements AsyncDisposable {
  private readonly options: ScriptedModelOptions;
  private readonly models: readonly string[];
  private readonly server: Server;
  private readonly waiting: ScriptedBatches;
  private readonly kept: ScriptedRequest[] = [];
  private readonly keptAborted: ScriptedRequest[] = [];
  private readonly keptCounting: ScriptedRequest[] = [];
  private counted = 0;
  private countedAborted = 0;
  private countedCounting = 0;
  private visits = 0;
  private closing = false;

  constructor(options: ScriptedModelOptions) {
    checkKeys(options, "options", KEYS);
    const { script, models = ["scripted"], keep = MOST_REQUESTS } = options;
    if (typeof script !== "function" && !Array.isArray(script)) {
      throw new InputError("script", `is ${show(script)}; allowed: a list of answers, or a function that gives one`);
    }
    if (Array.isArray(script)) for (const answer of script) readAnswer(answer);
    if (!Number.isSafeInteger(keep) || keep < 0) {
      throw new InputError("keep", `is ${show(keep)}; allowed: a whole number from 0`);
    }
    const { batches: batching = {} } = options;
    checkBatching(batching);
    this.options = options;
    this.models = models;
    this.waiting = new ScriptedBatches({
      batching,
      now: () => this.now().instant,
      origin: () => this.origin,
      answer: (line, provider, endpoint) => this.answerLine(line, provider, endpoint),
    });
    this.server = createServer((incoming, response) => void this.receive(incoming, response));
    this.server.maxConnections = MOST_CONNECTIONS;
  }

  /** Where clients find it, as OpenAI's want a base address: it ends in `/v1`. */
  get url(): string {
    return `${this.origin}/v1`;
  }

  /** The same without `/v1`, as Anthropic's clients want it. */
  get origin(): string {
    const address = this.server.address() as AddressInfo | null;
    if (address === null) throw new Error("the scripted model does not listen; open it with openScriptedModel()");
    return `http://${LOOPBACK}:${address.port}`;
  }

  /** How many requests have reached the script. */
  get count(): number {
    return this.counted;
  }

  /** The last of them, oldest first. */
  get requests(): readonly ScriptedRequest[] {
    return this.kept;
  }

  /** How many clients have hung up before their answer was over. */
  get aborted(): number {
    return this.countedAborted;
  }

  /** What the last of them had asked, oldest first. */
  get abortedRequests(): readonly ScriptedRequest[] {
    return this.keptAborted;
  }

  /** The last requests that only asked how many tokens they have, oldest first. The script does not see them. */
  get countingRequests(): readonly ScriptedRequest[] {
    return this.keptCounting;
  }

  /** The batches that were handed in, oldest first. */
  get batches(): readonly ScriptedBatch[] {
    return this.waiting.all;
  }

  listen(): Promise<void> {
    return new Promise((resolve, reject) => {
      this.server.once("error", reject);
      this.server.listen(0, LOOPBACK, () => {
        this.server.off("error", reject);
        resolve();
      });
    });
  }

  /** Hangs up on everybody, also on those who wait. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.closing = true;
    const closed = new Promise((resolve) => this.server.close(resolve));
    this.server.closeAllConnections();
    await closed;
  }

  private async receive(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const [path = "", query = ""] = (incoming.url ?? "").split("?");
    const method = incoming.method ?? "";
    const batch = batchRouteTo(method, path);
    const route = batch === null ? routeTo(method, path) : null;
    const line = new Line(response, this.options.timer ?? systemTimer, () => this.left(visit));
    const request_id = `req_scripted_${++this.visits}`;
    const provider = batch !== null && "provider" in batch ? batch.provider : providerOf(route, incoming);
    const visit: Visit = { provider, request_id, line, request: null };
    try {
      if (batch !== null) return await this.serveBatch(incoming, query, batch, visit);
      if (route !== null) return await this.serve(incoming, path, route, visit);
      this.refuse(visit, { status: 404, message: `there is no ${incoming.method} ${path} here` });
    } catch (error) {
      if (line.begun) line.hangUp();
      else
        this.refuse(visit, { status: 500, message: `the script failed: ${messageOf(error)}`, code: "script_failed" });
    }
  }

  private async serve(incoming: IncomingMessage, path: string, route: Route, visit: Visit): Promise<void> {
    const denial = this.denial(incoming, visit.provider);
    if (denial !== null) return this.refuse(visit, { status: 401, message: denial });
    if (route.kind === "models") return this.list(route.id, visit);
    const text = await bodyOf(incoming);
    if (text === null) return this.refuse(visit, { status: 413, message: "the request is too large" });
    const number = (route.kind === "count" ? this.countedCounting : this.counted) + 1;
    const heard = hear(text, { path, route, headers: incoming.headers, number });
    if ("status" in heard) return this.refuse(visit, heard);
    if (!this.models.includes(heard.request.model)) return this.refuse(visit, this.unknown(heard.request.model));
    if (route.kind === "count") return this.tellCount(heard, visit);
    this.counted++;
    this.keep(heard.request, this.kept);
    visit.request = heard.request;
    await this.play(heard, route.wire, visit);
  }

  private async serveBatch(incoming: IncomingMessage, query: string, route: BatchRoute, visit: Visit): Promise<void> {
    const denial = this.denial(incoming, visit.provider);
    if (denial !== null) return this.refuse(visit, { status: 401, message: denial });
    const text = await bodyOf(incoming);
    if (text === null) return this.refuse(visit, { status: 413, message: "the request is too large" });
    const { headers } = incoming;
    const said = await this.waiting.serve(route, { text, query: new URLSearchParams(query), headers });
    if (said.kind === "failure") return this.refuse(visit, said.failure);
    if (said.kind === "fault") return said.fault.kind === "cut" ? visit.line.hangUp() : this.fail(said.fault, visit);
    if (said.kind === "body") return visit.line.send(200, said.body, this.headers(visit));
    const lines =
      typeof said.lines === "string" ? said.lines : said.lines.map((line) => `${JSON.stringify(line)}\n`).join("");
    visit.line.sendText(200, lines, { ...this.headers(visit), "content-type": "application/x-jsonl" });
  }

  /** What the script answers to one request of a batch; one that it lets hang is never answered. */
  private async answerLine(line: BatchLine, provider: Provider, endpoint: string): Promise<BatchResult> {
    const request_id = `req_batch_${line.custom_id}`;
    const failed = (failure: Failure): BatchResult => ({
      kind: "error",
      status: failure.status,
      body: errorBody(provider, failure, request_id),
    });
    const route = answerRoute(endpoint);
    if (route === null) return failed({ status: 404, message: `there is no ${endpoint} here` });
    const headers = { "anthropic-version": "2023-06-01" };
    const heard = hear(JSON.stringify(line.body), { path: endpoint, route, headers, number: this.counted + 1 });
    if ("status" in heard) return failed(heard);
    if (!this.models.includes(heard.request.model)) return failed(this.unknown(heard.request.model));
    this.counted++;
    this.keep(heard.request, this.kept);
    const fate = this.options.batches?.fate?.(heard.request, line.custom_id) ?? "answer";
    if (fate !== "answer") return { kind: fate };
    const answer = await this.answerTo(heard.request);
    if (answer.kind === "hang") return { kind: "expired" };
    if (answer.kind === "status")
      return failed({ ...answer, message: answer.message ?? `the script says ${answer.status}` });
    if (answer.kind === "garbage") return { kind: "answer", body: { garbage: answer.body ?? null } };
    return { kind: "answer", body: route.wire.body(answer, heard, this.now().instant) };
  }

  private async play(heard: Heard, wire: Wire, visit: Visit): Promise<void> {
    const answer = await this.answerTo(heard.request);
    if (answer.kind === "hang" || !(await visit.line.wait(answer.latency_ms ?? 0))) return;
    switch (answer.kind) {
      case "garbage": {
        const { body = '{"choices": [{"mess', status = 200, content_type = "application/json" } = answer;
        return visit.line.sendText(status, body, { ...this.headers(visit), "content-type": content_type });
      }
      case "status":
        return this.fail(answer, visit);
      default:
        return this.tell(answer, { heard, wire, visit });
    }
  }

  private async answerTo(request: ScriptedRequest): Promise<ReadAnswer> {
    const { script } = this.options;
    if (typeof script === "function") return readAnswer(await script(request));
    const answer = script[request.number - 1];
    if (answer !== undefined) return readAnswer(answer);
    const message = `the script has ${script.length} answers, and this is request ${request.number}`;
    return { kind: "status", status: 500, message };
  }

  private async tell(answer: Writable, about: { heard: Heard; wire: Wire; visit: Visit }): Promise<void> {
    const { heard, wire, visit } = about;
    const { line } = visit;
    const headers = this.headers(visit);
    const { instant } = this.now();
    if (!heard.request.stream || answer.kind === "embedding") {
      const body = wire.body(answer, heard, instant);
      return answer.kind === "half" ? line.sendPart(body, answer, headers) : line.send(200, body, headers);
    }
    const events = wire.events(answer, heard, instant);
    if (answer.kind === "text") return line.stream(events, answer, headers);
    const failure = (sent: number) => wire.failure("the script says that it fails here", sent);
    return line.streamPart(events, answer, failure, headers);
  }

  /** Says how many tokens a request has, which no script is asked about. */
  private tellCount({ request, terms }: Heard, visit: Visit): void {
    this.countedCounting++;
    this.keep(request, this.keptCounting);
    const said = this.options.counting?.(request) ?? terms.input_tokens;
    if (typeof said !== "number") {
      const answer = readAnswer(said);
      if (answer.kind === "status") this.fail(answer, visit);
      else if (answer.kind !== "hang") throw new InputError("counting", `gives ${answer.kind}; allowed: status, hang`);
      return;
    }
    const object = visit.provider === "openai" ? { object: "response.input_tokens" } : {};
    visit.line.send(200, { ...object, input_tokens: said }, this.headers(visit));
  }

  private list(id: string | null, visit: Visit): void {
    const { line, provider } = visit;
    if (id === null) return void line.send(200, listOf(this.models, provider), this.headers(visit));
    // Names are written as addresses and not the other way round, because not everything in an address can be read.
    const model = this.models.find((each) => each === id || encodeURIComponent(each) === id);
    if (model === undefined) this.refuse(visit, this.unknown(id));
    else line.send(200, modelOf(model, provider), this.headers(visit));
  }

  private unknown(model: string): Failure {
    const message = `the model ${model} does not exist; there is ${this.models.join(", ")}`;
    return { status: 404, message, code: "model_not_found" };
  }

  private fail(answer: ScriptedStatus, visit: Visit): void {
    const { status, message = `the script says ${status}`, type, code, retry_after_s, headers } = answer;
    const after = retry_after_s === undefined ? {} : { "retry-after": String(retry_after_s) };
    this.refuse(visit, { status, message, type, code }, { ...after, ...headers }, retry_after_s);
  }

  private refuse(visit: Visit, failure: Failure, more: Readonly<Record<string, string>> = {}, reset_s = 0): void {
    const headers = { ...this.headers(visit, { limited: failure.status === 429, reset_s }), ...more };
    visit.line.send(failure.status, errorBody(visit.provider, failure, visit.request_id), headers);
  }

  private headers(
    { provider, request_id }: Visit,
    rate: { readonly limited: boolean; readonly reset_s: number } = { limited: false, reset_s: 0 },
  ): Readonly<Record<string, string>> {
    return headersFor(provider, { request_id, instant: this.now().instant, ...rate });
  }

  /** As OpenAI does, it shows the key that it does not take. */
  private denial({ headers }: IncomingMessage, provider: Provider): string | null {
    const { apiKey } = this.options;
    const { authorization = "", "x-api-key": other } = headers;
    const given = other === undefined ? authorization.replace(/^Bearer /, "") : String(other);
    if (apiKey === undefined || given === apiKey) return null;
    return provider === "openai" ? `incorrect API key provided: ${given}` : "invalid x-api-key";
  }

  private left({ request }: Visit): void {
    if (request === null || this.closing) return;
    this.countedAborted++;
    this.keep(request, this.keptAborted);
  }

  private keep(request: ScriptedRequest, list: ScriptedRequest[]): void {
    list.push(request);
    if (list.length > (this.options.keep ?? MOST_REQUESTS)) list.shift();
  }

  private now(): { readonly instant: number } {
    return (this.options.clock ?? systemClock).now();
  }
}

/**
 * Opens a scripted model on a free port of this machine.
 *
 * @example
 * ```ts
 * await using model = await openScriptedModel({
 *   script: ({ text, protocol }) => (protocol === "openai-embeddings" ? "" : `You said: ${text}`),
 *   models: ["gpt-5", "text-embedding-3-small"],
 * });
 * ```
 */
export async function openScriptedModel(options: ScriptedModelOptions): Promise<ScriptedModel> {
  const model = new ScriptedModel(options);
  await model.listen();
  return model;
}

function providerOf(route: Route | null, { headers }: IncomingMessage): Provider {
  if (route !== null && route.kind !== "models") return route.wire.provider;
  return headers["anthropic-version"] === undefined ? "openai" : "anthropic";
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

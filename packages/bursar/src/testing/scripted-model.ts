import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { JsonObject } from "../core/chain/canonical.js";
import { InputError, show } from "../core/errors.js";
import { checkKeys } from "../core/fields.js";
import type { Clock } from "../ports/clock.js";
import type { Timer } from "../ports/timer.js";
import { systemClock, systemTimer } from "../runtime/system-clock.js";
import { readAnswer, type ScriptedAnswer, type ScriptedText } from "./scripted-model-answer.js";
import { readRequest } from "./scripted-model-request.js";
import { completionOf, errorBody, events, type ScriptedRequest, wholeBody } from "./scripted-model-wire.js";

/** What a scripted model answers: one answer after another, or whatever a function makes of a request. */
export type Script =
  | readonly ScriptedAnswer[]
  | ((request: ScriptedRequest) => ScriptedAnswer | Promise<ScriptedAnswer>);

export interface ScriptedModelOptions {
  readonly script: Script;
  /** The models it says it has: `scripted`. */
  readonly models?: readonly string[];
  /** The key it wants to see; none unless it is said. */
  readonly apiKey?: string;
  readonly clock?: Clock;
  readonly timer?: Timer;
}

const KEYS = ["script", "models", "apiKey", "clock", "timer"];
/** So many requests are kept to be looked at; all of them are counted. */
const MOST_REQUESTS = 1000;
const MOST_BYTES = 8 * 1024 * 1024;
const MOST_CONNECTIONS = 1000;
const LOOPBACK = "127.0.0.1";

/** Every response carries it, so that nobody takes a script for a model. */
const SIGN: Readonly<Record<string, string>> = { "x-bursar-scripted": "true" };

/**
 * A server on loopback that speaks the protocol of OpenAI's chat completions and answers from a script: whatever calls a
 * provider can be tried against it without a key, a network or a bill, with all that can go wrong at a provider.
 *
 * @example
 * ```ts
 * await using model = await openScriptedModel({ script: ["Hello.", { kind: "status", status: 429 }] });
 * const response = await fetch(`${model.url}/chat/completions`, { method: "POST", body });
 * ```
 */
export class ScriptedModel implements AsyncDisposable {
  private readonly options: ScriptedModelOptions;
  private readonly models: readonly string[];
  private readonly server: Server;
  private readonly kept: ScriptedRequest[] = [];
  private counted = 0;

  constructor(options: ScriptedModelOptions) {
    checkKeys(options, "options", KEYS);
    const { script, models = ["scripted"] } = options;
    if (typeof script !== "function" && !Array.isArray(script)) {
      throw new InputError("script", `is ${show(script)}; allowed: a list of answers, or a function that gives one`);
    }
    if (Array.isArray(script)) for (const answer of script) readAnswer(answer);
    this.options = options;
    this.models = models;
    this.server = createServer((incoming, response) => {
      this.serve(incoming, response).catch((error: unknown) => {
        if (response.headersSent) response.destroy();
        else send(response, 500, errorBody(500, `the script failed: ${messageOf(error)}`, "script_failed"));
      });
    });
    this.server.maxConnections = MOST_CONNECTIONS;
  }

  /** Where clients find it, as they want a base address: it ends in `/v1`. */
  get url(): string {
    const address = this.server.address() as AddressInfo | null;
    if (address === null) throw new Error("the scripted model does not listen; open it with openScriptedModel()");
    return `http://${LOOPBACK}:${address.port}/v1`;
  }

  /** How many requests have reached the script. */
  get count(): number {
    return this.counted;
  }

  /** The last thousand of them, oldest first. */
  get requests(): readonly ScriptedRequest[] {
    return this.kept;
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
    const closed = new Promise((resolve) => this.server.close(resolve));
    this.server.closeAllConnections();
    await closed;
  }

  private async serve(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = (incoming.url ?? "").split("?")[0];
    if (incoming.method === "GET" && path === "/v1/models") return send(response, 200, this.list());
    if (incoming.method !== "POST" || path !== "/v1/chat/completions") {
      return send(response, 404, errorBody(404, `there is no ${incoming.method} ${path} here`, "not_found"));
    }
    const denial = this.denial(incoming.headers.authorization ?? "");
    if (denial !== null) return send(response, 401, errorBody(401, denial, "invalid_api_key"));
    const text = await bodyOf(incoming);
    if (text === null) return send(response, 413, errorBody(413, "the request is too large", "too_large"));
    const read = readRequest(text, incoming.headers, this.counted + 1);
    if ("problem" in read) return send(response, 400, errorBody(400, read.problem, "invalid_request"));
    if (!this.models.includes(read.model)) {
      const problem = `the model ${read.model} does not exist; there is ${this.models.join(", ")}`;
      return send(response, 404, errorBody(404, problem, "model_not_found"));
    }
    this.counted++;
    this.kept.push(read);
    if (this.kept.length > MOST_REQUESTS) this.kept.shift();
    await this.play(read, response);
  }

  private async play(request: ScriptedRequest, response: ServerResponse): Promise<void> {
    const answer = await this.answerTo(request);
    if (answer.kind === "hang") return;
    if (!(await this.late(answer.latency_ms ?? 0, response))) return;
    switch (answer.kind) {
      case "text":
        return this.tell(answer, request, response, "whole");
      case "half":
        return this.tell({ kind: "text", text: answer.text }, request, response, "half");
      case "garbage":
        response.writeHead(200, { ...SIGN, "content-type": "application/json" });
        response.end(answer.body ?? '{"choices": [{"mess');
        return;
      case "status": {
        const { status, message = `the script says ${status}`, retry_after_s } = answer;
        const headers = retry_after_s === undefined ? {} : { "retry-after": String(retry_after_s) };
        return send(response, status, errorBody(status, message, `scripted_${status}`), headers);
      }
    }
  }

  private async answerTo(request: ScriptedRequest): Promise<Exclude<ScriptedAnswer, string>> {
    const { script } = this.options;
    if (typeof script === "function") return readAnswer(await script(request));
    const answer = script[request.number - 1];
    if (answer !== undefined) return readAnswer(answer);
    const message = `the script has ${script.length} answers, and this is request ${request.number}`;
    return { kind: "status", status: 500, message };
  }

  private tell(answer: ScriptedText, request: ScriptedRequest, response: ServerResponse, how: "whole" | "half"): void {
    const { clock = systemClock } = this.options;
    const completion = completionOf(answer, request, clock.now().instant);
    if (!request.stream) {
      const bytes = Buffer.from(JSON.stringify(wholeBody(completion)));
      response.writeHead(200, { ...SIGN, "content-type": "application/json", "content-length": bytes.length });
      if (how === "whole") response.end(bytes);
      else response.write(bytes.subarray(0, bytes.length >> 1), () => response.destroy());
      return;
    }
    const all = events(completion, request);
    response.writeHead(200, { ...SIGN, "content-type": "text/event-stream", "cache-control": "no-cache" });
    if (how === "whole") response.end(all.join(""));
    else response.write(all.slice(0, all.length >> 1).join(""), () => response.destroy());
  }

  /** Waits. Tells whether anybody is still there. */
  private late(ms: number, response: ServerResponse): Promise<boolean> {
    const { timer = systemTimer } = this.options;
    if (ms === 0) return Promise.resolve(true);
    return new Promise((resolve) => {
      const gone = () => {
        alarm[Symbol.dispose]();
        resolve(false);
      };
      const alarm = timer.after(ms, () => {
        response.off("close", gone);
        resolve(true);
      });
      response.once("close", gone);
    });
  }

  /** As providers do, it shows the key that it does not take. */
  private denial(authorization: string): string | null {
    const { apiKey } = this.options;
    if (apiKey === undefined || authorization === `Bearer ${apiKey}`) return null;
    return `incorrect API key provided: ${authorization.replace(/^Bearer /, "")}`;
  }

  private list(): JsonObject {
    const data = this.models.map((id) => ({ id, object: "model", created: 0, owned_by: "bursar-scripted" }));
    return { object: "list", data, scripted: true };
  }
}

/** Opens a scripted model on a free port of this machine. */
export async function openScriptedModel(options: ScriptedModelOptions): Promise<ScriptedModel> {
  const model = new ScriptedModel(options);
  await model.listen();
  return model;
}

function send(
  response: ServerResponse,
  status: number,
  body: JsonObject,
  headers: Readonly<Record<string, string>> = {},
): void {
  response.writeHead(status, { ...SIGN, ...headers, "content-type": "application/json" });
  response.end(JSON.stringify(body));
}

/** The body as a text; null when it is too large. */
async function bodyOf(incoming: IncomingMessage): Promise<string | null> {
  const pieces: Buffer[] = [];
  let size = 0;
  for await (const piece of incoming as AsyncIterable<Buffer>) {
    size += piece.length;
    // The rest is read and dropped, so that the other side gets to read why.
    if (size <= MOST_BYTES) pieces.push(piece);
  }
  return size > MOST_BYTES ? null : Buffer.concat(pieces).toString("utf8");
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

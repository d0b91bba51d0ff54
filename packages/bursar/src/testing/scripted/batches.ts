import type { IncomingHttpHeaders } from "node:http";
import type { Json, JsonObject } from "../../core/chain/canonical.js";
import { InputError, show } from "../../core/errors.js";
import { anthropicBatch, anthropicLines } from "./anthropic-batches.js";
import { type BatchLine, type BatchResult, DAY_MS, type ScriptedBatch } from "./batch.js";
import type { BatchRoute } from "./batch-routes.js";
import { type BatchFault, type BatchQuestion, readFault, type ScriptedBatching } from "./batching.js";
import type { Failure } from "./errors.js";
import { errorsOf, openaiBatch, openaiFile, openaiLines, outputOf } from "./openai-batches.js";
import { isObject, parseBody } from "./request.js";
import type { Provider } from "./wire.js";

/** A question about batches, as it came in. */
export interface BatchVisit {
  readonly text: string;
  readonly query: URLSearchParams;
  readonly headers: IncomingHttpHeaders;
}

/** What is said to it. */
export type BatchAnswer =
  | { readonly kind: "body"; readonly body: JsonObject }
  | { readonly kind: "lines"; readonly lines: readonly JsonObject[] | string }
  | { readonly kind: "failure"; readonly failure: Failure }
  | { readonly kind: "fault"; readonly fault: BatchFault };

export interface BatchesOptions {
  readonly batching: ScriptedBatching;
  readonly now: () => number;
  readonly origin: () => string;
  /** What the script answers to one request of a batch. */
  readonly answer: (line: BatchLine, provider: Provider, endpoint: string) => Promise<BatchResult>;
}

const MOST_BATCHES = 10_000;
const MOST_LINES = 50_000;
const PAGE = 20;
const LONGEST_PAGE = 100;
const ENDPOINTS: readonly Json[] = ["/v1/chat/completions", "/v1/responses", "/v1/embeddings"];
const MESSAGES = "/v1/messages";

/** The batches of a scripted model, as two providers keep them. */
export class ScriptedBatches {
  private readonly options: BatchesOptions;
  private readonly files = new Map<string, string>();
  private readonly batches = new Map<string, ScriptedBatch>();
  private readonly asked = new Map<BatchQuestion, number>();

  constructor(options: BatchesOptions) {
    this.options = options;
  }

  /** Every batch that was ever taken, the oldest first. */
  get all(): readonly ScriptedBatch[] {
    return [...this.batches.values()];
  }

  async serve(route: BatchRoute, visit: BatchVisit): Promise<BatchAnswer> {
    const number = (this.asked.get(route.kind) ?? 0) + 1;
    this.asked.set(route.kind, number);
    const fault = readFault(this.options.batching.fault?.(route.kind, number));
    if (fault !== null && fault.done !== true) return { kind: "fault", fault };
    try {
      const answer = await this.answer(route, visit);
      return fault === null ? answer : { kind: "fault", fault };
    } catch (error) {
      if (!(error instanceof InputError)) throw error;
      return { kind: "failure", failure: { status: 400, message: error.message, param: error.field } };
    }
  }

  private async answer(route: BatchRoute, visit: BatchVisit): Promise<BatchAnswer> {
    switch (route.kind) {
      case "file":
        return { kind: "body", body: await this.upload(visit) };
      case "create":
        return this.shown(this.create(route.provider, visit));
      case "list":
        return { kind: "body", body: await this.list(route.provider, visit.query) };
      case "results":
        return this.results(route.provider, route.id);
      default: {
        const batch = this.batches.get(route.id);
        if (batch === undefined || batch.provider !== route.provider) return missing(`batch ${route.id}`);
        if (route.kind === "cancel" && batch.ended === null) batch.state = "cancelling";
        else if (route.kind === "look") await this.look(batch);
        return this.shown(batch);
      }
    }
  }

  private shown(batch: ScriptedBatch): BatchAnswer {
    const { origin } = this.options;
    return { kind: "body", body: batch.provider === "openai" ? openaiBatch(batch) : anthropicBatch(batch, origin()) };
  }

  private async upload({ text, headers }: BatchVisit): Promise<JsonObject> {
    const type = headers["content-type"] ?? "";
    const form = await new Response(text, { headers: { "content-type": type } }).formData().catch(() => null);
    const file = form?.get("file") ?? null;
    if (form === null || file === null || typeof file === "string") {
      throw new InputError("file", "is no file; allowed: multipart/form-data with a file and a purpose");
    }
    if (form.get("purpose") !== "batch") {
      throw new InputError("purpose", `is ${show(form.get("purpose"))}; here only batch is taken`);
    }
    const id = `file-scripted-${this.files.size + 1}`;
    const content = await file.text();
    this.files.set(id, content);
    return openaiFile(id, Buffer.byteLength(content), this.options.now(), file.name);
  }

  private create(provider: Provider, { text, headers }: BatchVisit): ScriptedBatch {
    if (this.batches.size >= MOST_BATCHES) throw new InputError("batches", "are too many");
    const body = parseBody(text);
    const id = `${provider === "openai" ? "batch_scripted" : "msgbatch_scripted"}_${this.batches.size + 1}`;
    const begun = provider === "openai" ? this.readOpenai(body) : readAnthropic(body, headers);
    const batch: ScriptedBatch = {
      id,
      provider,
      created: this.options.now(),
      looks: 0,
      ended: null,
      results: new Map(),
      ...begun,
      state: begun.complaint === null ? "under_way" : "failed",
    };
    if (batch.state === "failed") batch.ended = batch.created;
    this.batches.set(id, batch);
    return batch;
  }

  private readOpenai(body: JsonObject): Begun {
    const { input_file_id, endpoint = null, completion_window, metadata = {} } = body;
    if (completion_window !== "24h") throw new InputError("completion_window", "is none; allowed: 24h");
    if (!ENDPOINTS.includes(endpoint)) throw new InputError("endpoint", `is ${show(endpoint)}`);
    const content = typeof input_file_id === "string" ? this.files.get(input_file_id) : undefined;
    if (content === undefined)
      throw new InputError("input_file_id", `is ${show(input_file_id)}; there is no such file`);
    const about = { endpoint: String(endpoint), input_file_id: String(input_file_id) };
    const words = isObject(metadata) ? metadata : {};
    try {
      const lines = content.split("\n").filter((line) => line.trim() !== "");
      return {
        ...about,
        metadata: words,
        lines: checkLines(lines.map((line) => lineIn(line, endpoint))),
        complaint: null,
      };
    } catch (error) {
      if (!(error instanceof InputError)) throw error;
      // The file is only read after the batch was taken, so that nobody is told at once.
      return { ...about, metadata: words, lines: [], complaint: error.message };
    }
  }

  private async list(provider: Provider, query: URLSearchParams): Promise<JsonObject> {
    const newest = this.all.filter((batch) => batch.provider === provider).reverse();
    const after = query.get(provider === "openai" ? "after" : "after_id");
    const from = after === null ? 0 : newest.findIndex(({ id }) => id === after) + 1;
    const limit = Math.min(Math.max(1, Number(query.get("limit") ?? PAGE)), LONGEST_PAGE);
    const page = newest.slice(from, from + limit);
    for (const batch of page) await this.look(batch);
    const data = page.map((batch) =>
      provider === "openai" ? openaiBatch(batch) : anthropicBatch(batch, this.options.origin()),
    );
    const object = provider === "openai" ? { object: "list" } : {};
    const ends = { first_id: page.at(0)?.id ?? null, last_id: page.at(-1)?.id ?? null };
    return { ...object, data, ...ends, has_more: from + limit < newest.length };
  }

  private results(provider: Provider, id: string): BatchAnswer {
    if (provider === "anthropic") {
      const batch = this.batches.get(id);
      if (batch === undefined || batch.ended === null) return missing(`results of ${id}`);
      return { kind: "lines", lines: anthropicLines(batch) };
    }
    const own = this.files.get(id);
    if (own !== undefined) return { kind: "lines", lines: own };
    for (const batch of this.batches.values()) {
      if (batch.ended === null) continue;
      if (id === outputOf(batch.id)) return { kind: "lines", lines: openaiLines(batch, "output") };
      if (id === errorsOf(batch.id)) return { kind: "lines", lines: openaiLines(batch, "errors") };
    }
    return missing(`file ${id}`);
  }

  /** Whoever looks sees it come further: a script has no other time than that of its clock, and of those who look. */
  private async look(batch: ScriptedBatch): Promise<void> {
    const { batching, now } = this.options;
    const { polls = 1, takes_ms = 0 } = batching;
    batch.looks++;
    if (batch.ended !== null) return;
    if (batch.state !== "cancelling" && (batch.looks < polls || now() < batch.created + takes_ms)) return;
    const isCancelled = batch.state === "cancelling";
    for (const line of batch.lines) {
      batch.results.set(line.custom_id, isCancelled ? { kind: "cancelled" } : await this.resultOf(line, batch));
    }
    batch.ended = now();
    const expired = [...batch.results.values()].some(({ kind }) => kind === "expired");
    batch.state = isCancelled ? "cancelled" : expired ? "expired" : "completed";
    if (expired) batch.ended = Math.max(batch.ended, batch.created + DAY_MS);
  }

  private resultOf(line: BatchLine, { provider, endpoint }: ScriptedBatch): Promise<BatchResult> {
    return this.options.answer(line, provider, endpoint);
  }
}

type Begun = Pick<ScriptedBatch, "lines" | "metadata" | "endpoint" | "input_file_id" | "complaint">;

function readAnthropic({ requests }: JsonObject, headers: IncomingHttpHeaders): Begun {
  if (headers["anthropic-version"] === undefined) throw new InputError("anthropic-version:", "header is required");
  if (!Array.isArray(requests) || requests.length === 0) throw new InputError("requests", "is no list of requests");
  const lines = (requests as readonly Json[]).map((request, index) => {
    const { custom_id, params } = isObject(request) ? request : {};
    if (typeof custom_id !== "string" || !/^[\w-]{1,64}$/.test(custom_id) || !isObject(params)) {
      throw new InputError(`requests.${index}`, "has no custom_id of 1 to 64 letters, or no params");
    }
    return { custom_id, body: params };
  });
  return { lines: checkLines(lines), metadata: {}, endpoint: MESSAGES, input_file_id: "", complaint: null };
}

function lineIn(text: string, endpoint: Json): BatchLine {
  const { custom_id, method, url, body } = parseBody(text);
  if (typeof custom_id !== "string" || method !== "POST" || url !== endpoint || !isObject(body)) {
    throw new InputError("line", "is none; allowed: custom_id, method POST, the url of the batch, and a body");
  }
  return { custom_id, body };
}

function checkLines(lines: readonly BatchLine[]): readonly BatchLine[] {
  if (lines.length === 0 || lines.length > MOST_LINES) throw new InputError("requests", `are ${lines.length}`);
  if (new Set(lines.map(({ custom_id }) => custom_id)).size < lines.length) {
    throw new InputError("custom_id", "is there twice");
  }
  return lines;
}

function missing(what: string): BatchAnswer {
  return { kind: "failure", failure: { status: 404, message: `there is no ${what} here` } };
}

import { Buffer } from "node:buffer";
import type { JsonObject } from "../../core/chain/canonical.js";
import { keptTokens } from "../wire/kept-items.js";
import type { ProtocolName } from "../wire/protocol.js";
import { nameOfThought } from "./item-name.js";
import type { SdkMessage, SdkPart } from "./sdk-model.js";

/** A part of a prompt, as far as it matters for how many tokens it may have. */
export type PromptPart =
  | { readonly kind: "text"; readonly text: string }
  /** `data` is what stands in the request, in base64; null for one that lies elsewhere. */
  | { readonly kind: "image"; readonly data: string | null }
  | { readonly kind: "audio" }
  /** What the provider keeps, and of which is known how much it is at most. */
  | { readonly kind: "kept"; readonly tokens: number }
  /** Its size in tokens is not to be seen from its bytes. */
  | { readonly kind: "file" }
  /** Something that stands for more than it shows. */
  | { readonly kind: "other"; readonly what: string };

/** What holds nothing but texts, names and JSON: all of it stands in the bytes of the call. */
const WHOLE: ReadonlySet<string> = new Set([
  "tool-call",
  "tool-result",
  "tool-approval-request",
  "tool-approval-response",
  "json",
  "error-text",
  "error-json",
  "execution-denied",
]);

/** Parts of a provider's own that tell something to the caller, and are left out when the conversation goes on. */
const NOT_SENT: ReadonlySet<string> = new Set(["anthropic.message_start", "anthropic.container_upload"]);

/** The parts of all messages, also of those inside of what tools have given. */
export function* partsOf(prompt: readonly SdkMessage[]): Generator<PromptPart> {
  for (const { content } of prompt) {
    if (typeof content === "string") yield { kind: "text", text: content };
    else for (const part of content) yield* partsIn(part);
  }
}

function* partsIn(part: SdkPart): Generator<PromptPart> {
  const { type } = part;
  if (type === "tool-result") {
    const { type: kind, value } = (part.output ?? {}) as SdkPart;
    if (kind === "content" && Array.isArray(value)) for (const each of value as readonly SdkPart[]) yield partOf(each);
    return;
  }
  yield partOf(part);
}

function partOf(part: SdkPart): PromptPart {
  const { type } = part;
  if (type === "text") return { kind: "text", text: String(part.text ?? "") };
  if (type === "reasoning") return reasoningOf(part);
  if (type === "image-data") return { kind: "image", data: base64Of(part.data) };
  // Wherever an image lies, it has its figure.
  if (type === "image-url" || type === "image-file-id") return { kind: "image", data: null };
  if (type === "file" || type === "media" || type === "file-data" || type === "file-url") return fileOf(part);
  if (type === "custom" && NOT_SENT.has(String(part.kind))) return { kind: "text", text: "" };
  return WHOLE.has(type) ? { kind: "text", text: "" } : { kind: "other", what: type };
}

/** What was thought before is sent as it stands, or sealed; where it is only referred to, the provider looks it up. */
function reasoningOf(part: SdkPart): PromptPart {
  const name = nameOfThought(part);
  const options = Object.values(part.providerOptions ?? {});
  const sealed = options.some((own) => typeof own?.reasoningEncryptedContent === "string");
  if (name === null || sealed) return { kind: "text", text: String(part.text ?? "") };
  const tokens = keptTokens(name);
  return tokens === null ? { kind: "other", what: "item_reference" } : { kind: "kept", tokens };
}

function fileOf({ mediaType, data, url }: SdkPart): PromptPart {
  const media = typeof mediaType === "string" ? mediaType.toLowerCase() : "";
  const content = dataOf(data ?? url);
  if (content.text !== null) return { kind: "text", text: content.text };
  if (media.startsWith("image")) return { kind: "image", data: content.base64 };
  const inside = content.base64 !== null;
  if (media.startsWith("audio") && inside) return { kind: "audio" };
  // In base64 a text is longer than it is.
  return media.startsWith("text") && inside ? { kind: "text", text: "" } : { kind: "file" };
}

/** What a file holds: a text, bytes in base64, or neither when it lies elsewhere. */
function dataOf(data: unknown): { readonly text: string | null; readonly base64: string | null } {
  if (typeof data === "object" && data !== null && "type" in data) {
    const {
      type,
      text,
      data: inner,
    } = data as { readonly type: unknown; readonly text?: unknown; readonly data?: unknown };
    if (type === "text" && typeof text === "string") return { text, base64: null };
    return { text: null, base64: type === "data" ? base64Of(inner) : null };
  }
  return { text: null, base64: base64Of(data) };
}

/** Null for what lies elsewhere. */
function base64Of(data: unknown): string | null {
  if (data instanceof Uint8Array) return base64(data);
  if (data instanceof ArrayBuffer) return base64(new Uint8Array(data));
  return typeof data === "string" && !/^https?:/i.test(data) ? data : null;
}

function base64(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("base64");
}

/** How many bytes a value has as JSON, with what is binary in base64, as it is sent. */
export function bytesOf(value: unknown): number {
  return Buffer.byteLength(jsonOf(value));
}

/** A value as JSON, with what is binary in base64. */
export function jsonOf(value: unknown): string {
  function plain(this: unknown, key: string, each: unknown): unknown {
    // Before a buffer has turned itself into a list of numbers.
    const raw: unknown = (this as Record<string, unknown>)[key];
    if (raw instanceof Uint8Array || raw instanceof ArrayBuffer) return base64Of(raw);
    return typeof each === "bigint" ? String(each) : each;
  }
  return JSON.stringify(value, plain) ?? "";
}

/** A part as it stands in a request of a protocol. */
export function writtenPart(part: PromptPart, protocol: ProtocolName): JsonObject {
  switch (part.kind) {
    case "text":
      return { type: protocol === "openai-responses" ? "input_text" : "text", text: part.text };
    case "image":
      return writtenImage(part.data, protocol);
    case "kept":
      // Its tokens are counted beside the bytes.
      return writtenPart({ kind: "text", text: "" }, protocol);
    case "audio":
      return { type: "input_audio" };
    case "file":
      return protocol === "anthropic-messages" ? { type: "document", source: { type: "file" } } : { type: "file" };
    case "other":
      return { type: part.what };
  }
}

function writtenImage(data: string | null, protocol: ProtocolName): JsonObject {
  if (protocol === "openai-responses") return { type: "input_image", image_url: data ?? "" };
  if (protocol !== "anthropic-messages") return { type: "image_url", image_url: { url: data ?? "" } };
  return { type: "image", source: data === null ? { type: "url" } : { type: "base64", data } };
}

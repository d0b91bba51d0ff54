import { protocolFor } from "../wire/protocols.js";
import type { Providers } from "./providers.js";

/** The SDKs send their traces to their makers' own servers, which costs nothing. */
const FREE = /\/traces\/ingest\/?$/;

/** On a server that nobody knows, only this path cannot mean anything else than a model. */
const UNMISTAKABLE = "openai-chat";

/**
 * Whether a request is a provider's business, and so is governed: everything that goes to a provider's host, and what speaks one of
 * the protocols elsewhere. A message to a chat room has the same path as one to a model, but it names none. It is said at once
 * wherever it can be, because whoever sends may change what he gave away as soon as he has it back.
 */
export function isGoverned(
  input: string | URL | Request,
  init: RequestInit | undefined,
  providers: Providers,
): boolean | Promise<boolean> {
  const isRequest = input instanceof Request;
  const address = isRequest ? input.url : String(input);
  // What is no address is left to fetch to complain about.
  if (!URL.canParse(address)) return false;
  const { host, pathname, protocol: scheme } = new URL(address);
  if (scheme !== "http:" && scheme !== "https:") return false;
  if (providers.has(host)) return !FREE.test(pathname);
  const method = init?.method ?? (isRequest ? input.method : "GET");
  const protocol = protocolFor(method, pathname);
  if (protocol === null) return false;
  if (protocol.name === UNMISTAKABLE) return true;
  const body = bodyOf(input, init);
  return body instanceof Promise ? body.then(namesModel) : namesModel(body);
}

/** The body as a text, without taking it from whoever sends it; null for what no SDK sends. */
function bodyOf(input: string | URL | Request, init: RequestInit | undefined): string | null | Promise<string> {
  const body = init?.body;
  if (typeof body === "string") return body;
  if (body instanceof ArrayBuffer || ArrayBuffer.isView(body)) return new TextDecoder().decode(body);
  if (body === undefined || body === null) return input instanceof Request ? input.clone().text() : null;
  return null;
}

function namesModel(body: string | null): boolean {
  if (body === null || !body.includes('"model"')) return false;
  try {
    const { model } = (JSON.parse(body) ?? {}) as { readonly model?: unknown };
    return typeof model === "string";
  } catch {
    return false;
  }
}

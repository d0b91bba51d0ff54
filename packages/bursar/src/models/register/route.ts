import { InputError } from "../../core/errors.js";
import { streamed, textOf } from "../fetch/outgoing.js";
import { protocolFor } from "../wire/protocols.js";
import type { Providers } from "./providers.js";

/** The SDKs send their traces to their makers' own servers, which costs nothing. */
const FREE = /\/traces\/ingest\/?$/;

/** Requests that cost nothing, at any provider. */
const LOOKING: ReadonlySet<string> = new Set(["GET", "HEAD", "OPTIONS", "DELETE"]);

/** On a server that nobody knows, only this path cannot mean anything else than a model. */
const UNMISTAKABLE = "openai-chat";

/** A request that has to be read before it is known what it is. */
export interface Looked {
  /** To be sent in place of what was given, which may be used up. */
  readonly request: Request;
  readonly governed: Promise<boolean>;
}

/**
 * Whether a request is a provider's business, and so is governed: everything that goes to a provider's host, and what speaks one of
 * the protocols elsewhere. A message to a chat room has the same path as one to a model, but it names none. It is said at once
 * wherever it can be, because whoever sends may change what he gave away as soon as he has it back.
 */
export function isGoverned(
  input: string | URL | Request,
  init: RequestInit | undefined,
  providers: Providers,
): boolean | Looked {
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
  return body instanceof Request ? { request: body, governed: looksGoverned(body.clone()) } : namesModel(body);
}

/** What is known of a request by its first line and headers. */
export interface OutgoingHead {
  /** The hosts that it may be for: the one that is connected, and the one that its headers name. */
  readonly hosts: readonly string[];
  readonly method: string;
  /** As it stands in the first line: to a proxy, all of the URL. */
  readonly path: string;
  /** Whether it asks to speak another protocol from then on. */
  readonly upgrades: boolean;
}

/**
 * The host at which a request that goes past the global `fetch` may be a call of a model; null where it costs nothing. Only its head is
 * known, and nothing can meter it.
 */
export function unmeteredHost({ hosts, method, path, upgrades }: OutgoingHead, providers: Providers): string | null {
  if (!upgrades && LOOKING.has(method.toUpperCase())) return null;
  // To a proxy the path names the host: all of a URL, or host and port for a tunnel.
  const absolute = absoluteForm(path);
  const address = path.startsWith("/") ? `http://host${path}` : path;
  const pathname = URL.canParse(address) ? new URL(address).pathname : path;
  const tunnel = method === "CONNECT" ? [path, path.replace(/:\d+$/, "")] : [];
  const all = [...hosts, ...(absolute === null ? [] : [absolute.host]), ...tunnel];
  const known = all.find((host) => providers.has(host));
  if (known !== undefined) return FREE.test(pathname) ? null : known;
  return protocolFor(method, pathname)?.name === UNMISTAKABLE ? (all[0] ?? "") : null;
}

/** The URL that the first line of a request to a proxy names; null where it names a path. */
export function absoluteForm(path: string): URL | null {
  return /^https?:\/\//i.test(path) && URL.canParse(path) ? new URL(path) : null;
}

/** The body as a text; null for what no model reads; all of the request where its body is known only when it is read. */
function bodyOf(input: string | URL | Request, init: RequestInit | undefined): string | null | Request {
  const body = init?.body;
  if (typeof body === "string") return body;
  if (body instanceof ArrayBuffer || ArrayBuffer.isView(body)) return new TextDecoder().decode(body);
  if ((body === undefined || body === null) && !(input instanceof Request)) return null;
  if (input instanceof Request && init === undefined) return input;
  if (body instanceof FormData || body instanceof URLSearchParams) return null;
  return new Request(input, streamed({ ...init }));
}

/** What is too long to be looked at is not let past for that: it is refused where calls are paid for. */
async function looksGoverned(copy: Request): Promise<boolean> {
  try {
    return namesModel(await textOf(copy));
  } catch (error) {
    if (error instanceof InputError) return true;
    throw error;
  }
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

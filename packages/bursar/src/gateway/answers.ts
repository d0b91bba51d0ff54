import type { OutgoingHttpHeaders } from "node:http";
import type { JsonObject } from "../core/chain/canonical.js";
import { REFUSAL_HEADERS, type RefusalReport, refusalBody, refusalStatus } from "../models/meter/refusal.js";
import type { ClientReply } from "./client-reply.js";
import type { Home } from "./upstream.js";

export function say(reply: ClientReply, status: number, body: JsonObject, headers: OutgoingHttpHeaders = {}): void {
  reply.answer(status, { ...headers, "content-type": "application/json" }, Buffer.from(JSON.stringify(body)));
}

/** An error of the gateway's own, in the form that both providers use: their SDKs show the message. */
export interface Failing {
  readonly status: number;
  readonly type: string;
  readonly code: string;
  readonly message: string;
}

export function sayError(
  reply: ClientReply,
  { status, type, code, message }: Failing,
  headers: OutgoingHttpHeaders = {},
): void {
  say(reply, status, { type: "error", error: { type, code, message, param: null } }, headers);
}

/** The body of an answer to what is no request. */
export function describeMalformed(message: string): string {
  const error = { type: "invalid_request_error", code: "invalid_request", message, param: null };
  return JSON.stringify({ type: "error", error });
}

/** The answer in place of the provider's, to a request that was not sent. */
export function refuse(reply: ClientReply, report: RefusalReport): void {
  reply.refused = report.code;
  say(reply, refusalStatus(report), refusalBody(report), { ...REFUSAL_HEADERS, "x-bursar-refused": report.code });
}

export const NO_KEY: Failing = {
  status: 401,
  type: "authentication_error",
  code: "invalid_api_key",
  message: "this key is none of the gateway's, or is no longer taken; ask whoever runs it for one",
};

export const FROM_A_PAGE: Failing = {
  status: 403,
  type: "permission_error",
  code: "key_required",
  message: "only programs of this machine are served without a key, and this request comes from a web page; show a key",
};

export const CLOSING: Failing = {
  status: 503,
  type: "api_error",
  code: "gateway_closing",
  message: "the gateway is about to end, and takes no more requests; try again in a moment",
};

export const STOPPED: Failing = {
  status: 503,
  type: "api_error",
  code: "gateway_stopped",
  message: "the gateway was stopped before the provider had answered; the call is charged as far as it may have come",
};

export function tooManyCalls(most: number): Failing {
  const message = `this key has ${most} calls under way, the most it may have at once; try again when one of them is over`;
  return { status: 429, type: "rate_limit_error", code: "too_many_calls", message };
}

export function tooManyBytes(most: number): Failing {
  const message = `the calls that this key has under way have bodies of ${most} bytes together, the most they may have; try again when one of them is over`;
  return { status: 429, type: "rate_limit_error", code: "too_many_bytes", message };
}

/** Large bodies are not read for nothing again and again. */
export function notReadYet(most: number, wait_ms: number): Failing {
  const seconds = Math.ceil(wait_ms / 1000);
  const message = `a large request of this key was refused a moment ago; the next one above ${most} bytes is read in ${seconds} s, and smaller ones are read at once`;
  return { status: 429, type: "rate_limit_error", code: "large_body_too_soon", message };
}

export const NO_TARGET: Failing = {
  status: 400,
  type: "invalid_request_error",
  code: "invalid_request",
  message: "this is the address of nothing; ask for a path, such as /v1/chat/completions",
};

export function unknownPath(method: string, path: string): Failing {
  const known =
    "it knows chat/completions, responses, embeddings and messages, below / or /v1 or the name of an upstream";
  const message = `the gateway does not pass ${method} ${path} on; ${known}`;
  return { status: 404, type: "not_found_error", code: "not_governed", message };
}

/** Codex asks for a WebSocket first, and sends the same request without one after this status alone at once. */
export const NO_WEBSOCKET: Failing = {
  status: 426,
  type: "invalid_request_error",
  code: "no_websocket",
  message: "the gateway does not meter WebSockets, so it passes none on; send the request with POST",
};

/** It would be passed on, were there anybody to pass it on to. */
export function unspoken(method: string, path: string, home: Home): Failing {
  const maker = home === "anthropic" ? "Anthropic" : "OpenAI";
  const remedy = `whoever runs it can add one with ${home.toUpperCase()}_API_KEY or --upstream`;
  const message = `the gateway has no provider for ${method} ${path} that speaks as ${maker} does; ${remedy}`;
  return { status: 404, type: "not_found_error", code: "not_governed", message };
}

export function tooLong(most: number): Failing {
  const message = `the request is longer than ${most} bytes; send less`;
  return { status: 413, type: "invalid_request_error", code: "too_long", message };
}

export function encoded(encoding: string): Failing {
  const message = `the body is encoded as ${JSON.stringify(encoding.slice(0, 40))}; send it as it is`;
  return { status: 415, type: "invalid_request_error", code: "encoded", message };
}

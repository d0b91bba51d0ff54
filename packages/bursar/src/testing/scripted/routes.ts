import { chat } from "./chat.js";
import { embeddings } from "./embeddings.js";
import { messages } from "./messages.js";
import { responses } from "./responses.js";
import type { Wire } from "./wire.js";

/** What is found under a path. */
export type Route =
  | { readonly kind: "answer"; readonly wire: Wire }
  | { readonly kind: "count"; readonly wire: Wire }
  /** One model, by its name as the address has it, or all of them. */
  | { readonly kind: "models"; readonly id: string | null };

const POSTS: Readonly<Record<string, Route>> = {
  "/chat/completions": { kind: "answer", wire: chat },
  "/responses": { kind: "answer", wire: responses },
  "/responses/input_tokens": { kind: "count", wire: responses },
  "/embeddings": { kind: "answer", wire: embeddings },
  "/messages": { kind: "answer", wire: messages },
  "/messages/count_tokens": { kind: "count", wire: messages },
};

/** Where a request goes, with `/v1` or without it, because clients disagree about what a base address is; null when nowhere. */
export function routeTo(method: string, path: string): Route | null {
  const rest = path.startsWith("/v1/") ? path.slice(3) : path;
  if (method === "POST") return Object.hasOwn(POSTS, rest) ? (POSTS[rest] ?? null) : null;
  if (method !== "GET" || !/^\/models(?:\/[^/]+)?$/.test(rest)) return null;
  const id = rest.slice("/models/".length);
  return { kind: "models", id: id === "" ? null : id };
}

/** The way to an answer that a path stands for; null when it stands for anything else. */
export function answerRoute(path: string): Extract<Route, { kind: "answer" }> | null {
  const route = routeTo("POST", path);
  return route?.kind === "answer" ? route : null;
}

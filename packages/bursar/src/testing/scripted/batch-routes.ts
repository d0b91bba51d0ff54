import type { Provider } from "./wire.js";

/** What is asked of the interface for batches, and about which batch or file. */
export type BatchRoute =
  | { readonly kind: "file" }
  | { readonly kind: "create" | "list"; readonly provider: Provider }
  | { readonly kind: "look" | "cancel"; readonly provider: Provider; readonly id: string }
  | { readonly kind: "results"; readonly provider: Provider; readonly id: string };

const PLACES: readonly (readonly [path: RegExp, provider: Provider])[] = [
  [/^\/messages\/batches(?:\/([\w-]+)(?:\/(\w+))?)?$/, "anthropic"],
  [/^\/batches(?:\/([\w-]+)(?:\/(\w+))?)?$/, "openai"],
];

/** Where a request about batches goes; null when it is about something else. */
export function batchRouteTo(method: string, path: string): BatchRoute | null {
  const rest = path.startsWith("/v1/") ? path.slice(3) : path;
  if (method === "POST" && rest === "/files") return { kind: "file" };
  const [, file] = /^\/files\/([\w-]+)\/content$/.exec(rest) ?? [];
  if (method === "GET" && file !== undefined) return { kind: "results", provider: "openai", id: file };
  for (const [pattern, provider] of PLACES) {
    const found = pattern.exec(rest);
    if (found !== null) return routeWithin(provider, `${method} ${found[2] ?? ""}`, found[1] ?? null);
  }
  return null;
}

function routeWithin(provider: Provider, wanted: string, id: string | null): BatchRoute | null {
  if (id === null) {
    if (wanted === "POST ") return { kind: "create", provider };
    return wanted === "GET " ? { kind: "list", provider } : null;
  }
  if (wanted === "GET ") return { kind: "look", provider, id };
  if (wanted === "POST cancel") return { kind: "cancel", provider, id };
  return wanted === "GET results" && provider === "anthropic" ? { kind: "results", provider, id } : null;
}

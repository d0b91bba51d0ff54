/** Every page there is, and what it is about. */
export type Route =
  | { readonly kind: "overview" }
  | { readonly kind: "runs"; readonly filter: RunFilter }
  /** The form for a new run; the program is the one to begin with, and empty for any. */
  | { readonly kind: "start"; readonly program: string }
  | { readonly kind: "run"; readonly id: string }
  | { readonly kind: "chain"; readonly id: string }
  /** The chain that a budget writes into which belongs to no run: a session's, a tenant's or a key's. */
  | { readonly kind: "budget-chain"; readonly id: string }
  | { readonly kind: "approvals"; readonly status: string; readonly before: string }
  | { readonly kind: "approval"; readonly id: string }
  | { readonly kind: "sessions" }
  | { readonly kind: "keys" }
  | { readonly kind: "tokens" }
  | { readonly kind: "config" }
  | { readonly kind: "verify" }
  | { readonly kind: "unknown"; readonly path: string };

/** Which runs a list shows; an empty text is no condition. */
export interface RunFilter {
  readonly status: string;
  readonly session: string;
  readonly text: string;
  /** `true` lists runs below others too. */
  readonly children: string;
  /** Where the page begins; empty for the newest. */
  readonly before: string;
}

const SINGLE: Readonly<Record<string, Route>> = {
  "": { kind: "overview" },
  sessions: { kind: "sessions" },
  keys: { kind: "keys" },
  tokens: { kind: "tokens" },
  config: { kind: "config" },
  verify: { kind: "verify" },
};

const START = "start";

/** Reads an address; what it does not know is a route too, so that nobody is left with an empty page. */
export function routeOf(path: string, search: string): Route {
  const unknown: Route = { kind: "unknown", path };
  let parts: string[];
  try {
    parts = path
      .replace(/^\/+|\/+$/g, "")
      .split("/")
      .map(decodeURIComponent);
  } catch {
    return unknown;
  }
  const [first = "", id, third, fourth] = parts;
  if (parts.length === 1 && Object.hasOwn(SINGLE, first)) return SINGLE[first] ?? unknown;
  const query = new URLSearchParams(search);
  if (first === "runs") return runRoute(parts, query) ?? unknown;
  if (first === "budgets" && id !== undefined && third === "chain" && fourth === undefined) {
    return { kind: "budget-chain", id };
  }
  if (first !== "approvals" || third !== undefined) return unknown;
  return id === undefined ? approvalsRoute(query) : { kind: "approval", id };
}

function runRoute([, id, third, fourth]: readonly string[], query: URLSearchParams): Route | null {
  // An id could be any word, so that no address below that of the runs is free for this.
  const program = query.get(START);
  if (id === undefined && program !== null) return { kind: "start", program };
  if (id === undefined) return { kind: "runs", filter: filterOf(query) };
  if (third === undefined) return { kind: "run", id };
  return third === "chain" && fourth === undefined ? { kind: "chain", id } : null;
}

function approvalsRoute(query: URLSearchParams): Route {
  return { kind: "approvals", status: query.get("status") ?? "pending", before: query.get("before") ?? "" };
}

function filterOf(query: URLSearchParams): RunFilter {
  const field = (name: string) => query.get(name) ?? "";
  const children = field("children") === "true" ? "true" : "";
  return { status: field("status"), session: field("session"), text: field("text"), children, before: field("before") };
}

/** The address of a route. */
export function addressOf(route: Route): string {
  switch (route.kind) {
    case "overview":
      return "/";
    case "runs":
      return `/runs${queryOf({ ...route.filter })}`;
    case "start":
      return `/runs?${new URLSearchParams({ [START]: route.program })}`;
    case "run":
      return `/runs/${encodeURIComponent(route.id)}`;
    case "chain":
      return `/runs/${encodeURIComponent(route.id)}/chain`;
    case "budget-chain":
      return `/budgets/${encodeURIComponent(route.id)}/chain`;
    case "approvals":
      return `/approvals${queryOf({ status: route.status === "pending" ? "" : route.status, before: route.before })}`;
    case "approval":
      return `/approvals/${encodeURIComponent(route.id)}`;
    case "unknown":
      return route.path;
    default:
      return `/${route.kind}`;
  }
}

/** The part of an address after its path; what is empty is left out. */
export function queryOf(fields: Readonly<Record<string, string | number>>): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(fields)) if (value !== "") query.set(name, String(value));
  const text = query.toString();
  return text === "" ? "" : `?${text}`;
}

export const ALL_RUNS: RunFilter = { status: "", session: "", text: "", children: "", before: "" };

/** Where a new run is started. */
export const START_ADDRESS: string = addressOf({ kind: "start", program: "" });

export function runAddress(id: string): string {
  return addressOf({ kind: "run", id });
}

export function approvalAddress(id: string): string {
  return addressOf({ kind: "approval", id });
}

import type { Protocol } from "../models/wire/protocol.js";
import { protocolFor } from "../models/wire/protocols.js";
import type { Home, Upstream } from "./upstream.js";

/** Where a request goes. */
export type Route =
  /** To a model, which is paid for. */
  | { readonly kind: "model"; readonly upstream: Upstream; readonly protocol: Protocol }
  /** To something that costs nothing: the list of models, and counting tokens. */
  | { readonly kind: "free"; readonly upstream: Upstream; readonly home: Home; readonly ending: string }
  /** To nobody, because nobody here speaks so. */
  | { readonly kind: "unspoken"; readonly home: Home };

/** The paths that are known, without what stands before them. All others are refused, because nobody knows what they cost. */
const MODELS: ReadonlySet<string> = new Set(["chat/completions", "responses", "embeddings", "messages"]);
const COUNTING: ReadonlyMap<string, Home> = new Map([
  ["messages/count_tokens", "anthropic"],
  ["responses/input_tokens", "openai"],
]);
const LISTING = /^models(?:\/[\w.:@-]{1,200})?$/;
/** Some clients add `/v1` to a base address that ends in it already. */
const VERSIONS = /^(?:v1\/){1,2}/;

export interface Target {
  readonly pathname: string;
  readonly search: string;
}

/** The path of a request, with dots resolved as servers do; null when it has none. */
function targetOf(url: string): Target | null {
  // Two slashes would begin the name of a host.
  const path = url.startsWith("/") ? `http://gateway/${url.replace(/^[/\\]+/, "")}` : url;
  if (!/^https?:\/\//i.test(path) || !URL.canParse(path)) return null;
  const { pathname, search } = new URL(path);
  return { pathname, search };
}

/** Clients ask for few paths and for those again and again; a client that asks for many fills nothing. */
const MOST_KEPT = 100;

/** Finds where requests go, and remembers it. */
export class Routes {
  private readonly upstreams: readonly Upstream[];
  private readonly kept = new Map<string, Found>();

  constructor(upstreams: readonly Upstream[]) {
    this.upstreams = upstreams;
  }

  /** Null when there is no path at all. */
  find(method: string, url: string, home: Home): Found | null {
    const key = `${method} ${home} ${url}`;
    const known = this.kept.get(key);
    if (known !== undefined) return known;
    const target = targetOf(url);
    if (target === null) return null;
    const route = routeTo(this.upstreams, method, target.pathname, home);
    const found = { target, route };
    if (route !== null && this.kept.size < MOST_KEPT) this.kept.set(key, found);
    return found;
  }
}

/** A path, and where it leads; nowhere if it is not passed on. */
export interface Found {
  readonly target: Target;
  readonly route: Route | null;
}

/** Null for all that is not passed on. `home` says whose protocols the client speaks where the path does not. */
function routeTo(upstreams: readonly Upstream[], method: string, pathname: string, home: Home): Route | null {
  const segments = pathname.split("/").filter((segment) => segment !== "");
  const named = upstreams.find(({ name }) => name === segments[0]);
  const ending = segments
    .slice(named === undefined ? 0 : 1)
    .join("/")
    .replace(VERSIONS, "");
  const speaking = (wanted: Home) =>
    named === undefined
      ? upstreams.find(({ speaks }) => speaks.includes(wanted))
      : named.speaks.includes(wanted)
        ? named
        : undefined;
  const protocol = method === "POST" && MODELS.has(ending) ? protocolFor(method, `/${ending}`) : null;
  if (protocol !== null) {
    const upstream = speaking(protocol.home);
    return upstream === undefined ? { kind: "unspoken", home: protocol.home } : { kind: "model", upstream, protocol };
  }
  const counting = method === "POST" ? COUNTING.get(ending) : undefined;
  if (counting === undefined && !(method === "GET" && LISTING.test(ending))) return null;
  // A list is asked for in the provider's own way, which is not the client's where the prefix says so.
  const [only = home] = named === undefined || named.speaks.length > 1 ? [] : named.speaks;
  const free = counting ?? only;
  const upstream = speaking(free);
  if (upstream === undefined) return { kind: "unspoken", home: free };
  return { kind: "free", upstream, home: free, ending: `/${ending}` };
}

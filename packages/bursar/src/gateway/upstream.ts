import { createSecureContext } from "node:tls";
import { BursarError, InputError, show } from "../core/errors.js";
import { checkKeys, checkWhole } from "../core/fields.js";
import { readAllowedNames } from "../models/meter/allowed-members.js";
import { KeyScrubber } from "../models/wire/key-scrubber.js";
import type { Protocol, ProtocolName } from "../models/wire/protocol.js";
import { isHomeHost } from "../models/wire/provider-hosts.js";
import { UpstreamAnswer } from "./upstream-answer.js";
import type { UpstreamClient, UpstreamOrigin, UpstreamRequest, UpstreamTls } from "./upstream-client.js";

/** A provider that the gateway sends requests to. */
export interface UpstreamOptions {
  /** Its name, which is also the prefix of paths that go to it: `/openai/v1/…`. */
  readonly name: string;
  /** Its base address, as SDKs want it: `https://api.openai.com/v1`. Parameters of it, such as `?api-version=`, go with every request. */
  readonly url: string;
  /** The key that the gateway shows it. It never leaves the gateway. */
  readonly key?: string;
  /** Whose protocols it speaks; both unless it is said. Without a prefix, a request goes to the first that speaks its own. */
  readonly speaks?: readonly Home[];
  /** Members of a body, headers and parameters of the address that it may be sent though they may choose another model or bring input. */
  readonly allow?: readonly string[];
  /** How many connections to it at once; as many as there are requests, unless it is said. Further requests wait for a free one. */
  readonly connections?: number;
  /** Whose certificates are trusted, and which one the gateway shows. */
  readonly tls?: UpstreamTls;
}

/** Whose protocols are spoken. */
export type Home = "openai" | "anthropic";

const HOMES: readonly Home[] = ["openai", "anthropic"];
/** The first words of paths that mean something without an upstream, here or to the server that a gateway is mounted in. */
const TAKEN: ReadonlySet<string> = new Set([
  "v1",
  "chat",
  "responses",
  "embeddings",
  "messages",
  "models",
  "bursar",
  "health",
  "api",
  "mcp",
  "assets",
  "metrics",
  "openapi.json",
  "runs",
  "approvals",
  "sessions",
  "keys",
  "tokens",
  "config",
  "verify",
  "login",
]);
const KEYS = ["name", "url", "key", "speaks", "allow", "connections", "tls"];
const TLS_KEYS = ["ca", "cert", "key"];
const MOST_CONNECTIONS = 1_000_000;
/** Parameters that hold a key, which would stand in logs. */
const SECRETS = /^(?:(?:api|subscription)[-_]?key|key|code|sig|(?:access[-_]?)?token)$/i;
const NAME = /^[a-z0-9][a-z0-9-]{0,63}$/;

/** What follows the base address, for each protocol and for what both sides give away. */
const ENDINGS: Readonly<Record<ProtocolName, string>> = {
  "openai-chat": "/chat/completions",
  "openai-responses": "/responses",
  "openai-embeddings": "/embeddings",
  "anthropic-messages": "/messages",
};

/** The provider does not take the gateway's own key, which is nothing that a client could mend. */
export class UpstreamDenied extends BursarError {
  override readonly name: string = "UpstreamDenied";

  constructor(upstream: string) {
    super("upstream_denied", `${upstream} does not take the gateway's key; whoever runs it has to give it another`);
  }
}

export class Upstream implements UpstreamOrigin {
  readonly name: string;
  readonly url: URL;
  readonly speaks: readonly Home[];
  /** How many connections to it at once; null for no limit. */
  readonly connections: number | null;
  readonly tls: UpstreamTls | null;
  private readonly key: string | null;
  private readonly scrubber: KeyScrubber;
  private readonly allow: ReadonlySet<string>;

  private readonly addresses = new Map<ProtocolName, URL>();

  constructor(options: UpstreamOptions) {
    checkKeys(options, "upstream", KEYS);
    const { name, url, key = null, speaks = HOMES } = options;
    if (typeof name !== "string" || !NAME.test(name)) {
      throw new InputError("upstream.name", `is ${show(name)}; allowed: small letters, digits and dashes`);
    }
    if (TAKEN.has(name)) {
      const what = "which paths begin with that are the gateway's or the server's own";
      throw new InputError("upstream.name", `is ${show(name)}, ${what}; use another`);
    }
    if (!Array.isArray(speaks) || speaks.length === 0 || !speaks.every((each) => HOMES.includes(each))) {
      throw new InputError("upstream.speaks", `is ${show(speaks)}; allowed: a list of ${HOMES.join(" and ")}`);
    }
    const parsed = typeof url === "string" && URL.canParse(url) ? new URL(url) : null;
    if (
      parsed === null ||
      !["http:", "https:"].includes(parsed.protocol) ||
      `${parsed.username}${parsed.password}` !== ""
    ) {
      throw new InputError("upstream.url", "is none; allowed: a base address such as https://api.openai.com/v1");
    }
    const parameters = [...parsed.searchParams.keys()];
    const secret = parameters.find((each) => SECRETS.test(each));
    if (secret !== undefined) {
      throw new InputError("upstream.url", `has a key in ?${secret}; give it as the upstream's key`);
    }
    if (key !== null && (typeof key !== "string" || !/^[\x21-\x7e]+$/.test(key))) {
      throw new InputError("upstream.key", "is none; allowed: a text of ASCII characters without spaces");
    }
    this.name = name;
    // Their addresses are often written without the version, as Anthropic's SDK wants it.
    if (isHomeHost(parsed.hostname) && parsed.pathname === "/") parsed.pathname = "/v1";
    this.url = parsed;
    this.key = key;
    this.scrubber = new KeyScrubber(key);
    this.speaks = speaks;
    this.connections = readConnections(options.connections);
    this.tls = readTls(options.tls);
    const own = parameters.map((each) => `?${each}`);
    this.allow = new Set([...readAllowedNames(options.allow, "upstream.allow"), ...own]);
  }

  /** What it may be sent beside what is known: what is allowed of it, and of its address. */
  allowed(there: ReadonlySet<string>): ReadonlySet<string> {
    if (there.size === 0) return this.allow;
    return this.allow.size === 0 ? there : new Set([...this.allow, ...there]);
  }

  /** Where a request of a protocol goes. */
  addressOf({ name }: Protocol, search: string): URL {
    if (search !== "") return this.below(ENDINGS[name], search);
    const known = this.addresses.get(name) ?? this.below(ENDINGS[name], "");
    this.addresses.set(name, known);
    return known;
  }

  /** An address below the base. A client adds parameters to those of the base, and changes none of them. */
  below(ending: string, search: string): URL {
    const url = new URL(this.url);
    url.pathname = `${url.pathname.replace(/\/+$/, "")}${ending}`;
    if (this.url.search === "") url.search = search;
    else {
      for (const [name, value] of new URLSearchParams(search)) {
        if (!this.url.searchParams.has(name)) url.searchParams.append(name, value);
      }
    }
    return url;
  }

  /** The headers by which it knows the gateway. Providers look for either, and mind none of them twice. */
  credentials(home: Home): Readonly<Record<string, string>> {
    if (this.key === null) return {};
    return home === "anthropic" ? { "x-api-key": this.key } : { authorization: `Bearer ${this.key}` };
  }

  /** Sends a request; the answer comes without the gateway's key, whatever the upstream does with it. */
  async send(client: UpstreamClient, request: UpstreamRequest, signal: AbortSignal): Promise<UpstreamAnswer> {
    return new UpstreamAnswer(await client.send(this, request, signal), this.scrubber);
  }
}

function readConnections(connections: number | undefined): number | null {
  if (connections === undefined) return null;
  checkWhole(connections, "upstream.connections", 1, MOST_CONNECTIONS);
  return connections;
}

function readTls(tls: UpstreamTls | undefined): UpstreamTls | null {
  if (tls === undefined) return null;
  checkKeys(tls, "upstream.tls", TLS_KEYS);
  try {
    createSecureContext(tls);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new InputError("upstream.tls", `is none; allowed: PEM texts in ca, cert and key: ${why}`);
  }
  return tls;
}

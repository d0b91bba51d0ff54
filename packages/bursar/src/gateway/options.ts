import { readFileSync } from "node:fs";
import { InputError, show } from "../core/errors.js";
import { checkKeys, checkWait } from "../core/fields.js";
import { METER_KEYS, type MeterOptions, meterOptions } from "../models/meter/meter-options.js";
import { ProviderCounts } from "../models/meter/provider-count.js";
import type { ReuseOptions } from "../models/reuse/options.js";
import { type Reuse, reuseOf } from "../models/reuse/reuse.js";
import type { Store } from "../ports/store.js";
import type { Timer } from "../ports/timer.js";
import { AnnouncedStore } from "../runs/announced-store.js";
import type { Webhook } from "../runs/webhook.js";
import type { Purse } from "../runtime/purse.js";
import type { Served } from "./served.js";
import { Upstream, type UpstreamOptions } from "./upstream.js";

export interface GatewayOptions extends MeterOptions {
  /** Where keys and their budgets are kept. */
  readonly store: Store;
  readonly upstreams: readonly UpstreamOptions[];
  /** The budget of those who show no key. Only on an address of this machine; without it, everybody has to show one. */
  readonly budget?: { readonly purse: Purse };
  /** 127.0.0.1 unless it is said. */
  readonly host?: string;
  /** A free one unless it is said. */
  readonly port?: number;
  /** A certificate and its key, as PEM texts: then it speaks HTTPS. */
  readonly tls?: { readonly cert: string; readonly key: string };
  /** The longest body it takes, in bytes: 32 MB. */
  readonly body_bytes?: number;
  /** The longest headers it takes, in bytes: 16 KB. */
  readonly header_bytes?: number;
  /** How long a client may take to send its request: 60,000. */
  readonly request_ms?: number;
  /** How long a provider may take until it begins to answer: 600,000. */
  readonly answer_ms?: number;
  /** How long a provider, or a client that reads too slowly, may be silent in the middle: 300,000. */
  readonly silence_ms?: number;
  /** How many connections at once: 10,000. Beyond that, the one that has been idle the longest is closed for each new one. */
  readonly connections?: number;
  /** The same for one address: 2,500. Behind another proxy all clients have its address, so it has to be raised there. */
  readonly connections_per_address?: number;
  /** How many calls one key may have under way at once: 1,024. The next one is answered with 429. */
  readonly calls_per_key?: number;
  /** How many bytes the bodies of the calls that a key has under way may have together: 128 MB. Beyond that, 429. */
  readonly body_bytes_per_key?: number;
  /** How long a call waits for what others hold: 30,000. */
  readonly wait_ms?: number;
  /** What wakes calls up that wait, and ends those whose time is over. */
  readonly timer?: Timer;
  /** Where clients find it, if that is not the address it listens on, as behind another proxy. */
  readonly url?: string;
  /** Where a person answers a request for approval; the gateway's own page for it, unless it is said. */
  readonly approval_url?: (id: string) => string;
  /**
   * Who bounds the input of a request that would not fit otherwise: nobody but its bytes and a tokenizer ("bytes"), or the provider
   * too, who is asked for a count first ("provider"). Only Anthropic's Messages and OpenAI's Responses can be counted so; each
   * question takes a step of the client's budget.
   */
  readonly count?: "bytes" | "provider";
  /** Whether tools that the provider runs, such as `web_search`, are taken out of requests, instead of being capped and priced, or refused. */
  readonly strip_tools?: boolean;
  /** What is used again or sent together, or what openReuse() has opened; nothing unless it is said. */
  readonly reuse?: ReuseOptions | Reuse;
  /** Told about requests for approval that clients cause; signed and tried again as for runs. */
  readonly webhook?: Webhook;
  /** Told of what went wrong on the gateway's own side; it never holds a secret. */
  readonly onError?: (error: unknown) => void;
  /** Told of every request when it is over. */
  readonly onServed?: (served: Served) => void;
}

/** The options of a gateway that somebody else listens for; `host` is where he does. */
export interface MountOptions
  extends Omit<
    GatewayOptions,
    "url" | "port" | "tls" | "header_bytes" | "request_ms" | "connections" | "connections_per_address"
  > {
  /** Where clients find it. It is a function, because who has not begun to listen may not know yet. */
  readonly url: () => string;
}

const KEYS = [
  "store",
  "upstreams",
  "budget",
  "host",
  "port",
  "tls",
  "body_bytes",
  "header_bytes",
  "request_ms",
  "answer_ms",
  "silence_ms",
  "connections",
  "wait_ms",
  "approval_url",
  "onError",
  "onServed",
  "url",
  "timer",
  "reuse",
  "count",
  "webhook",
  "strip_tools",
  "connections_per_address",
  "calls_per_key",
  "body_bytes_per_key",
  ...METER_KEYS,
];
/** The most that timers of Node can wait. */
const MOST_MS = 2 ** 31 - 1;
const COUNTS: readonly (readonly [
  name:
    | "request_ms"
    | "answer_ms"
    | "silence_ms"
    | "body_bytes"
    | "header_bytes"
    | "connections"
    | "connections_per_address"
    | "calls_per_key"
    | "body_bytes_per_key"
    | "port",
  least: number,
  most: number,
])[] = [
  ["request_ms", 1, MOST_MS],
  ["answer_ms", 1, MOST_MS],
  ["silence_ms", 1, MOST_MS],
  ["body_bytes", 1, 512 * 1024 * 1024],
  ["header_bytes", 1024, 1024 * 1024],
  ["connections", 1, 1_000_000],
  ["connections_per_address", 1, 1_000_000],
  ["calls_per_key", 1, 1_000_000],
  ["body_bytes_per_key", 1, 2 ** 40],
  ["port", 0, 65_535],
];
const LOOPBACK: ReadonlySet<string> = new Set(["127.0.0.1", "::1", "localhost"]);

/** The options with what was left out, checked. */
export interface Settings {
  readonly store: Store;
  readonly upstreams: readonly Upstream[];
  readonly purse: Purse | null;
  readonly host: string;
  readonly port: number;
  readonly tls: { readonly cert: string; readonly key: string } | null;
  readonly body_bytes: number;
  readonly header_bytes: number;
  readonly request_ms: number;
  readonly answer_ms: number;
  readonly silence_ms: number;
  readonly connections: number;
  readonly connections_per_address: number;
  readonly calls_per_key: number;
  readonly body_bytes_per_key: number;
  readonly wait_ms: number | null;
  readonly approval_url: ((id: string) => string) | null;
  readonly url: string | null;
  readonly timer: Timer | null;
  readonly reuse: Reuse | null;
  /** Null where providers are not asked. */
  readonly counts: ProviderCounts | null;
  readonly strip_tools: boolean;
  readonly onError: (error: unknown) => void;
  readonly onServed: ((served: Served) => void) | null;
  readonly meter: MeterOptions;
}

export function readSettings(options: GatewayOptions): Settings {
  checkKeys(options, "options", KEYS);
  const { store, upstreams, budget, host = "127.0.0.1", port = 0, tls = null } = options;
  if (typeof store?.apply !== "function") throw new InputError("store", `is ${show(store)}; allowed: a store`);
  if (!Array.isArray(upstreams) || upstreams.length === 0) {
    throw new InputError("upstreams", `are ${show(upstreams)}; allowed: a list with one provider or more`);
  }
  if (options.wait_ms !== undefined) checkWait(options.wait_ms, "wait_ms");
  checkCounts(options);
  const purse: Purse | null = budget === undefined ? null : { ...budget.purse, unrecorded: true };
  if (purse !== null && !LOOPBACK.has(host)) {
    throw new InputError("budget", `would be open to whoever reaches ${show(host)}; give clients keys instead`);
  }
  const read: readonly Upstream[] = upstreams.map((each: UpstreamOptions) => new Upstream(each));
  const twice = read.find(({ name }, index) => read.findIndex((other) => other.name === name) !== index);
  if (twice !== undefined) throw new InputError("upstreams", `name ${show(twice.name)} twice`);
  const { body_bytes = 32 * 1024 * 1024, header_bytes = 16 * 1024, connections = 10_000 } = options;
  const { connections_per_address = Math.min(connections, 2500), calls_per_key = 1024 } = options;
  const { body_bytes_per_key = Math.max(body_bytes, 128 * 1024 * 1024) } = options;
  if (body_bytes_per_key < body_bytes) {
    const allowed = `body_bytes, which is ${body_bytes}, or more`;
    throw new InputError("body_bytes_per_key", `is ${body_bytes_per_key}; allowed: ${allowed}`);
  }
  const { request_ms = 60_000, answer_ms = 600_000, silence_ms = 300_000, wait_ms = null } = options;
  const { webhook, approval_url = null, onError = () => {}, onServed = null, timer = null } = options;
  return {
    store: webhook === undefined ? store : AnnouncedStore.over(store, webhook),
    upstreams: read,
    purse,
    host,
    port,
    tls,
    body_bytes,
    header_bytes,
    connections,
    connections_per_address,
    calls_per_key,
    body_bytes_per_key,

    request_ms,
    answer_ms,
    silence_ms,
    wait_ms,
    approval_url,
    onError,
    onServed,
    timer,
    reuse: reuseOf(options.reuse),
    counts: ProviderCounts.of(options.count, options.timer === undefined ? {} : { timer: options.timer }),
    strip_tools: readStripping(options.strip_tools),
    url: readUrl(options.url),
    meter: meterOptions(options),
  };
}

function checkCounts(options: GatewayOptions): void {
  for (const [name, least, most] of COUNTS) {
    const value = options[name];
    if (value === undefined || (Number.isInteger(value) && value >= least && value <= most)) continue;
    throw new InputError(name, `is ${show(value)}; allowed: a whole number from ${least} to ${most}`);
  }
}

function readStripping(strip_tools: unknown = false): boolean {
  if (typeof strip_tools === "boolean") return strip_tools;
  throw new InputError("strip_tools", `is ${show(strip_tools)}; allowed: true or false`);
}

function readUrl(url: string | undefined): string | null {
  if (url === undefined) return null;
  if (URL.canParse(url) && /^https?:$/.test(new URL(url).protocol)) return url.replace(/\/+$/, "");
  throw new InputError("url", `is ${show(url)}; allowed: an address such as https://gateway.example`);
}

/** Reads a certificate and its key from files. */
export function readTls(cert: string, key: string): { readonly cert: string; readonly key: string } {
  return { cert: readFileSync(cert, "utf8"), key: readFileSync(key, "utf8") };
}

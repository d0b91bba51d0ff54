import type { IncomingMessage, ServerResponse } from "node:http";
import type { Json, JsonObject } from "../core/chain/canonical.js";
import { InputError, show } from "../core/errors.js";
import { checkKeys, checkWhole } from "../core/fields.js";
import type { BudgetLimits, BudgetPolicies } from "../core/input.js";
import type { Preflight } from "../foresight/preflight.js";
import type { Store } from "../ports/store.js";
import type { Timer } from "../ports/timer.js";
import type { Bursar } from "../runs/bursar.js";
import type { StartOptions } from "../runs/opening.js";
import type { Principal } from "../runs/principal.js";
import type { RunRecord } from "../runs/record.js";
import type { StoreChecks } from "../runtime/sweeper.js";
import { backgroundTimer } from "../runtime/system-clock.js";
import type { Feed } from "../views/views.js";
import { isLoopback } from "./hosts.js";
import type { Rate } from "./pace.js";

/** A program that somebody brings along. */
export interface WantedProgram {
  readonly name: string;
  readonly language: string;
  readonly code: string;
}

/** A run that somebody wants started. */
export interface WantedRun extends Pick<StartOptions, "session" | "id" | "preflight" | "hints"> {
  /** The name of a program, or one that is brought along. */
  readonly program: string | WantedProgram;
  readonly input: Json;
  readonly limits?: BudgetLimits;
  readonly policies?: BudgetPolicies;
}

/** Something that serves requests of its own below some paths, such as a `Gateway` that was mounted. */
export interface Mount {
  readonly prefixes: readonly string[];
  handle(incoming: IncomingMessage, response: ServerResponse): Promise<void>;
}

/** Serves requests of somebody who is known. */
export type KnownHandler = (
  incoming: IncomingMessage,
  response: ServerResponse,
  principal: Principal,
) => Promise<void> | void;

/** The sessions of a sandbox, as the server shows them. */
export interface ShownSandbox {
  list(): Promise<readonly JsonObject[]> | readonly JsonObject[];
  /** Whether there was such a session. */
  destroy(id: string): Promise<boolean>;
}

/** A request that is over, as whoever runs the server wants to see it. */
export interface ServedRequest {
  readonly method: string;
  readonly path: string;
  /** The route that it took, as the API describes it; `gateway`, `mcp` and `page` for the rest. */
  readonly route: string;
  /** What was answered; 0 when the client had hung up before. */
  readonly status: number;
  /** Who has asked; null when nobody knows. */
  readonly name: string | null;
  readonly duration_ms: number;
}

export interface ServerOptions {
  readonly store: Store;
  /** Starts runs and decides over them; a `Worker` beside it drives them. */
  readonly bursar: Bursar;
  /**
   * Tells what changes in the store; one of its own unless it is said. What is written through the store of this one, as by a Bursar
   * that was opened on it, is told at once; all else within half a second.
   */
  readonly feed?: Feed;
  /** 127.0.0.1 unless it is said. On an address that others reach, everybody has to show a token. */
  readonly host?: string;
  /** 8787 unless it is said; 0 for a free one. */
  readonly port?: number;
  /** Where clients find it, if that is not the address it listens on, as behind a proxy; then they have to show tokens too. */
  readonly url?: string;
  /** A certificate and its key, as PEM texts: then it speaks HTTPS. */
  readonly tls?: { readonly cert: string; readonly key: string };
  /** The folder of the built page. */
  readonly page?: string;
  readonly mounts?: { readonly gateway?: Mount; readonly mcp?: KnownHandler };
  /** The programs that can be started by their names. */
  readonly programs?: () => readonly { readonly name: string; readonly kind: string }[];
  /** Starts a run, as a configuration allows it to whoever wants it; else as `bursar` does, and only programs that it knows. */
  readonly start?: (wanted: WantedRun, by: Principal) => Promise<RunRecord>;
  /** Tells what such a run would take, with nothing started; else as `bursar` does. */
  readonly estimate?: (wanted: WantedRun, by: Principal) => Promise<Preflight>;
  readonly sandbox?: ShownSandbox;
  /** What the configuration says, for people to see; of what the runs of a program get, if one is named. */
  readonly config?: (program?: string) => JsonObject | Promise<JsonObject>;
  /** What the sweeper of this process has compared, for /metrics. */
  readonly checks?: () => StoreChecks;
  /** The version of the product. */
  readonly version?: string;
  /** Demands tokens on an address of this machine too. Where none are demanded, what a proxy has passed on is refused. */
  readonly requireLogin?: boolean;
  /** How often one client may ask: 1,000 at once and 200 a second. */
  readonly rate?: Rate;
  /** The longest body it takes, in bytes: 4 MB. */
  readonly body_bytes?: number;
  /** How many connections at once: 10,000. Beyond that, the one that has been idle the longest is closed for each new one. */
  readonly connections?: number;
  /** The same for one address: 2,500. Behind a proxy all clients have its address, so it has to be raised there. */
  readonly connections_per_address?: number;
  /** How often it looks for changes that others make, and sends signs of life, is timed by this. */
  readonly timer?: Timer;
  /** Told of what went wrong on the server's own side; it never holds a secret. */
  readonly onError?: (error: unknown) => void;
  /** Told of every request when it is over. */
  readonly onServed?: (served: ServedRequest) => void;
}

const KEYS = [
  "store",
  "bursar",
  "feed",
  "host",
  "port",
  "url",
  "tls",
  "page",
  "mounts",
  "programs",
  "start",
  "estimate",
  "sandbox",
  "config",
  "checks",
  "version",
  "requireLogin",
  "rate",
  "body_bytes",
  "timer",
  "onError",
  "onServed",
  "connections",
  "connections_per_address",
];
const MOST_CONNECTIONS = 1_000_000;
const MOST_BODY = 64 * 1024 * 1024;

/** The options with what was left out, checked. */
export interface ServerSettings
  extends Omit<
    Required<ServerOptions>,
    "feed" | "url" | "tls" | "page" | "start" | "estimate" | "sandbox" | "checks" | "requireLogin"
  > {
  readonly feed: Feed | null;
  readonly url: string | null;
  readonly tls: { readonly cert: string; readonly key: string } | null;
  readonly page: string | null;
  readonly start: ServerOptions["start"] | null;
  readonly estimate: ServerOptions["estimate"] | null;
  readonly sandbox: ShownSandbox | null;
  readonly checks: (() => StoreChecks) | null;
  /** Whether everybody has to show a token. */
  readonly demanding: boolean;
}

export function readServerSettings(options: ServerOptions): ServerSettings {
  checkKeys(options, "options", KEYS);
  const {
    store,
    bursar,
    host = "127.0.0.1",
    port = 8787,
    requireLogin = false,
    body_bytes = 4 * 1024 * 1024,
  } = options;
  if (typeof store?.apply !== "function") throw new InputError("store", `is ${show(store)}; allowed: a store`);
  if (typeof bursar?.decide !== "function") throw new InputError("bursar", `is ${show(bursar)}; allowed: a Bursar`);
  if (typeof host !== "string" || host === "") throw new InputError("host", `is ${show(host)}; allowed: an address`);
  checkWhole(port, "port", 0, 65_535);
  checkWhole(body_bytes, "body_bytes", 1024, MOST_BODY);
  const { connections = 10_000 } = options;
  checkWhole(connections, "connections", 1, MOST_CONNECTIONS);
  const { connections_per_address = Math.min(connections, 2500) } = options;
  checkWhole(connections_per_address, "connections_per_address", 1, MOST_CONNECTIONS);
  const { rate = { burst: 1000, per_second: 200 } } = options;
  for (const name of ["burst", "per_second"] as const) {
    if (!(Number.isFinite(rate[name]) && rate[name] > 0)) {
      throw new InputError(`rate.${name}`, `is ${show(rate[name])}; allowed: a number above 0`);
    }
  }
  const url = readUrl(options.url);
  const {
    feed = null,
    tls = null,
    page = null,
    start = null,
    estimate = null,
    sandbox = null,
    version = "0",
  } = options;
  const { onError = () => {}, onServed = () => {}, timer = backgroundTimer } = options;
  return {
    store,
    bursar,
    host,
    port,
    feed,
    tls,
    page,
    start,
    estimate,
    sandbox,
    version,
    rate,
    body_bytes,
    timer,
    connections,
    connections_per_address,
    onError,
    onServed,
    url,
    checks: options.checks ?? null,
    mounts: options.mounts ?? {},
    programs: options.programs ?? (() => []),
    config: options.config ?? (() => ({})),
    demanding: requireLogin || !isLoopback(host) || (url !== null && !isLoopback(new URL(url).hostname)),
  };
}

function readUrl(url: string | undefined): string | null {
  if (url === undefined) return null;
  const parsed = URL.canParse(url) ? new URL(url) : null;
  if (parsed !== null && /^https?:$/.test(parsed.protocol) && parsed.pathname === "/" && parsed.search === "") {
    return parsed.origin;
  }
  throw new InputError("url", `is ${show(url)}; allowed: an address without a path, such as https://bursar.example`);
}

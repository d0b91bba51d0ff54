import { InputError, show } from "../../core/errors.js";
import { checkKeys, checkWhole } from "../../core/fields.js";
import type { Clock } from "../../ports/clock.js";
import type { Timer } from "../../ports/timer.js";
import { systemClock, systemTimer } from "../../runtime/system-clock.js";

/** What may be used again or sent together. Nothing of it happens unless it is asked for here. */
export interface ReuseOptions {
  /** Whether identical calls that are made at the same time become one, which the first of them pays for: false. */
  readonly in_flight?: boolean;
  /** Embedding calls that come within a small window become one request: false. It makes each wait for as long. */
  readonly embeddings?: boolean | EmbeddingReuse;
  /** Keeps answers, and gives them again to whoever asks the very same: false. */
  readonly cache?: boolean | CacheReuse;
  /**
   * Whether tenants get what others have paid for, and are grouped with them: false. In a program a tenant is the root of a
   * budget's path, at the gateway it is the budget of a key. Who shows the provider another key never gets it.
   */
  readonly shared?: boolean;
  readonly clock?: Clock;
  readonly timer?: Timer;
}

export interface EmbeddingReuse {
  /** How long the first waits for others: 5. */
  readonly window_ms?: number;
  /** How many inputs go into one request at most: 2,048, as OpenAI takes. */
  readonly inputs?: number;
  /** How many tokens go into one request at most: 300,000, as OpenAI takes. */
  readonly tokens?: number;
}

export interface CacheReuse {
  /** How much memory the answers may take: 64 MB. The one that was not asked for longest goes first. */
  readonly bytes?: number;
  /** How long an answer is given again: an hour. */
  readonly ttl_ms?: number;
  /** A folder in which answers outlive the process; none unless it is said. */
  readonly folder?: string;
  /** How much the folder may take: 1 GB. */
  readonly folder_bytes?: number;
}

export interface ReuseSettings {
  readonly in_flight: boolean;
  readonly embeddings: Required<EmbeddingReuse> | null;
  readonly cache: CacheSettings | null;
  readonly shared: boolean;
  readonly clock: Clock;
  readonly timer: Timer;
}

export interface CacheSettings {
  readonly bytes: number;
  readonly ttl_ms: number;
  readonly folder: string | null;
  readonly folder_bytes: number;
}

const MEGABYTE = 1024 * 1024;
const EMBEDDINGS: Required<EmbeddingReuse> = { window_ms: 5, inputs: 2048, tokens: 300_000 };
const CACHE: CacheSettings = { bytes: 64 * MEGABYTE, ttl_ms: 3_600_000, folder: null, folder_bytes: 1024 * MEGABYTE };
/** Longer than this nobody waits for others. */
const LONGEST_WINDOW_MS = 1000;
const MOST_BYTES = 2 ** 40;
const LONGEST_TTL_MS = 366 * 86_400_000;

/** The options with what was left out, checked. */
export function reuseSettings(options: ReuseOptions): ReuseSettings {
  checkKeys(options, "reuse", ["in_flight", "embeddings", "cache", "shared", "clock", "timer"]);
  const { in_flight = false, embeddings = false, cache = false, shared = false } = options;
  const { clock = systemClock, timer = systemTimer } = options;
  checkFlag(in_flight, "reuse.in_flight");
  checkFlag(shared, "reuse.shared");
  return { in_flight, embeddings: readEmbeddings(embeddings), cache: readCache(cache), shared, clock, timer };
}

function readEmbeddings(given: boolean | EmbeddingReuse): Required<EmbeddingReuse> | null {
  if (given === false) return null;
  const read = given === true ? {} : given;
  checkKeys(read, "reuse.embeddings", Object.keys(EMBEDDINGS));
  const settings = { ...EMBEDDINGS, ...read };
  checkWhole(settings.window_ms, "reuse.embeddings.window_ms", 0, LONGEST_WINDOW_MS);
  checkWhole(settings.inputs, "reuse.embeddings.inputs", 1, EMBEDDINGS.inputs);
  checkWhole(settings.tokens, "reuse.embeddings.tokens", 1, EMBEDDINGS.tokens);
  return settings;
}

function readCache(given: boolean | CacheReuse): CacheSettings | null {
  if (given === false) return null;
  const read = given === true ? {} : given;
  checkKeys(read, "reuse.cache", Object.keys(CACHE));
  const settings = { ...CACHE, ...read };
  checkWhole(settings.bytes, "reuse.cache.bytes", 0, MOST_BYTES);
  checkWhole(settings.folder_bytes, "reuse.cache.folder_bytes", 0, MOST_BYTES);
  checkWhole(settings.ttl_ms, "reuse.cache.ttl_ms", 1, LONGEST_TTL_MS);
  const { folder } = settings;
  if (folder !== null && (typeof folder !== "string" || folder === "")) {
    throw new InputError("reuse.cache.folder", `is ${show(folder)}; allowed: the path of a folder`);
  }
  return settings;
}

function checkFlag(value: unknown, field: string): void {
  if (typeof value !== "boolean") throw new InputError(field, `is ${show(value)}; allowed: true or false`);
}

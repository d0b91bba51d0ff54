import { InputError, show } from "../../core/errors.js";
import { checkKeys, checkWait, checkWhole } from "../../core/fields.js";
import { BATCH_NAME_RULE, isBatchName } from "../../ports/batches.js";
import type { Store } from "../../ports/store.js";
import type { Timer } from "../../ports/timer.js";
import { MOST_OUTPUT_TOKENS } from "../chat/chat-body.js";
import { pathTo, readKey, readUrl } from "../chat/endpoint.js";
import { readAllowedNames } from "../meter/allowed-members.js";
import type { PriceBook } from "../prices/price.js";
import type { PriceRemedies } from "../prices/price-remedies.js";
import type { ModelPrice, ModelPrices } from "../prices/stated-price.js";
import type { ModelDeployments } from "../wire/deployments.js";
import { AnthropicBatchProvider } from "./anthropic-batch-provider.js";
import type { BatchProvider } from "./batch-provider.js";
import { OpenaiBatchProvider } from "./openai-batch-provider.js";

export interface BatchesOptions {
  readonly store: Store;
  /** Whose interface for batches it is. */
  readonly provider: "openai" | "anthropic";
  /** The base address, as the provider's SDK wants it; the provider's own unless it is said. */
  readonly url?: string;
  readonly apiKey?: string;
  /** The model that requests go to unless they name another. */
  readonly model: string;
  /** What models cost otherwise: stated, or a price book from `openPrices`; the table of prices counts when nothing is said. */
  readonly prices?: ModelPrices | PriceBook;
  readonly assume?: ModelPrice;
  /** Which model each deployment runs, for providers that know models by names of their own, as Azure does. */
  readonly deployments?: ModelDeployments;
  /** How prices and deployments are stated here, for errors that say what is missing; as options unless it is said. */
  readonly remedies?: PriceRemedies;
  /**
   * The part of the usual price that a batch costs. At the addresses of OpenAI and Anthropic themselves it is 0.5; everywhere else
   * a batch is taken to cost as much as other calls, unless it is said.
   */
  readonly price_factor?: number;
  /** The most an answer may have unless a request says otherwise: 1,024. */
  readonly max_tokens?: number;
  /** How long a call waits for others to go with: 60,000. */
  readonly window_ms?: number;
  /** How many calls go out together at most: 1,000. So many do not wait any longer. */
  readonly most_items?: number;
  /** How long after a batch was handed in it is looked at first, and how long it takes at most from one look to the next: 15,000 and 600,000. */
  readonly poll_ms?: number;
  readonly longest_poll_ms?: number;
  /** How long one request to the provider may take: 60,000. */
  readonly timeout_ms?: number;
  /** How long after a connection was lost it may still turn out that a batch has arrived: 60,000. */
  readonly doubt_ms?: number;
  /** Tells two outlets at one address apart, such as those of two accounts. */
  readonly name?: string;
  /** What this process is called in claims. */
  readonly worker?: string;
  readonly timer?: Timer;
  /** Members of a request that may be sent though they may choose another model or bring input from elsewhere; else they are refused. */
  readonly allow?: readonly string[];
  readonly fetch?: typeof fetch;
}

const KEYS = [
  "store",
  "provider",
  "url",
  "apiKey",
  "model",
  "prices",
  "assume",
  "deployments",
  "remedies",
  "price_factor",
  "max_tokens",
  "window_ms",
  "most_items",
  "poll_ms",
  "longest_poll_ms",
  "timeout_ms",
  "doubt_ms",
  "name",
  "worker",
  "timer",
  "allow",
  "fetch",
];

const HOMES = { openai: "https://api.openai.com/v1", anthropic: "https://api.anthropic.com" } as const;
const MOST_ITEMS = 50_000;

/** How an outlet goes about its batches. */
export interface Pace {
  readonly window_ms: number;
  readonly most_items: number;
  readonly poll_ms: number;
  readonly longest_poll_ms: number;
  readonly timeout_ms: number;
  readonly doubt_ms: number;
}

export function readPace(options: BatchesOptions): Pace {
  checkKeys(options, "options", KEYS);
  const { window_ms = 60_000, most_items = 1000, poll_ms = 15_000, timeout_ms = 60_000 } = options;
  const { longest_poll_ms = Math.max(600_000, poll_ms), doubt_ms = 60_000 } = options;
  for (const [field, value] of Object.entries({ window_ms, poll_ms, longest_poll_ms, timeout_ms, doubt_ms })) {
    checkWait(value, field);
  }
  checkWhole(most_items, "most_items", 1, MOST_ITEMS);
  return { window_ms, most_items, poll_ms: Math.max(1, poll_ms), longest_poll_ms, timeout_ms, doubt_ms };
}

/** What a request gets that does not say it. */
export interface RequestDefaults {
  readonly model: string;
  readonly max_tokens: number;
  readonly allow: ReadonlySet<string>;
}

export function readDefaults({ model, max_tokens = 1024, allow }: BatchesOptions): RequestDefaults {
  if (typeof model !== "string" || model === "") {
    throw new InputError("model", `is ${show(model)}; allowed: a model's name`);
  }
  checkWhole(max_tokens, "max_tokens", 1, MOST_OUTPUT_TOKENS);
  return { model, max_tokens, allow: readAllowedNames(allow, "allow") };
}

/** What the outlet is called beside others at its address; empty when nothing is said. */
export function readName({ name }: BatchesOptions): string {
  if (name === undefined) return "";
  if (isBatchName(name)) return name;
  throw new InputError("name", `is ${show(name)}; allowed: ${BATCH_NAME_RULE}`);
}

export function readProvider(options: BatchesOptions, timeout_ms: number): BatchProvider {
  const { provider, fetch: send = fetch } = options;
  if (provider !== "openai" && provider !== "anthropic") {
    throw new InputError("provider", `is ${show(provider)}; allowed: openai, anthropic`);
  }
  // Their SDKs disagree about whether the version belongs to a base address.
  const base = readUrl(options.url ?? HOMES[provider], "url", (path) =>
    provider === "anthropic" ? pathTo(path, "/v1") : path,
  );
  const about = {
    base: `${base.origin}${base.pathname.replace(/\/+$/, "")}`,
    apiKey: readKey(options.apiKey, "apiKey"),
    timeout_ms,
    fetch: send,
  };
  return provider === "openai" ? new OpenaiBatchProvider(about) : new AnthropicBatchProvider(about);
}

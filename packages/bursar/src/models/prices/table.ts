import type { ConditionalPrice, ModelInfo, ModelPrice, Provider } from "@pydantic/genai-prices";
import { usd } from "../../core/decimal.js";
import type { ProtocolName } from "../wire/protocol.js";
import { isOtherVersion } from "./other-version.js";
import { type Band, dearest, type Rates } from "./rates.js";
import type { Period, Schedule, When } from "./schedule.js";

/** What the table says of a model. */
export interface TablePrice {
  readonly schedule: Schedule;
  readonly context_window: number | null;
}

/** A class of tokens, as the table's keys fall into them. */
type Class = keyof Rates;

/**
 * Which class of ours a key of the table belongs to. Where several stand for one class, as text and images do, the dearest counts,
 * because usage does not tell them apart.
 */
const CLASSES: Readonly<Record<string, Class>> = {
  input_mtok: "input",
  input_text_mtok: "input",
  input_image_mtok: "input",
  input_video_mtok: "input",
  input_audio_mtok: "input_audio",
  cache_read_mtok: "cache_read",
  cache_text_read_mtok: "cache_read",
  cache_image_read_mtok: "cache_read",
  cache_video_read_mtok: "cache_read",
  cache_audio_read_mtok: "cache_read_audio",
  cache_write_mtok: "cache_write",
  cache_write_5m_mtok: "cache_write",
  cache_write_1h_mtok: "cache_write_1h",
  output_mtok: "output",
  output_text_mtok: "output",
  output_image_mtok: "output",
  output_video_mtok: "output",
  output_citation_mtok: "output",
  output_reasoning_mtok: "reasoning",
  output_audio_mtok: "output_audio",
};

/** What only tools that run at the provider can cost; requests with such tools are not made. */
const OF_TOOLS: ReadonlySet<string> = new Set([
  "web_searches_kcount",
  "storage_searches_kcount",
  "social_searches_kcount",
  "code_executions_kcount",
]);

const PER_CALL = "requests_kcount";

/** Models that search by themselves, which costs something beside their tokens that the table knows for a few of them only. */
const SEARCHES = /search|sonar/;

const LONGEST_NAME = 256;
const LONGEST_URL = 2048;

/** The prices of `@pydantic/genai-prices`. It ships with them and is never asked to fetch others. */
export class PriceTable {
  private readonly source: Source;

  private constructor(source: Source) {
    this.source = source;
  }

  /** Loads the table, which takes long enough that nobody should wait for it who does not use it. */
  static async load(): Promise<PriceTable> {
    const { calcPrice, findProvider } = await import("@pydantic/genai-prices");
    return new PriceTable({ calcPrice, findProvider });
  }

  /** What a model costs at an address; null when the table does not say, or not in tokens alone. */
  find(model: string, url: string | null, protocol: ProtocolName): TablePrice | null {
    if (model.length > LONGEST_NAME) return null;
    const info = this.infoOf(model, url, homeOf(protocol));
    if (info === null) return null;
    const [first, ...others] = periodsOf(info, protocol);
    if (first === undefined || first === null || others.includes(null)) return null;
    const { context_window = 0 } = info;
    return {
      schedule: [first, ...others.filter((period) => period !== null)],
      context_window: Number.isSafeInteger(context_window) && context_window > 0 ? context_window : null,
    };
  }

  /** The names of the models whose maker speaks a protocol first. */
  namesAt(protocol: ProtocolName): readonly string[] {
    return this.source.findProvider({ providerId: homeOf(protocol) })?.models.map(({ id }) => id) ?? [];
  }

  /**
   * The provider whom the address belongs to knows all its models. Where nobody knows the address, it may be a proxy for anybody:
   * the provider whose protocol it speaks comes first, then the one that the model's name points to.
   */
  private infoOf(model: string, url: string | null, home: string): ModelInfo | null {
    const { findProvider } = this.source;
    const address = addressOf(url);
    const owner = address === null ? undefined : findProvider({ providerApiUrl: address });
    if (owner !== undefined) return this.infoAt(model, owner);
    const known = this.infoAt(model, findProvider({ providerId: home }));
    if (known !== null) return known;
    const named = this.infoAt(model, findProvider({ modelId: model.toLowerCase().trim() }));
    if (named !== null) return named;
    const [, prefix, rest] = /^([^/]+)\/(.+)$/.exec(model.trim()) ?? [];
    if (prefix === undefined || rest === undefined) return null;
    return (
      this.infoAt(rest, findProvider({ providerId: prefix })) ??
      this.infoAt(model, findProvider({ providerId: "openrouter" }))
    );
  }

  private infoAt(model: string, provider: Provider | undefined): ModelInfo | null {
    if (provider === undefined) return null;
    const info = this.source.calcPrice({}, model, { providerId: provider.id })?.model;
    return info === undefined || isOtherVersion(model, info.match) ? null : info;
  }
}

function homeOf(protocol: ProtocolName): string {
  return protocol === "anthropic-messages" ? "anthropic" : "openai";
}

type Source = Pick<typeof import("@pydantic/genai-prices"), "calcPrice" | "findProvider">;

function addressOf(url: string | null): string | null {
  if (url === null || url.length > LONGEST_URL || !URL.canParse(url)) return null;
  const { origin, pathname } = new URL(url);
  return `${origin}${pathname}`;
}

function periodsOf(info: ModelInfo, protocol: ProtocolName): readonly (Period | null)[] {
  const rows: readonly ConditionalPrice[] = Array.isArray(info.prices) ? info.prices : [{ prices: info.prices }];
  return rows.map(({ prices, constraint }) => {
    const when = whenOf(constraint);
    const bands = when === null ? null : bandsOf(prices, protocol);
    const call = prices[PER_CALL] ?? 0;
    if (when === null || bands === null || typeof call !== "number") return null;
    if (call === 0 && SEARCHES.test(info.id)) return null;
    // Stated for a thousand calls, and kept in millionths.
    return { when, bands, per_call: nano(call) * 1000n };
  });
}

function whenOf(constraint: ConditionalPrice["constraint"]): When | null {
  if (constraint === undefined) return { kind: "always" };
  if (constraint.type === "start_date") {
    const instant = Date.parse(`${constraint.start_date}T00:00:00Z`);
    return Number.isNaN(instant) ? null : { kind: "from", instant };
  }
  const start_ms = timeOfDay(constraint.start_time);
  const end_ms = timeOfDay(constraint.end_time);
  return start_ms === null || end_ms === null ? null : { kind: "daily", start_ms, end_ms };
}

/** Milliseconds since midnight in UTC of a time such as `16:30:00Z`. */
function timeOfDay(text: string): number | null {
  const instant = Date.parse(`1970-01-02T${text}`);
  return Number.isNaN(instant) ? null : instant % 86_400_000;
}

/** Null when something about the price is not known here: then nobody can say what a call costs. */
function bandsOf(price: ModelPrice, protocol: ProtocolName): Period["bands"] | null {
  const classes = new Map<Class, Cost[]>();
  for (const [key, cost] of Object.entries(price)) {
    if (cost === undefined || OF_TOOLS.has(key) || key === PER_CALL) continue;
    const name = Object.hasOwn(CLASSES, key) ? CLASSES[key] : undefined;
    if (name === undefined) return null;
    classes.set(name, [...(classes.get(name) ?? []), cost]);
  }
  // A row without a price says as little as no row. Embeddings have no output, so nobody states what it costs.
  if (!classes.has("input")) return null;
  if (!classes.has("output") && protocol !== "openai-embeddings") return null;
  const costs = [...classes.values()].flat();
  const starts = new Set(
    costs.flatMap((cost) => (typeof cost === "number" ? [] : cost.tiers.map(({ start }) => start))),
  );
  const band = (above: number): Band => ({ above, rates: ratesAbove(classes, above) });
  return [band(-1), ...[...starts].sort((a, b) => a - b).map(band)];
}

type Cost = Exclude<ModelPrice[string], undefined>;

/** The rates of a call whose input is a little larger than `above`. What the table leaves out costs what it is a part of. */
function ratesAbove(classes: ReadonlyMap<Class, readonly Cost[]>, above: number): Rates {
  const rate = (name: Class): bigint | null => {
    const costs = classes.get(name);
    return costs === undefined ? null : dearest(costs.map((cost) => costAbove(cost, above)));
  };
  const input = rate("input") ?? 0n;
  const output = rate("output") ?? 0n;
  const cache_read = rate("cache_read") ?? input;
  const cache_write = rate("cache_write");
  const input_audio = rate("input_audio");
  return {
    input,
    cache_read,
    cache_write: cache_write ?? input,
    // Whoever bills writes bills longer ones higher, also where the table has no figure for them: twice the input, as Anthropic does.
    cache_write_1h: rate("cache_write_1h") ?? (cache_write === null ? input : dearest([cache_write, 2n * input])),
    input_audio,
    cache_read_audio: rate("cache_read_audio") ?? input_audio,
    output,
    reasoning: rate("reasoning") ?? output,
    output_audio: rate("output_audio"),
  };
}

function costAbove(cost: Cost, above: number): bigint {
  if (typeof cost === "number") return nano(cost);
  const tier = [...cost.tiers].sort((a, b) => a.start - b.start).findLast(({ start }) => start <= above);
  return nano(tier?.price ?? cost.base);
}

/** Prices are rounded up to a billionth, but first freed of what floating point left behind in some: 0.18000000000000002 is 0.18. */
function nano(price: number): bigint {
  return BigInt(usd(Number(price.toPrecision(12)), "up", "price"));
}

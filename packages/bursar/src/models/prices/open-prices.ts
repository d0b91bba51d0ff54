import { checkKeys } from "../../core/fields.js";
import { nearest } from "../../core/nearest.js";
import type { Clock } from "../../ports/clock.js";
import { systemClock } from "../../runtime/system-clock.js";
import type { ProtocolName } from "../wire/protocol.js";
import type { Price, PriceBook } from "./price.js";
import { regionalHostOf } from "./regional-host.js";
import { scaledPrice } from "./scaled-price.js";
import { ScheduledPrice } from "./scheduled-price.js";
import { type ModelPrice, type ModelPrices, type ReadPrice, readPrice, readPrices } from "./stated-price.js";
import { PriceTable } from "./table.js";

export interface PricesOptions {
  /** The caller's own prices, by the exact name of the model. They win over the table. */
  readonly prices?: ModelPrices;
  /** What models cost that nobody knows. Without it they are not called; it should be too high rather than too low. */
  readonly assume?: ModelPrice;
  /** Some prices depend on the date or the time of day. */
  readonly clock?: Clock;
}

/**
 * Opens the price book: first what the caller states, then the table of prices, then what the caller assumes of models that nobody
 * knows. The table comes with Bursar; nothing is fetched.
 *
 * @example
 * ```ts
 * const book = await openPrices({ prices: { "llama3.2": { input_usd_per_mtok: 0, output_usd_per_mtok: 0 } } });
 * const price = book.find("gpt-5", { url: "https://api.openai.com/v1/responses", protocol: "openai-responses" });
 * price?.cost({ input: 1000, output: 50 });
 * ```
 */
export async function openPrices(options: PricesOptions = {}): Promise<PriceBook> {
  return openingPrices(options);
}

/** The same, but a mistyped price is thrown at once: an SDK that meets it in a call takes it for a failure of the network. */
export function openingPrices(options: PricesOptions): Promise<PriceBook> {
  const words = readOptions(options);
  return PriceTable.load().then((table) => new Book(words, table));
}

/** The price book without the table: what is neither stated nor assumed has no price. */
export function statedPrices(options: PricesOptions): PriceBook {
  return new Book(readOptions(options), null);
}

/** What the caller says of prices, read. */
interface Words {
  readonly stated: ReadonlyMap<string, ReadPrice>;
  readonly assumed: ReadPrice | null;
  readonly clock: Clock;
}

function readOptions(options: PricesOptions): Words {
  checkKeys(options, "options", ["prices", "assume", "clock"]);
  const { prices = {}, assume, clock = systemClock } = options;
  return { stated: readPrices(prices), assumed: assume === undefined ? null : readPrice(assume, "assume"), clock };
}

/** Looking a model up takes a while, so prices are kept; names come from callers, so neither all of them nor endless ones. */
const MOST_KEPT = 1000;
const LONGEST_KEPT = 1000;
const LEAST_GUESSED = 4;

/** What was asked for last. Mostly the same is asked for again, and to compare it takes less than to put it together. */
interface Found {
  readonly model: string;
  readonly url: string | null;
  readonly protocol: ProtocolName;
  readonly price: Price | null;
}

class Book implements PriceBook {
  private readonly words: Words;
  private readonly table: PriceTable | null;
  private readonly kept = new Map<string, Price | null>();
  private last: Found | null = null;

  constructor(words: Words, table: PriceTable | null) {
    this.words = words;
    this.table = table;
  }

  find(
    model: string,
    { url, protocol }: { readonly url: string | null; readonly protocol: ProtocolName },
  ): Price | null {
    const { last } = this;
    if (last !== null && model === last.model && url === last.url && protocol === last.protocol) return last.price;
    const price = this.lookKept(model, url, protocol);
    this.last = { model, url, protocol, price };
    return price;
  }

  private lookKept(model: string, url: string | null, protocol: ProtocolName): Price | null {
    // Neither an address nor the name of a protocol holds a line break.
    const key = `${protocol}\n${url ?? ""}\n${model}`;
    const kept = this.kept.get(key);
    if (kept !== undefined) return kept;
    const price = this.look(model, url, protocol);
    if (key.length > LONGEST_KEPT) return price;
    if (this.kept.size >= MOST_KEPT) this.kept.clear();
    this.kept.set(key, price);
    return price;
  }

  nearest(model: string, protocol: ProtocolName): string | null {
    // Every short name is near to some other.
    if (model.length < LEAST_GUESSED) return null;
    return nearest(model, [...this.words.stated.keys(), ...(this.table?.namesAt(protocol) ?? [])]);
  }

  private look(model: string, url: string | null, protocol: ProtocolName): Price | null {
    const { stated, assumed, clock } = this.words;
    const own = stated.get(model);
    if (own !== undefined) return this.worded(model, "stated", own, protocol);
    const region = regionalHostOf(url);
    const found = this.table?.find(model, region?.url ?? url, protocol) ?? null;
    if (found !== null) {
      // Claude writes to its caches when the request says so; other models do it by themselves.
      const writes_unasked = protocol !== "anthropic-messages" || !/claude/i.test(model);
      const price = new ScheduledPrice({ ...found, model, source: "table", writes_unasked, clock });
      const surcharge = region?.surcharge(model) ?? 0;
      return surcharge === 0 ? price : scaledPrice(price, 1 + surcharge / 100);
    }
    return assumed === null ? null : this.worded(model, "assumed", assumed, protocol);
  }

  private worded(model: string, source: "stated" | "assumed", price: ReadPrice, protocol: ProtocolName): Price {
    const { period, context_window, writes_stated } = price;
    const writes_unasked = writes_stated && protocol !== "anthropic-messages";
    const { clock } = this.words;
    return new ScheduledPrice({ model, source, context_window, schedule: [period], writes_unasked, clock });
  }
}

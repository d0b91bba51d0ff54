import { calcPrice, findProvider, type ModelInfo, type Provider, waitForUpdate } from "@pydantic/genai-prices";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { openPrices } from "../../../src/models/prices/open-prices.js";
import type { TokenCounts } from "../../../src/models/wire/token-counts.js";
import { FakeClock } from "../../../src/testing/clock/fake-clock.js";

const providers: readonly Provider[] = (await waitForUpdate()) ?? [];
const NOW = Date.parse("2026-11-16T12:00:00Z");

/** An address that the provider's pattern takes, for patterns as simple as the table's are. */
function addressOf({ api_pattern }: Provider): string {
  const plain = api_pattern
    .replaceAll(/\((?:\?:)?\/\|\$\)/g, "/")
    .replaceAll(/\([^()]*\)\?/g, "")
    .replaceAll(/\((?:\?:)?([^|()]*)\|[^()]*\)/g, "$1")
    .replaceAll(/\[[^\]]*\][+*]/g, "x")
    .replaceAll("\\", "");
  return plain.startsWith("http") ? plain : `https://${plain}`;
}

/** Usage in the table's own words. */
function inTableWords(counts: TokenCounts): Record<string, number> {
  const { cache_write = 0, cache_write_1h = 0 } = counts;
  return {
    input_tokens: counts.input,
    cache_read_tokens: counts.cache_read ?? 0,
    cache_write_tokens: cache_write + cache_write_1h,
    cache_write_1h_tokens: cache_write_1h,
    input_audio_tokens: counts.input_audio ?? 0,
    cache_audio_read_tokens: counts.cache_read_audio ?? 0,
    output_tokens: counts.output,
    output_reasoning_tokens: counts.reasoning ?? 0,
    output_audio_tokens: counts.output_audio ?? 0,
  };
}

const instants = fc.integer({ min: Date.parse("2025-01-01"), max: Date.parse("2027-06-01") });
const size = fc.oneof(fc.nat(2000), fc.integer({ min: 190_000, max: 300_000 }), fc.nat(2_000_000));

/** Any usage a provider can report: parts of the input that do not overlap, but for audio that was cached. */
const usage: fc.Arbitrary<TokenCounts> = fc
  .tuple(size, size, fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { minLength: 7, maxLength: 7 }))
  .map(([input, output, [a = 0, b = 0, c = 0, d = 0, e = 0, f = 0, g = 0]]) => {
    const part = (whole: number, share: number) => Math.floor(whole * share);
    const cache_read = part(input, a);
    const cache_write = part(input - cache_read, b);
    const cache_write_1h = part(input - cache_read - cache_write, c);
    const cache_read_audio = part(cache_read, d);
    const input_audio = cache_read_audio + part(input - cache_read - cache_write - cache_write_1h, e);
    const reasoning = part(output, f);
    const output_audio = part(output - reasoning, g);
    return {
      input,
      cache_read,
      cache_write,
      cache_write_1h,
      cache_read_audio,
      input_audio,
      output,
      reasoning,
      output_audio,
    };
  });

function rowsOf({ prices }: ModelInfo): readonly Record<string, unknown>[] {
  return Array.isArray(prices) ? prices.map((row) => row.prices) : [prices];
}

/** Every model that its provider gives a price for in the table; those that have no output are for embeddings. */
async function pricedModels(clock: FakeClock) {
  const book = await openPrices({ clock });
  return providers.flatMap((provider) =>
    provider.models.flatMap((info) => {
      const found = calcPrice({}, info.id, { providerId: provider.id });
      if (found?.model !== info) return [];
      const url = addressOf(provider);
      const price =
        book.find(info.id, { url, protocol: "openai-chat" }) ??
        book.find(info.id, { url, protocol: "openai-embeddings" });
      return price === null ? [] : [{ provider, info, price }];
    }),
  );
}

/** Where the table has figures for classes that usage does not tell apart, none for long cache writes, or thirds, ours is the higher. */
function isStricter(info: ModelInfo, counts: TokenCounts): boolean {
  const keys = rowsOf(info).flatMap((row) => Object.keys(row));
  if (/0\.\d*3{8}/.test(JSON.stringify(info.prices))) return true;
  if (keys.some((key) => /image|video|citation/.test(key))) return true;
  return (counts.cache_write_1h ?? 0) > 0 && keys.includes("cache_write_mtok") && !keys.includes("cache_write_1h_mtok");
}

describe("the table's prices", () => {
  test("have an address for every provider, by which it is found", () => {
    for (const provider of providers) {
      expect([provider.id, findProvider({ providerApiUrl: addressOf(provider) })?.id]).toEqual([
        provider.id,
        provider.id,
      ]);
    }
  });

  test("are reckoned as the table itself reckons, for every model and any usage, but exactly", async () => {
    const clock = new FakeClock({ instant: NOW });
    const models = await pricedModels(clock);
    expect(models.length).toBeGreaterThan(1400);
    let equal = 0;
    for (const { provider, info, price } of models) {
      fc.assert(
        fc.property(usage, instants, (counts, instant) => {
          clock.jump(instant - clock.now().instant);
          const about = { providerId: provider.id, timestamp: new Date(instant) };
          const nano = (calcPrice(inTableWords(counts), info.id, about)?.total_price ?? Number.NaN) * 1e9;
          const ours = Number(price.cost(counts));
          // Theirs is reckoned in floating point.
          const noise = nano * 1e-14 + 1e-6;
          expect(ours).toBeGreaterThanOrEqual(nano - noise);
          if (isStricter(info, counts)) return;
          expect(ours).toBeLessThan(nano + 1 + noise);
          equal += 1;
        }),
        { numRuns: 6 },
      );
    }
    expect(equal).toBeGreaterThan(7000);
  }, 120_000);

  test("bound every call that ends within a day", async () => {
    const clock = new FakeClock({ instant: NOW });
    const models = await pricedModels(clock);
    const longer = fc.nat(86_400_000);
    for (const { price } of models) {
      fc.assert(
        fc.property(usage, instants, longer, size, ({ input, output, ...parts }, instant, later, more) => {
          clock.jump(instant - clock.now().instant);
          const most = price.most({ input: input + more, output: output + more, caches: "1h", audio: false });
          clock.advance(later);
          const { cache_read = 0, cache_write = 0, cache_write_1h = 0 } = parts;
          expect(price.cost({ input, output, cache_read, cache_write, cache_write_1h })).toBeLessThanOrEqual(most);
        }),
        { numRuns: 4 },
      );
    }
  }, 120_000);
});

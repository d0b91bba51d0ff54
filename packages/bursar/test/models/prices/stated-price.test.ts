import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { openPrices, statedPrices } from "../../../src/models/prices/open-prices.js";
import type { Bound, Price } from "../../../src/models/prices/price.js";
import type { ModelPrice } from "../../../src/models/prices/stated-price.js";
import type { ProtocolName } from "../../../src/models/wire/protocol.js";
import type { TokenCounts } from "../../../src/models/wire/token-counts.js";

const PROTOCOLS: readonly ProtocolName[] = ["openai-chat", "openai-responses", "anthropic-messages"];

function stated(price: ModelPrice, protocol: ProtocolName = "anthropic-messages"): Price {
  const found = statedPrices({ prices: { m: price } }).find("m", { url: null, protocol });
  if (found === null) throw new Error("a stated price was not found");
  return found;
}

const PLAIN = { input_usd_per_mtok: 3, output_usd_per_mtok: 15 };

describe("a stated price", () => {
  test("is strict about what it leaves out", () => {
    const price = stated(PLAIN);
    expect(price.cost({ input: 1000, output: 0, cache_read: 1000 })).toBe(3_000_000n);
    expect(price.cost({ input: 1000, output: 0, cache_write: 1000 })).toBe(6_000_000n);
    expect(price.cost({ input: 1000, output: 0, cache_write_1h: 1000 })).toBe(6_000_000n);
    expect(price.cost({ input: 0, output: 1000, reasoning: 900 })).toBe(15_000_000n);
    expect(price.most({ input: 1000, output: 0, caches: "no", audio: false })).toBe(3_000_000n);
    expect(price.most({ input: 1000, output: 0, caches: "5m", audio: false })).toBe(6_000_000n);
    expect(() => price.most({ input: 1, output: 1, caches: "no", audio: true })).toThrow("audio has no price");
  });

  test("may say all of it", () => {
    const price = stated({
      ...PLAIN,
      cache_read_usd_per_mtok: 0.3,
      cache_write_usd_per_mtok: 3.75,
      cache_write_1h_usd_per_mtok: 5,
      input_audio_usd_per_mtok: 40,
      output_audio_usd_per_mtok: 80,
      context_window: 200_000,
    });
    const parts = { cache_read: 100, cache_write: 100, cache_write_1h: 100, input_audio: 150, cache_read_audio: 50 };
    const counts = { input: 1000, ...parts, output: 10, reasoning: 5, output_audio: 5 };
    // 600 plain, 50 cached, 100 written, 100 written for long, 100 heard, 50 heard from the cache; 5 said, 5 thought.
    expect(price.cost(counts)).toBe(
      1_800_000n + 15_000n + 375_000n + 500_000n + 4_000_000n + 2_000_000n + 75_000n + 400_000n,
    );
    expect(price.context_window).toBe(200_000);
  });

  test("may have tiers, each of which counts for the whole call", () => {
    const price = stated({
      ...PLAIN,
      tiers: [
        { above_tokens: 100, input_usd_per_mtok: 6, output_usd_per_mtok: 20 },
        { above_tokens: 200, input_usd_per_mtok: 1, output_usd_per_mtok: 1 },
      ],
    });
    expect([100, 101, 200, 201].map((input) => price.cost({ input, output: 0 }))).toEqual([
      300_000n,
      606_000n,
      1_200_000n,
      201_000n,
    ]);
    // The dearest call is not the largest.
    expect(price.most({ input: 201, output: 0, caches: "no", audio: false })).toBe(1_200_000n);
  });

  test("counts on writes that nobody asked for when their price is stated, and the request cannot ask", () => {
    const price = { ...PLAIN, cache_write_usd_per_mtok: 4 };
    expect(stated(price, "openai-chat").most({ input: 1000, output: 0, caches: "no", audio: false })).toBe(4_000_000n);
    expect(stated(price).most({ input: 1000, output: 0, caches: "no", audio: false })).toBe(3_000_000n);
  });

  test("does not fail over usage that cannot be, and counts all that it says", () => {
    const price = stated(PLAIN);
    expect(price.cost({ input: 10, cache_read: 100, output: 1, reasoning: 50 })).toBe(300_000n + 750_000n);
  });

  test.each([
    [{ input_usd_per_mtok: 1 }, "prices.m.output_usd_per_mtok is undefined"],
    [{ ...PLAIN, input_usd_per_mtok: "1" }, 'prices.m.input_usd_per_mtok is "1"'],
    [{ ...PLAIN, cache_read_usd_per_mtok: -1 }, "prices.m.cache_read_usd_per_mtok is -1"],
    [{ ...PLAIN, cache_reed_usd_per_mtok: 1 }, "did you mean cache_read_usd_per_mtok?"],
    [{ ...PLAIN, context_window: 0 }, "prices.m.context_window is 0"],
    [{ ...PLAIN, input_audio_usd_per_mtok: 1 }, "prices.m.output_audio_usd_per_mtok is undefined"],
    [{ ...PLAIN, tiers: 3 }, "prices.m.tiers is 3"],
    [{ ...PLAIN, tiers: Array.from({ length: 17 }, () => PLAIN) }, "at most 16 tiers"],
    [{ ...PLAIN, tiers: [PLAIN] }, "prices.m.tiers[0].above_tokens is undefined"],
    [{ ...PLAIN, tiers: [null] }, "prices.m.tiers[0] is null"],
    [
      {
        ...PLAIN,
        tiers: [
          { ...PLAIN, above_tokens: 9 },
          { ...PLAIN, above_tokens: 9 },
        ],
      },
      "more than the tier before, 9",
    ],
    [{ ...PLAIN, tiers: [{ ...PLAIN, above_tokens: 9, cache_read_usd_per_mtok: 1 }] }, "is stated in one place only"],
    [null, "prices.m is null"],
  ])("that makes no sense is refused before the table is loaded: %j", async (price, message) => {
    expect(() => statedPrices({ prices: { m: price as ModelPrice } })).toThrow(message);
    await expect(openPrices({ prices: { m: price as ModelPrice } })).rejects.toThrow(message);
    await expect(openPrices({ assume: price as ModelPrice })).rejects.toThrow(message.replace("prices.m", "assume"));
  });

  test("is refused as a list, and so are options with a typing error", async () => {
    await expect(openPrices({ prices: [] as never })).rejects.toThrow("prices is an array");
    await expect(openPrices({ price: {} } as never)).rejects.toThrow("did you mean prices?");
  });
});

const usd = fc.oneof(
  fc.constant(0),
  fc.integer({ min: 0, max: 200_000_000 }).map((nano) => nano / 1e6),
);
const rates = fc.record({
  input_usd_per_mtok: usd,
  output_usd_per_mtok: usd,
  cache_read_usd_per_mtok: usd,
  cache_write_usd_per_mtok: usd,
  cache_write_1h_usd_per_mtok: usd,
  input_audio_usd_per_mtok: usd,
  output_audio_usd_per_mtok: usd,
});
const anyPrice: fc.Arbitrary<ModelPrice> = fc
  .tuple(
    rates,
    fc.uniqueArray(fc.integer({ min: 1, max: 3000 }), { maxLength: 3 }),
    fc.array(rates, { minLength: 3, maxLength: 3 }),
  )
  .map(([base, starts, others]) => ({
    ...base,
    tiers: starts.sort((a, b) => a - b).map((above_tokens, index) => ({ above_tokens, ...(others[index] ?? base) })),
  }));
const anyBound: fc.Arbitrary<Bound> = fc.record({
  input: fc.nat(4000),
  output: fc.nat(4000),
  caches: fc.constantFrom("no", "5m", "1h"),
  audio: fc.boolean(),
});

/** Any usage within a bound. */
function within({ input: most, output: longest, caches, audio }: Bound, writes: boolean): fc.Arbitrary<TokenCounts> {
  return fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { minLength: 9, maxLength: 9 }).map((shares) => {
    const part = (whole: number, index: number) => Math.floor(whole * (shares[index] ?? 0));
    const input = part(most, 0);
    const output = part(longest, 1);
    const cache_read = part(input, 2);
    const cache_write = caches !== "no" || writes ? part(input - cache_read, 3) : 0;
    const cache_write_1h = caches === "1h" ? part(input - cache_read - cache_write, 4) : 0;
    const cache_read_audio = audio ? part(cache_read, 5) : 0;
    const input_audio = cache_read_audio + (audio ? part(input - cache_read - cache_write - cache_write_1h, 6) : 0);
    const reasoning = part(output, 7);
    const output_audio = audio ? part(output - reasoning, 8) : 0;
    return {
      input,
      output,
      cache_read,
      cache_write,
      cache_write_1h,
      cache_read_audio,
      input_audio,
      reasoning,
      output_audio,
    };
  });
}

describe("whatever the price", () => {
  test("no usage within the bound costs more than the bound", () => {
    const cases = fc
      .tuple(anyPrice, anyBound, fc.constantFrom(...PROTOCOLS))
      .chain(([price, bound, protocol]) =>
        within(bound, protocol !== "anthropic-messages").map((counts) => ({ price, bound, protocol, counts })),
      );
    fc.assert(
      fc.property(cases, ({ price, bound, protocol, counts }) => {
        const found = stated(price, protocol);
        const most = found.most(bound);
        expect(found.cost(counts)).toBeLessThanOrEqual(most);
        // Some providers do not say how much of what was cached is audio.
        const { cache_read_audio: _, ...untold } = counts;
        expect(found.cost(untold)).toBeLessThanOrEqual(most);
      }),
      { numRuns: 2000 },
    );
  });

  test("the bound is reached: some usage within it costs as much", () => {
    fc.assert(
      fc.property(anyPrice, anyBound, (price, bound) => {
        const found = stated(price);
        const inputs = [
          bound.input,
          ...(price.tiers ?? []).map(({ above_tokens }) => Math.min(bound.input, above_tokens)),
        ];
        const { caches, audio } = bound;
        const corners = inputs.flatMap((input) => [
          { input },
          { input, cache_read: input },
          ...(caches === "no" ? [] : [{ input, cache_write: input }]),
          ...(caches === "1h" ? [{ input, cache_write_1h: input }] : []),
          ...(audio ? [{ input, input_audio: input }] : []),
        ]);
        const costs = corners.flatMap((counts) => [
          found.cost({ ...counts, output: bound.output }),
          ...(audio ? [found.cost({ ...counts, output: bound.output, output_audio: bound.output })] : []),
        ]);
        expect(costs).toContain(found.most(bound));
      }),
      { numRuns: 2000 },
    );
  });

  test("sums are exact, also where they are about as large as a number can be exactly", () => {
    const rate = fc.oneof(fc.integer({ min: 0, max: 200_000_000_000 }), fc.integer({ min: 0, max: 9_000_000_000_000 }));
    const tokens = fc.oneof(fc.nat(5000), fc.nat(10_000_000), fc.nat());
    const near = fc.integer({ min: -3, max: 3 });
    fc.assert(
      fc.property(
        rate,
        rate,
        tokens,
        tokens,
        near,
        fc.boolean(),
        (input_rate, output_rate, input, wanted, by, isNear) => {
          const before = BigInt(input) * BigInt(input_rate);
          const left = BigInt(Number.MAX_SAFE_INTEGER) - before;
          const isReached = isNear && output_rate > 0 && left > 0n;
          const output = isReached ? Math.max(0, Number(left / BigInt(output_rate)) + by) : wanted;
          const found = stated({ input_usd_per_mtok: input_rate / 1e9, output_usd_per_mtok: output_rate / 1e9 });
          const sum = before + BigInt(output) * BigInt(output_rate);
          const bound = { input, caches: "no", audio: false } as const;
          const most = (sum + 999_999n) / 1_000_000n;
          expect(found.most({ ...bound, output })).toBe(most);
          for (const nano of [most - 1n, most, most + 1n]) {
            const money = nano * 1_000_000n - before;
            const exact = output_rate === 0 ? BigInt(Number.MAX_SAFE_INTEGER) : money / BigInt(output_rate);
            const fits = exact > Number.MAX_SAFE_INTEGER ? Number.MAX_SAFE_INTEGER : Number(exact);
            expect(found.affordable(nano, bound)).toBe(money < 0n ? 0 : fits);
          }
        },
      ),
      { numRuns: 3000 },
    );
  });

  test("what is affordable is the longest output that fits", () => {
    const money = fc.oneof(fc.bigInt(0n, 1_000_000n), fc.bigInt(0n, 2_000_000_000n));
    fc.assert(
      fc.property(anyPrice, anyBound, money, fc.constantFrom(...PROTOCOLS), (price, bound, nano, protocol) => {
        const found = stated(price, protocol);
        const output = found.affordable(nano, bound);
        const fits = found.most({ ...bound, output }) <= nano;
        expect(fits || output === 0).toBe(true);
        if (output < Number.MAX_SAFE_INTEGER)
          expect(found.most({ ...bound, output: output + 1 })).toBeGreaterThan(nano);
      }),
      { numRuns: 2000 },
    );
  });
});

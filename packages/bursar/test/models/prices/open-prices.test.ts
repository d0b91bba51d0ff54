import { describe, expect, test, vi } from "vitest";
import { openPrices, type PricesOptions } from "../../../src/models/prices/open-prices.js";
import type { Bound, Price } from "../../../src/models/prices/price.js";
import type { ProtocolName } from "../../../src/models/wire/protocol.js";
import { UnboundedError } from "../../../src/models/wire/unbounded-error.js";
import { FakeClock } from "../../../src/testing/clock/fake-clock.js";

const OPENAI = "https://api.openai.com/v1/chat/completions";
const ANTHROPIC = "https://api.anthropic.com/v1/messages";
const LOCAL = "http://127.0.0.1:4000/v1/chat/completions";
const ROUTER = "https://openrouter.ai/api/v1/chat/completions";
const DEEPSEEK = "https://api.deepseek.com/chat/completions";

interface About extends PricesOptions {
  readonly url?: string | null;
  readonly protocol?: ProtocolName;
  readonly at?: string;
}

async function look(model: string, { url = OPENAI, protocol, at = "2026-11-16T12:00:00Z", ...options }: About = {}) {
  const book = await openPrices({ clock: new FakeClock({ instant: Date.parse(at) }), ...options });
  return book.find(model, { url, protocol: protocol ?? (url === ANTHROPIC ? "anthropic-messages" : "openai-chat") });
}

async function priceOf(model: string, about: About = {}): Promise<Price> {
  const price = await look(model, about);
  if (price === null) throw new Error(`no price for ${model}`);
  return price;
}

/** Billionths of a dollar for a million tokens of input, of output, and of both at most. */
async function ratesOf(model: string, about: About = {}) {
  const price = await priceOf(model, about);
  const usd = (nano: bigint) => Number(nano) / 1e9;
  // Small enough that no tier begins.
  return [usd(price.cost({ input: 1000, output: 0 }) * 1000n), usd(price.cost({ input: 0, output: 1000 }) * 1000n)];
}

function bound(input: number, output: number, more: Partial<Bound> = {}): Bound {
  return { input, output, caches: "no", audio: false, ...more };
}

describe("a price comes", () => {
  const own = { input_usd_per_mtok: 7, output_usd_per_mtok: 8 };

  test("first from the caller, then from the table, then from what the caller assumes, and else from nowhere", async () => {
    const assume = { input_usd_per_mtok: 100, output_usd_per_mtok: 200 };
    expect(await look("gpt-4o", { prices: { "gpt-4o": own } })).toMatchObject({
      source: "stated",
      context_window: null,
    });
    expect(await ratesOf("gpt-4o", { prices: { "gpt-4o": own }, assume })).toEqual([7, 8]);
    expect(await look("gpt-4o", { assume })).toMatchObject({
      source: "table",
      model: "gpt-4o",
      context_window: 128_000,
    });
    expect(await ratesOf("gpt-4o", { assume })).toEqual([2.5, 10]);
    expect(await look("nobody-knows", { assume })).toMatchObject({ source: "assumed", model: "nobody-knows" });
    expect(await ratesOf("nobody-knows", { assume })).toEqual([100, 200]);
    expect(await look("nobody-knows")).toBeNull();
  });

  test("from nowhere for a name that is none", async () => {
    const names = [
      "constructor",
      "__proto__",
      "",
      " ",
      "/",
      "openai/",
      "\u0000",
      "gpt-4o/".repeat(50),
      "a".repeat(1_000_000),
    ];
    for (const model of names) {
      expect(await look(model)).toBeNull();
      expect(await look(model, { url: LOCAL })).toBeNull();
      expect(await look(model, { url: null, prices: { other: own } })).toBeNull();
    }
  });

  test("without a request to anybody, and is kept once it was found", async () => {
    const fetched = vi.spyOn(globalThis, "fetch");
    const book = await openPrices();
    const about = { url: OPENAI, protocol: "openai-chat" } as const;
    const found = book.find("gpt-5", about);
    expect(found).not.toBeNull();
    expect(book.find("gpt-5", about)).toBe(found);
    for (let count = 0; count < 1500; count += 1) book.find(`nobody-${count}`, about);
    expect(book.find("gpt-5", about)).toMatchObject({ source: "table", model: "gpt-5" });
    expect(fetched).not.toHaveBeenCalled();
    fetched.mockRestore();
  });

  test("from the provider that the address belongs to, and from no other one", async () => {
    expect(
      await ratesOf("llama-3.3-70b-versatile", { url: "https://api.groq.com/openai/v1/chat/completions" }),
    ).toEqual([0.59, 0.79]);
    expect(await look("claude-opus-4-5")).toBeNull();
    expect(await look("gpt-4o", { url: ANTHROPIC })).toBeNull();
    expect(
      await ratesOf("gpt-4o", { url: "https://me.openai.azure.com/openai/deployments/x/chat/completions" }),
    ).toEqual([2.5, 10]);
  });

  test("where nobody knows the address, from the protocol's own provider, or else from the one that the name points to", async () => {
    for (const url of [LOCAL, null, "no address", `${LOCAL}?${"x".repeat(5000)}`]) {
      expect(await ratesOf("gpt-4o", { url })).toEqual([2.5, 10]);
      expect(await ratesOf("claude-opus-4-5", { url })).toEqual([5, 25]);
      expect(await ratesOf("claude-opus-4-5", { url, protocol: "anthropic-messages" })).toEqual([5, 25]);
    }
  });

  test("for dated names, and for names with a provider before them", async () => {
    expect(await ratesOf("claude-sonnet-4-5-20250929", { url: ANTHROPIC })).toEqual([3, 15]);
    expect(await ratesOf("gpt-4o-2024-05-13")).toEqual([5, 15]);
    expect(await ratesOf("gpt-4o-2024-08-06")).toEqual([2.5, 10]);
    expect(await ratesOf("openai/gpt-4o", { url: ROUTER })).toEqual([2.5, 10]);
    expect(await ratesOf("openai/gpt-4o", { url: LOCAL })).toEqual([2.5, 10]);
    expect(await ratesOf("anthropic/claude-opus-4.5", { url: LOCAL })).toEqual([5, 25]);
    expect(await ratesOf("groq/llama-3.3-70b-versatile", { url: LOCAL })).toEqual([0.59, 0.79]);
  });

  test.each([
    ["whisper-1", OPENAI, "is paid by the hour"],
    ["mistral-ocr-latest", "https://api.mistral.ai/v1/chat/completions", "is paid by the page"],
    ["gpt-4o-search-preview", OPENAI, "searches on top"],
    ["sonar-deep-research", "https://api.perplexity.ai/chat/completions", "searches on top"],
    ["perplexity/sonar", ROUTER, "searches on top"],
    ["gpt-4.1", "https://api.githubcopilot.com/chat/completions", "has a row without a price"],
    ["text-embedding-3-small", OPENAI, "has no price for output"],
  ])("from nowhere when tokens do not say it all: %s %s %s", async (model, url) => {
    expect(await look(model, { url })).toBeNull();
  });

  test("for embeddings, which have no output", async () => {
    const price = await priceOf("text-embedding-3-small", { protocol: "openai-embeddings" });
    expect(price.cost({ input: 1_000_000, output: 0 })).toBe(20_000_000n);
    expect(price.affordable(20_000n, { input: 1000, caches: "no", audio: false })).toBe(Number.MAX_SAFE_INTEGER);
  });
});

describe("a price of the table", () => {
  test("is the tier's for the whole call once the input is larger than where the tier begins", async () => {
    const price = await priceOf("claude-sonnet-4-5", { url: ANTHROPIC });
    expect(price.cost({ input: 200_000, output: 1000 })).toBe(615_000_000n);
    expect(price.cost({ input: 200_001, output: 1000 })).toBe(1_222_506_000n);
    expect(price.most(bound(200_000, 1000))).toBe(615_000_000n);
    expect(price.most(bound(200_001, 1000))).toBe(1_222_506_000n);
  });

  test("tells caches apart: read, written for five minutes, written for an hour", async () => {
    const price = await priceOf("claude-opus-4-5", { url: ANTHROPIC });
    expect(price.cost({ input: 1_000_000, output: 0, cache_read: 1_000_000 })).toBe(500_000_000n);
    expect(price.cost({ input: 1_000_000, output: 0, cache_write: 1_000_000 })).toBe(6_250_000_000n);
    expect(price.cost({ input: 1_000_000, output: 0, cache_write_1h: 1_000_000 })).toBe(10_000_000_000n);
    expect(price.cost({ input: 3, output: 0, cache_read: 1, cache_write: 1, cache_write_1h: 1 })).toBe(16_750n);
    expect(price.most(bound(1000, 0))).toBe(5_000_000n);
    expect(price.most(bound(1000, 0, { caches: "5m" }))).toBe(6_250_000n);
    expect(price.most(bound(1000, 0, { caches: "1h" }))).toBe(10_000_000n);
  });

  test("counts a long write as twice the input where writes cost something and nobody says what long ones do", async () => {
    const price = await priceOf("global.anthropic.claude-opus-4-5-v1:0", {
      url: "https://bedrock-runtime.us-east-1.amazonaws.com/",
      protocol: "anthropic-messages",
    });
    expect(price.cost({ input: 1000, output: 0, cache_write_1h: 1000 })).toBe(10_000_000n);
  });

  test("counts on writes that nobody asked for where the provider bills them", async () => {
    const price = await priceOf("gpt-6-sol");
    expect(price.cost({ input: 1000, output: 0, cache_write: 1000 })).toBe(2_500_000n);
    expect(price.most(bound(1000, 0))).toBe(2_500_000n);
    expect((await priceOf("gpt-4o")).most(bound(1000, 0))).toBe(2_500_000n);
  });

  test("depends on the time of day, and no call costs more than it does when it is dearest", async () => {
    const clock = new FakeClock({ instant: Date.parse("2026-11-16T00:30:00Z") });
    const price = await priceOf("deepseek-v4-pro", { url: DEEPSEEK, clock });
    const most = price.most(bound(1000, 1000));
    expect(most).toBe(5_280_000n);
    const costs = ["00:30:00", "01:00:00", "03:59:59.999", "04:00:00", "06:00:00", "10:00:00"].map((time) => {
      clock.jump(Date.parse(`2026-11-16T${time}Z`) - clock.now().instant);
      return price.cost({ input: 1000, output: 1000 });
    });
    expect(costs).toEqual([2_640_000n, 5_280_000n, 5_280_000n, 2_640_000n, 5_280_000n, 2_640_000n]);
  });

  test("depends on the date, and looks a day ahead because calls take their time", async () => {
    const clock = new FakeClock({ instant: Date.parse("2026-12-30T12:00:00Z") });
    const price = await priceOf("gemini-3.6-flash", {
      url: "https://generativelanguage.googleapis.com/v1beta/openai/",
      clock,
    });
    const figures = () => [price.cost({ input: 1000, output: 0 }), price.most(bound(1000, 0))];
    expect(figures()).toEqual([750_000n, 750_000n]);
    clock.advance(24 * 3_600_000);
    expect(figures()).toEqual([750_000n, 1_500_000n]);
    clock.advance(12 * 3_600_000);
    expect(figures()).toEqual([1_500_000n, 1_500_000n]);
    expect((await priceOf("o3", { at: "2025-06-01T00:00:00Z" })).most(bound(1000, 0))).toBe(10_000_000n);
    expect((await priceOf("o3", { at: "2025-06-20T00:00:00Z" })).most(bound(1000, 0))).toBe(2_000_000n);
  });

  test("is there for audio where the table has one, and a request with audio is refused where it has none", async () => {
    const spoken = await priceOf("gpt-audio");
    expect(spoken.most(bound(1000, 1000, { audio: true }))).toBe(96_000_000n);
    expect(spoken.most(bound(1000, 1000))).toBe(12_500_000n);
    // The table knows this one's words only.
    const silent = await priceOf("gpt-4o-audio-preview");
    expect(() => silent.most(bound(1, 1, { audio: true }))).toThrow(UnboundedError);
    expect(() => silent.affordable(10n, { input: 1, caches: "no", audio: true })).toThrow(
      "audio has no price for the model gpt-4o-audio-preview",
    );
  });

  test("includes what each call costs beside its tokens", async () => {
    const price = await priceOf("sonar", { url: "https://api.perplexity.ai/chat/completions" });
    expect(price.cost({ input: 0, output: 0 })).toBe(12_000_000n);
    expect(price.most(bound(0, 10))).toBe(12_010_000n);
    expect(price.affordable(12_010_000n, { input: 0, caches: "no", audio: false })).toBe(10);
    expect(price.affordable(11_999_999n, { input: 0, caches: "no", audio: false })).toBe(0);
  });

  test("takes every token of an image model for an image, because usage does not say which ones are", async () => {
    const [, output] = await ratesOf("gemini-2.5-flash-image", {
      url: "https://generativelanguage.googleapis.com/v1beta/openai/",
    });
    expect(output).toBe(30);
  });
});

test.for([
  ["gpt-4o-mni", "openai-chat", "gpt-4o-mini"],
  ["claude-sonet-4-5", "anthropic-messages", "claude-sonnet-4-5"],
  ["my-modle", "openai-chat", "my-model"],
  ["nobody-knows-this-model", "openai-chat", null],
  ["x", "openai-chat", null],
] as const)("of a mistyped name a book guesses the right one: %s", async ([model, protocol, guess]) => {
  const stated = { "my-model": { input_usd_per_mtok: 1, output_usd_per_mtok: 1 } };
  expect((await openPrices({ prices: stated })).nearest?.(model, protocol)).toBe(guess);
});

import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { SdkCallOptions, SdkMessage, SdkPart, SdkTool } from "../../../src/models/ai/sdk-model.js";
import { sketchCall, sketchEmbedding } from "../../../src/models/ai/sketch.js";

const MODELS = {
  chat: { specificationVersion: "v3", provider: "openai.chat", modelId: "gpt-4.1" },
  responses: { specificationVersion: "v3", provider: "openai.responses", modelId: "gpt-5" },
  messages: { specificationVersion: "v3", provider: "anthropic.messages", modelId: "claude-opus-4-5" },
  bedrock: { specificationVersion: "v3", provider: "amazon-bedrock", modelId: "us.anthropic.claude-opus-4-5-v1:0" },
  other: { specificationVersion: "v2", provider: "mistral.chat", modelId: "mistral-large" },
} as const;
const ABOUT = { stream: false, output_tokens: 4096 };

function user(...content: readonly SdkPart[]): readonly SdkMessage[] {
  return [{ role: "user", content }];
}

function sketch(name: keyof typeof MODELS, options: Partial<SdkCallOptions>) {
  return sketchCall(MODELS[name], { prompt: user({ type: "text", text: "Hi" }), ...options }, ABOUT);
}

function wireOf(name: keyof typeof MODELS, options: Partial<SdkCallOptions>) {
  return sketch(name, options).wire;
}

const NAMES = Object.keys(MODELS) as readonly (keyof typeof MODELS)[];

describe("the sketch of a call", () => {
  test("speaks the protocol of the model's provider", () => {
    expect(NAMES.map((name) => wireOf(name, {}).protocol)).toEqual([
      "openai-chat",
      "openai-responses",
      "anthropic-messages",
      "anthropic-messages",
      "openai-chat",
    ]);
  });

  test("knows where a call goes, as far as that shows", () => {
    const at = (config: unknown) => {
      const model = { ...MODELS.chat, config };
      const { url, wire } = sketchCall(model, { prompt: user({ type: "text", text: "Hi" }) }, ABOUT);
      return [url, wire.held(100).service_tier ?? null];
    };
    expect(at({ url: ({ path }: { path: string }) => `https://api.openai.com/v1${path}` })).toEqual([
      "https://api.openai.com/v1/",
      "default",
    ]);
    expect(at({ baseURL: "https://api.groq.com/openai/v1" })).toEqual(["https://api.groq.com/openai/v1", null]);
    const failing = () => {
      throw new Error("not this way");
    };
    for (const config of [undefined, null, 7, {}, { url: failing }, { baseURL: "nowhere" }]) {
      expect(at(config)).toEqual([null, "default"]);
    }
  });

  test("has no fewer tokens than bytes are sent, whatever they are", () => {
    const texts = fc.array(fc.string({ unit: "binary" }), { maxLength: 5 });
    fc.assert(
      fc.property(texts, fc.constantFrom(...NAMES), fc.json(), (pieces, name, json) => {
        const prompt: readonly SdkMessage[] = [
          { role: "system", content: pieces.join("") },
          ...user(...pieces.map((text) => ({ type: "text", text }))),
          {
            role: "tool",
            content: [{ type: "tool-result", output: { type: "json", value: JSON.parse(json) as unknown } }],
          },
        ];
        const tools: readonly SdkTool[] = [{ type: "function", name: "a", description: pieces.join() } as SdkTool];
        const { input_tokens, texts: counted } = wireOf(name, { prompt, tools });
        expect(input_tokens).toBeGreaterThanOrEqual(2 * Buffer.byteLength(pieces.join("")) + Buffer.byteLength(json));
        expect(counted?.pieces).toEqual([pieces.join(""), ...pieces]);
      }),
    );
  });

  test("has the figure of every image, wherever it lies, and its bytes if those are more", () => {
    const small = new Uint8Array(10);
    const large = new Uint8Array(300_000);
    const image = (data: unknown): SdkPart => ({ type: "file", mediaType: "image/png", data });
    for (const name of NAMES) {
      const bare = wireOf(name, { prompt: user() }).input_tokens;
      // Where the bytes of an image count is the protocol's rule: elsewhere than at its own provider.
      const elsewhere = name === "bedrock" || name === "other";
      const figure = wireOf(name, { prompt: user(image(small)) }).input_tokens - bare;
      expect(figure).toBeGreaterThan(1000);
      for (const part of [
        image(new URL("https://example.org/a.png")),
        image({ type: "url", url: new URL("https://example.org/a.png") }),
        {
          type: "tool-result",
          output: { type: "content", value: [{ type: "image-url", url: "https://example.org/a" }] },
        },
        {
          type: "tool-result",
          output: { type: "content", value: [{ type: "image-data", data: "AAAA", mediaType: "image/png" }] },
        },
      ]) {
        expect(wireOf(name, { prompt: user(part) }).input_tokens - bare).toBeGreaterThanOrEqual(figure - 200);
      }
      for (const data of [large, large.buffer, Buffer.from(large), { type: "data", data: large }]) {
        const wire = wireOf(name, { prompt: user(image(data)) });
        expect(wire.input_tokens - bare).toBeGreaterThanOrEqual(elsewhere ? 400_000 : figure - 200);
        expect(wire.input_tokens - bare).toBeLessThan((elsewhere ? 400_000 : figure) + 200);
        expect(wire.texts).toBeNull();
      }
    }
  });

  test.for<[string, SdkPart]>([
    ["a PDF", { type: "file", mediaType: "application/pdf", data: "AAAA" }],
    ["a file elsewhere", { type: "file", mediaType: "text/plain", data: new URL("https://example.org/a.txt") }],
    [
      "a file that the provider keeps",
      { type: "file", mediaType: "text/plain", data: { type: "reference", reference: {} } },
    ],
    [
      "a file by its id, from a tool",
      { type: "tool-result", output: { type: "content", value: [{ type: "file-id", fileId: "f" }] } },
    ],
    ["what nobody has heard of", { type: "hologram" }],
    [
      "thoughts that the provider keeps",
      { type: "reasoning", text: "", providerOptions: { openai: { itemId: "rs_1" } } },
    ],
  ])("cannot be bounded by its bytes with %s", ([, part]) => {
    for (const name of NAMES) expect(wireOf(name, { prompt: user(part) }).beyond).not.toBeNull();
  });

  test.for<[string, SdkPart]>([
    ["a text as a file", { type: "file", mediaType: "text/plain", data: "SGVsbG8=" }],
    [
      "a text as a file in plain words",
      { type: "file", mediaType: "text/plain", data: { type: "text", text: "Hello" } },
    ],
    [
      "thoughts that were sealed",
      { type: "reasoning", text: "", providerOptions: { openai: { itemId: "rs_1", reasoningEncryptedContent: "x" } } },
    ],
    ["thoughts in plain words", { type: "reasoning", text: "Hm.", providerOptions: { anthropic: { signature: "x" } } }],
    ["a call of a tool", { type: "tool-call", value: { a: 1 } }],
  ])("is bounded by its bytes with %s", ([, part]) => {
    for (const name of NAMES) expect(wireOf(name, { prompt: user(part) }).beyond).toBeNull();
  });

  test("knows what is beyond the bytes by the provider's settings", () => {
    expect(
      wireOf("responses", { providerOptions: { openai: { previousResponseId: "resp_1" } } }).beyond,
    ).not.toBeNull();
    expect(wireOf("responses", { providerOptions: { openai: { conversation: "conv_1" } } }).beyond).not.toBeNull();
    // What is said to another provider says nothing to this one.
    expect(() => wireOf("messages", { providerOptions: { openai: { serviceTier: "priority" } } })).not.toThrow();
    expect(() => wireOf("messages", { providerOptions: { anthropic: { container: { id: "c" } } } })).toThrow(
      "container",
    );
    expect(() => wireOf("messages", { providerOptions: { anthropic: { speed: "fast" } } })).toThrow("speed");
    expect(() => wireOf("messages", { providerOptions: { anthropic: { mcpServers: [{}] } } })).toThrow("mcp_servers");
    const pro = { providerOptions: { openai: { reasoningMode: "pro" } } };
    expect(() => wireOf("responses", pro)).toThrow("reasoning.mode");
    expect(() => wireOf("other", { providerOptions: { mistral: { model: "dearer" } } })).toThrow("model");
    for (const own of [{ inferenceConfig: { maxTokens: 50_000 } }, { performanceConfig: { latency: "optimized" } }]) {
      expect(() => wireOf("bedrock", { providerOptions: { bedrock: own } })).toThrow("_config");
    }
    expect(() => wireOf("other", { providerOptions: { perplexity: { searchMode: "sec" } } })).toThrow("search_mode");
    expect(() => wireOf("other", { providerOptions: { mistral: { max_tokens: "all" } } })).toThrow("max_tokens");
    let deep: Record<string, unknown> = {};
    for (let level = 0; level < 100; level++) deep = { deep };
    expect(() => wireOf("other", { providerOptions: { mistral: deep } })).toThrow("nested too deeply");
  });

  test("notes what is to be written to a cache, wherever that is said", () => {
    const mark = (ttl?: string) => ({ anthropic: { cacheControl: { type: "ephemeral", ttl } } });
    const text = (providerOptions: SdkPart["providerOptions"]): SdkPart => ({
      type: "text",
      text: "Hi",
      providerOptions,
    });
    const caches = (options: Partial<SdkCallOptions>) => wireOf("messages", options).caches;
    expect(caches({})).toBe("no");
    expect(caches({ prompt: user(text(mark())) })).toBe("5m");
    expect(caches({ prompt: user(text(mark("1h")), text(mark("5m"))) })).toBe("1h");
    expect(caches({ prompt: [{ role: "system", content: "Hi", providerOptions: mark("5m") }] })).toBe("5m");
    expect(caches({ tools: [{ type: "function", providerOptions: mark("1h") }] })).toBe("1h");
    expect(caches({ providerOptions: mark("2d") })).toBe("1h");
    const output = { type: "content", value: [text(mark("1h"))] };
    expect(caches({ prompt: [{ role: "tool", content: [{ type: "tool-result", output }] }] })).toBe("1h");
    expect(wireOf("bedrock", { prompt: user(text({ bedrock: { cachePoint: { type: "default" } } })) }).caches).toBe(
      "5m",
    );
  });

  test("never lets a call have more than its request is held to", () => {
    const limit = fc.option(fc.integer({ min: 1, max: 100_000 }), { nil: undefined });
    const thinking = fc.option(fc.integer({ min: 1, max: 60_000 }), { nil: undefined });
    fc.assert(
      fc.property(
        fc.constantFrom(...NAMES),
        limit,
        limit,
        thinking,
        fc.integer({ min: 1100, max: 200_000 }),
        (...all) => {
          const [name, maxOutputTokens, elsewhere, budgetTokens, granted] = all;
          const home = name === "messages" ? "anthropic" : name === "bedrock" ? "bedrock" : "openai";
          const own = {
            ...(elsewhere !== undefined && { maxTokens: elsewhere }),
            ...(budgetTokens !== undefined && home === "anthropic" && { thinking: { type: "enabled", budgetTokens } }),
            ...(budgetTokens !== undefined &&
              home === "bedrock" && { reasoningConfig: { type: "enabled", budgetTokens } }),
          };
          const { wire, held } = sketch(name, { maxOutputTokens, providerOptions: { [home]: own } });
          const to = Math.max(granted, wire.least_output);
          const { maxOutputTokens: most = 0, providerOptions } = held(wire.held(to));
          const settings = (providerOptions?.[home] ?? {}) as typeof own & {
            reasoningConfig?: { budgetTokens: number };
          };
          const thinks = settings.thinking?.budgetTokens ?? settings.reasoningConfig?.budgetTokens ?? 0;
          expect(Math.max(most, settings.maxTokens ?? 0) + thinks).toBeLessThanOrEqual(to);
          expect(most).toBeGreaterThan(0);
          if (maxOutputTokens !== undefined)
            expect(most).toBeLessThanOrEqual(Math.max(maxOutputTokens, elsewhere ?? 0));
        },
      ),
    );
  });

  test("a word for thinking becomes a figure, which can be held", () => {
    const { wire, held } = sketch("messages", { reasoning: "high", maxOutputTokens: 1000 });
    expect(wire.output_tokens).toBe(20_200);
    const thinking = { type: "enabled", budgetTokens: 19_200 };
    expect(held(wire.held(50_000))).toMatchObject({
      maxOutputTokens: 1000,
      providerOptions: { anthropic: { thinking } },
    });
    expect(held(wire.held(3000))).toMatchObject({
      maxOutputTokens: 1,
      providerOptions: { anthropic: { thinking: { budgetTokens: 2999 } } },
    });
    expect(wireOf("messages", { reasoning: "none", maxOutputTokens: 1000 }).output_tokens).toBe(1000);
    expect(wireOf("responses", { reasoning: "none" }).hidden).toBe(false);
    expect(wireOf("responses", { reasoning: "high" }).hidden).toBe(true);
  });

  test("bad figures are named", () => {
    for (const maxOutputTokens of [0, -1, 1.5, Number.NaN, "many" as never]) {
      expect(() => sketch("chat", { maxOutputTokens })).toThrow("maxOutputTokens");
    }
    const thinking = { type: "enabled", budgetTokens: "all" };
    expect(() => sketch("messages", { providerOptions: { anthropic: { thinking } } })).toThrow("budgetTokens");
  });

  test("an embedding has its values", () => {
    const model = { specificationVersion: "v3", provider: "openai.embedding", modelId: "text-embedding-3-small" };
    const { wire } = sketchEmbedding(model, { values: ["one", "äöü"] });
    expect(wire.output_tokens).toBe(0);
    expect(wire.input_tokens).toBeGreaterThanOrEqual(9);
    expect(sketchEmbedding(model, { values: [{ image: "x" }] }).wire.beyond).not.toBeNull();
  });
});

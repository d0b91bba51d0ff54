import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { scenario } from "../../../../specs/scenario.js";
import type { Amount, Amounts } from "../../src/core/amount.js";
import { STANDARD } from "../../src/core/dimensions.js";
import { chargeFor, estimateTokens, withTotal } from "../../src/core/usage.js";
import { extractUsage } from "../../src/runtime/reported-usage.js";

const used = (metadata: unknown) => extractUsage(metadata, STANDARD).amounts;
const amounts = (record: Record<string, number>) => record as Record<string, Amount> as Amounts;

scenario("004/host-usage-keys", () => {
  const expected = { llm_input_tokens: 12, llm_output_tokens: 30 };
  for (const metadata of [
    { usage: { llm_input_tokens: 12, llm_output_tokens: 30 } },
    { "usage.llm_input_tokens": 12, "usage.llm_output_tokens": 30 },
    { usage_input_tokens: 12, usage_output_tokens: 30 },
    { usage_prompt_tokens: 12, usage_completion_tokens: 30 },
    { prompt_tokens: 12, completion_tokens: 30 },
    { usage: { prompt_tokens: 12, completion_tokens: 30, total_tokens: 42 } },
    { usage: { inputTokens: 12, outputTokens: 30, totalTokens: 42 } },
    { usage: { promptTokens: 12, completionTokens: 30 } },
    { usageMetadata: { promptTokenCount: 12, candidatesTokenCount: 30, totalTokenCount: 42 } },
    { metadata: { usage: { input_tokens: 12, output_tokens: 30 } } },
    { response_metadata: { token_usage: { prompt_tokens: 12, completion_tokens: 30 } } },
  ]) {
    expect(used(metadata), JSON.stringify(metadata)).toMatchObject(expected);
  }
  for (const cost of [
    { total_cost_usd: 0.25 },
    { cost_usd: 0.25 },
    { usage: { cost: 0.25 } },
    { usage_cost_usd: 0.25 },
  ]) {
    expect(used(cost)).toEqual({ cost_usd: 250_000_000 });
  }
});

describe("reading usage", () => {
  test("duration and bytes are read too, a clock never", () => {
    const read = extractUsage({ duration_ms: 17.5, storage_write_bytes: 3, wall_clock_ms: 9 }, STANDARD);

    expect(read).toEqual({ amounts: { storage_write_bytes: 3 }, duration_ms: 17.5 });
  });

  test("where two names disagree the larger counts", () => {
    expect(used({ prompt_tokens: 5, usage: { input_tokens: 9 } })).toEqual({ llm_input_tokens: 9 });
  });

  test("cached input comes on top of input_tokens and is part of prompt_tokens", () => {
    const cached = { cache_creation_input_tokens: 100, cache_read_input_tokens: 1000 };

    expect(used({ usage: { input_tokens: 5, ...cached } })).toEqual({ llm_input_tokens: 1105 });
    expect(used({ usage: { prompt_tokens: 1105, ...cached } })).toEqual({ llm_input_tokens: 1105 });
  });

  test("what cannot be a usage counts as missing, and a part of a token as a whole one", () => {
    expect(used({ prompt_tokens: -1, completion_tokens: Number.NaN, cost_usd: "0.1 $", total_tokens: 1e300 })).toEqual(
      {},
    );
    expect(used({ cost_usd: "0.1", prompt_tokens: " 7 ", completion_tokens: "1e1" })).toEqual({
      cost_usd: 100_000_000,
      llm_input_tokens: 7,
      llm_output_tokens: 10,
    });
    expect(used({ cost_usd: "-0.1", prompt_tokens: "abc", completion_tokens: "0x7", total_tokens: "" })).toEqual({});
    expect(used({ prompt_tokens: 1.2 })).toEqual({ llm_input_tokens: 2 });
  });

  test("anything at all can be looked at", () => {
    fc.assert(
      fc.property(fc.anything(), (metadata) => {
        for (const value of Object.values(used(metadata))) expect(Number.isSafeInteger(value) && value >= 0).toBe(true);
      }),
    );
  });
});

scenario("004/host-provider-first", () => {
  const asked = amounts({ llm_tokens: 1000, cost_usd: 500 });
  const reported = amounts({ llm_tokens: 40, cost_usd: 20 });

  expect(chargeFor("model", asked, reported, amounts({ llm_tokens: 77 }))).toEqual({
    charged: reported,
    unreported: [],
    estimate: null,
  });
});

scenario("004/host-fallback-estimation", () => {
  const estimate = estimateTokens({ prompt: "häh" }, "ok");

  expect(estimate).toEqual({ llm_input_tokens: 17, llm_output_tokens: 2, llm_tokens: 19 });
  expect(chargeFor("model", amounts({ steps: 1 }), {}, estimate)).toEqual({
    charged: { steps: 1, ...estimate },
    unreported: ["llm_input_tokens", "llm_output_tokens", "llm_tokens"],
    estimate,
  });
});

describe("charging", () => {
  test("what is not reported is charged as reserved, with the estimate beside it", () => {
    const asked = amounts({ steps: 1, llm_tokens: 1000, cost_usd: 500, network_egress_bytes: 9 });
    const estimate = amounts({ llm_tokens: 19 });

    expect(chargeFor("model", asked, {}, estimate)).toEqual({
      charged: asked,
      unreported: ["cost_usd", "network_egress_bytes", "llm_tokens"],
      estimate,
    });
  });

  test("tools that are no models are never charged tokens by estimate", () => {
    expect(chargeFor("tool", amounts({ steps: 1 }), {}, amounts({ llm_tokens: 19 }))).toEqual({
      charged: { steps: 1 },
      unreported: [],
      estimate: null,
    });
  });

  test("whoever is called cannot make less of what Bursar counts itself", () => {
    const { charged } = chargeFor("tool", amounts({ steps: 1 }), amounts({ steps: 0 }), {});

    expect(charged).toEqual({ steps: 1 });
  });

  test("a total is never less than its parts, and a missing part is taken from the estimate", () => {
    const estimate = amounts({ llm_input_tokens: 70, llm_output_tokens: 30 });
    const charge = (asked: Record<string, number>, reported: Record<string, number>) =>
      chargeFor("model", amounts(asked), amounts(reported), estimate);

    expect(charge({}, { llm_output_tokens: 5000 })).toMatchObject({
      charged: { llm_input_tokens: 70, llm_output_tokens: 5000, llm_tokens: 5070 },
      unreported: ["llm_input_tokens", "llm_tokens"],
    });
    expect(charge({ llm_tokens: 9000 }, { llm_input_tokens: 2, llm_output_tokens: 3 }).charged.llm_tokens).toBe(5);
    expect(charge({ llm_tokens: 0 }, {}).charged.llm_tokens).toBe(100);
    expect(charge({}, { llm_tokens: 4, llm_input_tokens: 6 }).charged.llm_tokens).toBe(6);
    expect(withTotal(amounts({ llm_input_tokens: 5, llm_output_tokens: 6 })).llm_tokens).toBe(11);
  });

  test("a byte of UTF-8 is a token at most", () => {
    fc.assert(
      fc.property(fc.string({ unit: "grapheme" }), (text) => {
        expect(estimateTokens(text, "").llm_input_tokens).toBe(new TextEncoder().encode(text).length);
      }),
    );
    const cyclic: Record<string, unknown> = {};
    cyclic.self = cyclic;
    cyclic.text = "x".repeat(10_000);
    expect(estimateTokens(cyclic, 1n).llm_tokens).toBeGreaterThan(10_000);
    const part = { text: "x".repeat(100) };
    expect(estimateTokens([part, part, part], "").llm_tokens).toBeGreaterThan(300);
    expect(estimateTokens(Object.assign(Object.create(null), { self: cyclic }), "").llm_tokens).toBeGreaterThan(10_000);
  });
});

import { describe, expect, test } from "vitest";
import { readConfig, shippedConfig } from "../../src/config/config.js";
import { EXAMPLE } from "../../src/config/example.js";
import { complaints } from "./helpers.js";

const WHOLE = `
foresight:
  preflight: ask
  reservations: full
  predict: { model: gpt-5-nano, cost_usd: 0.02 }
  tiers: { lists: { auto: { floor: small, tiers: [{ name: large, model: gpt-5 }, { name: small, model: gpt-5-mini }] } } }
  batches: { provider: openai, model: gpt-5-mini, key_env: OPENAI_API_KEY }
  reuse: { in_flight: true }
`;

describe("what looks ahead", () => {
  test("is as it is shipped where a file says nothing of it", () => {
    expect(readConfig("").foresight).toEqual(shippedConfig().foresight);
    expect(readConfig("foresight: {}").foresight).toMatchObject({ enabled: true, preflight: "warn", tiers: null });
  });

  test("is read part by part", () => {
    const { foresight } = readConfig(WHOLE);
    expect(foresight).toMatchObject({
      enabled: true,
      preflight: "ask",
      reservations: "full",
      predict: { model: "gpt-5-nano", cost_usd: 0.02 },
      tiers: { lists: { auto: { floor: "small" } } },
      batches: { provider: "openai", model: "gpt-5-mini", key_env: "OPENAI_API_KEY" },
      reuse: { in_flight: true },
    });
  });

  test("is switched off by one setting; who asks for a tier then gets the first", () => {
    const { foresight } = readConfig(`${WHOLE}  enabled: false\n`);
    expect(foresight).toMatchObject({
      enabled: false,
      predict: null,
      batches: null,
      reuse: null,
      reservations: "full",
    });
    expect(foresight.tiers).toMatchObject({ enabled: false });
  });

  test("is what the example says, uncommented", () => {
    const section = EXAMPLE.slice(EXAMPLE.indexOf("# foresight:")).replaceAll(/^# ?/gm, "");
    expect(readConfig(section).foresight).toMatchObject({ preflight: "ask", predict: { model: "gpt-5-nano" } });
    expect(readConfig(section).foresight.reuse).toEqual({
      in_flight: true,
      runs: true,
      embeddings: { window_ms: 5 },
      cache: { bytes: 67_108_864, ttl_ms: 3_600_000 },
    });
  });

  test.each([
    ["foresight: { preflight: maybe }", [/preflight is "maybe"; allowed: warn, ask, refuse/]],
    ["foresight: { enabled: off }", [/enabled is "off"; allowed: true or false/]],
    ["foresight: { tier: {} }", [/foresight.tier is not known here; did you mean tiers/]],
    ["foresight: { enabled: false, reservations: some }", [/reservations is "some"; allowed: learned, full/]],
  ])("%s", (text, expected) => {
    const found = complaints(text);
    expect(found).toHaveLength(expected.length);
    for (const [at, pattern] of expected.entries()) expect(found[at]).toMatch(pattern);
  });
});

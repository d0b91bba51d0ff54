import { describe, expect, test } from "vitest";
import { readConfig } from "../../src/config/config.js";
import { checkTiers } from "../../src/models/tiers/check-tiers.js";
import type { TiersOptions } from "../../src/ports/tiers.js";
import { complaints, problemsOf } from "./helpers.js";

const TEXT = `
foresight:
  tiers:
    enabled: false
    lists:
      auto:
        floor: small
        when_none_fits: pause
        hysteresis: { calls: 5, margin: 0.5 }
        tiers:
          - { name: large, model: gpt-5, quality: 10, capabilities: [tools, images] }
          - name: small
            model: gpt-5-mini
            context_window: 400000
`;

function tiersIn(text: string): TiersOptions {
  return readConfig(text).foresight.tiers as TiersOptions;
}

describe("tiers in a configuration", () => {
  test("are read as they are given in code", async () => {
    const tiers = tiersIn(TEXT);
    expect(tiers).toEqual({
      enabled: false,
      lists: {
        auto: {
          floor: "small",
          when_none_fits: "pause",
          hysteresis: { calls: 5, margin: 0.5 },
          tiers: [
            { name: "large", model: "gpt-5", quality: 10, capabilities: ["tools", "images"] },
            { name: "small", model: "gpt-5-mini", context_window: 400_000 },
          ],
        },
      },
    });
    await expect(checkTiers(tiers)).resolves.toBeUndefined();
  });

  test("are all there, whatever they are called", () => {
    const { lists } = tiersIn(
      "foresight: { tiers: { lists: { __proto__: { tiers: [{ name: large, model: gpt-5 }] } } } }",
    );
    expect(Object.entries(lists)).toEqual([["__proto__", { tiers: [{ name: "large", model: "gpt-5" }] }]]);
  });

  test("without a price are refused when they are checked, by name", async () => {
    const tiers = tiersIn(
      "foresight: { tiers: { lists: { auto: { tiers: [{ name: odd, model: nobody-knows-it }] } } } }",
    );
    await expect(checkTiers(tiers)).rejects.toThrow(/tiers\.lists\.auto\.odd .*nobody-knows-it.* has no price/);
    const prices = { "nobody-knows-it": { input_usd_per_mtok: 0, output_usd_per_mtok: 0 } };
    await expect(checkTiers(tiers, { prices })).resolves.toBeUndefined();
  });

  test.each([
    ["{}", "has no lists"],
    ["{ lists: {} }", "has 0 lists"],
    ["{ lists: { auto: {} } }", "has no tiers"],
    ["{ lists: { auto: { tiers: [] } } }", "1 to 32 tiers"],
    ["{ lists: { auto: { tiers: [{ name: a }] } } }", "has no model"],
    ["{ lists: { auto: { tiers: [{ model: a }] } } }", "has no name"],
    ["{ lists: { auto: { tiers: [{ name: a, model: m }, { name: a, model: n }] } } }", "names a again"],
    ["{ lists: { auto: { floor: b, tiers: [{ name: a, model: m }] } } }", "no tier of this list"],
    ["{ lists: { auto: { when_none_fits: wait, tiers: [{ name: a, model: m }] } } }", "pause or stop"],
    ["{ lists: { auto: { hysteresis: { calls: 0 }, tiers: [{ name: a, model: m }] } } }", "a whole number from 1"],
    ["{ lists: { auto: { tiers: [{ name: a, model: m, capabilities: tools }] } } }", "a list of capabilities"],
    ["{ lists: { auto: { tiers: [{ name: a, model: m, quality: good }] } } }", "allowed: a number"],
    ["{ lists: { auto: { tiers: [{ name: a, model: m, quality: .inf }] } } }", "allowed: a number"],
    ["{ lists: { auto: { tiers: [{ name: a, model: m, quality: .nan }] } } }", "allowed: a number"],
    ["{ lists: { auto: { tiers: [{ name: a, model: bursar/auto }] } } }", "is a list"],
    ["{ lists: { 'a b': { tiers: [{ name: a, model: m }] } } }", "is no name of a list"],
    ["{ lists: { auto: { tires: [] } } }", "did you mean tiers?"],
    ["{ enabled: maybe, lists: { auto: { tiers: [{ name: a, model: m }] } } }", "true or false"],
    ["[]", "a mapping"],
  ])("%s: %s", (section, why) => {
    expect(complaints(`foresight: { tiers: ${section} }`).join("\n")).toContain(why);
  });

  test("a complaint says where", () => {
    const { problems } = problemsOf(TEXT.replace("floor: small", "floor: tiny"));
    expect(problems[0]?.place).toMatchObject({ line: 7 });
  });
});

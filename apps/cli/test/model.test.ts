import { describe, expect, test } from "vitest";
import { UsageError } from "../src/app/errors.js";
import { modelFlags, modelOf, pricesOf } from "../src/arguments/model-flags.js";

const RATES = { input_usd_per_mtok: 0.35, output_usd_per_mtok: 1 };
const PRICE = { price: ["0.35,1"] };

describe("a price without --model-url", () => {
  test.each([
    ["is that of the model that the configuration sends batches to", PRICE, {}],
    ["may name that model", { ...PRICE, model: "house-model" }, {}],
    ["may come from the environment", {}, { BURSAR_MODEL_PRICE: "0.35,1" }],
  ])("%s", (_, flags, env) => {
    expect(modelOf(flags, env, { batched: "house-model" })).toBeNull();
    expect(pricesOf(flags, env, "house-model")).toEqual({ "house-model": RATES });
  });

  test.each([
    ["where no model is named at all", PRICE, {}, null, "--price says nothing without a model"],
    ["where only a price and a name are given", { ...PRICE, model: "m" }, {}, null, "foresight.batches"],
    [
      "for another model",
      { ...PRICE, model: "m" },
      {},
      "house-model",
      "is that of m, and the configuration names house-model",
    ],
    ["for another one of the environment", PRICE, { BURSAR_MODEL: "m" }, "house-model", "add --model house-model"],
    ["for a list of models, which has none", PRICE, {}, "bursar/auto", "--price says nothing without a model"],
    ["a name alone", { model: "house-model" }, {}, "house-model", "--model says nothing without --model-url"],
    ["a length of answers", { ...PRICE, "max-tokens": "5" }, {}, "house-model", "--max-tokens says nothing without"],
    ["a price that is none", { price: ["cheap"] }, {}, "house-model", "--price has no price"],
    ["twice", { price: ["0.35,1", "house-model=1,2"] }, {}, "house-model", "says house-model a second time"],
  ])("is refused %s", (_, flags, env, batched, message) => {
    const read = () => [pricesOf(flags, env, batched), modelOf(flags, env, { batched })];
    expect(read).toThrow(UsageError);
    expect(read).toThrow(message);
  });

  test("of the environment alone stays without effect where no model is named", () => {
    const env = { BURSAR_MODEL_PRICE: "0.35,1" };
    expect([modelOf({}, env, { batched: null }), pricesOf({}, env, null)]).toEqual([null, null]);
  });
});

test("with --model-url a price is that of its own model, whatever batches go to", () => {
  const flags = { ...PRICE, "model-url": "http://localhost:1/v1", model: "m" };
  expect(modelOf(flags, {}, { batched: "house-model" })).not.toBeNull();
  expect(pricesOf(flags, {}, "house-model")).toEqual({ m: RATES });
});

describe("prices of several models", () => {
  const url = { "model-url": "http://localhost:1/v1", model: "m" };
  const CHEAP = { input_usd_per_mtok: 0, output_usd_per_mtok: 0 };

  test("are stated by name, beside that of the model itself", () => {
    const flags = { ...url, price: ["small=0,0", "0.35,1", "large=0.35,1"] };
    expect(modelOf(flags, {}, { batched: null })).not.toBeNull();
    expect(pricesOf(flags, {}, null)).toEqual({ small: CHEAP, m: RATES, large: RATES });
    expect(modelFlags(flags)).toEqual([
      "--model-url",
      "http://localhost:1/v1",
      "--model",
      "m",
      "--price",
      "small=0,0",
      "--price",
      "0.35,1",
      "--price",
      "large=0.35,1",
    ]);
  });

  test("let that of the environment stand, unless they name its model", () => {
    const env = { BURSAR_MODEL_PRICE: "0.35,1" };
    expect(pricesOf({ ...url, price: ["small=0,0"] }, env, null)).toEqual({ small: CHEAP, m: RATES });
    expect(pricesOf({ ...url, price: ["m=0,0"] }, env, null)).toEqual({ m: CHEAP });
  });

  test("are those of the model that batches go to, too, whatever else is named", () => {
    const flags = { model: "m", price: ["house-model=0.35,1"] };
    expect(modelOf(flags, {}, { batched: "house-model" })).toBeNull();
    expect(pricesOf(flags, {}, "house-model")).toEqual({ "house-model": RATES });
  });
});

import { expect, test } from "vitest";
import { readConfig } from "../../src/config/config.js";

const read = (text: string) => readConfig(`foresight: { ${text} }`, { file: "bursar.yaml" }).foresight.predict;

test("the section names the model that is asked, and what that may cost in a day", () => {
  expect(read("predict: { model: gpt-5-nano }")).toEqual({ model: "gpt-5-nano", cost_usd: 0.01 });
  expect(read("predict: { model: gpt-5-nano, cost_usd: 0.25 }")).toEqual({ model: "gpt-5-nano", cost_usd: 0.25 });
  expect(read("")).toBeNull();
});

test("what makes no sense is refused, with its place", () => {
  const table: readonly (readonly [string, string])[] = [
    ["predict: {}", "bursar.yaml:1:23: foresight.predict has no model"],
    ["predict: 5", "predict is 5; allowed: a mapping with model, cost_usd"],
    ["predict: { modl: x }", "did you mean model?"],
    ["predict: { model: 5 }", "predict.model is 5; allowed: a model's name, such as gpt-5-nano; put it in quotes"],
    ["predict: { model: x, cost_usd: -1 }", "predict.cost_usd is -1"],
    ["predict: { model: x, cost_usd: null }", "predict.cost_usd is null"],
    ["predict: { model: x, cost_usd: $1 }", "did you mean 1"],
  ];
  for (const [text, message] of table) expect(() => read(text), text).toThrow(message);
});

import { expect, test } from "vitest";
import { openBudget } from "../../../src/ambient/open-budget.js";
import { deferred } from "../../../src/runtime/deferred.js";
import { HELLO, openScene, until } from "../fetch/scene.js";
import { savedBy } from "./chains.js";

const tiers = {
  lists: {
    auto: {
      tiers: [
        { name: "large", model: "gpt-4-scripted" },
        { name: "small", model: "scripted" },
      ],
    },
  },
};

test("calls that leave their model open are one where the same was chosen for them", async () => {
  const go = deferred<void>();
  const wire = { tiers, reuse: { in_flight: true, cache: true } };
  await using at = await openScene(() => go.promise.then(() => "Hello."), { wire });
  await using budget = await openBudget({ cost_usd: 1 });
  const ask = (model: string) => at.openai.chat.completions.create({ model, messages: HELLO, max_tokens: 100 });
  await budget.run(async () => {
    const calls = [ask("bursar/auto"), ask("bursar/auto")];
    await until(async () => (await budget.state()).held.steps === 2);
    go.resolve();
    const [first, second] = await Promise.all(calls);
    expect(second).toEqual(first);
    expect(await ask("bursar/auto")).toEqual(first);
    expect(await ask("gpt-4-scripted")).toEqual(first);
    expect(await ask("scripted")).not.toEqual(first);
  });
  expect(at.model.requests.map(({ model }) => model)).toEqual(["gpt-4-scripted", "scripted"]);
  const saved = await savedBy(budget);
  expect(saved.map(({ kind, model }) => [kind, model])).toEqual([
    ["in_flight", "gpt-4-scripted"],
    ["cache", "gpt-4-scripted"],
    ["cache", "gpt-4-scripted"],
  ]);
  const { used, held } = await budget.state();
  expect(used.steps).toBe(5);
  expect(held).toEqual({});
});

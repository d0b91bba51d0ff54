import { expect, test } from "vitest";
import { tieredModel } from "../../../src/models/tiers/tiered-model.js";
import type { Model } from "../../../src/ports/model.js";
import { defineAgent } from "../../../src/runs/agent.js";
import { mortal, settle, Theatre } from "../../runs/stage.js";
import { tiersOf } from "./scene.js";

/** A model that writes down what it is asked, and under which key; it answers as often as it may. */
function listening(asked: (readonly [string, string])[], answers: number): Model {
  let left = answers;
  return {
    name: "bursar/auto",
    quote: () => ({ cost_usd: 0.01 }),
    call: async (request, { key }) => {
      const { model } = request as { model: string };
      asked.push([model, key]);
      if (--left < 0) await new Promise(() => {});
      return { value: { model }, usage: { cost_usd: 0.01 } };
    },
  };
}

test("answers stay as they were when a run goes on elsewhere, and to another model it is another request", async () => {
  const twice = defineAgent("twice", async (ctx) => {
    const first = await ctx.model<{ model: string }>({ prompt: "Hello?" });
    const second = await ctx.model<{ model: string }>({ prompt: "And?" });
    return [first.model, second.model];
  });
  const theatre = new Theatre([twice]);
  const { seen, kill } = mortal(theatre.store);
  const before: (readonly [string, string])[] = [];
  const dying = theatre.process({ store: seen, model: tieredModel(listening(before, 1), tiersOf()) });
  await dying.start("twice", null, { id: "a" });
  dying.drive("a").catch(() => {});
  await settle(200);
  expect(before.map(([model]) => model)).toEqual(["gpt-4-large", "gpt-4-large"]);
  kill();
  const after: (readonly [string, string])[] = [];
  const small = tiersOf({ tiers: [{ name: "small", model: "gpt-4-small" }] });
  await using other = theatre.process({ model: tieredModel(listening(after, 9), small) });

  const result = await theatre.until(other.run("twice", null, { id: "a" }));

  expect(result).toMatchObject({ status: "completed", result: ["gpt-4-large", "gpt-4-small"] });
  expect(after.map(([model]) => model)).toEqual(["gpt-4-small"]);
  const keys = [...before, ...after].map(([, key]) => key);
  expect(new Set(keys).size).toBe(keys.length);
  // The one that nobody heard the end of is paid for as it was quoted.
  expect(result.usage).toMatchObject({ cost_usd: 0.03, steps: 3 });
});

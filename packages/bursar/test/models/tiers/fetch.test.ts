import { describe, expect, test } from "vitest";
import { openBudget } from "../../../src/ambient/open-budget.js";
import { withBudget } from "../../../src/ambient/with-budget.js";
import { refusalOf } from "../fetch/scene.js";
import { LIST, openTiers, switchesIn, tiersOf } from "./scene.js";

/** What an answer of 1,000 tokens costs at each tier, with a little for the question. */
const COST = { large: 0.064_32, medium: 0.016_08, small: 0.004_02 };

describe("a request that leaves its model open", () => {
  test("goes to the best tier as long as the rest of the run fits too, and then to the next", async () => {
    await using at = await openTiers();
    await using budget = await openBudget({ cost_usd: 0.5 });

    await budget.run(async () => {
      for (let call = 0; call < 30; call++) await at.ask();
    });

    const called = at.called();
    expect(called.slice(0, 3)).toEqual(["gpt-4-large", "gpt-4-large", "gpt-4-large"]);
    expect(called.at(-1)).toBe("gpt-4-small");
    const { store } = budget.purse;
    const switches = await switchesIn(store, budget.purse.chain);
    expect(switches.map(({ to }) => to.tier)).toEqual(["large", "medium", "small"]);
    expect(switches.map(({ reason }) => reason)).toEqual(["first", "rest_too_large", "rest_too_large"]);
    expect(switches[0]?.from).toBeNull();
    expect(switches[1]).toMatchObject({
      list: "auto",
      from: { tier: "large", model: "gpt-4-large" },
      to: { tier: "medium", model: "gpt-4-medium" },
    });
    // Both quotes are of this very call, and what was left stands beside them.
    const [, second] = switches;
    expect(second?.from?.quote?.cost_usd).toBeCloseTo(4 * (second?.to.quote.cost_usd ?? 0), 4);
    expect(second?.left.cost_usd).toBeLessThan(0.5);
    const { used } = await budget.state();
    expect(used.cost_usd).toBeLessThanOrEqual(0.5);
  });

  test("says which one has answered, in the provider's own words", async () => {
    await using at = await openTiers();
    const { model } = await withBudget({ cost_usd: 0.5 }, () => at.ask());
    expect(model).toBe("gpt-4-large");
  });

  test("speaks all protocols, streamed or not", async () => {
    await using at = await openTiers();
    await withBudget({ cost_usd: 5 }, async () => {
      await at.openai.responses.create({ model: "bursar/auto", input: "Hello?", max_output_tokens: 100 });
      const messages = [{ role: "user" as const, content: "Hello?" }];
      await at.anthropic.messages.create({ model: "bursar/auto", max_tokens: 100, messages });
      const stream = await at.openai.chat.completions.create({ model: "bursar/auto", messages, stream: true });
      for await (const _ of stream);
    });
    expect(at.called()).toEqual(["gpt-4-large", "gpt-4-large", "gpt-4-large"]);
  });

  test("takes a cheaper one at once where the best does not fit", async () => {
    await using at = await openTiers();
    await using budget = await openBudget({ cost_usd: 0.03 });

    await budget.run(() => at.ask());

    expect(at.called()).toEqual(["gpt-4-medium"]);
    const [first] = await switchesIn(budget.purse.store, budget.purse.chain);
    expect(first).toMatchObject({ from: null, to: { tier: "medium" }, reason: "first", left: { cost_usd: 0.03 } });
  });

  test("is held to what is left when not even the floor fits whole, and refused when nothing is left", async () => {
    await using at = await openTiers(() => ({
      kind: "text",
      text: "Yes.",
      usage: { prompt_tokens: 20, completion_tokens: 200 },
    }));
    await using budget = await openBudget({ cost_usd: 0.002 });

    const refused = await budget.run(async () => {
      await at.ask();
      await at.ask();
      return refusalOf(at.ask({ max_tokens: 100_000 }).then(() => at.ask()));
    });

    expect(at.called().every((model) => model === "gpt-4-small")).toBe(true);
    expect(refused.code).toBe("budget_exceeded");
    const { used } = await budget.state();
    expect(used.cost_usd).toBeLessThanOrEqual(0.002);
  });

  test("never goes below the floor", async () => {
    const tiers = tiersOf({ floor: "medium" });
    await using at = await openTiers(undefined, { tiers });

    const refused = await withBudget({ cost_usd: 0.000_05 }, () => refusalOf(at.ask()));

    expect(refused.code).toBe("budget_exceeded");
    expect(refused.message).toContain("cost_usd");
    expect(at.called()).toEqual([]);
  });
});

describe("what a request needs", () => {
  const IMAGE = { type: "image_url", image_url: { url: "data:image/png;base64,aGVsbG8=" } } as const;

  test("is read off the request", async () => {
    await using at = await openTiers();
    const tools = [{ type: "function" as const, function: { name: "search", parameters: {} } }];
    await using budget = await openBudget({ cost_usd: 0.03 });

    await budget.run(async () => {
      await at.ask({ max_tokens: 10, tools });
      await at.ask({ max_tokens: 10, messages: [{ role: "user", content: [IMAGE] }] });
      await at.ask({ max_tokens: 1000 });
    });

    // The first fits the best; the last one alone would be at home with any of them.
    expect(at.called()).toEqual(["gpt-4-large", "gpt-4-large", "gpt-4-medium"]);
  });

  test("takes one call elsewhere, and the next one back", async () => {
    await using at = await openTiers(() => ({
      kind: "text",
      text: "Yes.",
      usage: { prompt_tokens: 20, completion_tokens: 10 },
    }));
    const tools = [{ type: "function" as const, function: { name: "search", parameters: {} } }];
    await using budget = await openBudget({ cost_usd: 0.015 });

    await budget.run(async () => {
      await at.ask();
      await at.ask({ max_tokens: 10, tools });
      await at.ask();
    });

    expect(at.called()).toEqual(["gpt-4-small", "gpt-4-medium", "gpt-4-small"]);
    const switches = await switchesIn(budget.purse.store, budget.purse.chain);
    expect(switches.map(({ reason }) => reason)).toEqual(["first", "capabilities", "back"]);
  });

  test("may be said by the caller, and is refused when no tier has it", async () => {
    await using at = await openTiers(undefined, { tiers: tiersOf({ tiers: LIST.tiers.slice(1) }) });
    await withBudget({ cost_usd: 0.03 }, async () => {
      await at.ask({ max_tokens: 10 }, { "x-bursar-needs": "tools" });
      const refused = await refusalOf(at.ask({ max_tokens: 10 }, { "x-bursar-needs": "tools,poetry" }));
      expect(refused.message).toContain("poetry");
    });
    expect(at.provider.requests[0]?.headers["x-bursar-needs"]).toBeUndefined();
  });
});

describe("a pin", () => {
  test("names the tier of one call, and goes no further", async () => {
    await using at = await openTiers();
    await using budget = await openBudget({ cost_usd: 5 });

    await budget.run(async () => {
      await at.ask({}, { "x-bursar-tier": "small" });
      await at.ask();
    });

    expect(at.called()).toEqual(["gpt-4-small", "gpt-4-large"]);
    expect(at.provider.requests[0]?.headers["x-bursar-tier"]).toBeUndefined();
    const switches = await switchesIn(budget.purse.store, budget.purse.chain);
    expect(switches.map(({ reason }) => reason)).toEqual(["pinned", "first"]);
  });

  test.each([
    ["huge", "tiers of auto: large, medium"],
    ["small", "below the floor"],
  ])("to %s is refused", async (tier, why) => {
    await using at = await openTiers(undefined, { tiers: tiersOf({ floor: "medium" }) });
    const refused = await withBudget({ cost_usd: 5 }, () => refusalOf(at.ask({}, { "x-bursar-tier": tier })));
    expect(refused.message).toContain(why);
    expect(at.called()).toEqual([]);
  });

  test("that does not fit is refused as the budget's policy says, and not made cheaper", async () => {
    await using at = await openTiers();
    const refused = await withBudget({ cost_usd: 0.000_1 }, () => refusalOf(at.ask({}, { "x-bursar-tier": "large" })));
    expect(refused).toMatchObject({ code: "budget_exceeded", dimension: "cost_usd" });
  });
});

describe("switched off", () => {
  test("the first tier is meant, whatever fits", async () => {
    await using at = await openTiers(undefined, { tiers: tiersOf({}, false) });
    await using budget = await openBudget({ cost_usd: 0.03 });

    await budget.run(() => at.ask());

    expect(at.called()).toEqual(["gpt-4-large"]);
    expect(await switchesIn(budget.purse.store, budget.purse.chain)).toEqual([]);
  });
});

describe("when not even the floor fits", () => {
  const small = { max_tokens: 1000 } as const;

  test("a person is asked, if the list says so, whatever the policy is", async () => {
    await using at = await openTiers(undefined, { tiers: tiersOf({ when_none_fits: "pause" }) });
    const asked: string[] = [];
    await using budget = await openBudget(
      { cost_usd: 0.000_05 },
      {
        approve: async ({ dimension }) => {
          asked.push(dimension);
          return { cost_usd: 0.01 };
        },
      },
    );

    await budget.run(() => at.ask(small));

    expect(asked).toEqual(["cost_usd"]);
    expect(at.called()).toEqual(["gpt-4-small"]);
  });

  test("nobody is, if it says so", async () => {
    await using at = await openTiers(undefined, { tiers: tiersOf({ when_none_fits: "stop" }) });
    await using budget = await openBudget(
      { cost_usd: 0.000_05 },
      {
        policies: { cost_usd: "approval_required" },
        approve: () => Promise.reject(new Error("nobody is to be asked")),
      },
    );

    const refused = await budget.run(() => refusalOf(at.ask(small)));

    expect(refused.code).toBe("budget_exceeded");
  });
});

describe("lists that cannot be used", () => {
  test("a model without a price is refused with the first call, with its name", async () => {
    const tiers = tiersOf({ tiers: [{ name: "odd", model: "nobody-knows-it" }] });
    await using at = await openTiers(undefined, { tiers });
    const refused = await withBudget({ cost_usd: 5 }, () => refusalOf(at.ask()));
    expect(refused.message).toMatch(/tiers\.lists\.auto\.odd .*nobody-knows-it.* has no price/);
  });

  test.each([
    ["bursar/other", "no list of tiers"],
    ["bursar/aut", "did you mean bursar/auto?"],
  ])("%s is refused", async (model, why) => {
    await using at = await openTiers();
    const refused = await withBudget({ cost_usd: 5 }, () => refusalOf(at.ask({ model })));
    expect(refused.message).toContain(why);
  });

  test("who has none is told so, and a tier beside a model is no use", async () => {
    await using at = await openTiers(undefined, { tiers: { lists: { other: tiersOf().lists.auto ?? { tiers: [] } } } });
    await withBudget({ cost_usd: 5 }, async () => {
      const pinned = await refusalOf(at.ask({ model: "gpt-4-small" }, { "x-bursar-tier": "large" }));
      expect(pinned.message).toContain("is not left open");
      const vectors = at.openai.embeddings.create({ model: "bursar/other", input: "a" });
      expect((await refusalOf(vectors)).message).toContain("one model alone");
    });
  });

  test.each([
    [{ lists: {} }, "1 to 100"],
    [tiersOf({ tiers: [] }), "1 to 32 tiers"],
    [tiersOf({ floor: "tiny" }), "no tier of this list"],
    [tiersOf({ tiers: [{ name: "a", model: "bursar/auto" }] }), "as its provider names it"],
    [tiersOf({ hysteresis: { calls: 0 } }), "calls"],
    [
      tiersOf({
        tiers: [
          { name: "a", model: "m" },
          { name: "a", model: "n" },
        ],
      }),
      "twice",
    ],
  ])("%j is refused when it is opened", async (tiers, why) => {
    await expect(openTiers(undefined, { tiers })).rejects.toThrow(why);
  });
});

test("costs are as the chosen model's, to the last billionth", async () => {
  await using at = await openTiers();
  for (const tier of ["large", "medium", "small"] as const) {
    const used = await withBudget({ cost_usd: 5 }, async (budget) => {
      await at.ask({}, { "x-bursar-tier": tier });
      return (await budget.state()).used;
    });
    expect(used.cost_usd).toBe(COST[tier]);
  }
});

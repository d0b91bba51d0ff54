import { describe, expect, test } from "vitest";
import { openBatches } from "../../../src/models/batch/batches.js";
import { BudgetExceededError } from "../../../src/models/meter/budget-exceeded-error.js";
import { COST, COST_NANO, FULL, HOUR_MS, MODEL, ofType, PRICES, Scene } from "./scene.js";

describe.each(["openai", "anthropic"] as const)("calls that can wait, at %s", (provider) => {
  test("go out together, are reserved and charged at the price of batches, and say what was saved", async () => {
    await using scene = await Scene.open({ provider, batching: { polls: 2 } });
    const purse = await scene.purse("b", 1);
    const desk = scene.desk();
    const answers = ["one", "two", "three"].map((prompt) => desk.call(purse, { prompt, max_tokens: 50 }));
    const said = await scene.until(Promise.all(answers));
    expect(said).toMatchObject([
      { text: "You said: one", finish_reason: "stop" },
      { text: "You said: two" },
      { text: "You said: three" },
    ]);
    expect(scene.server.batches).toHaveLength(1);
    const { used, reserved } = await scene.used("b");
    expect(used).toMatchObject({ cost_usd: 3 * COST_NANO, llm_input_tokens: 300, llm_output_tokens: 60, steps: 3 });
    expect(reserved).toEqual({});
    const links = await scene.links("b");
    const batched = ofType(links, "Batched");
    expect(batched).toHaveLength(3);
    for (const { provider: who, model, quote_usd, full_quote_usd } of batched) {
      expect({ who, model }).toEqual({ who: provider, model: MODEL });
      expect(Number(full_quote_usd)).toBeCloseTo(2 * Number(quote_usd), 8);
    }
    const consumed = links.filter(({ event }) => event === "Consumption").map(({ data }) => data.metadata);
    expect(consumed).toMatchObject([1, 2, 3].map(() => ({ duration_ms: expect.any(Number) })));
    expect(ofType(links, "Saved")).toMatchObject([1, 2, 3].map(() => ({ kind: "batch", saved_usd: FULL - COST })));
  });

  test("fail one by one: what was refused or not begun costs nothing, what nobody tells costs its reservation", async () => {
    const fates = { late: "expired", gone: "missing" } as const;
    await using scene = await Scene.open({
      provider,
      batching: { fate: ({ text }) => fates[text as keyof typeof fates] ?? "answer" },
    });
    const prompts = ["fine", "bad", "late", "gone", "silent"];
    const desk = scene.desk({ most_items: prompts.length });
    const calls = prompts.map(async (prompt) => {
      const purse = await scene.purse(prompt, 1);
      return desk.call(purse, { prompt, max_tokens: 50 });
    });
    const outcomes = await scene.until(Promise.allSettled(calls));
    expect(outcomes).toMatchObject([
      { status: "fulfilled", value: { text: "You said: fine" } },
      { status: "rejected", reason: { code: "provider_refused" } },
      { status: "rejected", reason: { code: "batch_expired" } },
      // Where the provider's own counts account for everything that was done, the rest was not.
      { status: "rejected", reason: { code: provider === "openai" ? "batch_expired" : "batch_lost" } },
      { status: "fulfilled", value: { text: "You said: silent" } },
    ]);
    expect(scene.server.batches).toHaveLength(1);
    const figures = await Promise.all(prompts.map((budget) => scene.used(budget)));
    expect(figures.map(({ reserved }) => reserved)).toEqual(prompts.map(() => ({})));
    const [fine, bad, late, gone, silent] = figures.map(({ used }) => used as Record<string, number>);
    expect(fine).toMatchObject({ cost_usd: COST_NANO, steps: 1 });
    expect(bad).toMatchObject({ cost_usd: 0, steps: 1 });
    expect(late?.steps ?? 0).toBe(0);
    const quoted = async (budget: string) => Number(ofType(await scene.links(budget), "Batched")[0]?.quote_usd) * 1e9;
    if (provider === "openai") expect(gone?.cost_usd ?? 0).toBe(0);
    else expect(gone?.cost_usd).toBe(await quoted("gone"));
    expect(silent?.cost_usd).toBe(await quoted("silent"));
    expect(ofType(await scene.links("silent"), "Saved")).toEqual([]);
  });

  test("a provider that does not answer for days has been paid, and whoever waits is told", async () => {
    await using scene = await Scene.open({ provider, batching: { takes_ms: 1000 * HOUR_MS } });
    const purse = await scene.purse("b", 1);
    const desk = scene.desk();
    const call = desk.call(purse, { prompt: "one" });
    await expect(scene.until(call, HOUR_MS / 2)).rejects.toMatchObject({ code: "batch_lost" });
    const { used, reserved } = await scene.used("b");
    expect(reserved).toEqual({});
    expect((used as Record<string, number>).cost_usd).toBeGreaterThan(0);
  });

  test("what does not fit is not handed over", async () => {
    await using scene = await Scene.open({ provider });
    const purse = await scene.purse("b", 0.000001);
    const call = scene.desk().call(purse, { prompt: "one" });
    await expect(scene.until(call)).rejects.toBeInstanceOf(BudgetExceededError);
    expect(await scene.used("b")).toMatchObject({ reserved: {} });
    expect(scene.server.batches).toEqual([]);
  });

  test("what is given up before it is sent costs nothing; afterwards it costs what the provider says", async () => {
    await using scene = await Scene.open({ provider, batching: { polls: 3 } });
    const purse = await scene.purse("b", 1);
    const desk = scene.desk({ window_ms: 5000 });
    await scene.until(desk.hand(purse, { prompt: "early" }, { id: "early" }));
    await desk.forget("early");
    expect(await scene.used("b")).toEqual({ used: {}, reserved: {} });
    await desk.hand(purse, { prompt: "one" }, { id: "one" });
    await desk.hand(purse, { prompt: "two" }, { id: "two" });
    await scene.rounds(desk, 6);
    expect(scene.server.batches).toHaveLength(1);
    await desk.forget("one");
    const charged = (await scene.used("b")).used as Record<string, number>;
    expect(charged.cost_usd).toBeGreaterThan(COST_NANO);
    await scene.rounds(desk, 60);
    expect(await scene.until(desk.answer("two"))).toMatchObject({ text: "You said: two" });
    expect(await scene.used("b")).toMatchObject({ used: { cost_usd: 2 * COST_NANO, steps: 2 }, reserved: {} });
    await expect(desk.answer("one")).rejects.toMatchObject({ code: "batch_lost" });
  });

  test("a batch that nobody wants any more is cancelled, and what was charged for it is given back", async () => {
    await using scene = await Scene.open({ provider, batching: { polls: 1000 } });
    const purse = await scene.purse("b", 1);
    const desk = scene.desk();
    await desk.hand(purse, { prompt: "one" }, { id: "one" });
    await scene.rounds(desk, 3);
    await desk.forget("one");
    await scene.rounds(desk, 40);
    expect(scene.server.batches).toMatchObject([{ state: "cancelled" }]);
    expect(await scene.used("b")).toMatchObject({ used: { cost_usd: 0 }, reserved: {} });
  });
});

test("under one name it is one call, whichever process asks, and its answer is there until it is forgotten", async () => {
  await using scene = await Scene.open();
  const purse = await scene.purse("b", 1);
  const [one, two] = [scene.desk(), scene.desk()];
  const first = scene.until(one.call(purse, { prompt: "hi" }, { id: "mine" }));
  expect(await first).toMatchObject({ text: "You said: hi" });
  expect(await scene.until(two.call(purse, { prompt: "hi" }, { id: "mine" }))).toMatchObject({ text: "You said: hi" });
  expect(scene.server.count).toBe(1);
  await two.forget("mine");
  await expect(one.answer("mine")).rejects.toMatchObject({ code: "batch_lost" });
});

test("enough calls do not wait for the window, and each model has a batch of its own", async () => {
  await using scene = await Scene.open();
  const purse = await scene.purse("b", 1);
  const other = { ...PRICES, other: { input_usd_per_mtok: 1, output_usd_per_mtok: 1 } };
  const desk = scene.desk({ window_ms: HOUR_MS, most_items: 2, prices: other });
  for (const prompt of ["a", "b", "c"]) await desk.hand(purse, { prompt }, { id: prompt });
  await desk.hand(purse, { prompt: "d", model: "other" }, { id: "d" });
  await scene.rounds(desk, 1);
  expect(scene.server.batches.map(({ lines }) => lines.length)).toEqual([2, 1]);
  await scene.rounds(desk, 1, HOUR_MS);
  expect(scene.server.batches.map(({ lines }) => lines.length)).toEqual([2, 1, 1]);
});

test("nobody gets half the price who is not known to give it", async () => {
  await using scene = await Scene.open();
  const stated = openBatches({ store: scene.store, provider: "openai", model: MODEL, prices: PRICES });
  const proxied = openBatches({
    store: scene.store,
    provider: "openai",
    model: MODEL,
    prices: PRICES,
    url: scene.server.url,
  });
  const terms = await stated.terms({ prompt: "hi" });
  expect(terms.full_usd).toBeCloseTo(2 * (terms.asked.cost_usd ?? 0), 8);
  const { asked, full_usd } = await proxied.terms({ prompt: "hi" });
  expect(asked.cost_usd).toBe(full_usd);
});

test.each([
  [{ provider: "other" }, /provider/],
  [{ price_factor: 0 }, /price_factor/],
  [{ price_factor: 1.5 }, /price_factor/],
  [{ most_items: 0 }, /most_items/],
  [{ model: "" }, /model/],
  [{ url: "nowhere" }, /url/],
  [{ windows_ms: 1 }, /did you mean window_ms/],
])("%j is refused", async (options, complaint) => {
  await using scene = await Scene.open();
  expect(() => scene.desk(options as object)).toThrow(complaint);
});

test.each([[{}], [{ prompt: "a", messages: [] }], [{ prompt: "a", n: "3", thinking: "much" }], [7]])(
  "the request %j is refused",
  async (request) => {
    for (const provider of ["openai", "anthropic"] as const) {
      await using scene = await Scene.open({ provider });
      const code = expect.stringMatching(/^(?:invalid_input|unbounded)$/);
      await expect(scene.desk().terms(request as never)).rejects.toMatchObject({ code });
    }
  },
);

test("a batch that is complete and says nothing of a call is paid for", async () => {
  await using scene = await Scene.open({ batching: { fate: ({ text }) => (text === "gone" ? "missing" : "answer") } });
  const purse = await scene.purse("b", 1);
  const desk = scene.desk();
  const calls = ["one", "gone"].map((prompt) => desk.call(purse, { prompt }));
  const [one, gone] = await scene.until(Promise.allSettled(calls));
  expect(one).toMatchObject({ status: "fulfilled" });
  expect(gone).toMatchObject({ status: "rejected", reason: { code: "batch_lost" } });
  const { used, reserved } = await scene.used("b");
  expect(reserved).toEqual({});
  expect((used as Record<string, number>).cost_usd).toBeGreaterThan(2 * COST_NANO);
});

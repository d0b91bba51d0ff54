import { describe, expect, test } from "vitest";
import { governedFetch } from "../../../src/models/fetch/governed-fetch.js";
import type { Reservations } from "../../../src/models/meter/meter-options.js";
import { until } from "../fetch/scene.js";
import { actions, ask, type LongScene, openLong, warm } from "./scene.js";

/** How many of eight calls are under way at once in 9,600 tokens, and what each of them may have. */
async function eightAtOnce(at: LongScene, headers: Record<string, string> = {}) {
  await using budget = await at.budget({ llm_tokens: 9600 });
  const before = at.model.count;
  at.hold();
  const calls = Array.from({ length: 8 }, () => ask(at, budget, 300, headers));
  await until(async () => (await budget.isBusy()) && at.model.count > before);
  await settled(() => at.model.count);
  const limits = at.limits().slice(before);
  at.release();
  await Promise.all(calls);
  const { used, held } = await budget.state();
  return { limits, used, held };
}

/** Waits until a number has stopped to change. */
async function settled(look: () => number): Promise<void> {
  let [seen, still] = [look(), 0];
  await until(() => {
    still = look() === seen ? still + 1 : 0;
    seen = look();
    return still > 25;
  });
}

describe("calls that may have long answers", () => {
  test("run together once it is known how long they are", async () => {
    await using at = await openLong();
    expect((await eightAtOnce(at)).limits).toHaveLength(2);
    await warm(at);
    const { limits, used, held } = await eightAtOnce(at);
    expect(limits).toEqual([4096, 600, 600, 600, 600, 600, 600, 600]);
    expect([used.llm_output_tokens, held]).toEqual([2400, {}]);
  });

  test("wait for each other as before when that is switched off", async () => {
    await using at = await openLong({ wire: { reservations: "full" } });
    await warm(at);
    expect((await eightAtOnce(at)).limits).toHaveLength(2);
  });

  test("hold all of it when the caller says so, in any way", async () => {
    await using at = await openLong({ wire: { full: true } });
    await warm(at);
    expect((await eightAtOnce(at)).limits).toHaveLength(2);
    await using by = await openLong();
    await warm(by);
    expect((await eightAtOnce(by, { "x-bursar-full": "true" })).limits).toHaveLength(2);
    expect((await eightAtOnce(by)).limits).toHaveLength(8);
  });

  test("are known by the name that the caller gives them, which the provider does not hear", async () => {
    await using at = await openLong();
    await warm(at, 20, { "x-bursar-site": "summaries" });
    expect((await eightAtOnce(at)).limits).toHaveLength(2);
    expect((await eightAtOnce(at, { "x-bursar-site": "plans" })).limits).toHaveLength(2);
    expect((await eightAtOnce(at, { "x-bursar-site": "summaries" })).limits).toHaveLength(8);
    for (const { headers } of at.model.requests) expect(Object.keys(headers).join()).not.toMatch(/bursar/);
  });

  test("keep their whole length one by one, however little is left", async () => {
    await using at = await openLong();
    await warm(at);
    const before = at.model.count;
    await using budget = await at.budget({ llm_tokens: 9600 });
    for (let made = 0; made < 3; made++) await ask(at, budget);
    expect(at.limits().slice(before)).toEqual([4096, 4096, 4096]);
  });

  test("are cut to what is held for them, which is told, and remembered for those that come after", async () => {
    await using at = await openLong();
    await warm(at, 104);
    await using budget = await at.budget({ llm_tokens: 9600 });
    at.hold();
    const calls = [ask(at, budget), ask(at, budget, 2000)];
    await until(() => at.model.count === 106);
    at.release();
    const [, long] = await Promise.all(calls);
    expect(long?.usage?.completion_tokens).toBe(450);
    const told = await actions(at, budget, "AnswerCut");
    expect(told).toMatchObject([{ budget: budget.id, output_tokens: 450, full_output_tokens: 4096 }]);
    expect(await actions(at, budget, "StepStarted")).toMatchObject([
      { asked: { llm_output_tokens: 4096 } },
      { asked: { llm_output_tokens: 450 }, full: { llm_output_tokens: 4096 } },
    ]);
    // That one was longer than could be seen.
    expect((await eightAtOnce(at)).limits[1]).toBe(Math.ceil(450 * 1.5 * 1.5));
  });

  test("that fit as a whole are not held to what was learned", async () => {
    await using at = await openLong();
    await warm(at);
    await using budget = await at.budget({ llm_tokens: 9600 });
    const short = (max_tokens: number) => {
      const messages = [{ role: "user" as const, content: "100" }];
      return budget.run(() => at.openai.chat.completions.create({ model: "gpt-4-scripted", messages, max_tokens }));
    };
    await Promise.all([short(4096), short(500)]);
    expect(at.limits().slice(20)).toEqual([4096, 500]);
  });

  test("with several answers each are not learned from", async () => {
    await using at = await openLong();
    await using plenty = await at.budget({ llm_tokens: 100_000_000 });
    const two = {
      model: "gpt-4-scripted",
      n: 2,
      max_tokens: 4096,
      messages: [{ role: "user" as const, content: "9" }],
    };
    for (let made = 0; made < 20; made++) await plenty.run(() => at.openai.chat.completions.create(two));
    expect((await eightAtOnce(at)).limits).toHaveLength(2);
  });

  test("say what is wrong with an option", () => {
    expect(() => governedFetch({ reservations: "some" as Reservations })).toThrow(/reservations is "some"/);
    expect(() => governedFetch({ site: "" })).toThrow(/site is ""/);
    expect(() => governedFetch({ full: "yes" as never })).toThrow(/full is "yes"/);
  });
});

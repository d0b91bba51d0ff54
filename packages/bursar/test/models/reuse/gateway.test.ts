import OpenAI from "openai";
import { describe, expect, test } from "vitest";
import { savedUsd } from "../../../src/models/reuse/saved.js";
import { deferred } from "../../../src/runtime/deferred.js";
import { Gate } from "../../../src/runtime/gate.js";
import { FakeClock } from "../../../src/testing/clock/fake-clock.js";
import { opened } from "../../gateway/opened.js";
import { until } from "../fetch/scene.js";
import { savedIn } from "./chains.js";

const CHAT = { model: "gpt-4o", messages: [{ role: "user", content: "Hello?" }], max_tokens: 100 };
const ANSWER = { kind: "text", text: "Hello.", usage: { prompt_tokens: 30, completion_tokens: 7 } } as const;
/** What 30 tokens of input and 7 of output cost at gpt-4o's price. */
const COST = (30 * 2.5 + 7 * 10) / 1_000_000;

type Opened = Awaited<ReturnType<typeof opened>>;

/** A second key, for a budget of its own or for the same. */
async function secondKey({ store, gateway }: Opened, budget = "others"): Promise<string> {
  using gate = new Gate({ store });
  if (budget === "others") await gate.open(budget, { limits: { cost_usd: 1 }, scope: "shared" });
  return (await gateway.keys.create({ budget })).secret;
}

describe("the gateway", () => {
  test("asks once what clients ask at the same time, and tells them so", async () => {
    const go = deferred<void>();
    await using at = await opened(() => go.promise.then(() => ANSWER), { cost_usd: 1 }, { reuse: { in_flight: true } });
    const calls = [1, 2, 3].map(() => at.post("/v1/chat/completions", CHAT));
    await until(async () => (await at.held()).steps === 3);
    go.resolve();
    const answers = await Promise.all(calls);
    const bodies = await Promise.all(answers.map((each) => each.text()));
    expect(new Set(bodies).size).toBe(1);
    const reused = answers.filter(({ headers }) => headers.get("x-bursar-reused") === "in_flight");
    expect(reused.map(({ headers }) => headers.get("x-bursar-used-cost-usd"))).toEqual(["0", "0"]);
    expect(at.model.count).toBe(1);
    expect(await at.used()).toMatchObject({ steps: 3, cost_usd: COST });
    expect(await at.held()).toEqual({});
    expect(await savedUsd(at.store, "team")).toBe(2 * COST);
  });

  test("gives no key what another was answered, unless all share", async () => {
    for (const shared of [false, true]) {
      await using at = await opened(() => ANSWER, { cost_usd: 1 }, { reuse: { cache: true, shared } });
      const [same, other] = [await secondKey(at, "team"), await secondKey(at)];
      for (const key of [at.secret, same, at.secret, other, other]) {
        expect((await at.post("/v1/chat/completions", CHAT, key)).status).toBe(200);
      }
      // Two keys of one budget are one payer's.
      expect(at.model.count).toBe(shared ? 1 : 2);
      expect((await savedIn(at.store, "others")).length).toBe(shared ? 2 : 1);
      expect((await savedIn(at.store, "team")).length).toBe(2);
    }
  });

  test("says which model answers what left it open, whoever was answered first", async () => {
    const go = deferred<void>();
    const list = { tiers: [{ name: "best", model: "gpt-4o" }] };
    const options = { reuse: { in_flight: true, cache: true }, tiers: { lists: { auto: list } } };
    await using at = await opened(() => go.promise.then(() => ANSWER), { cost_usd: 1 }, options);
    const ask = () => at.post("/v1/chat/completions", { ...CHAT, model: "bursar/auto" });
    const calls = [ask(), ask()];
    await until(async () => (await at.held()).steps === 2);
    go.resolve();
    const answers = [...(await Promise.all(calls)), await ask()].map(({ headers }) =>
      ["model", "tier", "reused"].map((each) => headers.get(`x-bursar-${each}`)),
    );
    const expected = [null, "in_flight", "cache"].map((reused) => ["gpt-4o", "best", reused]);
    expect(answers.sort()).toEqual(expected.sort());
    expect(at.model.count).toBe(1);
  });

  test("still governs a hit: a key that is revoked, a budget without steps", async () => {
    await using at = await opened(() => ANSWER, { steps: 2 }, { reuse: { cache: true } });
    const ask = async () => (await at.post("/v1/chat/completions", CHAT)).status;
    expect([await ask(), await ask(), await ask()]).toEqual([200, 200, 402]);
    await at.gateway.keys.revoke(at.key.id);
    await until(async () => (await ask()) === 401);
    expect(at.model.count).toBe(1);
  });

  test("a client that leaves does not take the others with it", async () => {
    const go = deferred<void>();
    const script = () => go.promise.then(() => ANSWER);
    await using at = await opened(script, { llm_output_tokens: 10_000 }, { reuse: { in_flight: true } });
    const left = new AbortController();
    const gone = at.post("/v1/chat/completions", CHAT, at.secret, { signal: left.signal }).catch(() => null);
    await until(() => at.model.count === 1);
    const stays = [1, 2].map(() => at.post("/v1/chat/completions", CHAT));
    await until(async () => (await at.held()).steps === 3);
    left.abort();
    await gone;
    await until(() => at.model.count === 2);
    go.resolve();
    for (const { status } of await Promise.all(stays)) expect(status).toBe(200);
    expect(at.model.count).toBe(2);
    await until(async () => Object.keys(await at.held()).length === 0);
  });

  test("the key of the gateway stays hidden from all who wait", async () => {
    const go = deferred<void>();
    const script = () => go.promise.then(() => ({ kind: "status", status: 401, message: "upstream-secret" }) as const);
    await using at = await opened(script, { cost_usd: 1 }, { reuse: { in_flight: true, embeddings: true } });
    const embed = { model: "text-embedding-3-small", input: "a" };
    const calls = [
      at.post("/v1/chat/completions", CHAT),
      at.post("/v1/chat/completions", CHAT),
      at.post("/v1/embeddings", embed),
      at.post("/v1/embeddings", { ...embed, input: "b" }),
    ];
    await until(async () => (await at.held()).steps === 4);
    go.resolve();
    for (const answer of await Promise.all(calls)) {
      expect(answer.status).toBe(502);
      expect(await answer.text()).not.toContain("upstream-secret");
    }
  });

  test("puts embedding calls of OpenAI's client together", async () => {
    const timer = new FakeClock();
    await using at = await opened(() => "", { cost_usd: 1 }, { reuse: { embeddings: true, timer } });
    const client = new OpenAI({ baseURL: `${at.gateway.url}/v1`, apiKey: at.secret });
    const texts = Array.from({ length: 20 }, (_, index) => `text ${index}`);
    const calls = texts.map((input) => client.embeddings.create({ model: "text-embedding-3-small", input }));
    await until(async () => (await at.held()).steps === 20);
    timer.advance(5);
    const answers = await Promise.all(calls);
    expect(at.model.count).toBe(1);
    const tokens = answers.reduce((sum, { usage }) => sum + usage.prompt_tokens, 0);
    expect(await at.used()).toMatchObject({ steps: 20, llm_input_tokens: tokens });
    expect(new Set(answers.map(({ data }) => JSON.stringify(data[0]?.embedding))).size).toBe(20);
  });
});

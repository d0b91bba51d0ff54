import { mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { openBudget } from "../../../src/ambient/open-budget.js";
import { withBudget } from "../../../src/ambient/with-budget.js";
import { governedFetch } from "../../../src/models/fetch/governed-fetch.js";
import { AnswerCache } from "../../../src/models/reuse/answer-cache.js";
import { AnswerFolder } from "../../../src/models/reuse/answer-folder.js";
import { openReuse, type Reuse } from "../../../src/models/reuse/reuse.js";
import { savedUsd } from "../../../src/models/reuse/saved.js";
import { FakeClock } from "../../../src/testing/clock/fake-clock.js";
import { openScriptedModel } from "../../../src/testing/scripted-model.js";
import { ASK, type Asked, errorOf, HELLO, openScene, PRICES, refusalOf } from "../fetch/scene.js";
import { savedBy } from "./chains.js";

const ANSWER = { kind: "text", text: "Hello.", usage: { prompt_tokens: 30, completion_tokens: 7 } } as const;
const COST = (30 * 1 + 7 * 10) / 1_000_000;

describe("what was answered is not asked again", () => {
  test.each<Asked>(["chat", "responses", "embeddings", "messages"])("%s", async (protocol) => {
    await using at = await openScene(() => ANSWER, { wire: { reuse: { cache: true } } });
    await using budget = await openBudget({ cost_usd: 1 });
    await budget.run(async () => {
      const first = (await ASK[protocol](at)) as unknown;
      for (let hits = 0; hits < 3; hits++) expect(await ASK[protocol](at)).toEqual(first);
    });
    expect(at.model.count).toBe(1);
    const cost = protocol === "embeddings" ? 30 / 1_000_000 : COST;
    expect((await budget.state()).used).toMatchObject({ steps: 4, cost_usd: cost });
    expect(await savedBy(budget)).toMatchObject([1, 2, 3].map(() => ({ kind: "cache", saved_usd: cost })));
    expect(await savedUsd(budget.purse.store, budget.id)).toBeCloseTo(3 * cost, 9);
  });

  test("a hit is governed as any call", async () => {
    await using at = await openScene(() => ANSWER, { wire: { reuse: { cache: true } } });
    await withBudget({ steps: 2, llm_tokens: 1000 }, async (budget) => {
      await ASK.chat(at);
      await ASK.chat(at);
      expect(await refusalOf(ASK.chat(at))).toMatchObject({ dimension: "steps", refusal: "exhausted" });
      await budget.extend({ steps: 1 }, { approved_by: "ann" });
      await ASK.chat(at);
    });
    expect(await refusalOf(ASK.chat(at))).toMatchObject({ code: "no_budget" });
    expect(at.model.count).toBe(1);
  });

  test("it costs nothing, so that it fits where the call itself would not", async () => {
    const wire = { reuse: { cache: true }, tokenizer: false };
    await using at = await openScene(() => ANSWER, { wire });
    await withBudget({ llm_input_tokens: 160 }, async () => {
      await ASK.chat(at);
      await ASK.chat(at);
      expect(await refusalOf(ASK.messages(at))).toMatchObject({ refusal: "too_large" });
    });
    expect(at.model.count).toBe(1);
  });

  test("only what is whole is kept", async () => {
    const script = [
      { kind: "status", status: 500 },
      { kind: "garbage", body: "{}" },
      { kind: "status", status: 404 },
      { ...ANSWER, usage: null },
      ANSWER,
    ] as const;
    await using at = await openScene(script, { wire: { reuse: { cache: true } }, maxRetries: 0 });
    await withBudget({}, async () => {
      for (let asked = 0; asked < 6; asked++) await errorOf(ASK.chat(at));
    });
    expect(at.model.count).toBe(5);
  });

  test("nor is what was cut short for want of money", async () => {
    await using at = await openScene(() => "Hello, and so on and on and on.", { wire: { reuse: { cache: true } } });
    const ask = () => at.openai.chat.completions.create({ model: "gpt-4-scripted", messages: HELLO });
    await using team = await openBudget({});
    await team.run(async () => {
      await withBudget({ llm_output_tokens: 3 }, ask);
      await ask();
      await ask();
    });
    expect(at.model.requests.map(({ max_tokens }) => max_tokens)).toEqual([3, 4096]);
  });
});

describe("nobody gets what is another's", () => {
  const ask = (at: Awaited<ReturnType<typeof openScene>>, key: string) =>
    at.openai.chat.completions.create(
      { model: "gpt-4-scripted", messages: HELLO, max_tokens: 100 },
      { headers: { authorization: `Bearer ${key}` } },
    );

  test("neither another tenant's nor another key's", async () => {
    await using at = await openScene(() => ANSWER, { wire: { reuse: { cache: true } } });
    for (let tenants = 0; tenants < 2; tenants++) {
      await withBudget({}, async () => {
        for (const key of ["a", "b", "a", "b"]) await ask(at, key);
        await withBudget({}, () => ask(at, "a"));
      });
    }
    expect(at.model.count).toBe(4);
  });

  test("tenants do where they share, keys do not", async () => {
    await using at = await openScene(() => ANSWER, { wire: { reuse: { cache: true, shared: true } } });
    for (const key of ["a", "b", "a", "b"]) await withBudget({}, () => ask(at, key));
    expect(at.model.count).toBe(2);
  });
});

describe("it does not grow, and it forgets", () => {
  test("by bytes, the one that was not asked for longest first", async () => {
    const cache = new AnswerCache({ bytes: 4000, ttl_ms: 1000, folder: null, folder_bytes: 0 }, new FakeClock());
    const keep = (key: string, size: number) =>
      cache.keep(key, { answer: { status: 200, headers: {}, body: Buffer.alloc(size) }, cost_usd: 0 });
    const kept = async (keys: string) => {
      const found = await Promise.all([...keys].map(async (key) => ((await cache.find(key)) === null ? "" : key)));
      return found.join("");
    };
    for (const key of "abc") keep(key, 1000);
    expect(await kept("bca")).toBe("bca");
    keep("d", 1000);
    expect(await kept("abcd")).toBe("acd");
    keep("e", 3500);
    expect(await kept("abcde")).toBe("e");
    keep("f", 5000);
    keep("e", 10);
    expect(await kept("abcdef")).toBe("e");
    expect(cache.bytes).toBeLessThan(300);
  });

  test("by age, also when the clock was set back", async () => {
    const clock = new FakeClock();
    await using at = await openScene(() => ANSWER, { wire: { reuse: { cache: { ttl_ms: 1000 }, clock } } });
    await withBudget({}, async () => {
      await ASK.chat(at);
      clock.advance(999);
      await ASK.chat(at);
      expect(at.model.count).toBe(1);
      clock.advance(1);
      await ASK.chat(at);
      expect(at.model.count).toBe(2);
      clock.jump(-1);
      await ASK.chat(at);
    });
    expect(at.model.count).toBe(3);
  });
});

describe("a folder", () => {
  const body = JSON.stringify({ model: "gpt-4-scripted", messages: HELLO, max_tokens: 100 });
  const ask = async (url: string, reuse: Reuse) => {
    const send = governedFetch({ reuse, prices: PRICES });
    await using budget = await openBudget({ cost_usd: 1 });
    const answer = await budget.run(() => send(`${url}/chat/completions`, { method: "POST", body }));
    await reuse.settled();
    return { answer: await answer.json(), cost: (await budget.state()).used.cost_usd };
  };

  test("outlives the process, and what was changed in it is not believed", async () => {
    const folder = await mkdtemp(join(tmpdir(), "answers-"));
    try {
      const opened = () => openReuse({ cache: { folder }, shared: true });
      await using model = await openScriptedModel({ script: () => ANSWER, models: ["gpt-4-scripted"] });
      const { answer, cost } = await ask(model.url, opened());
      expect(cost).toBe(COST);
      expect(await ask(model.url, opened())).toEqual({ answer, cost: 0 });
      expect(model.count).toBe(1);
      const [name, ...others] = await readdir(folder);
      expect(others).toEqual([]);
      const path = join(folder, String(name));
      await writeFile(path, (await readFile(path, "utf8")).replace("Hello.", "Jello."));
      expect(await ask(model.url, opened())).toMatchObject({ cost: COST });
      expect(await ask(model.url, opened())).toMatchObject({ cost: 0 });
      expect(model.count).toBe(2);
    } finally {
      await rm(folder, { recursive: true });
    }
  });

  test("holds what belongs to one question: neither another's answer in its place nor another head is believed", async () => {
    const folder = await mkdtemp(join(tmpdir(), "answers-"));
    try {
      const answers = new AnswerFolder(folder, 100_000);
      const [one, two] = ["a".repeat(64), "b".repeat(64)];
      const kept = { answer: { status: 200, headers: {}, body: Buffer.from("{}") }, cost_usd: 1, instant: 1 };
      for (const key of [one, two]) answers.write(key, kept);
      await answers.settled();
      expect(await answers.read(two)).toMatchObject({ cost_usd: 1 });
      const text = await readFile(join(folder, `${one}.answer`), "utf8");
      await writeFile(join(folder, `${two}.answer`), text);
      expect(await answers.read(two)).toBeNull();
      await writeFile(join(folder, `${one}.answer`), text.replace('"cost_usd":1', '"cost_usd":-9'));
      expect(await answers.read(one)).toBeNull();
    } finally {
      await rm(folder, { recursive: true });
    }
  });

  test("has a limit of its own, and holds no more at any moment", async () => {
    const folder = await mkdtemp(join(tmpdir(), "answers-"));
    try {
      const sizes = async () => {
        const names = await readdir(folder);
        const all = await Promise.all(names.map((name) => stat(join(folder, name))));
        return all.reduce((sum, { size }) => sum + size, 0);
      };
      const answers = new AnswerFolder(folder, 4000);
      const key = (each: number) => each.toString(16).padStart(64, "0");
      const kept = { answer: { status: 200, headers: {}, body: Buffer.alloc(1000, "x") }, cost_usd: 1, instant: 1 };
      for (let each = 0; each < 10; each++) {
        answers.write(key(each), kept);
        await answers.settled();
        expect(await sizes()).toBeLessThanOrEqual(4000);
        await answers.read(key(0));
      }
      const found = await Promise.all([0, 7, 8, 9].map((each) => answers.read(key(each))));
      expect(found.map((each) => each === null)).toEqual([false, true, false, false]);
      answers.write(key(99), { ...kept, answer: { ...kept.answer, body: Buffer.alloc(5000) } });
      await answers.settled();
      expect(await answers.read(key(99))).toBeNull();
    } finally {
      await rm(folder, { recursive: true });
    }
  });

  test("that cannot be written to does no harm", async () => {
    await using model = await openScriptedModel({ script: () => ANSWER, models: ["gpt-4-scripted"] });
    const reuse = openReuse({ cache: { folder: "/dev/null/nowhere" }, shared: true });
    expect(await ask(model.url, reuse)).toMatchObject({ cost: COST });
    expect(await ask(model.url, reuse)).toMatchObject({ cost: 0 });
  });
});

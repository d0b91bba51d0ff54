import { describe, expect, test } from "vitest";
import { openBudget } from "../../../src/ambient/open-budget.js";
import { withBudget } from "../../../src/ambient/with-budget.js";
import { savedUsd } from "../../../src/models/reuse/saved.js";
import { deferred } from "../../../src/runtime/deferred.js";
import { MemoryStore } from "../../../src/stores/memory.js";
import { ASK, type Asked, errorOf, HELLO, openScene, READ, refusalOf, until } from "../fetch/scene.js";
import { savedBy } from "./chains.js";

const ANSWER = { kind: "text", text: "Hello.", usage: { prompt_tokens: 30, completion_tokens: 7 } } as const;
const COST = (30 * 1 + 7 * 10) / 1_000_000;
const WIRE = { reuse: { in_flight: true } };

/** A provider that answers when it is told to. */
function holding() {
  const go = deferred<void>();
  return { script: () => go.promise.then(() => ANSWER), go: () => go.resolve() };
}

describe("identical calls at the same time", () => {
  test.each<Asked>(["chat", "responses", "messages"])("%s: one is sent, and the first pays", async (protocol) => {
    const { script, go } = holding();
    await using at = await openScene(script, { wire: WIRE });
    await using budget = await openBudget({ cost_usd: 1, steps: 10 });
    await budget.run(async () => {
      const calls = [ASK[protocol](at), ASK[protocol](at), ASK[protocol](at)];
      await until(async () => (await budget.state()).held.steps === 3);
      go();
      const answers = await Promise.all(calls as Promise<unknown>[]);
      expect(new Set(answers.map((each) => JSON.stringify(each))).size).toBe(1);
    });
    expect(at.model.count).toBe(1);
    const { used, held } = await budget.state();
    expect(used).toMatchObject({ steps: 3, cost_usd: COST, llm_tokens: 37 });
    expect(held).toEqual({});
    const saved = await savedBy(budget);
    expect(saved).toMatchObject([1, 2].map(() => ({ kind: "in_flight", saved_usd: COST, budget: budget.id })));
    expect(new Set(saved.map(({ call_id }) => call_id)).size).toBe(2);
    expect(await savedUsd(budget.purse.store, budget.id)).toBe(2 * COST);
  });

  test("everybody has a response of his own to read", async () => {
    await using at = await openScene(() => ANSWER, { wire: WIRE });
    await withBudget({ cost_usd: 1 }, async () => {
      const [first, second] = await Promise.all([ASK.chat(at).asResponse(), ASK.chat(at).asResponse()]);
      expect(await first?.json()).toEqual(await second?.json());
      expect([first?.headers, second?.headers].map((each) => each?.get("x-bursar-reused")).sort()).toEqual([
        "in_flight",
        null,
      ]);
    });
    expect(at.model.count).toBe(1);
  });

  test("each budget is asked for the step, and has what it saved in its own chain", async () => {
    const { script, go } = holding();
    await using at = await openScene(script, { wire: WIRE });
    await using team = await openBudget({ cost_usd: 1 });
    await team.run(async () => {
      await using first = await openBudget({ cost_usd: 0.5 });
      await using second = await openBudget({ steps: 1 });
      await using third = await openBudget({ steps: 0 });
      const calls = [first.run(() => ASK.chat(at)), second.run(() => ASK.chat(at))];
      await until(async () => (await second.state()).held.steps === 1);
      expect(await refusalOf(third.run(() => ASK.chat(at)))).toMatchObject({ dimension: "steps" });
      go();
      await Promise.all(calls);
      expect((await first.state()).used).toMatchObject({ steps: 1, cost_usd: COST });
      expect(Object.keys((await second.state()).used).sort()).toEqual(["steps", "wall_clock_ms"]);
      expect(await refusalOf(second.run(() => ASK.chat(at)))).toMatchObject({ refusal: "exhausted" });
      expect(await savedUsd(second.purse.store, second.id)).toBe(COST);
      expect(await savedUsd(first.purse.store, first.id)).toBe(0);
    });
    expect(await savedUsd(team.purse.store, team.id)).toBe(COST);
    expect(at.model.count).toBe(1);
  });

  test("without a budget nobody joins", async () => {
    const { script, go } = holding();
    await using at = await openScene(script, { wire: WIRE });
    await withBudget({ cost_usd: 1 }, async () => {
      const call = ASK.chat(at);
      await until(() => at.model.count === 1);
      go();
      await call;
    });
    expect(await refusalOf(ASK.chat(at))).toMatchObject({ code: "no_budget" });
  });

  test("it is off unless it is asked for", async () => {
    await using at = await openScene(() => ANSWER);
    await withBudget({ cost_usd: 1 }, () => Promise.all([ASK.chat(at), ASK.chat(at)]));
    expect(at.model.count).toBe(2);
  });
});

describe("what is not the same is not one", () => {
  test("another question, another key, another tenant, a stream, something that the provider keeps", async () => {
    const { script, go } = holding();
    await using at = await openScene(script, { wire: WIRE });
    const model = "gpt-4-scripted";
    const create = (more: object, options = {}) =>
      at.openai.chat.completions.create({ model, messages: HELLO, max_tokens: 100, ...more }, options);
    await using elsewhere = await openBudget({ cost_usd: 1 });
    await withBudget({ cost_usd: 1 }, async () => {
      const calls = [
        create({}),
        create({ temperature: 0.5 }),
        create({ max_tokens: 99 }),
        create({}, { headers: { authorization: "Bearer other" } }),
        create({}, { headers: { "openai-project": "other" } }),
        create({}, { query: { "api-version": "1" } }),
        READ.chat(at),
        READ.chat(at),
        at.openai.responses.create({ model, input: "Hi", conversation: "c", max_output_tokens: 100 }),
        at.openai.responses.create({ model, input: "Hi", conversation: "c", max_output_tokens: 100 }),
        elsewhere.run(() => create({})),
      ].map((call) => Promise.resolve(call as Promise<unknown>).catch(() => null));
      await until(() => at.model.count >= 9);
      go();
      await Promise.all(calls);
    });
    const chats = at.model.requests.filter(({ protocol, stream }) => protocol === "openai-chat" && !stream);
    expect(chats).toHaveLength(7);
    expect(at.model.requests.filter(({ stream }) => stream)).toHaveLength(2);
  });

  test("tenants share when they are told to, and keys never do", async () => {
    const { script, go } = holding();
    await using at = await openScene(script, { wire: { reuse: { in_flight: true, shared: true } } });
    const store = new MemoryStore();
    await using ann = await openBudget({ cost_usd: 1 }, { store });
    await using bob = await openBudget({ cost_usd: 1 }, { store });
    const headers = { authorization: "Bearer other" };
    const ask = (options = {}) =>
      at.openai.chat.completions.create(
        { model: "gpt-4-scripted", messages: HELLO, max_tokens: 100 },
        { headers: options },
      );
    const calls = [ann.run(() => ask()), bob.run(() => ask()), bob.run(() => ask(headers))];
    await until(async () => (await bob.state()).held.steps === 2);
    go();
    await Promise.all(calls);
    expect(at.model.count).toBe(2);
    expect(await savedUsd(store, bob.id)).toBe(COST);
  });
});

describe("when the first comes to nothing", () => {
  test("another takes over and pays himself, when the first hangs up", async () => {
    const answers = [deferred<void>(), deferred<void>()];
    await using at = await openScene(({ number }) => answers[number - 1]?.promise.then(() => ANSWER) ?? ANSWER, {
      wire: WIRE,
    });
    await using first = await openBudget({});
    await first.run(async () => {
      await using payer = await openBudget({ llm_output_tokens: 1000 });
      await using next = await openBudget({ cost_usd: 1 });
      const left = new AbortController();
      const request = { model: "gpt-4-scripted", messages: HELLO, max_tokens: 100 };
      const gone = payer.run(() => at.openai.chat.completions.create(request, { signal: left.signal }));
      await until(() => at.model.count === 1);
      const [second, third] = [1, 2].map(() => next.run(() => at.openai.chat.completions.create(request)));
      await until(async () => (await next.state()).held.steps === 2);
      left.abort();
      await errorOf(gone);
      await until(() => at.model.count === 2);
      answers[1]?.resolve();
      expect(await second).toEqual(await third);
      expect((await next.state()).used).toMatchObject({ steps: 2, cost_usd: COST, llm_tokens: 37 });
      expect((await next.state()).held).toEqual({});
      expect(await savedUsd(next.purse.store, next.id)).toBe(COST);
      // Who has hung up is charged as anybody who does.
      expect((await payer.state()).used.steps).toBe(1);
    });
    expect(at.model.count).toBe(2);
  });

  test("another takes over when the provider fails", async () => {
    const go = deferred<void>();
    const script = async ({ number }: { number: number }) => {
      await go.promise;
      return number === 1 ? ({ kind: "status", status: 500 } as const) : ANSWER;
    };
    await using at = await openScene(script, { wire: WIRE, maxRetries: 0 });
    await using budget = await openBudget({ llm_output_tokens: 1000, steps: 3 });
    await budget.run(async () => {
      const calls = [1, 2, 3].map(() => errorOf(ASK.chat(at)));
      await until(async () => (await budget.state()).held.steps === 3);
      go.resolve();
      const failed = (await Promise.all(calls)).filter(({ message }) => message !== "nothing went wrong");
      expect(failed).toHaveLength(1);
    });
    expect(at.model.count).toBe(2);
    expect((await budget.state()).used.steps).toBe(3);
    expect(await savedBy(budget)).toHaveLength(1);
  });

  test("a question that is wrong is wrong for all, and nobody saves anything by it", async () => {
    const go = deferred<void>();
    const script = () => go.promise.then(() => ({ kind: "status", status: 400, message: "no" }) as const);
    await using at = await openScene(script, { wire: WIRE });
    await using budget = await openBudget({ cost_usd: 1 });
    await budget.run(async () => {
      const calls = [1, 2, 3].map(() => errorOf(ASK.chat(at)));
      await until(async () => (await budget.state()).held.steps === 3);
      go.resolve();
      for (const error of await Promise.all(calls)) expect(error.message).toMatch(/400 no/);
    });
    expect(at.model.count).toBe(1);
    expect((await budget.state()).used.cost_usd).toBe(0);
    expect(await savedBy(budget)).toEqual([]);
  });

  test("nobody waits for longer than a few turns for a provider that always fails", async () => {
    await using at = await openScene(() => ({ kind: "status", status: 500 }), { wire: WIRE, maxRetries: 0 });
    await using budget = await openBudget({ llm_output_tokens: 100_000 });
    await budget.run(async () => {
      for (const error of await Promise.all(Array.from({ length: 12 }, () => errorOf(ASK.chat(at))))) {
        expect(error.message).toMatch(/500/);
      }
    });
    expect(at.model.count).toBe(12);
    expect((await budget.state()).held).toEqual({});
  });

  test("who is refused is nobody to wait for", async () => {
    await using at = await openScene(() => ANSWER, { wire: WIRE });
    await using team = await openBudget({});
    await team.run(async () => {
      await using poor = await openBudget({ cost_usd: 0 });
      await using rich = await openBudget({ cost_usd: 1 });
      const [refused, answered] = await Promise.all([
        refusalOf(poor.run(() => ASK.chat(at))),
        rich.run(() => ASK.chat(at)),
      ]);
      expect(refused).toMatchObject({ dimension: "cost_usd" });
      expect(answered.choices[0]?.message.content).toBe("Hello.");
    });
  });

  test("nor is who waits for a person, or for what others hold", async () => {
    const go = deferred<void>();
    const person = deferred<null>();
    const script = ({ text }: { text: string }) => (text === "slow" ? go.promise.then(() => ANSWER) : ANSWER);
    await using at = await openScene(script, { wire: WIRE });
    const slow = () =>
      at.openai.chat.completions.create({
        model: "gpt-4-scripted",
        messages: [{ role: "user", content: "slow" }],
        max_tokens: 100,
      });
    await using team = await openBudget({});
    await team.run(async () => {
      const policies = { llm_output_tokens: "approval_required" } as const;
      await using asks = await openBudget({ llm_output_tokens: 0 }, { policies, approve: () => person.promise });
      await using busy = await openBudget({ llm_output_tokens: 100 });
      await using rich = await openBudget({});
      const holder = busy.run(slow);
      await until(() => at.model.count === 1);
      const waiting = [errorOf(asks.run(() => ASK.chat(at))), busy.run(() => ASK.chat(at))];
      await rich.run(() => ASK.chat(at));
      expect(at.model.count).toBe(2);
      person.resolve(null);
      go.resolve();
      await Promise.all([holder, ...waiting]);
    });
  });
});

test("an answer that the first one's budget has cut short is not for the others", async () => {
  const go = deferred<void>();
  const text = "Hello, and so on and on and on and on and on.";
  await using at = await openScene(() => go.promise.then(() => text), { wire: WIRE });
  await using team = await openBudget({});
  await team.run(async () => {
    await using poor = await openBudget({ llm_output_tokens: 5 });
    await using rich = await openBudget({ llm_output_tokens: 5000 });
    const first = poor.run(() => ASK.chat(at));
    await until(() => at.model.count === 1);
    const second = rich.run(() => ASK.chat(at));
    await until(async () => (await rich.state()).held.steps === 1);
    go.resolve();
    expect((await first).choices[0]?.finish_reason).toBe("length");
    expect((await second).choices[0]?.message.content).toBe(text);
  });
  expect(at.model.count).toBe(2);
});

test("one that the request itself has cut short is", async () => {
  await using at = await openScene(() => "Hello, and so on and on and on.", { wire: WIRE });
  const request = { model: "gpt-4-scripted", messages: HELLO, max_tokens: 3 };
  await withBudget({ cost_usd: 1 }, async () => {
    const answers = await Promise.all([1, 2].map(() => at.openai.chat.completions.create(request)));
    expect(answers.map(({ choices }) => choices[0]?.finish_reason)).toEqual(["length", "length"]);
  });
  expect(at.model.count).toBe(1);
});

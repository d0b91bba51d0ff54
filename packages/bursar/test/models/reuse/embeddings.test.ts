import { describe, expect, test } from "vitest";
import { scenario } from "../../../../../specs/scenario.js";
import { openBudget } from "../../../src/ambient/open-budget.js";
import { withBudget } from "../../../src/ambient/with-budget.js";
import { deferred } from "../../../src/runtime/deferred.js";
import { FakeClock } from "../../../src/testing/clock/fake-clock.js";
import type { ScriptedRequest } from "../../../src/testing/scripted/request.js";
import { errorOf, openScene, PRICES, type Scene, type SceneOptions, until } from "../fetch/scene.js";
import { savedBy } from "./chains.js";

const MODEL = "gpt-4-scripted";

/** A wire whose window closes when it is told to. */
async function openWindow(
  script: (request: ScriptedRequest) => unknown,
  options: SceneOptions = {},
  more: object = {},
) {
  const timer = new FakeClock();
  const reuse = { embeddings: { window_ms: 5, ...more }, timer };
  const at = await openScene(script as () => string, { ...options, wire: { reuse, ...options.wire } });
  return Object.assign(at, { close: () => timer.advance(5), wait: (ms: number) => timer.advance(ms) });
}

function embed(at: Scene, input: string | string[] | number[] | number[][], more: object = {}, signal?: AbortSignal) {
  return at.openai.embeddings.create({ model: MODEL, input, ...more }, signal === undefined ? {} : { signal });
}

/** What was embedded by each request. */
function inputs({ model }: Scene): readonly unknown[] {
  return model.requests.map(({ body }) => body.input);
}

describe("embedding calls within the window become one request", () => {
  test.each<object>([{}, { encoding_format: "float" }, { encoding_format: "base64" }, { dimensions: 8 }])(
    "the client gets what it would have got alone, %j",
    async (more) => {
      await using at = await openWindow(() => "");
      await using plain = await openScene(() => "");
      await using budget = await openBudget({ cost_usd: 1, steps: 4, network_egress_bytes: 10_000 });
      const asked = ["one", ["two", "three and more"], ["four"]] as const;
      const alone = await withBudget({}, () =>
        Promise.all(asked.map((input) => embed(plain, input as string | string[], more))),
      );
      await budget.run(async () => {
        const calls = asked.map((input) => embed(at, input as string | string[], more));
        await until(async () => (await budget.state()).held.steps === 3);
        expect(at.model.count).toBe(0);
        at.close();
        const answers = await Promise.all(calls);
        expect(inputs(at)).toEqual([["one", "two", "three and more", "four"]]);
        expect(answers.map(({ data }) => data)).toEqual(alone.map(({ data }) => data));
        const tokens = answers.map(({ usage }) => usage.prompt_tokens);
        expect(answers.every(({ usage }) => usage.total_tokens === usage.prompt_tokens)).toBe(true);
        const all = tokens.reduce((sum, each) => sum + each, 0);
        const { used, held } = await budget.state();
        expect(used).toMatchObject({ steps: 3, llm_input_tokens: all, cost_usd: all / 1_000_000 });
        expect(used.network_egress_bytes).toBe(Buffer.byteLength(JSON.stringify(at.model.requests[0]?.body)));
        expect(held).toEqual({});
      });
      const saved = { kind: "embeddings", saved_usd: 0, model: MODEL };
      expect(await savedBy(budget)).toMatchObject([saved, saved]);
    },
  );

  scenario("004/batching", "what was sent together is charged by shares, each in his own budget", async () => {
    const usage = { prompt_tokens: 101, completion_tokens: 0 };
    await using at = await openWindow(() => ({ kind: "text", text: "", usage }));
    await using team = await openBudget({ cost_usd: 1 });
    await team.run(async () => {
      await using small = await openBudget({ cost_usd: 1 });
      await using large = await openBudget({ cost_usd: 1 });
      const calls = [small.run(() => embed(at, "x".repeat(100))), large.run(() => embed(at, "x".repeat(300)))];
      await until(async () => (await team.state()).held.steps === 2);
      at.close();
      await Promise.all(calls);
      expect((await small.state()).used.llm_tokens).toBe(25);
      expect((await large.state()).used.llm_tokens).toBe(76);
    });
    expect((await team.state()).used).toMatchObject({ llm_tokens: 101, cost_usd: 101 / 1_000_000 });
  });

  test("nobody is charged more than was held for him, however the others write", async () => {
    // With little left, a tokenizer bounds the first by far fewer tokens than bytes; the second has as many as bytes.
    const words = "the quick brown fox jumps over the lazy dog ".repeat(20);
    await using at = await openWindow(() => ({ kind: "text", text: "", usage: { prompt_tokens: 900 } }), {
      wire: { prices: { ...PRICES, "text-embedding-3-small": PRICES.scripted } },
      model: { models: ["text-embedding-3-small"] },
    });
    const ask = (input: string) => at.openai.embeddings.create({ model: "text-embedding-3-small", input });
    await using team = await openBudget({});
    await team.run(async () => {
      await using tight = await openBudget({ llm_input_tokens: 400 });
      await using loose = await openBudget({});
      const calls = [tight.run(() => ask(words)), loose.run(() => ask("☃".repeat(300)))];
      await until(async () => (await team.state()).held.steps === 2);
      at.close();
      await Promise.all(calls);
      const [first, second] = [await tight.state(), await loose.state()];
      expect(first.used.llm_input_tokens).toBeLessThanOrEqual(400);
      expect(first.exhausted).toEqual([]);
      expect((first.used.llm_input_tokens ?? 0) + (second.used.llm_input_tokens ?? 0)).toBe(900);
    });
  });

  test("one that comes alone is sent as it is", async () => {
    await using at = await openWindow(() => "");
    await using budget = await openBudget({ steps: 1 });
    await budget.run(async () => {
      const call = embed(at, "one");
      await until(async () => (await budget.state()).held.steps === 1);
      at.close();
      await call;
    });
    expect(inputs(at)).toEqual(["one"]);
    expect(await savedBy(budget)).toEqual([]);
  });

  test("those that say something else, or are somebody else's, go apart", async () => {
    await using at = await openWindow(() => "");
    await using other = await openBudget({});
    await using budget = await openBudget({});
    await budget.run(async () => {
      const calls = [
        embed(at, "a"),
        embed(at, ["b"]),
        embed(at, "c", { dimensions: 8 }),
        embed(at, "d", { model: "cached" }),
        embed(at, [1, 2]),
        embed(at, [[3], [4, 5]]),
        other.run(() => embed(at, "e")),
        at.openai.embeddings.create({ model: MODEL, input: "f" }, { headers: { authorization: "Bearer other" } }),
      ];
      await until(async () => (await budget.state()).held.steps === 7 && (await other.state()).held.steps === 1);
      at.close();
      await Promise.all(calls);
    });
    expect(
      inputs(at)
        .map((each) => JSON.stringify(each))
        .sort(),
    ).toEqual(['"c"', '"d"', '"e"', '"f"', '["a","b"]', "[[1,2],[3],[4,5]]"].sort());
  });

  test("a group is never larger than a provider takes", async () => {
    await using at = await openWindow(() => "", {}, { inputs: 5, tokens: 2000 });
    await using budget = await openBudget({});
    await budget.run(async () => {
      const sizes = [2, 2, 2, 5, 7, 1];
      const calls = sizes.map((size) =>
        embed(
          at,
          Array.from({ length: size }, (_, index) => `${size}.${index}`),
        ),
      );
      const large = [embed(at, "x".repeat(1500)), embed(at, "y".repeat(1500)), embed(at, "z".repeat(5000))];
      let over = false;
      const all = Promise.all([...calls, ...large]).finally(() => {
        over = true;
      });
      await until(() => {
        at.close();
        return over;
      });
      for (const [index, { data }] of (await all).entries()) expect(data).toHaveLength(sizes[index] ?? 1);
    });
    const sent = inputs(at).map((each) => [each].flat() as readonly string[]);
    for (const each of sent.filter(({ length }) => length !== 7)) expect(each.length).toBeLessThanOrEqual(5);
    for (const each of sent.filter(([first]) => !first?.startsWith("z"))) {
      expect(each.join("").length).toBeLessThanOrEqual(2000);
    }
    expect(sent.flat()).toHaveLength(19 + 3);
  });

  test("nobody waits for longer than the window of the first", async () => {
    await using at = await openWindow(() => "");
    await using budget = await openBudget({});
    await budget.run(async () => {
      const first = embed(at, "a");
      await until(async () => (await budget.state()).held.steps === 1);
      at.wait(2);
      const second = embed(at, "b");
      await until(async () => (await budget.state()).held.steps === 2);
      expect(at.model.count).toBe(0);
      at.wait(1);
      await Promise.all([first, second]);
    });
    expect(at.model.count).toBe(1);
  });
});

describe("when something goes wrong", () => {
  test.each([429, 500])("a failure of the group is everybody's: %i", async (status) => {
    await using at = await openWindow(() => ({ kind: "status", status }), { maxRetries: 0 });
    await using budget = await openBudget({ llm_input_tokens: 10_000 });
    await budget.run(async () => {
      const calls = [1, 2, 3].map((each) => errorOf(embed(at, `text ${each}`)));
      await until(async () => (await budget.state()).held.steps === 3);
      at.close();
      for (const error of await Promise.all(calls)) expect(error.message).toContain(String(status));
    });
    expect(at.model.count).toBe(1);
    const { used, held } = await budget.state();
    expect(held).toEqual({});
    expect(used.steps).toBe(3);
    // A provider that was full has computed nothing; of one that broke nobody knows.
    expect(used.llm_input_tokens === 0).toBe(status === 429);
  });

  test("one who has asked wrongly fails alone", async () => {
    const script = ({ body }: ScriptedRequest) =>
      [body.input].flat().includes("wrong") ? { kind: "status", status: 400, message: "wrong" } : "";
    await using at = await openWindow(script);
    await using budget = await openBudget({ steps: 3 });
    await budget.run(async () => {
      const calls = [embed(at, "a"), embed(at, "wrong"), embed(at, ["b", "c"])].map((call) => errorOf(call));
      await until(async () => (await budget.state()).held.steps === 3);
      at.close();
      const errors = await Promise.all(calls);
      expect(errors.map(({ message }) => message)).toEqual([
        "nothing went wrong",
        expect.stringMatching(/400 wrong/),
        "nothing went wrong",
      ]);
    });
    expect(at.model.count).toBe(4);
    const { used, held } = await budget.state();
    expect(used.steps).toBe(3);
    expect(held).toEqual({});
  });

  test("an answer that does not fit the question is none, and is charged as it says", async () => {
    const script = () => ({ kind: "garbage", body: JSON.stringify({ data: [], usage: { prompt_tokens: 10 } }) });
    await using at = await openWindow(script, { maxRetries: 0 });
    await using budget = await openBudget({});
    await budget.run(async () => {
      const calls = [errorOf(embed(at, "a")), errorOf(embed(at, "b"))];
      await until(async () => (await budget.state()).held.steps === 2);
      at.close();
      for (const { cause } of await Promise.all(calls)) {
        expect(String(cause)).toMatch(/one embedding for each input/);
      }
    });
    expect((await budget.state()).used.llm_input_tokens).toBe(10);
  });

  test("who hangs up before it is sent pays nothing, and the others do not notice", async () => {
    await using at = await openWindow(() => "");
    await using budget = await openBudget({});
    await budget.run(async () => {
      const left = new AbortController();
      const gone = errorOf(embed(at, "gone", {}, left.signal));
      const stays = [embed(at, "a"), embed(at, "b")];
      await until(async () => (await budget.state()).held.steps === 3);
      left.abort();
      await gone;
      at.close();
      const answers = await Promise.all(stays);
      const tokens = answers.reduce((sum, { usage }) => sum + usage.prompt_tokens, 0);
      expect((await budget.state()).used).toMatchObject({ llm_input_tokens: tokens, steps: 3 });
    });
    expect(inputs(at)).toEqual([["a", "b"]]);
    expect((await budget.state()).held).toEqual({});
  });

  test("who hangs up after it was sent pays his share; the request goes on for the others", async () => {
    const go = deferred<void>();
    await using at = await openWindow(() =>
      go.promise.then(() => ({ kind: "text", text: "", usage: { prompt_tokens: 90 } })),
    );
    await using budget = await openBudget({});
    await budget.run(async () => {
      const left = new AbortController();
      const gone = errorOf(embed(at, "x".repeat(60), {}, left.signal));
      const stays = embed(at, "y".repeat(30));
      await until(async () => (await budget.state()).held.steps === 2);
      at.close();
      await until(() => at.model.count === 1);
      left.abort();
      await gone;
      expect((await budget.state()).used.llm_input_tokens).toBeGreaterThan(60);
      go.resolve();
      expect((await stays).usage.prompt_tokens).toBe(30);
      await until(async () => (await budget.state()).used.llm_input_tokens === 90);
    });
    expect(at.model.aborted).toBe(0);
  });

  test("when all have hung up, so does the group", async () => {
    await using at = await openWindow(() => ({ kind: "hang" }));
    await using budget = await openBudget({});
    await budget.run(async () => {
      const left = [new AbortController(), new AbortController()];
      const gone = left.map(({ signal }, index) => errorOf(embed(at, `text ${index}`, {}, signal)));
      await until(async () => (await budget.state()).held.steps === 2);
      at.close();
      await until(() => at.model.count === 1);
      for (const each of left) each.abort();
      await Promise.all(gone);
      await until(() => at.model.aborted === 1);
    });
    expect((await budget.state()).held).toEqual({});
  });
});

test("identical ones are asked once, and then along with others", async () => {
  const timer = new FakeClock();
  const reuse = { embeddings: { window_ms: 5 }, in_flight: true, cache: true, timer };
  await using at = await openScene(() => "", { wire: { reuse } });
  await using budget = await openBudget({});
  await budget.run(async () => {
    const calls = ["a", "a", "b", "a"].map((input) => embed(at, input));
    await until(async () => (await budget.state()).held.steps === 4);
    timer.advance(5);
    const [first, second, , last] = await Promise.all(calls);
    expect(second).toEqual(first);
    expect(last).toEqual(first);
    expect(await embed(at, "b")).toBeDefined();
  });
  expect(inputs(at)).toEqual([["a", "b"]]);
  const kinds = (await savedBy(budget)).map(({ kind }) => kind);
  expect(kinds.sort()).toEqual(["cache", "embeddings", "in_flight", "in_flight"]);
});

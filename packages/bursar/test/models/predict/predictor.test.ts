import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Json } from "../../../src/core/chain/canonical.js";
import { type ChatModelOptions, chatModel } from "../../../src/models/chat/chat.js";
import { modelPredictor, type PredictorOptions } from "../../../src/models/predict/predictor.js";
import type { Question } from "../../../src/ports/foresight.js";
import type { Model } from "../../../src/ports/model.js";
import { sha256Hex } from "../../../src/runtime/crypto.js";
import { MemoryStore } from "../../../src/stores/memory.js";
import { FakeClock } from "../../../src/testing/clock/fake-clock.js";
import { openScriptedModel, type Script } from "../../../src/testing/scripted-model.js";

const PRICES = { scripted: { input_usd_per_mtok: 0.05, output_usd_per_mtok: 0.4 } };
const BUDGET = "estimate:sums:2030-01-01";

const QUESTION: Question = {
  program: { kind: "plan", name: "sums", source: "(run :body (call :add {}))" },
  input: { xs: [1, 2] },
  dimensions: [
    { id: "steps", unit: "steps" },
    { id: "cost_usd", unit: "USD" },
  ],
  others: [{ dimensions: { cost_usd: { median: 2_000_000, upper: 3_000_000 } }, about: "two runs" }],
};

const answer = (...dimensions: readonly Json[]) => JSON.stringify({ dimensions });
const STEPS = { id: "steps", median: 2.5, upper: 4 };

interface Asked {
  readonly chat?: Partial<ChatModelOptions>;
  readonly options?: Partial<PredictorOptions>;
  readonly question?: Partial<Question>;
  readonly times?: number;
}

/** Puts a question to a predictor whose model answers over HTTP. */
async function asked(script: Script, { chat = {}, options = {}, question = {}, times = 1 }: Asked = {}) {
  await using server = await openScriptedModel({ script });
  const store = new MemoryStore({ clock: new FakeClock() });
  const model = chatModel({ url: server.url, model: "scripted", prices: PRICES, ...chat });
  const predictor = modelPredictor({ model, store, ...options });
  const opinions = [];
  for (let time = 0; time < times; time++) opinions.push(await predictor.predict({ ...QUESTION, ...question }));
  const budget = await store.budget(BUDGET);
  return { opinion: opinions.at(-1), opinions, store, budget, requests: server.requests, count: server.count };
}

async function actions(store: MemoryStore, chain = BUDGET) {
  const links: { action_type: string; data: Record<string, Json> }[] = [];
  for await (const line of store.chain(chain)) links.push(JSON.parse(line));
  return links.filter(({ action_type }) => action_type.startsWith("Prediction"));
}

describe("a predictor", () => {
  test("asks a model once, with what there is to go by, and gives its figures in ledger units", async () => {
    const { opinion, requests, store, budget } = await asked([
      answer(STEPS, { id: "cost_usd", median: 0.001, upper: 0.02 }),
    ]);
    expect(opinion).toEqual({
      dimensions: { steps: { median: 3, upper: 4 }, cost_usd: { median: 1_000_000, upper: 20_000_000 } },
      about: "a guess of the model scripted",
    });
    expect(requests).toHaveLength(1);
    const [request] = requests;
    expect(JSON.parse(request?.text ?? "")).toEqual({
      program: { kind: "plan", name: "sums", source: "(run :body (call :add {}))" },
      input: '{"xs":[1,2]}',
      dimensions: QUESTION.dimensions,
      others: [{ about: "two runs", dimensions: { cost_usd: { median: 0.002, upper: 0.003 } } }],
    });
    expect(request?.body.response_format).toMatchObject({ type: "json_schema", json_schema: { strict: true } });
    expect(await actions(store)).toMatchObject([
      {
        action_type: "PredictionMade",
        data: {
          program: "sums",
          model: "scripted",
          dimensions: { steps: { median: 3, upper: 4 }, cost_usd: { median: 0.001, upper: 0.02 } },
        },
      },
    ]);
    expect(budget?.used).toMatchObject({ steps: 1 });
    expect(budget?.used.cost_usd).toBeGreaterThan(0);
    expect(Object.values(budget?.reserved ?? { none: 1 }).every((held) => held === 0)).toBe(true);
  });

  test("shows no more of a program and its input than it has to", async () => {
    const { requests } = await asked([answer(STEPS)], {
      question: {
        program: { kind: "plan", name: "sums", source: `${"x".repeat(5999)}👋${"y".repeat(10_000)}` },
        input: "z".repeat(100_000),
      },
    });
    const { program, input } = JSON.parse(requests[0]?.text ?? "");
    expect(program.source).toBe(`${"x".repeat(5999)}… (16001 characters in all)`);
    expect(input.length).toBeLessThan(2100);
  });

  test("takes what it is told about the request, and says how long an answer may be", async () => {
    const plain = await asked([answer(STEPS)]);
    expect(plain.requests[0]?.max_tokens).toBe(800);
    const request = { model: "scripted", max_completion_tokens: 50, reasoning_effort: "minimal" };
    const { requests } = await asked([answer(STEPS)], { options: { request } });
    expect(requests[0]?.body).toMatchObject(request);
    expect(requests[0]?.body).not.toHaveProperty("max_tokens");
  });

  test("works for a program that has no source, and one with an odd name", async () => {
    const program = { kind: "agent", name: `a\0:/${"é".repeat(200)}`, source: null };
    const { opinion, store } = await asked([answer(STEPS)], { question: { program } });
    expect(opinion).not.toBeNull();
    const own = sha256Hex(JSON.stringify(program.name)).slice(0, 16);
    const budget = `estimate:a\ufffd:/${"é".repeat(96)}~${own}:2030-01-01`;
    expect(await actions(store, budget)).toHaveLength(1);
  });
});

describe("gives nothing, and says why in its chain,", () => {
  const nonsense: readonly (readonly [string, string])[] = [
    ["I would say about 5.", "allowed: JSON"],
    ["[]", "an array"],
    ["null", "allowed: an object with dimensions"],
    ['{"dimensions":{}}', "allowed: a list"],
    ['{"dimensions":[],"limit":5}', "answer.limit is not known here"],
    [answer(), "says nothing"],
    [answer({ id: "steps", median: -1, upper: 4 }), "answer.steps.median is -1"],
    [answer({ id: "steps", median: 5, upper: 4 }), "below the median"],
    [answer({ id: "steps", median: "5", upper: 6 }), 'is "5"'],
    [answer({ id: "steps", median: 5 }), "upper is null"],
    [answer({ id: "steps", median: 5, upper: 1e300 }), "1e+300"],
    ['{"dimensions":[{"id":"steps","median":1,"upper":1e999}]}', "Infinity"],
    [answer({ id: "stepz", median: 5, upper: 6 }), 'is "stepz"'],
    [answer({ id: "llm_tokens", median: 5, upper: 6 }), 'is "llm_tokens"'],
    [answer(STEPS, STEPS), "a second time"],
    [answer(STEPS, STEPS, STEPS), "more than it was asked"],
    [answer({ ...STEPS, limit: 9 }), "limit is not known here"],
    [answer(STEPS).slice(0, -1), "allowed: JSON"],
  ];

  test.each(nonsense)("to an answer that makes no sense: %s", async (text, why) => {
    const { opinion, store, count, budget } = await asked([text]);
    expect([opinion, count]).toEqual([null, 1]);
    const [action] = await actions(store);
    expect(action).toMatchObject({ action_type: "PredictionFailed", data: { program: "sums", model: "scripted" } });
    expect(action?.data.reason).toContain(why);
    expect(budget?.used.cost_usd).toBeGreaterThan(0);
  });

  test.each([
    [{ kind: "status", status: 500 }, "answered 500"],
    [{ kind: "status", status: 429 }, "answered 429"],
    [{ kind: "garbage", body: "<html>" }, "no completion"],
  ] as const)("to a provider that fails: %j", async (failure, why) => {
    const { opinion, store, count, budget } = await asked([failure]);
    // Nobody tries again.
    expect([opinion, count]).toEqual([null, 1]);
    const [action] = await actions(store);
    expect(action?.data.reason).toContain(why);
    expect(Object.values(budget?.reserved ?? { none: 1 }).every((held) => held === 0)).toBe(true);
  });

  test("to a model without a price, which is not asked", async () => {
    const { opinion, store, count } = await asked([answer(STEPS)], { options: { request: { model: "unpriced" } } });
    expect([opinion, count]).toEqual([null, 0]);
    expect((await actions(store))[0]?.data.reason).toContain("no price");
  });

  test("to a call that does not fit its budget, which is not made", async () => {
    const { opinion, store, count } = await asked([answer(STEPS)], {
      options: { budget: { limits: { cost_usd: 0.000001 } } },
    });
    expect([opinion, count]).toEqual([null, 0]);
    expect((await actions(store))[0]?.data.reason).toContain("cost_usd");
  });

  test("when its steps are used up", async () => {
    const { opinions, count } = await asked(() => answer(STEPS), {
      options: { budget: { limits: { steps: 2, cost_usd: null } } },
      times: 4,
    });
    expect(opinions.map((opinion) => opinion !== null)).toEqual([true, true, false, false]);
    expect(count).toBe(2);
  });

  test("to an answer that is no text, or a long one", async () => {
    for (const value of [null, 5, [], { text: 5 }, "x".repeat(30_000)] as readonly Json[]) {
      const store = new MemoryStore({ clock: new FakeClock() });
      const model: Model = { quote: () => ({ cost_usd: 0 }), call: async () => ({ value }) };
      expect(await modelPredictor({ model, store }).predict(QUESTION)).toBeNull();
      expect((await actions(store))[0]?.data.reason).toContain("a text of at most 20000 characters");
    }
  });

  test("to a quote that makes no sense", async () => {
    const store = new MemoryStore({ clock: new FakeClock() });
    const model: Model = { quote: () => ({ cots_usd: 1 }), call: async () => ({ value: answer(STEPS) }) };
    expect(await modelPredictor({ model, store }).predict(QUESTION)).toBeNull();
    expect((await actions(store))[0]?.data.reason).toContain("cots_usd");
  });

  test("to an answer that does not come in time", async () => {
    const clock = new FakeClock();
    const store = new MemoryStore({ clock });
    let begun = () => {};
    const isBegun = new Promise<void>((resolve) => {
      begun = resolve;
    });
    const model: Model = {
      quote: () => ({ cost_usd: 0.001 }),
      call: (_, { signal }) => {
        begun();
        return new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
      },
    };
    const predicted = modelPredictor({ model, store, timer: clock, timeout_ms: 500 }).predict(QUESTION);
    await isBegun;
    clock.advance(500);
    expect(await predicted).toBeNull();
    expect((await actions(store))[0]?.data.reason).toContain("no answer within 500 ms");
    // It was sent, so it is paid for.
    expect((await store.budget(BUDGET))?.used).toMatchObject({ cost_usd: 1_000_000 });
  });
});

describe("its budget", () => {
  const model: Model = {
    name: "small",
    quote: () => ({ cost_usd: 0.004 }),
    call: async () => ({ value: { text: answer(STEPS) }, usage: { cost_usd: 0.004 } }),
  };

  test("is one for all predictions about a program, and begins anew every day", async () => {
    const clock = new FakeClock();
    const store = new MemoryStore({ clock });
    const made = async () => (await modelPredictor({ model, store }).predict(QUESTION)) !== null;
    expect([await made(), await made(), await made()]).toEqual([true, true, false]);
    const other = { ...QUESTION, program: { ...QUESTION.program, name: "other" } };
    expect(await modelPredictor({ model, store }).predict(other)).not.toBeNull();
    clock.advance(24 * 60 * 60_000);
    expect(await made()).toBe(true);
  });

  test("holds for many that ask at the same moment", async () => {
    const store = new MemoryStore({ clock: new FakeClock() });
    const all = Array.from({ length: 20 }, () => modelPredictor({ model, store }).predict(QUESTION));
    const made = (await Promise.all(all)).filter((opinion) => opinion !== null);
    expect(made).toHaveLength(2);
    expect((await store.budget(BUDGET))?.used.cost_usd).toBe(8_000_000);
  });
});

test("whatever a model answers, there are only sound figures for what was asked, or nothing", async () => {
  const store = new MemoryStore({ clock: new FakeClock() });
  let said = "";
  const model: Model = { quote: () => ({}), call: async () => ({ value: { text: said }, usage: { llm_tokens: 1 } }) };
  const predictor = modelPredictor({ model, store, budget: { limits: { steps: null } } });
  const figures = fc.record({
    id: fc.constantFrom("steps", "cost_usd", "fuel", "limits"),
    median: fc.oneof(fc.double(), fc.nat(), fc.constant(null)),
    upper: fc.oneof(fc.double(), fc.nat(), fc.constant("9")),
  });
  const answers = fc.oneof(
    fc.json(),
    fc.string(),
    fc.array(figures, { maxLength: 3 }).map((dimensions) => JSON.stringify({ dimensions })),
  );
  await fc.assert(
    fc.asyncProperty(answers, async (text) => {
      said = text;
      const opinion = await predictor.predict(QUESTION);
      for (const [id, { median, upper }] of Object.entries(opinion?.dimensions ?? {})) {
        expect(["steps", "cost_usd"]).toContain(id);
        expect(median >= 0 && median <= upper && Number.isSafeInteger(upper)).toBe(true);
      }
    }),
    { numRuns: 200 },
  );
});

test("options that make no sense are refused at once", () => {
  const store = new MemoryStore();
  const model: Model = { quote: () => ({}), call: async () => ({ value: null }) };
  const made = (more: object) => () => modelPredictor({ model, store, ...more } as PredictorOptions);
  expect(made({ limits: {} })).toThrow("limits is not known here");
  expect(made({ model: null })).toThrow("model is null");
  expect(made({ store: 5 })).toThrow("store is 5");
  expect(made({ budget: { limits: { cots_usd: 1 } } })).toThrow("did you mean cost_usd?");
  expect(made({ budget: { limits: 5 } })).toThrow("budget.limits is 5");
  expect(made({ request: [] })).toThrow("request is an array");
  expect(made({ request: { messages: [] } })).toThrow("request.messages are the predictor's own");
  expect(made({ timeout_ms: -1 })).toThrow("timeout_ms is -1");
});

describe("who pays for a question", () => {
  const silent = () => answer(STEPS);
  const program = (name: string, brought = false) => ({ program: { ...QUESTION.program, name, brought } });

  test("programs that were brought along share what there is for all of them, whatever they are called", async () => {
    await using server = await openScriptedModel({ script: silent });
    const store = new MemoryStore({ clock: new FakeClock() });
    const model = chatModel({ url: server.url, model: "scripted", prices: PRICES });
    const predictor = modelPredictor({ model, store, budget: { limits: { steps: 3 } } });
    for (let time = 0; time < 10; time++) await predictor.predict({ ...QUESTION, ...program(`mine-${time}`, true) });
    expect(server.count).toBe(3);
    expect(await predictor.predict({ ...QUESTION, ...program("sums", true) })).toBeNull();
    expect(await store.budget(BUDGET)).toBeNull();
    expect(await predictor.predict({ ...QUESTION, ...program("sums") })).not.toBeNull();
  });

  test("programs whose names begin alike do not pay for each other", async () => {
    await using server = await openScriptedModel({ script: silent });
    const store = new MemoryStore({ clock: new FakeClock() });
    const model = chatModel({ url: server.url, model: "scripted", prices: PRICES });
    const predictor = modelPredictor({ model, store, budget: { limits: { steps: 1 } } });
    const names = ["a".repeat(150), `${"a".repeat(150)}b`, "odd\u0001", "odd\u0002", "a#b"];
    for (const name of names) {
      expect(await predictor.predict({ ...QUESTION, ...program(name) })).not.toBeNull();
      expect(await predictor.predict({ ...QUESTION, ...program(name) })).toBeNull();
    }
  });
});

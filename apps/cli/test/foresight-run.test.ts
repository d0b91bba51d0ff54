import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { openStore, readRun } from "bursar";
import { openScriptedModel, type Script, type ScriptedBatching, type ScriptedModel } from "bursar/testing";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startGateway, until } from "./listening-process.js";
import { bursar, MAIN } from "./run.js";
import { openStage, type Stage } from "./runs-stage.js";

const KEY = "key-of-the-provider";
/** The last is in no table of prices. */
const MODELS = ["gpt-4o", "gpt-4o-mini", "house-model"];
const ECHO: Script = ({ text }) => ({
  kind: "text",
  text: `You said: ${text}`,
  usage: { prompt_tokens: 100, completion_tokens: 20 },
});

/** Three calls at once, and one more after that; all of them can wait. */
const MODULE = `
import { defineAgent } from "bursar";

export const patient = defineAgent("patient", async (ctx, input) => {
  const ask = (prompt) => ctx.model({ prompt, max_tokens: 50, ...input }, { wait: true });
  const first = await Promise.all(["one", "two", "three"].map(ask));
  const last = await ask(first.map(({ text }) => text.slice(-3)).join(" "));
  return { text: last.text, model: last.model };
});
`;
const PARENT = `${MODULE}
export const parent = defineAgent("parent", (ctx) => ctx.spawn("patient", {}, { fraction: 0.5 }));
`;
/** Makes known how long answers are, and asks for more at once than would fit if all of them could be as long as they may. */
const EAGER = `
import { defineAgent } from "bursar";

export const eager = defineAgent("eager", async (ctx) => {
  const ask = () => ctx.model({ prompt: "Hi", max_tokens: 4096 });
  for (let turn = 0; turn < 20; turn++) await ask();
  return (await Promise.all(Array.from({ length: 8 }, ask))).length;
});
`;
const ANSWER = "You said: one two ree";
const TIERS = {
  lists: {
    auto: {
      tiers: [
        { name: "large", model: "gpt-4o" },
        { name: "small", model: "gpt-4o-mini" },
      ],
    },
  },
};

let stage: Stage;
let program: string;
beforeAll(() => {
  stage = openStage();
  program = join(dirname(stage.module), "patient.mjs");
  writeFileSync(program, MODULE);
});
afterAll(() => stage[Symbol.dispose]());

/** A provider in this process, and a configuration that names it. */
async function provided(name: string, foresight: (model: ScriptedModel) => object, batches: ScriptedBatching = {}) {
  const model = await openScriptedModel({ script: ECHO, models: MODELS, apiKey: KEY, batches });
  const config = stage.at(`${name}.json`);
  writeFileSync(config, JSON.stringify({ foresight: foresight(model) }));
  return { model, config, [Symbol.asyncDispose]: () => model[Symbol.asyncDispose]() };
}

function batchesAt({ url }: ScriptedModel, model = "gpt-4o") {
  const about = { provider: "openai", url, model, key_env: "SCRIPTED_KEY", price_factor: 0.5 };
  return { ...about, window_ms: 200, poll_ms: 100, longest_poll_ms: 200 };
}

interface Running {
  readonly child: ChildProcess;
  readonly stderr: () => string;
  readonly ended: Promise<{ readonly status: unknown; readonly stdout: string; readonly stderr: string }>;
}

/** Starts a command beside this process, which has to answer as the provider meanwhile. */
function begin(...args: readonly string[]): Running {
  const { FORCE_COLOR: _, ...inherited } = process.env;
  const env = { ...inherited, ...stage.env, SCRIPTED_KEY: KEY, BURSAR_MODEL_KEY: KEY };
  const child = spawn(process.execPath, [MAIN, ...args], { env });
  let stdout = "";
  let stderr = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    stdout += text;
  });
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    stderr += text;
  });
  const over = once(child, "close") as Promise<[number | null, NodeJS.Signals | null]>;
  const ended = over.then(([code, signal]) => ({ status: code ?? signal, stdout, stderr }));
  return { child, stderr: () => stderr, ended };
}

/** Everything that the store has of a run. */
async function lookAt(id: string) {
  await using store = await openStore(stage.env.BURSAR_STORE ?? "");
  const types: string[] = [];
  for await (const line of store.chain(id)) types.push(JSON.parse(line).action_type);
  const document = await store.document("run", id);
  if (document === null) throw new Error(`there is no run ${id}`);
  const budget = await store.budget(id);
  return {
    types,
    run: readRun(document),
    budget,
    past: await store.document("history", id),
    count: (type: string) => types.filter((each) => each === type).length,
  };
}

describe("bursar run with batches in the configuration", () => {
  test("sends what can wait, waits for it and goes on, to its end", async () => {
    await using at = await provided("waits", (model) => ({ batches: batchesAt(model) }), { polls: 3 });
    const run = begin("run", program, "--agent", "--config", at.config, "--id", "b1", "--json");
    const { status, stdout, stderr } = await run.ended;
    expect({ status, stderr }).toMatchObject({ status: 0 });
    expect(JSON.parse(stdout)).toMatchObject({ status: "completed", result: { text: ANSWER } });
    expect(at.model.batches.map(({ lines }) => lines.length)).toEqual([3, 1]);
    expect(at.model.count).toBe(4);
    const { count, budget } = await lookAt("b1");
    expect([count("Batched"), count("Saved")]).toEqual([4, 4]);
    expect(Object.values(budget?.reserved ?? {}).every((amount) => amount === 0)).toBe(true);
    expect(stdout + stderr).not.toContain(KEY);
  });

  test("waits for a child that waits", async () => {
    await using at = await provided("below", (model) => ({ batches: batchesAt(model) }), { polls: 2 });
    const both = join(dirname(program), "parent.mjs");
    writeFileSync(both, PARENT);
    const named = ["--agent", "--name", "parent", "--id", "b9", "--json"];
    const run = begin("run", both, ...named, "--config", at.config);
    const { status, stdout, stderr } = await run.ended;
    expect({ status, stderr }).toMatchObject({ status: 0 });
    expect(JSON.parse(stdout)).toMatchObject({ status: "completed", result: { text: ANSWER } });
    expect(stderr).toContain('"event":"waiting_for_batch","run_id":"b9","calls":3');
  });

  test("is left by whoever drives it, and resumed by another, without a call that is made twice", async () => {
    await using at = await provided("left", (model) => ({ batches: batchesAt(model) }), { polls: 5 });
    const first = begin("run", program, "--agent", "--config", at.config, "--id", "b2");
    await until("the batch is with the provider", () => (at.model.batches[0]?.looks ?? 0) > 1);
    first.child.kill("SIGINT");
    expect((await first.ended).stderr).toContain("waits for 3 calls in a batch");
    const { status, stdout, stderr } = await begin("resume", "b2", "--module", program, "--config", at.config, "--json")
      .ended;
    expect({ status, stderr }).toMatchObject({ status: 0 });
    expect(JSON.parse(stdout)).toMatchObject({ status: "completed", result: { text: ANSWER } });
    expect(at.model.batches.map(({ lines }) => lines.length)).toEqual([3, 1]);
    expect(at.model.count).toBe(4);
  });

  test("leaves the model open as well: the tier is chosen before the call is handed over", async () => {
    const foresight = (model: ScriptedModel) => ({ batches: batchesAt(model, "bursar/auto"), tiers: TIERS });
    await using at = await provided("open", foresight);
    const model = ["--model-url", at.model.url, "--model", "gpt-4o"];
    const run = begin("run", program, "--agent", "--config", at.config, "--id", "b3", ...model, "--json");
    const { status, stdout, stderr } = await run.ended;
    expect({ status, stderr }).toMatchObject({ status: 0 });
    expect(JSON.parse(stdout)).toMatchObject({ result: { text: ANSWER } });
    expect(at.model.batches.map(({ lines }) => lines.length)).toEqual([3, 1]);
    expect((await lookAt("b3")).count("TierSwitched")).toBe(1);
  });

  test.each([
    ["a model that only --price knows", "house-model", "p1", (140 + 80) / 2],
    ["and one that the table knows beside it", "gpt-4o", "p2", ((2.5 * 100 + 10 * 20) * 4) / 2],
  ])("charges the price that is stated: %s", async (_, model, id, millionths) => {
    await using at = await provided(id, (scripted) => ({ batches: batchesAt(scripted, model) }));
    const own = ["--model-url", at.model.url, "--model", "house-model", "--price", "0.35,1"];
    const run = begin("run", program, "--agent", "--config", at.config, "--id", id, ...own, "--json");
    const { status, stdout, stderr } = await run.ended;
    expect({ status, stderr }).toMatchObject({ status: 0 });
    expect(JSON.parse(stdout)).toMatchObject({ status: "completed", result: { text: ANSWER, model } });
    expect((await lookAt(id)).budget?.used.cost_usd).toBe(millionths * 1000);
  });

  test("charges the price that is stated for the model of the configuration, where no other is named", async () => {
    await using at = await provided("p3", (scripted) => ({ batches: batchesAt(scripted, "house-model") }));
    const about = ["run", program, "--agent", "--config", at.config, "--price", "0.35,1", "--json"];
    const { status, stdout, stderr } = await begin(...about, "--id", "p3").ended;
    expect({ status, stderr }).toMatchObject({ status: 0 });
    expect(JSON.parse(stdout)).toMatchObject({ status: "completed", result: { model: "house-model" } });
    expect((await lookAt("p3")).budget?.used.cost_usd).toBe(((140 + 80) / 2) * 1000);
    const mistaken = await begin(...about, "--id", "p4", "--model", "gpt-4o").ended;
    expect(mistaken).toMatchObject({ status: 2, stdout: expect.stringContaining("add --model house-model") });
  });

  test("says to programs that it waits, on standard error", async () => {
    await using at = await provided("told", (model) => ({ batches: batchesAt(model) }));
    const about = ["run", program, "--agent", "--config", at.config, "--id"];
    const told = await begin(...about, "t1", "--json").ended;
    expect(told.stdout.trim().split("\n")).toHaveLength(1);
    const lines = told.stderr.trim().split("\n");
    expect(lines.map((line) => JSON.parse(line))).toEqual(
      [3, 1].map((calls) => ({ event: "waiting_for_batch", run_id: "t1", calls })),
    );
    const quiet = await begin(...about, "t2", "--quiet").ended;
    expect(quiet).toMatchObject({ status: 0, stderr: "" });
  });

  test("says what is missing when the key is not there", async () => {
    await using at = await provided("keyless", (model) => ({
      batches: { ...batchesAt(model), key_env: "NO_SUCH_KEY" },
    }));
    const { status, stderr } = await begin("run", program, "--agent", "--config", at.config, "--id", "b4").ended;
    expect(status).not.toBe(0);
    expect(stderr).toContain("NO_SUCH_KEY is not set");
  });
});

test.each([
  ["are learned, and kept for other processes", "learned", [40], 1],
  ["are full, where the configuration says so", "full", [], 0],
] as const)("reservations of bursar run %s", async (_, reservations, cut, sites) => {
  const eager = join(dirname(stage.module), `eager-${reservations}.mjs`);
  writeFileSync(eager, EAGER);
  await using at = await provided(reservations, () => ({ reservations }));
  const terms = ["--budget", "llm_tokens=12000", "--store", `sqlite:${stage.at(`${reservations}.db`)}`];
  const model = ["--model-url", at.model.url, "--model", "gpt-4o"];
  const run = begin("run", eager, "--agent", "--config", at.config, ...terms, ...model, "--json");
  const { status, stdout, stderr } = await run.ended;
  expect({ status, stderr }).toMatchObject({ status: 0 });
  expect(JSON.parse(stdout)).toMatchObject({ status: "completed", result: 8 });
  const limits = new Set(at.model.requests.map(({ max_tokens }) => max_tokens));
  expect([...limits].filter((limit) => limit !== 4096)).toEqual(cut);
  await using store = await openStore(`sqlite:${stage.at(`${reservations}.db`)}`);
  let kept = 0;
  for await (const _ of store.latest("history", { status: "site", limit: 10 })) kept++;
  expect(kept).toBe(sites);
});

test.each([
  ["twice where nothing else is said", {}, 3],
  ["once where runs reuse, also in another process", { runs: true, shared: true, cache: { folder: "answers" } }, 2],
] as const)("a program in Python asks the same %s, at tiers whose prices the table knows", async (_, more, count) => {
  const source = stage.at(`same-${count}.py`);
  writeFileSync(
    source,
    `
ask = {"model": "bursar/auto", "prompt": "Tea?", "max_tokens": 50, "bursar": {"step": "all", "tier": "small"}}
first = await host.llm(ask)
again = await host.llm({**ask, "bursar": {"step": "all"}})
other = await host.llm({**ask, "prompt": "Ink?", "bursar": {"step": "all"}})
await host.call("result", [each["model"] for each in (first, again, other)])
`,
  );
  const foresight = { tiers: TIERS, reuse: { in_flight: true, cache: true, ...more } };
  await using at = await provided(`same${count}`, () => foresight);
  const model = ["--model-url", at.model.url, "--model", "house-model", "--price", "0.35,1"];
  const run = begin("run", source, "--config", at.config, "--id", `same${count}`, ...model, "--json");
  const { status, stdout, stderr } = await run.ended;
  expect({ status, stderr }).toMatchObject({ status: 0 });
  expect(JSON.parse(stdout)).toMatchObject({ status: "completed", result: Array(3).fill("gpt-4o-mini") });
  expect(at.model.count).toBe(count);
  const { count: counted } = await lookAt(`same${count}`);
  expect([counted("TierSwitched"), counted("Saved")]).toEqual([1, 3 - count]);
  expect(JSON.parse(stdout).saved_usd > 0).toBe(count === 2);
  if (count === 3) return;
  const later = await begin("run", source, "--config", at.config, ...model, "--json").ended;
  expect(JSON.parse(later.stdout)).toMatchObject({ status: "completed", result: Array(3).fill("gpt-4o-mini") });
  expect(at.model.count).toBe(count);
});

test("switched off, nothing of it is active: no batch, no tier, no estimate, nothing learned", async () => {
  const foresight = (model: ScriptedModel) => ({
    enabled: false,
    preflight: "refuse",
    batches: batchesAt(model),
    tiers: TIERS,
    reuse: { in_flight: true, cache: true, runs: true },
  });
  await using at = await provided("off", foresight);
  const model = ["--model-url", at.model.url, "--model", "bursar/auto"];
  for (const id of ["off1", "off2"]) {
    const run = begin("run", program, "--agent", "--config", at.config, "--id", id, ...model, "--json");
    const { status, stdout, stderr } = await run.ended;
    expect({ status, stderr }).toMatchObject({ status: 0 });
    // The best tier answers, always.
    expect(JSON.parse(stdout)).toMatchObject({ result: { text: ANSWER, model: "gpt-4o" } });
  }
  expect(at.model.batches).toEqual([]);
  expect(at.model.count).toBe(8);
  const { types, run, past } = await lookAt("off2");
  expect(types.filter((type) => /Batched|TierSwitched|Saved|RunEstimated/.test(type))).toEqual([]);
  expect({ estimate: run.estimate ?? null, past }).toEqual({ estimate: null, past: null });
});

describe("bursar gateway with the configuration", () => {
  const ask = (url: string, secret: string) =>
    fetch(`${url}/v1/chat/completions`, {
      method: "POST",
      headers: { authorization: `Bearer ${secret}`, "content-type": "application/json" },
      body: JSON.stringify({ model: "bursar/auto", messages: [{ role: "user", content: "Hi" }], max_tokens: 500 }),
    });

  async function asked(name: string, foresight: object, times: number) {
    await using at = await provided(name, () => foresight);
    const env = { ...stage.env, BURSAR_STORE: `sqlite:${stage.at(`${name}.db`)}`, OPENAI_BASE_URL: at.model.url };
    const made = bursar(["keys", "create", "--label", "a", "--limits", "cost_usd=1", "--json"], env);
    const { secret } = JSON.parse(made.stdout) as { readonly secret: string };
    await using gateway = await startGateway(["--config", at.config], { ...env, BURSAR_UPSTREAM_OPENAI_KEY: KEY });
    const answers: Record<string, unknown>[] = [];
    for (let time = 0; time < times; time++) {
      const response = await ask(gateway.url, secret);
      const told = ["tier", "model", "reused"].map((each) => [each, response.headers.get(`x-bursar-${each}`)]);
      if (response.status !== 200) throw new Error(await response.text());
      const { choices } = (await response.json()) as { choices: { message: { content: string } }[] };
      answers.push({ status: response.status, ...Object.fromEntries(told), text: choices[0]?.message.content });
    }
    return { answers, requests: at.model.count };
  }

  test("chooses the tier of bursar/auto, and gives the same answer again", async () => {
    const { answers, requests } = await asked("gate", { tiers: TIERS, reuse: { cache: true } }, 3);
    const answer = { status: 200, tier: "large", model: "gpt-4o", text: "You said: Hi" };
    expect(answers).toEqual([
      { ...answer, reused: null },
      { ...answer, reused: "cache" },
      { ...answer, reused: "cache" },
    ]);
    expect(requests).toBe(1);
  });

  test("switched off, it asks the first tier each time anew", async () => {
    const off = { enabled: false, tiers: TIERS, reuse: { cache: true, in_flight: true } };
    const { answers, requests } = await asked("gate-off", off, 2);
    expect(answers).toMatchObject([1, 2].map(() => ({ status: 200, model: "gpt-4o", reused: null })));
    expect(requests).toBe(2);
  });
});

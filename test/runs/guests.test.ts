import {
  defineAgent,
  defineTool,
  execHandler,
  guestProgram,
  MemoryStore,
  type Model,
  openBursar,
  type Program,
  type ProgramRef,
  sha256Hex,
  verifyChain,
} from "bursar";
import { compilePlan, planProgram, revivePlan } from "bursar/plans";
import { describe, expect, test } from "vitest";
import { ANN, openTestSandbox } from "./sandbox.js";

const sandbox = await openTestSandbox();

const PYTHON = `
total = 0
question = (await host.call("input", {}))["question"]
for turn in range(3):
    answer = await host.llm({"prompt": f"{question} {turn}"})
    total += await host.tool("add", {"a": total, "b": answer["number"]})
    print("turn", turn, total)
await host.call("result", {"total": total})
`;

const JAVASCRIPT = `
let total = 0;
const { question } = await host.call("input", {});
for (let turn = 0; turn < 3; turn++) {
  const answer = await host.llm({ prompt: \`\${question} \${turn}\` });
  total += await host.tool("add", { a: total, b: answer.number });
  console.log("turn", turn, total);
}
await host.call("result", { total });
`;

const PLAN = `
(run :name "adds"
     :inputs [question]
     :body (let [total (loop [turn 0 total 0]
                         (if (= turn 3)
                           total
                           (let [answer (call :llm/ask {:prompt (str question " " turn)})]
                             (recur (+ turn 1)
                                    (+ total (call :add {:a total :b (:number answer)}))))))]
             {:total total}))
`;

function guest(name: string): Program {
  const plain = { packages: [], memory_bytes: 64 * 1024 * 1024 };
  const source = {
    python: { ...plain, language: "python", code: PYTHON },
    javascript: { ...plain, language: "javascript", code: JAVASCRIPT },
    plan: { ...plain, language: "javascript", code: compilePlan(PLAN).code },
  } as const;
  return guestProgram(name, source[name as keyof typeof source], async () => sandbox);
}

function world() {
  const store = new MemoryStore();
  const prompts: unknown[] = [];
  const add = defineTool({
    name: "add",
    description: "Adds two numbers.",
    input: { type: "object", properties: { a: { type: "number" }, b: { type: "number" } }, required: ["a", "b"] },
    run: ({ a, b }: { a: number; b: number }) => a + b,
  });
  const model: Model = {
    quote: () => ({ llm_input_tokens: 60, llm_output_tokens: 40 }),
    call: async (request) => {
      prompts.push(request);
      return { value: { number: prompts.length }, usage: { input_tokens: 50, output_tokens: 30 } };
    },
  };
  const programs = ["python", "javascript", "plan"].map(guest);
  const process = (more: readonly Program[] = []) =>
    openBursar({ store, tools: [add], model, programs: [...programs, ...more] });
  return { store, prompts, process };
}

describe.each(["python", "javascript", "plan"])("a program in %s", (name) => {
  test("asks for effects, and gives back its result", async () => {
    const { process, prompts } = world();
    const done = await process().run(name, { question: "how many" }, { id: "r", limits: { wall_clock_ms: null } });
    expect(done).toMatchObject({ status: "completed", result: { total: 11 }, usage: { steps: 6, llm_tokens: 240 } });
    expect(JSON.stringify(prompts)).toMatch(/how many 0.*how many 1.*how many 2/);
    expect(Number(done.usage.fuel)).toBeGreaterThan(0);
  });

  test("is saved now and then, so that another process need not begin from the beginning", async () => {
    const { process, store } = world();
    const many = name === "plan" ? compilePlan(PLAN.replace("(= turn 3)", "(= turn 40)")).code : "";
    const code =
      many || guest(name).source?.code?.toString().replace("range(3)", "range(40)").replace("turn < 3", "turn < 40");
    const language = name === "python" ? "python" : "javascript";
    const source = { language, code: code ?? "", packages: [], memory_bytes: 64 * 1024 * 1024 } as const;
    const program = guestProgram("many", source, async () => sandbox);
    const limits = { steps: 75, llm_tokens: null, wall_clock_ms: null };
    const policies = { steps: "approval_required" } as const;
    const paused = await process().run(program, { question: "q" }, { id: "r", limits, policies });
    expect(paused).toMatchObject({ status: "paused" });
    const checkpoint = await store.document("session", "r/checkpoint");
    expect(checkpoint?.body.part).toBeGreaterThan(2);
    expect(await process([program]).approve("r/checkpoint", { by: ANN, extensions: { steps: 100 } })).toMatchObject({
      status: "completed",
    });
  });

  test("pauses at its limit, and goes on in another process at the same instruction", async () => {
    const { process, prompts, store } = world();
    const limits = { llm_tokens: 200, wall_clock_ms: null };
    const paused = await process().run(name, { question: "how many" }, { id: "r", limits });
    expect(paused).toMatchObject({ status: "paused", exhausted_dimension: "llm_tokens" });
    expect(prompts).toHaveLength(2);
    const done = await process().approve("r/checkpoint", { by: ANN, extensions: { llm_tokens: 1000 } });
    expect(done).toMatchObject({ status: "completed", result: { total: 11 }, usage: { llm_tokens: 240 } });
    // Every question was asked once.
    expect(prompts).toHaveLength(3);
    const lines: string[] = [];
    for await (const line of store.chain("r")) lines.push(line);
    expect(await verifyChain(lines, { hash: sha256Hex })).toMatchObject({ ok: true });
  });
});

const FAMILY = `
(run :name "family"
     :body (let [both (pmap (fn [start]
                              (run :name "child"
                                   :input {:start start}
                                   :inputs [start]
                                   :budget {:steps 2}
                                   :body (step "adding" (call :add {:a start :b 10}))))
                            [1 2])]
             {:sum (reduce + 0 both)}))
`;

test("a plan starts plans of its own, each inside a budget of its own", async () => {
  const { process, store } = world();
  const program = planProgram(compilePlan(FAMILY), async () => sandbox);
  const done = await process().run(program, {}, { id: "r", limits: { wall_clock_ms: null } });
  expect(done).toMatchObject({ status: "completed", result: { sum: 23 } });
  const child = await store.document("run", "r.0");
  expect(child).toMatchObject({ status: "completed", body: { parent: "r", depth: 1, program: { kind: "plan" } } });
  const chain: string[] = [];
  for await (const line of store.chain("r.0")) chain.push(line);
  expect(chain.join("\n")).toContain("PartStarted");
  // Another process knows it by what the store has kept.
  const { program: ref } = (child?.body ?? {}) as unknown as { program: ProgramRef };
  expect(revivePlan(ref, async () => sandbox)).toMatchObject({ name: ref.name, digest: ref.digest });
});

test("an agent runs code in the sandbox, and its fuel is the run's", async () => {
  const store = new MemoryStore();
  const coder = defineAgent("coder", async (ctx) => {
    const { stdout } = await ctx.exec<{ stdout: string }>("python", "print(sum(range(10)))");
    return stdout.trim();
  });
  const bursar = openBursar({ store, programs: [coder], handlers: { exec: execHandler(async () => sandbox) } });
  const done = await bursar.run("coder", {}, { limits: { fuel: 1_000_000_000 } });
  expect(done).toMatchObject({ status: "completed", result: "45" });
  expect(Number(done.usage.fuel)).toBeGreaterThan(0);
  const poor = await bursar.run("coder", {}, { limits: { fuel: 1000 } });
  expect(poor).toMatchObject({ status: "failed", failure: { dimension: "fuel" } });
});

test("a program that runs out of fuel pauses, and goes on when it is given more", async () => {
  const store = new MemoryStore();
  const code = `print("begun")\ntotal = 0\nfor i in range(200000):\n    total += i\nawait host.call("result", total)\n`;
  const source = { language: "python", code, packages: [], memory_bytes: 64 * 1024 * 1024 } as const;
  const program = guestProgram("counter", source, async () => sandbox);
  const bursar = openBursar({ store, programs: [program] });
  const limits = { fuel: 5_000_000, wall_clock_ms: null };
  const paused = await bursar.run("counter", {}, { id: "r", limits, policies: { fuel: "approval_required" } });
  expect(paused).toMatchObject({ status: "paused", exhausted_dimension: "fuel" });
  const exhausted = { fuel_analysis: { status: "exhausted" }, error_guidance: { error_type: "OutOfFuel" } };
  expect(paused.execution).toMatchObject(exhausted);
  const done = await bursar.approve("r/checkpoint", { by: ANN, extensions: { fuel: 10_000_000_000 } });
  expect(done).toMatchObject({ status: "completed", result: 19_999_900_000, output: { stdout: "begun\n" } });
  expect(done.execution).toMatchObject({
    fuel_analysis: { status: "efficient" },
    error_guidance: null,
  });
  const stopped = await bursar.run("counter", {}, { id: "q", limits });
  expect(stopped).toMatchObject({ status: "failed", failure: { dimension: "fuel" }, output: { stdout: "begun\n" } });
  expect(stopped.execution).toMatchObject(exhausted);
});

import { execFileSync, spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { openScriptedModel } from "bursar/testing";
import { afterAll, beforeAll, expect, test } from "vitest";
import { until } from "./listening-process.js";
import { MAIN } from "./run.js";
import { AGENTS, openStage, ROOT, type Stage } from "./runs-stage.js";

let stage: Stage;
beforeAll(() => {
  stage = openStage();
});
afterAll(() => stage[Symbol.dispose]());

const TOOLS = ["--module", join(AGENTS, "tools.mjs")];
const TOPICS = ["--input", '{"topics":["tea","coffee"]}'];

/** Runs a command without holding this process up, in which the model answers. */
async function spawned(args: readonly string[], env: Readonly<Record<string, string>>) {
  const child = spawn(process.execPath, [MAIN, ...args], { env: { ...process.env, ...env } });
  let [stdout, stderr] = ["", ""];
  child.stdout.on("data", (data) => {
    stdout += String(data);
  });
  child.stderr.on("data", (data) => {
    stderr += String(data);
  });
  child.stdin.end();
  const status = await new Promise<number | null>((resolve) => child.once("close", resolve));
  return { status, stdout, stderr };
}

test.each(["research.py", "research.js"])("%s pauses in the sandbox and goes on in another process", (file) => {
  const id = file.replace(".", "-");
  const asks = ["--budget", "steps=1", "--exhaustion", "steps=approval_required"];
  const paused = stage.run("run", join(AGENTS, file), ...TOOLS, ...TOPICS, ...asks, "--id", id);
  expect([paused.status, paused.stdout]).toEqual([4, "tea: 3 notes\n"]);
  const { status, stdout } = stage.run("approve", id, ...TOOLS);
  expect(status).toBe(0);
  // What it had printed before is not printed again.
  expect(stdout).toMatch(/^coffee: 2 notes\n\{\n/);
  expect(stage.json("show", id).said).toMatchObject({ result: { steps_left: 0 }, usage: { steps: 2, cost_usd: 0.01 } });
  expect(stage.run("verify", id).status).toBe(0);
});

test("what a program in the sandbox prints is shown while it runs", async () => {
  writeFileSync(stage.at("talks.py"), 'print("first")\nawait host.tool("wait")\nprint("second")\n');
  const door = stage.at("door");
  const module = join(dirname(stage.module), "waits.mjs");
  const tool = `import { existsSync } from "node:fs";
import { defineTool } from "bursar";
export const wait = defineTool({
  name: "wait", description: "Waits for a door to open.", input: { type: "object" },
  run: async () => { while (!existsSync(${JSON.stringify(door)})) await new Promise((go) => setTimeout(go, 20)); },
});\n`;
  writeFileSync(module, tool);
  const args = [MAIN, "run", stage.at("talks.py"), "--module", module, "--quiet"];
  const child = spawn(process.execPath, args, { env: { ...process.env, ...stage.env } });
  let stdout = "";
  child.stdout.on("data", (data) => {
    stdout += String(data);
  });
  const over = new Promise<number | null>((resolve) => child.once("close", resolve));
  await until("it has printed", () => stdout === "first\n" || child.exitCode !== null);
  writeFileSync(door, "");
  expect([await over, stdout]).toEqual([0, "first\nsecond\n"]);
});

test("a plan runs with children, keeps to its own budget, and names the place of a tool that nobody offers", () => {
  const plan = join(AGENTS, "survey.rtfs");
  expect(stage.json("run", plan, ...TOOLS, ...TOPICS, "--id", "plan")).toMatchObject({
    status: 0,
    said: { result: { notes: 5 }, usage: { subcalls: 2, cost_usd: 0.01 } },
  });
  const { said } = stage.json("show", "plan");
  expect(said).toMatchObject({ children: [{ id: "plan.0" }, { id: "plan.1" }], budgets: [{ budget: "plan" }] });
  const lonely = stage.run("run", plan, ...TOPICS);
  expect(lonely.status).toBe(1);
  expect(lonely.stderr).toMatch(/survey\.rtfs:\d+:\d+ nobody offers the tool notes\/search/);
  writeFileSync(stage.at("broken.rtfs"), "(run :budget {:stps 3} :body 1)");
  expect(stage.run("run", stage.at("broken.rtfs")).stderr).toContain("did you mean");
});

test("a child that waits is approved by its parent's name, and nothing is done twice", () => {
  const plan = join(AGENTS, "survey.rtfs");
  const paused = stage.run("run", plan, ...TOOLS, ...TOPICS, "--id", "fan", "--budget", "cost_usd=0.01");
  expect(paused.status).toBe(4);
  expect(paused.stderr).toMatch(/of budget +fan/);
  const { status, said } = stage.json("approve", "fan", ...TOOLS, "--program", plan);
  expect(status).toBe(0);
  expect(said).toMatchObject({ result: { notes: 5 }, usage: { steps: 4, subcalls: 2, cost_usd: 0.01 } });
});

test("a program that fails says so, and what it printed is kept", () => {
  writeFileSync(stage.at("raise.py"), 'print("before")\nraise ValueError("no more")\n');
  const { status, stdout, stderr } = stage.run("run", stage.at("raise.py"), "--id", "raises");
  expect([status, stdout]).toEqual([1, "before\n"]);
  expect(stderr).toContain("program_failed: ValueError: no more");
  expect(stage.run("show", "raises").stdout).toContain("before");
});

test("a program that fails is told what the sandbox makes of it, in every command", () => {
  writeFileSync(stage.at("outside.py"), 'open("/etc/passwd")\n');
  const { stderr } = stage.run("run", stage.at("outside.py"), "--id", "outside");
  expect(stderr).toMatch(/── [\d.]+[kM] fuel, no limit\n {2}PathRestriction: FileNotFoundError: \/etc\/passwd\n/);
  expect(stderr).toContain("  • Use absolute paths like '/app/data.txt'");
  const shown = stage.run("show", "outside").stdout;
  expect(shown).toMatch(/sandbox\n {2}── [\d.]+[kM] fuel, no limit\n {2}PathRestriction/);
  expect(stage.json("show", "outside").said).toMatchObject({
    execution: { fuel_analysis: { budget: null }, error_guidance: { error_type: "PathRestriction" } },
  });
});

test("an endless program is stopped by its limits", () => {
  writeFileSync(stage.at("endless.js"), "for (;;) {}");
  const { status, said } = stage.json("run", stage.at("endless.js"), "--budget", "fuel=50000000");
  expect(status).toBe(5);
  expect(said).toMatchObject({ failure: { code: "exhausted", dimension: "fuel" }, usage: { fuel: 50_000_000 } });
  expect(said).toMatchObject({
    execution: { fuel_analysis: { status: "exhausted" }, error_guidance: { error_type: "OutOfFuel" } },
  });
});

test("escape sequences of a program reach no file as anything else, and its name no terminal", () => {
  writeFileSync(stage.at("paints.py"), 'print("\\x1b[31mred")\n');
  const { stdout, stderr } = stage.run("run", stage.at("paints.py"), "--id", "paints");
  expect(stdout).toBe("\x1b[31mred\n");
  expect(stderr).not.toContain("\x1b");
  expect(stage.run("show", "paints").stdout).not.toContain("\x1b");
});

/** The example in TypeScript, compiled as its readers would where Node does not load it. */
function compiled(): { readonly folder: string; readonly file: string } {
  const folder = mkdtempSync(join(ROOT, "node_modules", ".cache", "bursar-agents-"));
  writeFileSync(join(folder, "review.ts"), readFileSync(join(AGENTS, "review.ts")));
  const compilerOptions = { outDir: "out", rootDir: ".", composite: false, declaration: false, types: ["node"] };
  const further = { declarationMap: false, sourceMap: false, isolatedDeclarations: false };
  const options = { ...compilerOptions, ...further };
  const config = { extends: join(ROOT, "tsconfig.base.json"), compilerOptions: options, include: ["*.ts"] };
  writeFileSync(join(folder, "tsconfig.json"), JSON.stringify(config));
  writeFileSync(join(folder, "package.json"), '{"type":"module"}');
  const tsc = join(ROOT, "node_modules", "typescript", "bin", "tsc");
  execFileSync(process.execPath, [tsc, "-p", folder], { encoding: "utf8", stdio: "pipe" });
  return { folder, file: join(folder, "out", "review.js") };
}

test("an agent in TypeScript asks a model, and hands over what it has when its tokens end", async () => {
  const { folder, file } = compiled();
  try {
    await using model = await openScriptedModel({
      script: () => "More about water, please.",
      apiKey: "k-1",
      models: ["gpt-4o"],
    });
    // Its price stands in the table.
    const served = ["--model-url", model.url, "--model", "gpt-4o"];
    const budget = [
      "--budget",
      "llm_tokens=1200",
      "--exhaustion",
      "llm_tokens=hard_stop",
      "--wrap-up",
      "llm_tokens=700",
    ];
    const args = ["run", file, "--agent", "--id", "review", "--input", '{"subject":"tea"}', ...served, ...budget];
    const { status, stdout } = await spawned([...args, "--json"], { ...stage.env, BURSAR_MODEL_KEY: "k-1" });
    const said = JSON.parse(stdout);
    expect(said).toMatchObject({ status: "failed", failure: { dimension: "llm_tokens" }, result: { complete: false } });
    expect(status).toBe(5);
    expect(said.usage.llm_tokens).toBeGreaterThan(0);
    expect(said.usage.cost_usd).toBeGreaterThan(0);
    expect(said.usage.llm_tokens).toBeLessThanOrEqual(1200);
    expect(said.result.draft).toBe("More about water, please.");
    const free = await spawned(["run", file, "--agent", "--input", '{"subject":"tea"}'], stage.env);
    expect(free).toMatchObject({ status: 1, stderr: expect.stringContaining("no_model") });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});

test("TypeScript is loaded where Node can, and refused with advice where it cannot", () => {
  const loads = "typescript" in process.features && Boolean(process.features.typescript);
  const { status, stderr } = stage.run("run", join(AGENTS, "review.ts"), "--input", '{"subject":"tea"}');
  expect(status).toBe(1);
  expect(stderr).toContain(loads ? "no_model" : "use Node 22.18 or newer");
});

test("an agent has untrusted code executed in the sandbox, inside its budget", () => {
  const module = join(dirname(stage.module), "executor.mjs");
  const agent = `async (ctx, code) => (await ctx.exec("python", code)).stdout`;
  writeFileSync(
    module,
    `import { defineAgent } from "bursar";\nexport const it = defineAgent("executor", ${agent});\n`,
  );
  const { status, said } = stage.json("run", module, "--agent", "--input", JSON.stringify("print(6 * 7)"));
  expect([status, said]).toMatchObject([0, { result: "42\n", usage: { steps: 1, fuel: expect.any(Number) } }]);
  const poor = stage.json("run", module, "--agent", "--input", '"print(1)"', "--budget", "fuel=1000");
  expect([poor.status, poor.said]).toMatchObject([5, { failure: { dimension: "fuel" } }]);
});

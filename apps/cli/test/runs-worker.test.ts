import { type ChildProcess, spawn } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { openStore } from "bursar";
import { afterAll, beforeAll, expect, test } from "vitest";
import { MAIN } from "./run.js";
import { AGENTS, openStage, type Stage } from "./runs-stage.js";

let stage: Stage;
beforeAll(() => {
  stage = openStage();
});
afterAll(() => stage[Symbol.dispose]());

const started = (id: string, input: object) =>
  stage.run("run", stage.module, "--agent", "--id", id, "--detach", "--input", JSON.stringify(input));

function begin(...args: readonly string[]): ChildProcess {
  return spawn(process.execPath, [MAIN, ...args], { env: { ...process.env, ...stage.env }, stdio: "ignore" });
}

function ended(child: ChildProcess): Promise<unknown> {
  return new Promise((resolve) => child.once("exit", (code, signal) => resolve(code ?? signal)));
}

/** Waits until a run has done so many steps. */
async function untilSteps(run: string, count: number): Promise<void> {
  await using store = await openStore(stage.env.BURSAR_STORE);
  for (let look = 0; look < 1200; look++) {
    if (((await store.budget(run))?.used.steps ?? 0) >= count) return;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error(`run ${run} does not come to ${count} steps`);
}

test("a worker drives what waits; what it is not equipped for, it leaves and says so once", () => {
  started("w1", { words: ["a"] });
  started("w2", { words: ["b"] });
  const tools = join(AGENTS, "tools.mjs");
  const topics = ["--input", '{"topics":["tea"]}'];
  stage.run("run", join(AGENTS, "research.js"), "--module", tools, ...topics, "--id", "w3", "--detach");
  const lacking = stage.run("worker", "--once", "--module", tools);
  expect(lacking.status).toBe(0);
  expect(lacking.stdout).toBe("✓ completed  w3  research\n");
  expect(lacking.stderr.match(/run w1: writer needs the tool letter, the tool note; add --module/g)).toHaveLength(1);
  const { status, stdout } = stage.run("worker", "--once", "--module", stage.module, "--json");
  expect(status).toBe(0);
  const lines = stdout.trimEnd().split("\n");
  expect(lines.map((line) => JSON.parse(line).run_id).sort()).toEqual(["w1", "w2"]);
});

test("how long a request waits is a matter of the policy that the run was started under, whoever drives it", () => {
  const policy = { extends: "moderate", approval_expiry_ms: "90m" };
  writeFileSync(stage.at("house.yaml"), JSON.stringify({ governance: { policies: { house: policy } } }));
  const asks = ["--budget", "steps=0", "--exhaustion", "steps=approval_required", "--input", '{"words":["p"]}'];
  const house = ["--config", stage.at("house.yaml"), "--policy", "house"];
  stage.run("run", stage.module, "--agent", "--id", "expiring", "--detach", ...asks, ...house);
  stage.run("worker", "--once", "--module", stage.module);
  const { said } = stage.json("approvals");
  const { approvals } = said as unknown as { approvals: { expires: number; requested: number }[] };
  expect(approvals.map(({ expires, requested }) => expires - requested)).toEqual([90 * 60_000]);
});

test("a worker says of a run that was denied by whom and why", () => {
  const asks = ["--budget", "steps=0", "--exhaustion", "steps=approval_required", "--input", '{"words":["p"]}'];
  stage.run("run", stage.module, "--agent", "--id", "dear", ...asks);
  expect(stage.run("deny", "dear", "--detach", "--as", "ann", "--reason", "too dear").status).toBe(0);
  const { stdout } = stage.run("worker", "--once", "--module", stage.module);
  expect(stdout).toBe("✗ denied  dear  writer  more steps was denied by ann: too dear\n");
});

test("killed in the middle, a worker leaves a run that another process ends with the same result", async () => {
  started("killed", { words: ["one"], sleep_ms: 2000, after: ["two"] });
  const worker = begin("worker", "--module", stage.module, "--claim", "2s");
  await untilSteps("killed", 1);
  worker.kill("SIGKILL");
  expect(await ended(worker)).toBe("SIGKILL");
  expect(stage.json("show", "killed").said).toMatchObject({ status: "running" });
  const { status, said } = stage.json("resume", "killed", "--module", stage.module);
  expect(status).toBe(0);
  expect(said).toMatchObject({ result: "ONE TWO", usage: { steps: 2, cost_usd: 0.04 } });
  const notes = readFileSync(stage.at("notes"), "utf8").split("\n");
  expect(notes.filter((word) => word === "one" || word === "two")).toEqual(["one", "two"]);
  expect(stage.run("verify", "killed").status).toBe(0);
});

test("told to stop, a worker lets go, and the run can be resumed", async () => {
  started("stopped", { words: ["x"], sleep_ms: 2000 });
  const worker = begin("worker", "--module", stage.module, "--claim", "2s");
  await untilSteps("stopped", 1);
  worker.kill("SIGTERM");
  expect(await ended(worker)).toBe(0);
  const { said } = stage.json("resume", "stopped", "--module", stage.module);
  expect(said).toMatchObject({ status: "completed", result: "X", usage: { steps: 1 } });
});

test("interrupted, bursar run says how to go on", async () => {
  const input = JSON.stringify({ words: ["y"], sleep_ms: 60_000 });
  const args = ["run", stage.module, "--agent", "--id", "left", "--input", input];
  const child = spawn(process.execPath, [MAIN, ...args], { env: { ...process.env, ...stage.env } });
  let said = "";
  child.stderr.on("data", (data) => {
    said += String(data);
  });
  await untilSteps("left", 1);
  child.kill("SIGINT");
  expect(await new Promise((resolve) => child.once("close", resolve))).toBe(130);
  expect(said).toContain(`bursar resume left --module ${stage.module}`);
});

test("a request is decided while a worker drives: --detach leaves the run to it, --watch waits for it", async () => {
  const asks = ["--budget", "steps=1", "--exhaustion", "steps=approval_required"];
  const args = ["run", stage.module, "--agent", "--id", "apart", ...asks, "--input", '{"words":["p","q"]}'];
  expect(stage.run(...args).status).toBe(4);
  const watcher = begin("resume", "apart", "--module", stage.module, "--watch");
  const decided = stage.run("approve", "apart", "--detach", "--extend", "steps=+3", "--as", "ann");
  expect(decided).toMatchObject({ status: 0, stdout: "✓ approved  run apart: 3 steps more\n" });
  expect(await ended(watcher)).toBe(0);
  expect(stage.json("show", "apart").said).toMatchObject({ status: "completed", result: "P Q" });
});

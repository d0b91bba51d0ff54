import { spawn } from "node:child_process";
import { writeFileSync } from "node:fs";
import { afterAll, beforeAll, expect, test } from "vitest";
import { MAIN } from "./run.js";
import { openStage, type Stage } from "./runs-stage.js";

let stage: Stage;
beforeAll(() => {
  stage = openStage();
});
afterAll(() => stage[Symbol.dispose]());

interface Hold {
  readonly call: string;
  readonly budget: string;
  readonly state: string;
  readonly amounts: Readonly<Record<string, number>>;
  readonly owner: { readonly pid: number } | null;
}

function holds(...args: readonly string[]): readonly Hold[] {
  return stage.json("holds", ...args).said.holds as never;
}

const BUSY = `
await host.tool("note", {"word": "begun"})
total = 0
for turn in range(4_000_000):
    total += turn
await host.call("result", total)
`;

test("lists what a killed process has left, settles it, and the run goes on", async () => {
  const file = stage.at("busy.py");
  writeFileSync(file, BUSY);
  const limits = ["--session", "team", "--session-budget", "fuel=100000000000"];
  const module = ["--module", stage.module];
  expect(stage.run("run", file, "--id", "busy", ...module, ...limits, "--detach").status).toBe(0);
  const args = ["worker", ...module, "--claim", "2s"];
  const child = spawn(process.execPath, [MAIN, ...args], { env: { ...process.env, ...stage.env } });
  const over = new Promise((resolve) => child.once("close", resolve));
  const computing = () => holds().filter(({ call }) => call.includes("/hold"));
  for (let found = computing(); found.length === 0; found = computing()) expect(child.exitCode).toBeNull();
  expect(stage.run("holds", "settle").stdout).toContain("nothing to settle");
  child.kill("SIGKILL");
  await over;
  expect(computing()).toMatchObject([{ budget: "busy", state: "dead", owner: { pid: child.pid } }]);
  expect(stage.run("holds").stdout).toMatch(/^dead +busy\/hold/m);
  expect(stage.run("holds", "settle").stdout).toContain("given back");
  expect(computing()).toEqual([]);
  const done = stage.json("resume", "busy", ...module).said;
  expect(done).toMatchObject({ status: "completed", result: (4_000_000 * 3_999_999) / 2, usage: { steps: 1 } });
});

import { writeFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openStage, type Stage } from "./runs-stage.js";

let stage: Stage;
beforeAll(() => {
  stage = openStage();
  const input = JSON.stringify({ words: ["a"] });
  const limits = ["--session", "crew", "--session-budget", "steps=9"];
  stage.run("run", stage.module, "--agent", "--input", input, "--id", "nightly", "--quiet", ...limits);
});
afterAll(() => stage[Symbol.dispose]());

describe("the server's own chain", () => {
  test("has not begun before anything has happened to the server", () => {
    for (const command of ["chain", "verify"]) {
      const { status, stdout, stderr } = stage.run(command, "bursar:server");
      expect([status, stdout]).toEqual([1, ""]);
      expect(stderr).toContain("the chain bursar:server has not begun");
    }
  });

  test("is shown, written out, and verified in the store and as a file", () => {
    stage.run("tokens", "create", "--name", "ann", "--role", "viewer");
    const shown = stage.run("chain", "bursar:server");
    expect(shown).toMatchObject({ status: 0, stderr: "" });
    expect(shown.stdout).toMatch(/^\d+ +[\d:.]+ +TokenCreated +\{.*"ann"/m);
    const head = stage.run("chain", "bursar:server", "--quiet").stdout.trim();
    expect(head).toMatch(/^bursar:server:\d+:[0-9a-f]{64}$/);
    expect(stage.json("verify", "bursar:server").said).toMatchObject({ ok: true, head: { chain: "bursar:server" } });
    const lines = stage.run("chain", "bursar:server", "--json").stdout;
    writeFileSync(stage.at("server.jsonl"), lines);
    expect(stage.run("verify", stage.at("server.jsonl"), "--head", head).status).toBe(0);
    writeFileSync(stage.at("forged.jsonl"), lines.replace('"ann"', '"eve"'));
    expect(stage.run("verify", stage.at("forged.jsonl"), "--head", head).status).toBe(1);
  });
});

test("so is the chain of any budget, by its full name alone", () => {
  expect(stage.run("chain", "session:crew").stdout).toMatch(/^0 +[\d:.]+ +Allocation/);
  expect(stage.run("verify", "session:crew").status).toBe(0);
  // A key's budget in a session writes into the session's.
  stage.run("keys", "create", "--session", "crew", "--limits", "steps=1");
  const [key] = stage.json("keys").said.keys as unknown as readonly [{ readonly budget: string }];
  expect(stage.run("chain", key.budget, "--quiet").stdout).toMatch(/^session:crew:/);
  expect(stage.run("chain", "session:cr")).toMatchObject({ status: 1, stderr: expect.stringContaining("no run") });
});

test("what is known as a run is taken for one, also by its beginning", () => {
  const whole = stage.run("chain", "nightly", "--quiet").stdout;
  expect(whole).toMatch(/^nightly:/);
  expect(stage.run("chain", "nigh", "--quiet").stdout).toBe(whole);
});

import { writeFileSync } from "node:fs";
import { expect, test } from "vitest";
import { openStage } from "./runs-stage.js";

test("--quiet leaves the exit code, and what fails", () => {
  using stage = openStage();
  const input = JSON.stringify({ words: ["a"] });
  expect(stage.run("run", stage.module, "--agent", "--input", input, "--id", "nightly", "--quiet").status).toBe(0);
  for (const args of [["store", "check"], ["store"], ["verify", "nightly"], ["config"]]) {
    expect(stage.run(...args, "--quiet")).toEqual({ status: 0, stdout: "", stderr: "" });
    expect(stage.run(...args).stdout).not.toBe("");
  }
  writeFileSync(stage.at("bad.jsonl"), "{}\n");
  expect(stage.run("verify", stage.at("bad.jsonl"), "--quiet")).toEqual({ status: 1, stdout: "", stderr: "" });
  expect(stage.json("verify", "nightly", "--quiet").said).toMatchObject({ ok: true });
  const { status, stderr } = stage.run("store", "check", "--quiet", "--store", `sqlite:${stage.at("none.db")}`);
  expect(status).toBe(1);
  expect(stderr).toContain("none.db");
});

test("--quiet leaves of lists the ids, of what is made the secret, and of what is looked at what programs need", () => {
  using stage = openStage();
  const input = JSON.stringify({ words: ["a", "b"], letter: true });
  expect(stage.run("run", stage.module, "--agent", "--input", input, "--id", "nightly", "--quiet").status).toBe(4);
  const quietly = (...args: readonly string[]) => {
    const { status, stdout, stderr } = stage.run(...args, "--quiet");
    expect([args, status, stderr]).toEqual([args, 0, ""]);
    return stdout;
  };
  expect(quietly("runs")).toBe("nightly\n");
  expect(quietly("show", "nightly")).toBe("paused\n");
  expect(quietly("approvals")).toMatch(/^[\w-]{36}\n$/);
  const head = quietly("chain", "nightly");
  expect(head).toMatch(/^nightly:\d+:[0-9a-f]{64}\n$/);
  expect(stage.run("verify", "nightly", "--head", head.trim()).status).toBe(0);
  for (const made of [
    ["keys", "create", "--limits", "steps=1"],
    ["tokens", "create", "--name", "ann", "--role", "viewer"],
  ]) {
    expect(quietly(...made)).toMatch(/^bursar_\S+\n$/);
  }
  const [key, token] = [quietly("keys").trim(), quietly("tokens").trim()];
  expect([key, token]).toEqual([expect.stringMatching(/^[0-9a-f]{16}$/), expect.stringMatching(/^[0-9a-f]{16}$/)]);
  expect(quietly("keys", "rotate", key)).toMatch(/^bursar_\S+\n$/);
  for (const ended of [
    ["keys", "revoke", key],
    ["tokens", "revoke", token],
    ["cancel", "nightly"],
  ]) {
    expect(quietly(...ended)).toBe("");
  }
  const { stdout } = stage.run("cancel", "nightly", "--quiet");
  expect(stdout).toBe("");
});

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

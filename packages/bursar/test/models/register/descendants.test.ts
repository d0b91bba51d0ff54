import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { SqliteStore } from "bursar/sqlite";
import { openScriptedModel } from "bursar/testing";
import { describe, expect, test } from "vitest";
import { runProgram } from "./program.js";

const SAYS = { kind: "text", text: "Hi.", usage: { prompt_tokens: 100, completion_tokens: 20 } } as const;
const ROOT = fileURLToPath(new URL("../../../../../", import.meta.url));

const KINDS = { thread: 13, process: 19 } as const;

describe.each(["flag", "options"] as const)("registered by %s", (form) => {
  test.each(["thread", "process"] as const)("every %s is paid for by the budget of the program", async (kind) => {
    const folder = await mkdtemp(join(tmpdir(), "bursar-descendants-"));
    await using model = await openScriptedModel({ script: () => SAYS });
    try {
      const path = join(folder, "budgets.db");
      const env = {
        BURSAR_BUDGET: "steps=100",
        // As a user writes it: from the folder that the program is started in.
        BURSAR_STORE: `sqlite:${relative(ROOT, path)}`,
        BURSAR_NAME: "family",
      };
      const args = [kind, folder, `${model.origin}/v1/chat/completions`];
      const { outcomes, stderr } = await runProgram("descendants", args, env, model, form);
      expect(
        outcomes.filter(({ text }) => text !== "200"),
        stderr,
      ).toEqual([]);
      expect(outcomes).toHaveLength(KINDS[kind]);
      expect(model.count).toBe(outcomes.length);
      await using store = await SqliteStore.open({ path });
      expect((await store.budget("family"))?.used.steps).toBe(outcomes.length);
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  });
});

test("a child process allows the members that the program's own variables allow, and no others", async () => {
  const folder = await mkdtemp(join(tmpdir(), "bursar-allowed-"));
  await using model = await openScriptedModel({ script: () => SAYS });
  try {
    const env = { BURSAR_BUDGET: "steps=5", BURSAR_STORE: `sqlite:${join(folder, "budgets.db")}` };
    const allow = `${new URL(model.origin).host}=fallbacks`;
    const url = `${model.origin}/v1/chat/completions`;
    const kept = await runProgram("allowed", [url], { ...env, BURSAR_ALLOW: allow }, model);
    expect(kept.outcomes, kept.stderr).toEqual([{ text: "200" }]);
    const planted = await runProgram("allowed", [url, allow], env, model);
    expect(planted.outcomes, planted.stderr).toEqual([{ text: "402" }]);
    expect(model.count).toBe(1);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
});

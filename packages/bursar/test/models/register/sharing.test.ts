import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { sha256Hex, verifyChain } from "bursar";
import { SqliteStore } from "bursar/sqlite";
import { expect, test } from "vitest";
import { openScriptedModel } from "../../../src/testing/scripted-model.js";
import { postgresEngine } from "../../stores/engines.js";
import { runProgram } from "./program.js";

const SAYS = { kind: "text", text: "Hi.", usage: { prompt_tokens: 100, completion_tokens: 20 } } as const;

test("threads and child processes share one budget in a store that all of them find", async () => {
  const folder = await mkdtemp(join(tmpdir(), "bursar-register-"));
  const path = join(folder, "budgets.db");
  await using model = await openScriptedModel({ script: () => SAYS });
  try {
    const env = { BURSAR_BUDGET: "steps=4,cost_usd=1", BURSAR_STORE: `sqlite:${path}`, BURSAR_NAME: "crowd" };
    const { code, outcomes, stderr } = await runProgram("crowd", ["3", "3"], env, model);

    expect(code).toBe(0);
    expect(outcomes.filter(({ value }) => value === "Hi.")).toHaveLength(4);
    expect(outcomes.filter(({ status }) => status === 402)).toHaveLength(2);
    expect(model.count).toBe(4);
    expect(stderr).toContain(`its chain is in sqlite:${path}`);

    await using store = await SqliteStore.open({ path });
    const budget = await store.budget("crowd");
    expect(budget?.used).toMatchObject({ steps: 4, llm_tokens: 480 });
    expect(await verifyChain(store.chain("crowd"), { hash: sha256Hex })).toMatchObject({ ok: true });

    // Started again under the same name, it goes on with what is left: nothing.
    const again = await runProgram("openai", ["chat"], env, model);
    expect(again.outcomes[0]).toMatchObject({ status: 402 });
    expect(model.count).toBe(4);
    expect(`${stderr}${again.stderr}`).not.toContain("was opened before");
    // Whoever states other limits for it is told that they do not count.
    const other = await runProgram("openai", ["chat"], { ...env, BURSAR_BUDGET: "steps=9,fuel=5,cost_usd=1" }, model);
    expect(other.outcomes[0]).toMatchObject({ status: 402 });
    expect(other.stderr).toContain("budget crowd was opened before, with steps=4, no limit of fuel; that holds");
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
});

test("a budget in memory is not multiplied by threads and processes: they are refused", async () => {
  await using model = await openScriptedModel({ script: () => SAYS });
  const { outcomes, stderr } = await runProgram("crowd", ["1", "1"], { BURSAR_BUDGET: "steps=4" }, model);
  expect(outcomes).toHaveLength(2);
  for (const { error } of outcomes) expect(error).toContain("set BURSAR_STORE");
  expect(model.count).toBe(0);
  expect(stderr).toContain("no model was called");
});

test("processes share a budget on a server, and end when they are done", async () => {
  await using engine = await postgresEngine();
  await using model = await openScriptedModel({ script: () => SAYS });
  const env = { BURSAR_BUDGET: "steps=4", BURSAR_STORE: engine.fresh(), BURSAR_NAME: "crowd" };

  const { code, outcomes, stderr } = await runProgram("crowd", ["1", "2"], env, model);
  const again = await runProgram("openai", ["chat", "chat"], env, model);

  expect([code, again.code]).toEqual([0, 0]);
  expect(outcomes.filter(({ value }) => value === "Hi.")).toHaveLength(3);
  expect(again.outcomes.filter(({ value }) => value === "Hi.")).toHaveLength(1);
  expect(model.count).toBe(4);
  expect(stderr).toContain("its chain is in postgres://127.0.0.1");
  // The way to the store holds a password.
  expect(`${stderr}${again.stderr}`).not.toContain("postgres:postgres");
});

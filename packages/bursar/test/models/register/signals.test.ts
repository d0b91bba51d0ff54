import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { SqliteStore } from "bursar/sqlite";
import { describe, expect, test } from "vitest";
import { openDatabase } from "../../../src/stores/sqlite/driver.js";
import type { ScriptedAnswer } from "../../../src/testing/scripted/answer.js";
import { openScriptedModel, type ScriptedModel } from "../../../src/testing/scripted-model.js";
import { type Started, startProgram } from "./program.js";

const SAYS = { kind: "text", text: "Hi.", usage: { prompt_tokens: 100, completion_tokens: 20 } } as const;
const HANGS = { kind: "hang" } as const;
const STOPS = { kind: "half", text: "one two three four", events: 3, ending: "hang" } as const;
const BUDGET = { BURSAR_BUDGET: "steps=5" };
const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

/** How often something stands in a text. */
function times(text: string, what: string): number {
  return text.split(what).length - 1;
}

/** Waits until a program has said something, however long that takes it. */
function said({ child }: Started, what: string): Promise<void> {
  return new Promise((resolve) => {
    let text = "";
    child.stderr?.on("data", (piece) => {
      text += piece;
      if (text.includes(what)) resolve();
    });
  });
}

describe.each(SIGNALS)("%s", (signal) => {
  test("ends a program that does not listen, once it has said what was used", async () => {
    await using model = await openScriptedModel({ script: () => SAYS });
    const program = startProgram("killed", ["not", "chat", "chat"], BUDGET, model);
    await said(program, "ready");
    program.child.kill(signal);

    const { code, signal: died, stderr } = await program.ended;

    expect([code, died]).toEqual([null, signal]);
    expect(times(stderr, "2 model calls, 0 refusals")).toBe(1);
    expect(stderr).toContain("steps 3");
  });

  test("is left to a program that listens: it ends as it likes", async () => {
    await using model = await openScriptedModel({ script: () => SAYS });
    const program = startProgram("killed", ["exit", "chat"], BUDGET, model);
    await said(program, "ready");
    program.child.kill(signal);

    const { code, signal: died, stderr } = await program.ended;

    expect([code, died]).toEqual([7, null]);
    expect(times(stderr, "1 model call, 0 refusals")).toBe(1);
  });

  test("is left to a library that ends the process only where nobody else listens", async () => {
    await using model = await openScriptedModel({ script: () => SAYS });
    const program = startProgram("killed", ["alone", "chat"], BUDGET, model);
    await said(program, "ready");
    program.child.kill(signal);

    const { code, signal: died, stderr } = await program.ended;

    expect([code, died]).toEqual([null, signal]);
    expect(times(stderr, "cleaned up alone")).toBe(1);
    expect(times(stderr, "1 model call, 0 refusals")).toBe(1);
  });
});

test("a program that stays in spite of a signal goes on as if nobody else had heard it", async () => {
  await using model = await openScriptedModel({ script: () => SAYS });
  const program = startProgram("killed", ["stay", "chat"], BUDGET, model);
  await said(program, "ready");
  for (const round of [1, 2, 3]) {
    const heard = said(program, `heard ${round}`);
    program.child.kill("SIGINT");
    await heard;
  }

  const { code, signal, stderr } = await program.ended;

  expect([code, signal]).toEqual([0, null]);
  expect(times(stderr, "1 model call, 0 refusals")).toBe(1);
});

test("a program that listens once dies of the second signal, and the summary comes then", async () => {
  await using model = await openScriptedModel({ script: () => SAYS });
  const program = startProgram("killed", ["once", "chat"], BUDGET, model);
  await said(program, "ready");
  const heard = said(program, "heard 1");
  program.child.kill("SIGINT");
  await heard;
  program.child.kill("SIGINT");

  const { signal, stderr } = await program.ended;

  expect(signal).toBe("SIGINT");
  expect(stderr.indexOf("heard 1")).toBeLessThan(stderr.indexOf("1 model call"));
  expect(times(stderr, "1 model call, 0 refusals")).toBe(1);
});

/** What is done with a program that has had one answer and waits for a second, its budget in a file. */
async function withFile(
  kind: "chat" | "stream",
  unfinished: ScriptedAnswer,
  work: (program: Started, model: ScriptedModel, path: string) => Promise<void>,
): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), "bursar-signals-"));
  const path = join(folder, "budgets.db");
  try {
    await using model = await openScriptedModel({ script: [SAYS, unfinished] });
    const env = { BURSAR_BUDGET: "steps=5,cost_usd=1", BURSAR_STORE: `sqlite:${path}`, BURSAR_NAME: "killed" };
    const program = startProgram("killed", ["not", "chat", kind], env, model);
    await expect.poll(() => model.count, { timeout: 30_000 }).toBe(2);
    await work(program, model, path);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

describe.each([
  ["chat", HANGS],
  ["stream", STOPS],
] as const)("what is under way as a %s when a signal comes", (kind, unfinished) => {
  test("is settled in the store first; the program does not hear of it", async () => {
    await withFile(kind, unfinished, async ({ child, ended }, model, path) => {
      child.kill("SIGTERM");

      const { signal, stderr } = await ended;

      expect(signal).toBe("SIGTERM");
      expect(stderr).toContain("2 model calls, 1 of them failed, 0 refusals");
      expect(stderr).not.toContain("the program has seen");
      await expect.poll(() => model.aborted).toBe(1);
      await using store = await SqliteStore.open({ path });
      const budget = await store.budget("killed");
      expect(budget?.used).toMatchObject({ steps: 2 });
      expect(budget?.reserved.steps ?? 0).toBe(0);
      // Nobody has said what the second took, so it is charged more than nothing.
      expect(budget?.used.llm_tokens).toBeGreaterThan(120);
    });
  });
});

test.each([
  ["does not keep a process from dying", [], "SIGTERM"],
  ["is not waited for when a second signal comes", ["SIGINT"], "SIGINT"],
] as const)("a store that does not answer %s", async (_, more, of) => {
  await withFile("chat", HANGS, async ({ child, ended }, model, path) => {
    const database = openDatabase(path);
    database.exec("BEGIN IMMEDIATE");
    try {
      child.kill("SIGTERM");
      await expect.poll(() => model.aborted).toBe(1);
      for (const signal of more) child.kill(signal);

      const { signal, stderr } = await ended;

      expect(signal).toBe(of);
      // The second is not settled, and so is held until it expires.
      expect(times(stderr, "1 model call, 0 refusals")).toBe(1);
    } finally {
      database.close();
    }
  });
});

import { type ChildProcess, fork } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { openStore } from "bursar";
import { expect, test } from "vitest";
import { verifyChain } from "../../../src/core/chain/verify.js";
import { sha256Hex } from "../../../src/runtime/crypto.js";

import type { BatchFault, BatchQuestion } from "../../../src/testing/scripted/batching.js";
import { openScriptedModel } from "../../../src/testing/scripted-model.js";
import { COST_NANO, ECHO, MODEL } from "./scene.js";

const WORKER = fileURLToPath(new URL("./children/worker.mjs", import.meta.url));

/** At which questions the process that asks is killed, and whether what it asked for happens all the same. */
const PLANS: readonly (readonly [question: BatchQuestion, done: boolean])[] = [
  ["create", true],
  ["look", true],
  ["results", false],
  ["create", false],
  ["results", true],
];

test.each(["openai", "anthropic"] as const)(
  "processes that are killed with -9 in the middle of everything, at %s",
  async (provider) => {
    const folder = mkdtempSync(join(tmpdir(), "bursar-batch-"));
    let child: ChildProcess | null = null;
    let killed = 0;
    const fault = (question: BatchQuestion): BatchFault | null => {
      const [wanted, done] = PLANS[killed] ?? [null, false];
      if (wanted !== question) return null;
      killed++;
      child?.kill("SIGKILL");
      return { kind: "cut", done };
    };
    await using server = await openScriptedModel({ script: ECHO, models: [MODEL], batches: { fault } });
    const url = provider === "openai" ? server.url : server.origin;
    const path = `sqlite:${join(folder, "bursar.db")}`;
    try {
      let result: unknown = null;
      for (let process = 0; process < 10 && result === null; process++) {
        result = await new Promise((resolve, reject) => {
          child = fork(WORKER, [path, provider, url]);
          child.once("message", (message: { result: unknown }) => resolve(message.result));
          child.once("exit", (code) =>
            code === null || code === 0 ? resolve(null) : reject(new Error(`it ended with ${code}`)),
          );
        });
      }
      expect({ result, killed }).toEqual({ result: "You said: one two ree", killed: PLANS.length });
      // The script has seen each of the four calls once.
      expect(server.count).toBe(4);
      await using store = await openStore(path);
      const budget = await store.budget("r");
      expect(budget).toMatchObject({ ended: true, used: { cost_usd: 4 * COST_NANO, steps: 4 } });
      expect(Object.values(budget?.reserved ?? {}).every((amount) => amount === 0)).toBe(true);
      const lines: string[] = [];
      for await (const line of store.chain("r")) lines.push(line);
      expect(await verifyChain(lines, { hash: sha256Hex })).toMatchObject({ ok: true });
    } finally {
      (child as ChildProcess | null)?.kill("SIGKILL");
      rmSync(folder, { recursive: true, force: true });
    }
  },
  120_000,
);

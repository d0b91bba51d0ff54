import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { defineAgent, defineTool, openBursar, openStore, Worker } from "bursar";
import { openServer, Tokens } from "bursar/server";
import { expect, test } from "vitest";
import { verifyChain } from "../../src/core/chain/verify.js";
import { sha256Hex } from "../../src/runtime/crypto.js";
import { SERVER_CHAIN } from "../../src/runtime/server-chain.js";
import { listen } from "./listening.js";
import { opened, type Parts, TIGHT } from "./scene.js";

/** The store of SQLite runs in a thread, as it is shipped; so does all the rest here. */
const SHIPPED = { defineAgent, defineTool, openBursar, Worker, openServer, Tokens } as unknown as Parts;

test("on SQLite: a run is started, approved and completed by people who are known, and all of it outlives the server", async () => {
  const folder = mkdtempSync(join(tmpdir(), "bursar-server-"));
  const url = `sqlite:${join(folder, "runs.db")}`;
  try {
    const secrets: string[] = [];
    let id = "";
    {
      await using store = await openStore(url);
      await using at = await opened({ store, requireLogin: true }, ["agent", "operator", "admin"], SHIPPED);
      secrets.push(...(["agent", "operator", "admin"] as const).map((role) => at.secretOf(role)));
      using listener = await listen(`${at.url}/api/v1/events`, at.as("agent"));
      const body = {
        program: "talker",
        input: { words: ["a", "b", "c"] },
        limits: TIGHT.limits,
        policies: TIGHT.policies,
      };
      const started = await at.post<{ id: string }>("/api/v1/runs", body, at.as("operator"));
      id = started.body.id;
      const { pause } = await at.still(id);
      await listener.hears("of the run", ({ data }) => (data as { runs: string[] }).runs.includes(id));
      const path = `/api/v1/approvals/${pause?.approvals[0]}/approve?wait=60000`;
      const { body: decided } = await at.post<{ run: { status: string } }>(path, {}, at.as("admin"));
      expect(decided.run.status).toBe("completed");
    }
    await using store = await openStore(url);
    await using at = await opened({ store, requireLogin: true }, [], SHIPPED);
    const headers = { authorization: `Bearer ${secrets[0]}` };
    expect((await at.get(`/api/v1/runs/${id}`, headers)).body).toMatchObject({ status: "completed" });
    for (const chain of [id, SERVER_CHAIN]) {
      const lines: string[] = [];
      for await (const line of store.chain(chain)) lines.push(line);
      expect(await verifyChain(lines, { hash: sha256Hex })).toMatchObject({ ok: true });
      expect(lines.join()).toContain(chain === id ? '"approved_by":"the admin"' : '"TokenCreated"');
    }
    const files = readdirSync(folder).map((name) => readFileSync(join(folder, name)));
    for (const secret of secrets) for (const bytes of files) expect(bytes.includes(secret.slice(31))).toBe(false);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});

import { setTimeout as sleep } from "node:timers/promises";
import type { Amount } from "bursar";
import { PostgresStore } from "bursar/postgres";
import { afterAll, describe, expect, test } from "vitest";
import { type Ended, heard, startChild } from "./child.js";
import { temporaryFolder } from "./folder.js";
import { givenServer } from "./server.js";

const server = await givenServer();
afterAll(() => server[Symbol.asyncDispose]());
let schemas = 0;

async function pool(limit: number) {
  const address = { url: server.url, schema: `lease_${process.pid}_${schemas++}` };
  const store = await PostgresStore.open(address);
  const grant = { kind: "limits", limits: { steps: limit as Amount } } as const;
  await store.apply([{ op: "open", parent: null, opening: { id: "tenant", scope: "shared", grant } }]);
  const standing = async () => {
    const budget = await store.budget("tenant");
    return { used: budget?.used.steps ?? 0, reserved: budget?.reserved.steps ?? 0 };
  };
  return { address, store, standing };
}

/** How many calls a child has said it got. */
function got({ lines }: Ended): number {
  return Math.max(0, ...lines.map(({ count = 0 }) => count));
}

describe("leases of several processes on PostgreSQL", () => {
  test("uneven workers use up a limit of 100,003 exactly", async () => {
    const { address, store, standing } = await pool(100_003);
    const errand = (name: string, callers: number) => ({ address, name, callers, ttl_ms: 30_000 });
    const children = [1, 8, 64].map((callers) => startChild("lease.mjs", errand(`worker-${callers}`, callers)));
    const ended = await Promise.all(children.map(({ over }) => over));
    for (const { code, stderr } of ended) expect(code, stderr).toBe(0);
    expect(ended.reduce((sum, each) => sum + got(each), 0)).toBe(100_003);
    expect(await standing()).toEqual({ used: 100_003, reserved: 0 });
    await store[Symbol.asyncDispose]();
  });

  test("one that is idle strands nobody, and one that was stopped and comes back is fenced off", async () => {
    const { address, store, standing } = await pool(3000);
    const ttl_ms = 2000;
    const idle = startChild("lease.mjs", { address, name: "idle", callers: 1, most: 40, ttl_ms, stay: true });
    await heard(idle, ({ done }) => done === true);
    process.kill(idle.pid, "SIGSTOP");
    const busy = await startChild("lease.mjs", { address, name: "busy", callers: 8, ttl_ms }).over;
    expect(busy.code, busy.stderr).toBe(0);
    const before = await standing();
    expect(before.used).toBe(3000);
    process.kill(idle.pid, "SIGCONT");
    idle.send("leave");
    const ended = await idle.over;
    expect(ended.code, ended.stderr).toBe(0);
    // What the sleeper did not use was charged while it slept, and is not any more.
    expect(await standing()).toEqual({ used: got(busy) + got(ended), reserved: 0 });
    expect(got(busy) + got(ended)).toBeLessThanOrEqual(3000);
    await store[Symbol.asyncDispose]();
  });

  test("one that is killed is charged for what its log proves", async () => {
    await using folder = await temporaryFolder();
    const { address, store, standing } = await pool(1_000_000);
    const ttl_ms = 1000;
    const callers = 4;
    const errand = { address, callers, ttl_ms, log: folder.path };
    const dead = startChild("lease.mjs", { ...errand, name: "dead" });
    await heard(dead, ({ count = 0 }) => count > 200);
    dead.kill();
    const said = got(await dead.over);
    const next = startChild("lease.mjs", { ...errand, name: "next", most: 1, callers: 1, stay: true });
    // Charged in full at first or not at all, then by its log.
    const isProved = (used: number) => used - 1 >= said && used - 1 <= said + callers;
    for (let look = 0; look < 500; look++) {
      await store.apply([{ op: "expire" }]);
      const { used, reserved } = await standing();
      if (isProved(used) && reserved === 0) break;
      await sleep(100);
    }
    next.send("leave");
    const ended = await next.over;
    expect(ended.code, ended.stderr).toBe(0);
    const { used, reserved } = await standing();
    expect(reserved).toBe(0);
    expect(isProved(used), `${used} used, ${said} acknowledged`).toBe(true);
    await store[Symbol.asyncDispose]();
  });
});

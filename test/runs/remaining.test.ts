import {
  defineAgent,
  defineTool,
  guestProgram,
  MemoryStore,
  openBursar,
  type Program,
  sha256Hex,
  verifyChain,
} from "bursar";
import { compilePlan } from "bursar/plans";
import { expect, test } from "vitest";
import { openTestSandbox } from "./sandbox.js";

const sandbox = await openTestSandbox();

const SOURCES = {
  python: {
    language: "python",
    code: `
import asyncio
await asyncio.gather(host.tool("note", {}), host.tool("note", {}))
with open("/app/notes.txt", "w") as notes: notes.write("x" * 100)
left = await host.budget()
await host.call("result", left)
`,
  },
  javascript: {
    language: "javascript",
    code: `
await Promise.all([host.tool("note", {}), host.tool("note", {})]);
await host.call("result", await host.budget());
`,
  },
  plan: {
    language: "javascript",
    code: compilePlan('(run :name "p" :body (do (call :note {}) (call :note {})))').code,
  },
} as const;

const agent = defineAgent("typescript", async (ctx) => {
  await Promise.all([ctx.tool("note", {}), ctx.tool("note", {})]);
  return ctx.budget();
});

function program(name: string): Program {
  if (name === "typescript") return agent;
  const source = { packages: [], memory_bytes: 64 * 1024 * 1024, ...SOURCES[name as keyof typeof SOURCES] };
  return guestProgram(name, source, async () => sandbox);
}

interface Link {
  readonly event?: string;
  readonly data: Record<string, unknown>;
}

async function linksOf(store: MemoryStore): Promise<readonly Link[]> {
  const lines: string[] = [];
  for await (const line of store.chain("r")) lines.push(line);
  expect(await verifyChain(lines, { hash: sha256Hex })).toMatchObject({ ok: true });
  return lines.map((line) => JSON.parse(line));
}

test.each(["python", "javascript", "plan", "typescript"])(
  "in the chain of a run in %s, what remains is the limit minus what was used, and what is held stands beside it",
  async (name) => {
    const store = new MemoryStore();
    const note = defineTool({
      name: "note",
      description: "Takes a note.",
      input: { type: "object" },
      quote: { storage_write_bytes: 5 },
      run: () => ({ usage: { storage_write_bytes: 2 } }),
    });
    const bursar = openBursar({ store, tools: [note], programs: [program(name)] });
    const limits = { steps: 20, fuel: 50_000_000_000, storage_write_bytes: 1000, wall_clock_ms: null };
    const done = await bursar.run(name, {}, { id: "r", limits, wrap_up: { steps: 3 } });
    expect(done.status).toBe("completed");
    const used: Record<string, number> = { steps: 0, fuel: 0, storage_write_bytes: 0 };
    const consumptions = (await linksOf(store)).filter(({ event }) => event === "Consumption");
    expect(consumptions.length).toBeGreaterThan(1);
    for (const { data } of consumptions) {
      const resources = data.resources as Record<string, number>;
      for (const id of Object.keys(used)) {
        used[id] = (used[id] ?? 0) + (resources[id] ?? 0);
        const left = (limits[id as keyof typeof limits] ?? 0) - used[id];
        expect([id, (data.remaining as Record<string, number>)[id]]).toEqual([id, left]);
        const held = (data.held as Record<string, number>)[id] ?? 0;
        expect(held).toBeLessThanOrEqual(left);
      }
      expect(data.held).toMatchObject({ steps: expect.any(Number) });
    }
    if (done.status === "completed" && name !== "plan") {
      const seen = done.result as { remaining: { steps: number }; held: { steps: number } };
      expect([seen.remaining.steps, seen.held.steps]).toEqual([18, 3]);
    }
  },
);

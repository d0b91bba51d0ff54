import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  type Amounts,
  type BudgetLimits,
  defineTool,
  guestProgram,
  MemoryStore,
  openBursar,
  type Program,
  type RunResult,
  type StartOptions,
} from "bursar";
import { describe, expect, test } from "vitest";
import { ANN, openTestSandbox } from "./sandbox.js";

const sandbox = await openTestSandbox();

/** Tries to write, and says how much it could. */
const WRITES = `
def write(size):
    try:
        with open("/app/file", "ab", buffering=0) as file:
            return file.write(b"x" * size)
    except OSError:
        return "full"
`;

/** Writes some, then too much, asks, and writes again. */
const ASKING = `${WRITES}
wrote = [write(600)]
await host.tool("note", {})
wrote.append(write(5000))
await host.tool("note", {})
wrote.append(write(5000))
await host.call("result", wrote)
`;

/** Fails where it cannot write. */
const PLAIN = `
await host.tool("note", {})
with open("/app/file", "wb", buffering=0) as file:
    size = file.write(b"x" * 600)
    size += file.write(b"x" * 5000)
await host.call("result", size)
`;

function python(name: string, code: string): Program {
  const source = { language: "python", code, packages: [], memory_bytes: 64 * 1024 * 1024 } as const;
  return guestProgram(name, source, async () => sandbox);
}

function world(code: string, note: (store: MemoryStore) => Promise<void> = async () => {}) {
  const store = new MemoryStore();
  let notes = 0;
  const tool = defineTool({
    name: "note",
    description: "Counts.",
    input: { type: "object" },
    run: async () => {
      await note(store);
      return ++notes;
    },
  });
  const programs = [python("writer", code), python("both", BOTH)];
  const process = () => openBursar({ store, tools: [tool], programs });
  const run = (limits: BudgetLimits, options: Partial<StartOptions> = {}, program = "writer") =>
    process().run(program, {}, { id: "r", limits: { wall_clock_ms: null, ...limits }, ...options });
  const approve = (storage_write_bytes?: number) =>
    process().approve("r/checkpoint", {
      by: ANN,
      ...(storage_write_bytes !== undefined && { extensions: { storage_write_bytes } }),
    });
  const chain = async () => {
    const lines: string[] = [];
    for await (const line of store.chain("r")) lines.push(line);
    return lines.join("\n");
  };
  return { run, approve, chain, notes: () => notes };
}

const BOTH = `
both = [host.spawn("writer", {}, {"budget": "share"}) for _ in range(2)]
await host.call("result", [await each for each in both])
`;

const exhausted = /"event":"Exhausted".*storage_write_bytes|storage_write_bytes.*"event":"Exhausted"/;
const written = ({ usage }: RunResult) => Number(usage.storage_write_bytes);

test("what a program computes is recorded with its duration", async () => {
  const { run, chain } = world(ASKING);
  expect(await run({ storage_write_bytes: null })).toMatchObject({ status: "completed" });
  const links = (await chain()).split("\n").map((line) => JSON.parse(line));
  const consumed = links.filter(({ event }) => event === "Consumption");
  expect(new Set(consumed.map(({ data }) => data.capability_id))).toEqual(new Set(["sandbox", "note"]));
  for (const { data } of consumed) {
    expect([data.capability_id, data.metadata]).toEqual([
      data.capability_id,
      {
        duration_ms: expect.any(Number),
        ...(data.resources.cost_usd !== undefined && { cost_usd: expect.any(Number) }),
      },
    ]);
  }
});

describe("a program that cannot write what it wants to", () => {
  test("ends with the run where the policy is to stop", async () => {
    const { run, chain, notes } = world(ASKING);
    const stopped = await run({ storage_write_bytes: 1000 });
    expect(stopped).toMatchObject({ status: "failed", failure: { dimension: "storage_write_bytes" } });
    expect(written(stopped)).toBe(600);
    expect(await chain()).toMatch(exhausted);
    // Nothing was done for it any more.
    expect(notes()).toBe(1);
  });

  test("ends so in its last words too", async () => {
    const { run, chain } = world(`${WRITES}\nwrite(5000)\n`);
    const stopped = await run({ storage_write_bytes: 1000 });
    expect(stopped).toMatchObject({ status: "failed", failure: { dimension: "storage_write_bytes" } });
    expect(await chain()).toMatch(exhausted);
  });

  test("pauses where the policy is to ask, and goes on with more room", async () => {
    const { run, approve, chain, notes } = world(ASKING);
    const policies = { storage_write_bytes: "approval_required" } as const;
    const paused = await run({ storage_write_bytes: 1000 }, { policies });
    expect(paused).toMatchObject({ status: "paused", exhausted_dimension: "storage_write_bytes" });
    expect(notes()).toBe(1);
    expect(await chain()).toMatch(exhausted);
    const done = await approve(9000);
    expect(done).toMatchObject({ status: "completed", result: [600, "full", 5000] });
    expect(written(done)).toBe(5600);
    expect(notes()).toBe(2);
  });

  test("goes on after one yes, as suggested", async () => {
    for (const [code, result] of [
      [ASKING, [600, "full", 5000]],
      [PLAIN, 5600],
    ] as const) {
      const { run, approve } = world(code);
      const policies = { storage_write_bytes: "approval_required" } as const;
      expect(await run({ storage_write_bytes: 1000 }, { policies })).toMatchObject({ status: "paused" });
      expect(await approve()).toMatchObject({ status: "completed", result });
    }
  });

  test("goes on so in JavaScript too", async () => {
    const code = `import * as std from "std";
std.writeFile("/app/file", "x".repeat(5000));
await host.call("result", 5000);
`;
    const source = { language: "javascript", code, packages: [], memory_bytes: 64 * 1024 * 1024 } as const;
    const program = guestProgram("writer", source, async () => sandbox);
    const bursar = openBursar({ store: new MemoryStore(), programs: [program] });
    const policies = { storage_write_bytes: "approval_required" } as const;
    const limits = { wall_clock_ms: null, storage_write_bytes: 1000 };
    expect(await bursar.run("writer", {}, { id: "r", limits, policies })).toMatchObject({ status: "paused" });
    expect(await bursar.approve("r/checkpoint", { by: ANN })).toMatchObject({ status: "completed", result: 5000 });
  });

  test("is given no room that is too small for what it could not write", async () => {
    const { run, approve } = world(ASKING);
    const policies = { storage_write_bytes: "approval_required" } as const;
    await run({ storage_write_bytes: 1000 }, { policies });
    await expect(approve(100)).rejects.toMatchObject({
      code: "too_little",
      message: expect.stringContaining("storage_write_bytes=+4600"),
    });
    const done = await approve(9000);
    expect(done).toMatchObject({ status: "completed", result: [600, "full", 5000] });
    expect(written(done)).toBe(5600);
  });

  test("is executed again from where it was saved when it had come to its end", async () => {
    const { run, approve } = world(PLAIN);
    const policies = { storage_write_bytes: "approval_required" } as const;
    const paused = await run({ storage_write_bytes: 1000 }, { policies });
    expect(paused).toMatchObject({ status: "paused", exhausted_dimension: "storage_write_bytes" });
    const done = await approve(4600);
    expect(done).toMatchObject({ status: "completed", result: 5600 });
    // What it has written again counts once.
    expect(written(done)).toBe(5600);
  });

  test("writes on where the policy is to warn", async () => {
    const { run, chain } = world(ASKING);
    const done = await run({ storage_write_bytes: 1000 }, { policies: { storage_write_bytes: "soft_warn" } });
    expect(done).toMatchObject({ status: "completed", result: [600, 5000, 5000] });
    expect(written(done)).toBe(10_600);
    expect(await chain()).toMatch(exhausted);
  });
});

test("what a budget was extended by while a program waited is there for it", async () => {
  const additional = { storage_write_bytes: 10_000 } as unknown as Amounts;
  const { run } = world(ASKING, async (store) => {
    await store.apply([{ op: "extend", budget: "r", additional, approved_by: "ann", reason: "room", must: true }]);
  });
  const done = await run({ storage_write_bytes: 1000 });
  expect(done).toMatchObject({ status: "completed", result: [600, 5000, 5000] });
});

test("what tools have written is not a program's own when it goes on elsewhere", async () => {
  const folder = await mkdtemp(join(tmpdir(), "bursar-storage-"));
  const keep = defineTool({
    name: "keep",
    description: "Writes a file.",
    input: { type: "object" },
    run: (_: object, { files }) => files.write(join(folder, "kept"), "x".repeat(300)),
  });
  const code = `${WRITES}
await host.tool("keep", {})
await host.tool("note", {})
await host.tool("note", {})
await host.call("result", [write(600), write(300)])
`;
  const note = defineTool({ name: "note", description: "Nothing.", input: { type: "object" }, run: () => null });
  const store = new MemoryStore();
  const process = () => openBursar({ store, tools: [keep, note], programs: [python("writer", code)] });
  const limits = { steps: 2, storage_write_bytes: 1000, wall_clock_ms: null };
  const policies = { steps: "approval_required", storage_write_bytes: "hard_stop" } as const;
  expect(await process().run("writer", {}, { id: "r", limits, policies })).toMatchObject({ status: "paused" });
  const stopped = await process().approve("r/checkpoint", { by: ANN, extensions: { steps: 10 } });
  expect(stopped).toMatchObject({ status: "failed", failure: { dimension: "storage_write_bytes" } });
  expect(written(stopped)).toBeLessThanOrEqual(1000);
  await rm(folder, { recursive: true });
});

test("programs that write at once write no more than they have together", async () => {
  const { run } = world(`${WRITES}\nawait host.tool("note", {})\nawait host.call("result", write(600))\n`);
  const done = await run({ storage_write_bytes: 1000 }, {}, "both");
  expect(written(done)).toBe(600);
  const enough = await world(`${WRITES}\nawait host.tool("note", {})\nawait host.call("result", write(600))\n`).run(
    { storage_write_bytes: 1201 },
    {},
    "both",
  );
  expect(enough).toMatchObject({ status: "completed", result: [600, 600] });
});

test("a program that asks for several things at once has the same room for its files after each answer", async () => {
  const { run } = world(`
import asyncio
async def write(name):
    for turn in range(5):
        await host.tool("note", {})
        with open(f"/app/{name}", "a") as file:
            file.write("x" * 100)
await asyncio.gather(*[write(name) for name in "abcd"])
await host.call("result", "written")
`);
  const done = await run({ storage_write_bytes: 1_000_000 });
  expect(done).toMatchObject({ status: "completed", result: "written" });
  expect(written(done)).toBe(2000);
});

test("a program that writes nothing needs no room", async () => {
  const { run } = world(`await host.tool("note", {})\nawait host.call("result", 1)\n`);
  expect(await run({ storage_write_bytes: 0 })).toMatchObject({ status: "completed", result: 1 });
});

test("a program under a limit of fuel goes on when its steps are used up, as long as it asks for none", async () => {
  const { run } = world(`await host.tool("note", {})\nawait host.call("result", 1)\n`);
  expect(await run({ steps: 1, fuel: 1_000_000_000 })).toMatchObject({ status: "completed", result: 1 });
});

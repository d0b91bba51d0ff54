import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { openSandbox, type Sandbox } from "@bursar/sandbox";
import {
  type Bursar,
  type BursarOptions,
  defineAgent,
  defineTool,
  guestProgram,
  MemoryStore,
  openBursar,
  parseLine,
  reviveGuest,
  Worker,
} from "bursar";
import { compilePlan, planProgram, revivePlan } from "bursar/plans";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openNextBuild } from "./next-build.js";
import { ANN } from "./sandbox.js";

// What becomes of paused runs where the sandbox is another: it has another key, or another build of the guests.

const cacheFolder = fileURLToPath(new URL("../../node_modules/.cache/bursar-sandbox-tests", import.meta.url));
const folder = mkdtempSync(join(tmpdir(), "bursar-other-sandbox-"));
const keyFile = join(folder, "one.key");

let one: Sandbox;
let otherKey: Sandbox;
let nextBuild: Sandbox;

beforeAll(async () => {
  one = await openSandbox({ cacheFolder, workers: 1, keyFile });
  otherKey = await openSandbox({ cacheFolder, workers: 1, keyFile: join(folder, "other.key") });
  nextBuild = await openNextBuild({ cacheFolder, keyFile });
}, 120_000);
afterAll(async () => {
  await Promise.all([one, otherKey, nextBuild].map((each) => each?.[Symbol.asyncDispose]()));
  rmSync(folder, { recursive: true, force: true });
});

/** So many answers that the journal has three parts. */
const CALLS = 60;
const PAUSES_AT = 57;

const PYTHON = `
import random, time
began, chance = time.time(), random.random()
order = list({"tea", "coffee", "water", str(chance)})
open("/app/kept.txt", "w").write("x" * 1000)
total = 0
for turn in range(${CALLS}):
    total += await host.tool("note", {"text": f"{turn} {chance} {order[0]}"})
    sum(range(10_000))
kept = open("/app/kept.txt").read()
print("done")
await host.call("result", {"total": total, "chance": chance, "kept": len(kept), "later": time.time() >= began})
`;
const JAVASCRIPT = `
const [began, chance] = [Date.now(), Math.random()];
let total = 0;
for (let turn = 0; turn < ${CALLS}; turn++) {
  total += await host.tool("note", { text: turn + " " + chance });
}
console.log("done");
await host.call("result", { total, chance, kept: 1000, later: Date.now() >= began });
`;
const PLAN = `(run :name "noting" :body (reduce + (map (fn [turn] (call :note {:text (str "plan " turn)})) (range ${CALLS}))))`;
const PLAIN = { packages: [], memory_bytes: 64 * 1024 * 1024 };

class World {
  readonly store = new MemoryStore();
  readonly noted: string[] = [];

  at(sandbox: Sandbox, more: Partial<BursarOptions> = {}): Bursar {
    const open = async () => sandbox;
    const note = defineTool({
      name: "note",
      description: "Writes a line down.",
      input: { type: "object", properties: { text: { type: "string" } }, required: ["text"] },
      run: ({ text }: { text: string }) => {
        this.noted.push(text);
        return text.length;
      },
    });
    return openBursar({
      store: this.store,
      tools: [note],
      revive: (ref) => reviveGuest(ref, open) ?? revivePlan(ref, open),
      ...more,
    });
  }

  async events(run: string): Promise<readonly string[]> {
    const events: string[] = [];
    for await (const line of this.store.chain(run)) events.push(parseLine(line).action_type);
    return events;
  }
}

const PROGRAMS = {
  python: guestProgram("python", { ...PLAIN, language: "python", code: PYTHON }, async () => one),
  javascript: guestProgram("javascript", { ...PLAIN, language: "javascript", code: JAVASCRIPT }, async () => one),
  plan: planProgram(compilePlan(PLAN), async () => one),
};
const LIMITS = { steps: PAUSES_AT, wall_clock_ms: 3_600_000 };
const TERMS = { id: "r", limits: LIMITS, policies: { steps: "approval_required" } } as const;

async function paused(kind: keyof typeof PROGRAMS, terms: object = {}): Promise<World> {
  const world = new World();
  const result = await world.at(one).run(PROGRAMS[kind], null, { ...TERMS, ...terms });
  expect(result).toMatchObject({ status: "paused", exhausted_dimension: "steps" });
  return world;
}

const YES = { by: ANN, extensions: { steps: 100 } };

describe.each(["python", "javascript", "plan"] as const)("a paused %s run", (kind) => {
  test("goes on with another build of the guest, from the journal, and nothing is done twice", async () => {
    const straight = await paused(kind);
    const expected = await straight.at(one).approve("r/checkpoint", YES);
    expect(expected).toMatchObject({ status: "completed" });
    const world = await paused(kind);
    const done = await world.at(nextBuild).approve("r/checkpoint", YES);
    expect(done).toMatchObject({ status: "completed", output: expected.output });
    expect(done.status === "completed" && expected.status === "completed" && done.result).toEqual(
      expected.status === "completed" ? expected.result : null,
    );
    expect(world.noted).toHaveLength(CALLS);
    expect(world.noted).toEqual(straight.noted);
    const { steps, storage_write_bytes } = expected.usage;
    expect(done.usage).toMatchObject({ steps, storage_write_bytes });
    // What was computed and written before was paid for before.
    const [fuel, before] = [Number(done.usage.fuel), Number(expected.usage.fuel)];
    expect(fuel / before).toBeGreaterThan(0.9);
    expect(fuel / before).toBeLessThan(1.2);
  });

  test("can be saved by the next build, and goes on there", async () => {
    const world = await paused(kind);
    const again = await world.at(nextBuild).approve("r/checkpoint", { by: ANN, extensions: { steps: 1 } });
    expect(again).toMatchObject({ status: "paused", exhausted_dimension: "steps" });
    expect(await world.at(nextBuild).approve("r/checkpoint", YES)).toMatchObject({ status: "completed" });
    expect(world.noted).toHaveLength(CALLS);
  });

  test("is not touched where the key is another, and says which one is missing", async () => {
    const world = await paused(kind);
    const away = world.at(otherKey);
    const missing = await away.missingFor("r");
    expect(missing).toEqual([expect.stringContaining("BURSAR_SANDBOX_KEY")]);
    expect(missing[0]).toContain(String(await one.keyFingerprint()));
    expect(await world.at(one).missingFor("r")).toEqual([]);
    // The yes is recorded for a process that can go on.
    expect(await away.approve("r/checkpoint", YES)).toMatchObject({ status: "queued" });
    const before = await world.events("r");
    const told: unknown[] = [];
    {
      await using worker = new Worker({ bursar: away, failed: (error) => told.push(error) });
      await worker.drain();
      await worker.look();
    }
    expect(told[0]).toMatchObject({ code: "not_equipped", message: expect.stringContaining("BURSAR_SANDBOX_KEY") });
    expect(await world.events("r")).toEqual(before);
    const budget = await world.store.budget("r");
    expect(budget?.watch.since).toBeNull();
    expect(await world.at(one).outcome("r")).toMatchObject({ status: "completed" });
    expect(world.noted).toHaveLength(CALLS);
  });
});

test("a run whose child cannot be brought back here is not touched either, and goes on where both can", async () => {
  const world = new World();
  const parent = defineAgent("parent", (context) => context.spawn("python", null, "share"));
  const programs = [parent, PROGRAMS.python];
  const here = world.at(one, { programs });
  expect(await here.run("parent", null, TERMS)).toMatchObject({ status: "paused" });
  const away = world.at(otherKey, { programs: [parent] });
  expect(await away.missingFor("r")).toEqual([expect.stringContaining("BURSAR_SANDBOX_KEY")]);
  await here.decide("r/checkpoint", "approve", YES);
  const before = await world.events("r");
  {
    await using worker = new Worker({ bursar: away });
    await worker.drain();
  }
  expect(await world.events("r")).toEqual(before);
  expect(await away.missingFor("r")).toEqual([expect.stringContaining("BURSAR_SANDBOX_KEY")]);
  expect(await here.missingFor("r")).toEqual([]);
  expect(await here.outcome("r")).toMatchObject({ status: "completed" });
  expect(world.noted).toHaveLength(CALLS);
  expect(await here.find("r")).not.toHaveProperty("awaits");
});

test("a run and its child go on in a fleet where no worker has what both need", async () => {
  const world = new World();
  const parent = defineAgent("parent", (context) => context.spawn("python", null, "share"));
  const both = world.at(one, { programs: [parent, PROGRAMS.python] });
  expect(await both.run("parent", null, TERMS)).toMatchObject({ status: "paused" });
  const trusted = world.at(otherKey, { programs: [parent] });
  const guests = world.at(one);
  await both.decide("r/checkpoint", "approve", { by: ANN, extensions: { steps: 1 } });
  const workers = [trusted, guests].map((bursar) => new Worker({ bursar, every_ms: 20 }));
  for (const worker of workers) worker.start();
  const stands = async (id: string, status: string) => {
    while ((await both.find(id)).status !== status) await new Promise((resolve) => setTimeout(resolve, 20));
  };
  // The child asks again, and is answered by the name of the run above it.
  await Promise.all([stands("r", "paused"), stands("r.0", "paused")]);
  await both.decide("r/checkpoint", "approve", YES);
  await stands("r", "completed");
  expect(world.noted).toHaveLength(CALLS);
  for (const worker of workers) await worker[Symbol.asyncDispose]();
});

test.each([
  [
    "python",
    'import builtins\nfor turn in range(3):\n    await host.tool("note", {"text": f"{turn} {hasattr(builtins, \'is_next_build\')}"})',
  ],
  [
    "javascript",
    'for (let turn = 0; turn < 3; turn++) await host.tool("note", { text: turn + " " + typeof isNextBuild });',
  ],
] as const)(
  "a %s run that does something else with another build pauses, and the old build goes on",
  async (language, code) => {
    const world = new World();
    const program = guestProgram("telling", { ...PLAIN, language, code }, async () => one);
    await world.at(one).run(program, null, { ...TERMS, limits: { ...LIMITS, steps: 2 } });
    const stopped = await world.at(nextBuild).approve("r/checkpoint", YES);
    expect(stopped).toMatchObject({
      status: "paused",
      approvals: [],
      problem: expect.stringContaining("as its effect 0"),
    });
    expect(world.noted).toHaveLength(2);
    expect(await world.at(one).resume("r")).toMatchObject({ status: "completed" });
    expect(world.noted).toHaveLength(3);
  },
);

test("a run whose key is not known beforehand is let go of with its clock still, and not tried again at once", async () => {
  const world = await paused("javascript");
  const blind: Sandbox = Object.create(otherKey, { keyFingerprint: { value: undefined } });
  const away = world.at(blind);
  await expect(away.approve("r/checkpoint", YES)).resolves.toMatchObject({ status: "queued" });
  await expect(away.drive("r")).rejects.toMatchObject({ code: "guest_unavailable" });
  expect((await world.events("r")).filter((event) => event === "RunClaimed")).toHaveLength(2);
  expect((await world.store.budget("r"))?.watch.since).toBeNull();
  expect(await world.at(one).outcome("r")).toMatchObject({ status: "completed" });
});

test("a sandbox that cannot be opened fails no run", async () => {
  const world = new World();
  const broken = openBursar({ store: world.store, claim_ms: 60_000 });
  const program = guestProgram("python", { ...PLAIN, language: "python", code: "print(1)" }, async () => {
    throw new Error("no WebAssembly here");
  });
  await expect(broken.run(program, null, { id: "r" })).rejects.toThrow("no WebAssembly here");
  expect(await broken.find("r")).toMatchObject({ status: "queued" });
  expect(await world.at(one).outcome("r")).toMatchObject({ status: "completed", output: { stdout: "1\n" } });
});

test("a run whose packages are not here is left to a worker that has them", async () => {
  const world = new World();
  const source = { ...PLAIN, packages: ["no-such-package"], language: "python", code: "print(1)" } as const;
  await expect(
    world.at(one).run(
      guestProgram("p", source, async () => one),
      null,
      { id: "r" },
    ),
  ).rejects.toThrow("no-such-package has not been added");
  expect(await world.events("r")).not.toContain("RunClaimed");
});

test("a snapshot that is damaged in the store is not needed", async () => {
  const world = await paused("javascript");
  const document = await world.store.document("session", "r/checkpoint");
  if (document === null) throw new Error("it has saved nothing");
  const { saved, ...rest } = document.body as { saved: { session: string } };
  const session = Buffer.from("garbage").toString("base64");
  await world.store.apply([{ op: "put", ...document, body: { ...rest, saved: { ...saved, session } } as never }]);
  expect(await world.at(one).approve("r/checkpoint", YES)).toMatchObject({ status: "completed" });
  expect(world.noted).toHaveLength(CALLS);
});

import {
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

const MIB = 1024 * 1024;
/** More than an interpreter takes by itself, and less than one with the large array. */
const LIMIT = 40 * MIB;
const POLICIES = { memory_peak_bytes: "approval_required" } as const;

type Language = "python" | "javascript";

/** Tries to have 60 MB, three times, and says whether it could; it goes on either way. */
const CATCHING: Readonly<Record<Language, string>> = {
  python: `
def have():
    try:
        return len(bytearray(60_000_000)) > 0
    except MemoryError:
        return "full"

had = [have()]
await host.tool("note", {})
had.append(have())
await host.tool("note", {})
await host.call("result", had)
`,
  javascript: `
const have = () => {
  try {
    return new Uint8Array(60_000_000).length > 0;
  } catch {
    return "full";
  }
};
const had = [have()];
await host.tool("note", {});
had.push(have());
await host.tool("note", {});
await host.call("result", had);
`,
};

/** Fails where it has no memory. */
const PLAIN: Readonly<Record<Language, string>> = {
  python: `await host.tool("note", {})\nawait host.call("result", len(bytearray(60_000_000)))\n`,
  javascript: `await host.tool("note", {});\nawait host.call("result", new Uint8Array(60_000_000).length);\n`,
};

function world(language: Language, code: string, memory_bytes = 128 * MIB) {
  const store = new MemoryStore();
  let notes = 0;
  const tool = defineTool({ name: "note", description: "Counts.", input: { type: "object" }, run: () => ++notes });
  const source = { language, code, packages: [], memory_bytes } as const;
  const program: Program = guestProgram("hungry", source, async () => sandbox);
  const process = () => openBursar({ store, tools: [tool], programs: [program] });
  const run = (limits: BudgetLimits, options: Partial<StartOptions> = {}) =>
    process().run("hungry", {}, { id: "r", limits: { wall_clock_ms: null, ...limits }, ...options });
  const approve = (memory_peak_bytes?: number) =>
    process().approve("r/checkpoint", {
      by: ANN,
      ...(memory_peak_bytes !== undefined && { extensions: { memory_peak_bytes } }),
    });
  const chain = async () => {
    const lines: string[] = [];
    for await (const line of store.chain("r")) lines.push(line);
    return lines.join("\n");
  };
  return { run, approve, chain, notes: () => notes };
}

const exhausted = /"event":"Exhausted".*memory_peak_bytes|memory_peak_bytes.*"event":"Exhausted"/;
const peak = ({ usage }: RunResult) => Number(usage.memory_peak_bytes ?? 0);

for (const language of ["python", "javascript"] as const) {
  describe(`a ${language} program that wants more memory than its budget has`, () => {
    test("ends with the run where the policy is to stop, and never had it", async () => {
      const { run, chain, notes } = world(language, CATCHING[language]);
      const stopped = await run({ memory_peak_bytes: LIMIT });
      expect(stopped).toMatchObject({ status: "failed", failure: { dimension: "memory_peak_bytes" } });
      expect(peak(stopped)).toBeGreaterThan(0);
      expect(peak(stopped)).toBeLessThanOrEqual(LIMIT);
      expect(await chain()).toMatch(exhausted);
      // Nothing was done for it any more.
      expect(notes()).toBe(0);
    });

    test("pauses where the policy is to ask, and goes on from there with what it was given", async () => {
      const { run, approve, notes } = world(language, CATCHING[language]);
      const paused = await run({ memory_peak_bytes: LIMIT }, { policies: POLICIES });
      expect(paused).toMatchObject({ status: "paused", exhausted_dimension: "memory_peak_bytes" });
      expect([peak(paused) <= LIMIT, notes()]).toEqual([true, 0]);
      const done = await approve(60 * MIB);
      expect(done).toMatchObject({ status: "completed", result: ["full", true] });
      expect(peak(done)).toBeGreaterThan(60_000_000);
      expect(peak(done)).toBeLessThanOrEqual(LIMIT + 60 * MIB);
    });

    test("is executed again from where it was saved when it had come to its end", async () => {
      const { run, approve } = world(language, PLAIN[language]);
      const paused = await run({ memory_peak_bytes: LIMIT }, { policies: POLICIES });
      expect(paused).toMatchObject({ status: "paused", exhausted_dimension: "memory_peak_bytes" });
      expect(await approve(60 * MIB)).toMatchObject({ status: "completed", result: 60_000_000 });
    });

    test("has it after one yes, as suggested", async () => {
      for (const [code, result] of [
        [CATCHING[language], ["full", true]],
        [PLAIN[language], 60_000_000],
      ] as const) {
        const { run, approve } = world(language, code);
        expect(await run({ memory_peak_bytes: 30 * MIB }, { policies: POLICIES })).toMatchObject({ status: "paused" });
        expect(await approve()).toMatchObject({ status: "completed", result });
      }
    });

    test("has it where the policy is to warn", async () => {
      const { run, chain } = world(language, CATCHING[language]);
      const policies = { memory_peak_bytes: "soft_warn" } as const;
      const done = await run({ memory_peak_bytes: LIMIT }, { policies });
      expect(done).toMatchObject({ status: "completed", result: [true, true] });
      expect(await chain()).toMatch(exhausted);
    });

    test("does not begin where an interpreter alone is more", async () => {
      const { run, approve } = world(language, `await host.call("result", 1)`);
      const paused = await run({ memory_peak_bytes: 65_536 }, { policies: POLICIES });
      expect(paused).toMatchObject({ status: "paused", exhausted_dimension: "memory_peak_bytes" });
      expect(peak(paused)).toBe(0);
      expect(await approve(LIMIT)).toMatchObject({ status: "completed", result: 1 });
    });
  });
}

test("what a sandbox refuses by itself is the program's own trouble", async () => {
  const { run } = world("python", CATCHING.python, 32 * MIB);
  const done = await run({ memory_peak_bytes: LIMIT });
  expect(done).toMatchObject({ status: "completed", result: ["full", "full"] });
});

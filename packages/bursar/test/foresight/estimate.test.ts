import { describe, expect, it } from "vitest";
import type { Opinion, Question } from "../../src/ports/foresight.js";
import { defineTool } from "../../src/runs/tool.js";
import { MemoryStore } from "../../src/stores/memory.js";
import { FakeClock } from "../../src/testing/clock/fake-clock.js";
import { Past, programNamed, type Taken } from "./past.js";

const SUMS = programNamed("sums");

function runs(count: number, of: (at: number) => Taken): readonly Taken[] {
  return Array.from({ length: count }, (_, at) => of(at));
}

function saying(llm_tokens: number): Opinion {
  return { dimensions: { llm_tokens: { median: llm_tokens / 2, upper: llm_tokens } }, about: `about ${llm_tokens}` };
}

describe("an estimate", () => {
  it("is none when nobody knows anything", async () => {
    expect(await new Past(new MemoryStore()).estimate(SUMS)).toEqual({ estimate: null, notes: [], unread: null });
  });

  it("leaves out what no run has used, and knows what some have", async () => {
    const past = new Past(new MemoryStore());
    const taken = (at: number) => ({ used: { steps: 5, ...(at % 10 === 0 && { llm_tokens: 900 }) } });
    await past.add(SUMS, ...runs(100, taken));
    const { estimate } = await past.estimate(SUMS);
    expect(estimate?.dimensions).toEqual({
      steps: { median: 5, upper: 5, source: "history" },
      llm_tokens: { median: 0, upper: 900, source: "history" },
    });
  });

  it("tells programs apart, also those with names that cannot be kept as they are", async () => {
    const past = new Past(new MemoryStore());
    const [long, other] = ["a", "b"].map((end) => programNamed(`${"x".repeat(2000)}${end}`));
    const odd = programNamed("line\nbreak");
    if (long === undefined || other === undefined) throw new Error("there are two");
    await past.add(long, ...runs(20, () => ({ used: { steps: 1 } })));
    await past.add(other, ...runs(20, () => ({ used: { steps: 2 } })));
    await past.add(odd, ...runs(20, () => ({ used: { steps: 3 } })));
    const upper = async (program: typeof SUMS) => (await past.estimate(program)).estimate?.dimensions.steps?.upper;
    expect([await upper(long), await upper(other), await upper(odd)]).toEqual([1, 2, 3]);
  });

  it("follows the size of the input over orders of magnitude, and beyond what was seen", async () => {
    const past = new Past(new MemoryStore());
    const sizes = [30, 100, 300, 1000, 3000, 10_000, 30_000];
    await past.add(
      SUMS,
      ...runs(210, (at) => {
        const bytes = sizes[at % sizes.length] as number;
        return { bytes, used: { llm_tokens: Math.round(bytes * 10 * (1 + (at % 10) / 100)) } };
      }),
    );
    for (const bytes of [30, 500, 2000, 30_000, 300_000]) {
      const { median = 0, upper = 0 } = (await past.estimate(SUMS, bytes)).estimate?.dimensions.llm_tokens ?? {};
      expect(median / bytes).toBeGreaterThan(8);
      expect(upper / bytes).toBeLessThan(14);
      expect(upper / bytes).toBeGreaterThan(9);
    }
  });

  it("takes an input that is like none before for proportionally dearer, and does not decide alone then", async () => {
    const past = new Past(new MemoryStore());
    await past.add(SUMS, ...runs(50, () => ({ bytes: 100, used: { llm_tokens: 1000 } })));
    const { estimate } = await past.estimate(SUMS, 100_000);
    expect(estimate?.dimensions.llm_tokens?.upper).toBeGreaterThan(900_000);
    expect(estimate?.opinions[0]).toMatchObject({
      samples: 0,
      about: expect.stringContaining("none had nearly as large"),
    });
  });

  it("stays sane when a byte more or less seems to make all the difference", async () => {
    const past = new Past(new MemoryStore());
    await past.add(
      SUMS,
      ...runs(100, (at) => ({ bytes: at % 2 === 0 ? 7 : 8, used: { steps: at % 2 === 0 ? 5 : 50 } })),
    );
    expect((await past.estimate(SUMS, 9)).estimate?.dimensions.steps?.upper).toBeLessThan(100);
    expect((await past.estimate(SUMS, 800)).estimate?.dimensions.steps?.upper).toBeLessThan(10_000);
  });

  it("does not take a smaller input than any before for cheaper", async () => {
    const past = new Past(new MemoryStore());
    await past.add(
      SUMS,
      ...runs(100, (at) => ({ bytes: 1000 + 100 * at, used: { llm_tokens: 10 * (1000 + 100 * at) } })),
    );
    expect((await past.estimate(SUMS, 10)).estimate?.dimensions.llm_tokens?.median).toBeGreaterThan(9000);
  });

  it("lets the past decide from ten runs of the version on, and before that the widest that anybody says", async () => {
    const past = new Past(new MemoryStore());
    const program = programNamed("sums", "1", { expects: async () => saying(50_000) });
    await past.add(program, ...runs(9, () => ({ used: { llm_tokens: 1000 } })));
    const before = (await past.estimate(program)).estimate;
    expect(before?.dimensions.llm_tokens).toEqual({ median: 25_000, upper: 50_000, source: "program" });
    expect(before?.opinions.map(({ source, samples }) => [source, samples])).toEqual([
      ["history", 9],
      ["program", 0],
    ]);
    await past.add(program, { used: { llm_tokens: 1000 } });
    const after = (await past.estimate(program)).estimate;
    expect(after?.dimensions.llm_tokens).toEqual({ median: 1000, upper: 1000, source: "history" });
    expect(after?.opinions).toHaveLength(2);
    const newer = { ...program, digest: "sums 2" };
    expect((await past.estimate(newer)).estimate?.dimensions.llm_tokens?.source).toBe("program");
  });

  it("takes the limits that a program declares for what it will use, but for those that only warn", async () => {
    const past = new Past(new MemoryStore());
    const terms = {
      limits: { llm_tokens: 900, steps: 5, cost_usd: 1, fuel: null },
      policies: { cost_usd: "soft_warn" },
      session_limits: { steps: 3, depth: 2 },
      from: "sums.rtfs",
    } as const;
    const program = { ...programNamed("sums"), terms };
    const { estimate } = await past.estimate(program);
    expect(estimate?.dimensions).toEqual({
      llm_tokens: { median: 900, upper: 900, source: "program" },
      steps: { median: 3, upper: 3, source: "program" },
      depth: { median: 2, upper: 2, source: "program" },
    });
    expect(estimate?.opinions.map(({ about }) => about)).toEqual(["the limits that sums.rtfs declares, used up"]);
    // A program that says more of itself is asked, and a past that is long enough decides alone.
    const stated = { ...program, expects: async () => saying(50) };
    expect((await past.estimate(stated)).estimate?.dimensions).toMatchObject({ llm_tokens: { upper: 50 } });
    await past.add(program, ...runs(10, () => ({ used: { llm_tokens: 100 } })));
    expect((await past.estimate(program)).estimate?.dimensions.llm_tokens?.source).toBe("history");
    const none = { ...programNamed("other"), terms: { limits: { steps: null }, from: "other.rtfs" } };
    expect((await past.estimate(none)).estimate).toBeNull();
  });

  it("does not let runs that were stopped decide", async () => {
    const past = new Past(new MemoryStore());
    const program = programNamed("sums", "1", { expects: async () => saying(50_000) });
    await past.add(program, ...runs(40, () => ({ used: { llm_tokens: 1000 }, cut: true })));
    expect((await past.estimate(program)).estimate?.dimensions.llm_tokens?.upper).toBe(50_000);
  });

  it("asks the predictor only while the past is short, tells it what others say, and keeps what it said", async () => {
    const asked: Question[] = [];
    const predictor = {
      predict: async (question: Question) => {
        asked.push(question);
        return saying(70_000);
      },
    };
    const past = new Past(new MemoryStore(), { predictor });
    await past.add(SUMS, { used: { llm_tokens: 1000 } });
    const { estimate } = await past.estimate(SUMS);
    expect(estimate?.dimensions.llm_tokens).toEqual({ median: 35_000, upper: 70_000, source: "model" });
    expect(asked).toHaveLength(1);
    expect(asked[0]).toMatchObject({ program: { kind: "agent", name: "sums", source: null } });
    expect(asked[0]?.others).toMatchObject([{ about: "the last 1 run" }]);
    await past.add(SUMS, ...runs(12, () => ({ used: { llm_tokens: 1000 } })));
    await past.estimate(SUMS);
    expect(asked).toHaveLength(1);
  });

  it("notes what went wrong, and goes on with what the others say", async () => {
    const predictor = { predict: () => Promise.reject(new Error("no budget left")) };
    const program = programNamed("sums", "1", {
      expects: () => {
        throw new Error("cannot be read");
      },
    });
    const past = new Past(new MemoryStore(), { predictor });
    await past.add(program, { used: { steps: 1 } });
    const { estimate, notes, unread } = await past.estimate(program);
    expect(estimate?.dimensions.steps?.source).toBe("history");
    expect(notes).toEqual([
      "the program sums could not say what it will take: cannot be read",
      "the predictor could not say what it will take: no budget left",
    ]);
    expect(unread).toBeNull();
  });

  it("waits for nobody longer than half a minute", async () => {
    const timer = new FakeClock();
    const predictor = { predict: () => new Promise<never>(() => {}) };
    const past = new Past(new MemoryStore(), { predictor, timer });
    const estimated = past.estimate(SUMS);
    for (let turn = 0; turn < 50; turn++) await new Promise((resolve) => setImmediate(resolve));
    timer.advance(30_000);
    expect((await estimated).notes).toEqual(["the predictor could not say what it will take: no answer within 30 s"]);
  });

  it("leaves out figures that make no sense", async () => {
    const odd = { steps: { median: 9, upper: 3 }, nonsense: { median: 1, upper: 1 }, fuel: { median: -1, upper: 5 } };
    const program = programNamed("sums", "1", {
      expects: async () => ({ dimensions: { ...odd, llm_tokens: { median: Number.NaN, upper: 1 } }, about: "odd" }),
    });
    const { estimate } = await new Past(new MemoryStore()).estimate(program);
    expect(estimate?.dimensions).toEqual({ steps: { median: 3, upper: 9, source: "program" } });
  });

  it("tells a program what its tools quote and what programs below are expected to take, in circles too", async () => {
    const search = defineTool({
      name: "search",
      description: "Searches.",
      input: {},
      run: () => null,
      quote: (args) => ({ cost_usd: (args as { pages: number }).pages * 0.01 }),
    });
    const child = programNamed("child", "1", {
      expects: async (_, known) => (await known.program("child", null)) ?? saying(400),
    });
    const above = programNamed("above", "1", {
      expects: async (_, known) => {
        expect(known.tool("search", { pages: 3 })).toEqual({ cost_usd: 0.03 });
        expect(known.tool("search", null)).toBeNull();
        expect(known.tool("unknown", {})).toBeNull();
        expect(await known.model({ prompt: "hello" })).toBeNull();
        expect(await known.program("nobody", null)).toBeNull();
        return known.program("child", null);
      },
    });
    const program = (name: string) => (name === "child" ? child : null);
    const past = new Past(new MemoryStore(), { program, tools: new Map([["search", search]]) });
    const { estimate, notes } = await past.estimate(above);
    expect(notes).toEqual([]);
    expect(estimate?.dimensions.llm_tokens).toEqual({ median: 200, upper: 400, source: "program" });
  });
});

describe("the past of a program, once it was read", () => {
  const upper = async (past: Past) => (await past.estimate(SUMS)).estimate?.dimensions.steps?.upper;

  it.each([1, 15, 16, 17, 40, 300])("is brought up to date with %i runs that have ended since", async (count) => {
    const store = new MemoryStore();
    const [reader, writer] = [new Past(store), new Past(store, {}, "other")];
    await writer.add(SUMS, ...runs(30, () => ({ used: { steps: 7 } })));
    await reader.estimate(SUMS);
    await writer.add(SUMS, ...runs(count, (at) => ({ used: { steps: 100 + at } })));
    const { estimate } = await reader.estimate(SUMS);
    expect(estimate).toEqual({ ...(await new Past(store).estimate(SUMS)).estimate, made: estimate?.made });
  });

  it("is read of many programs, and of none that came in between", async () => {
    const store = new MemoryStore();
    const past = new Past(store);
    await past.add(SUMS, ...runs(30, () => ({ used: { steps: 7 } })));
    for (let number = 0; number < 80; number++) {
      const other = programNamed(`other ${number}`);
      await past.add(other, { used: { steps: 90 } });
      expect((await past.estimate(other)).estimate?.dimensions.steps?.median).toBe(90);
      expect(await upper(past)).toBe(7);
    }
  });

  it("passes over what is no sample of a run", async () => {
    const store = new MemoryStore();
    const past = new Past(store);
    await past.add(SUMS, ...runs(30, () => ({ used: { steps: 7 } })));
    const odd = { program: SUMS.name, cut: false, digest: SUMS.digest };
    const bodies = [
      {},
      { input_bytes: 100, used: { steps: 1000 } },
      { ...odd, input_bytes: -1, used: { steps: 1000 } },
      { ...odd, input_bytes: 99.5, used: { steps: 1000 } },
      { ...odd, input_bytes: 100, used: { steps: 1000.5 } },
      { ...odd, input_bytes: 100, used: { steps: "many", llm_tokens: 5 } },
    ];
    for (const [at, body] of bodies.entries()) {
      const document = {
        kind: "history",
        id: `odd ${at}`,
        budget: null,
        status: "program sums",
        body,
        version: 0,
      } as const;
      await store.apply([{ op: "put", ...document }]);
    }
    expect(await upper(past)).toBe(7);
    const { estimate } = await new Past(store).estimate(SUMS);
    expect(estimate?.dimensions).toEqual({ steps: expect.objectContaining({ median: 7, upper: 7 }) });
  });
});

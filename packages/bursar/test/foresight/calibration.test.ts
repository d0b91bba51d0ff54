import { describe, expect, it } from "vitest";
import { calibration } from "../../src/foresight/calibration.js";
import { defineAgent } from "../../src/runs/agent.js";
import { defineTool } from "../../src/runs/tool.js";
import { MemoryStore } from "../../src/stores/memory.js";
import { Theatre } from "../runs/stage.js";
import { randomOf } from "../stores/seeds.js";
import { normal } from "./normal.js";
import { Past, programNamed, type Taken } from "./past.js";

const SUMS = programNamed("sums");

function runs(count: number, of: (at: number) => Taken): readonly Taken[] {
  return Array.from({ length: count }, (_, at) => of(at));
}

/** A store in which a program was predicted to take 100 to 200 dollars, and what it took in the end. */
async function rowsOf(...taken: readonly Taken[]) {
  const store = new MemoryStore();
  const estimate = { cost_usd: { median: 100e9, upper: 200e9 } };
  await new Past(store).add(SUMS, ...taken.map((each) => ({ estimate, ...each })));
  return calibration(store);
}

describe("what was predicted beside what happened", () => {
  it("is too little to tell after a few runs", async () => {
    expect(await rowsOf(...runs(19, () => ({ used: { cost_usd: 150e9 } })))).toEqual([
      {
        program: "sums",
        dimension: "cost_usd",
        unit: "USD",
        runs: 19,
        cut: 0,
        covered: 1,
        median_error: 50,
        reached: 0.75,
        calibrated: "too_few",
      },
    ]);
  });

  it("is too tight when more than one in ten runs passes its bound", async () => {
    const [row] = await rowsOf(...runs(100, (at) => ({ used: { cost_usd: at % 8 === 0 ? 300e9 : 150e9 } })));
    expect(row).toMatchObject({ runs: 100, covered: 0.87, calibrated: "too_tight" });
  });

  it("is good when one in twenty does, or when the bound is exact", async () => {
    const [row] = await rowsOf(...runs(100, (at) => ({ used: { cost_usd: at % 20 === 0 ? 300e9 : 150e9 } })));
    expect(row).toMatchObject({ covered: 0.95, calibrated: "good" });
    const [exact] = await rowsOf(...runs(200, () => ({ used: { cost_usd: 200e9 } })));
    expect(exact).toMatchObject({ covered: 1, reached: 1, calibrated: "good" });
  });

  it("is too wide when no run comes near its bound", async () => {
    const [row] = await rowsOf(...runs(100, () => ({ used: { cost_usd: 40e9 } })));
    expect(row).toMatchObject({ covered: 1, reached: 0.2, median_error: 60, calibrated: "too_wide" });
  });

  it("counts a run that was stopped only when it had passed its bound before", async () => {
    const stopped = [
      ...runs(30, () => ({ used: { cost_usd: 10e9 }, cut: true })),
      { used: { cost_usd: 300e9 }, cut: true },
    ];
    const [row] = await rowsOf(...stopped, ...runs(9, () => ({ used: { cost_usd: 150e9 } })));
    expect(row).toMatchObject({ runs: 10, cut: 30, covered: 0.9 });
  });

  it("tells of every program, or of one, and of the latest runs alone", async () => {
    const store = new MemoryStore();
    const past = new Past(store);
    const estimate = { steps: { median: 1, upper: 2 } };
    await past.add(programNamed("b"), ...runs(30, () => ({ used: { steps: 1 }, estimate })));
    await past.add(programNamed("a"), ...runs(30, () => ({ used: { steps: 1 }, estimate })));
    await past.add(programNamed("unpredicted"), { used: { steps: 1 } });
    expect((await calibration(store)).map(({ program }) => program)).toEqual(["a", "b"]);
    expect(await calibration(store, { program: "b", limit: 25 })).toMatchObject([{ program: "b", runs: 25 }]);
    expect(await calibration(store, { program: "nobody" })).toEqual([]);
    await expect(calibration(store, { limit: 0 })).rejects.toThrow("limit is 0");
  });

  it("is good after many real runs of a program that takes what its input asks for", async () => {
    const next = randomOf(3);
    const spend = defineTool({
      name: "spend",
      description: "Costs.",
      input: { type: "object" },
      quote: { cost_usd: 0.4 },
      meter: (result) => result as { cost_usd: number },
      run: ({ cost_usd }: { cost_usd: number }) => ({ cost_usd }),
    });
    const worker = defineAgent("worker", (ctx, { text }: { text: string }) => {
      const cost_usd = Number((text.length * 1e-6 * Math.exp(0.3 * normal(next))).toFixed(9));
      return ctx.tool("spend", { cost_usd });
    });
    const theatre = new Theatre([worker], [spend]);
    await using bursar = theatre.process();
    for (let run = 0; run < 250; run++) {
      const text = "x".repeat(Math.round(10 ** (1 + 4 * next())));
      await bursar.run("worker", { text });
    }
    const row = (await calibration(theatre.store)).find(({ dimension }) => dimension === "cost_usd");
    expect(row).toMatchObject({ runs: 249, calibrated: "good" });
    expect(row?.covered).toBeGreaterThanOrEqual(0.9);
    expect(row?.covered).toBeLessThanOrEqual(0.99);
  });
});

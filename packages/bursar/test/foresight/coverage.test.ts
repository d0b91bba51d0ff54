import { join } from "node:path";
import { SqliteStore } from "bursar/sqlite";
import { describe, expect, it } from "vitest";
import type { Program } from "../../src/ports/program.js";
import type { Store } from "../../src/ports/store.js";
import { MemoryStore } from "../../src/stores/memory.js";
import { temporaryFolder } from "../stores/folder.js";
import { randomOf } from "../stores/seeds.js";
import { normal } from "./normal.js";
import { Past, programNamed } from "./past.js";

type Next = () => number;

/** One run: how large its input is, what it takes, and of which version it is. */
interface Drawn {
  readonly bytes: number;
  readonly tokens: number;
  readonly version?: string;
}

/** Inputs from ten bytes to a hundred thousand. */
function anySize(next: Next): number {
  return Math.round(10 ** (1 + 4 * next()));
}

const SHAPES: Readonly<Record<string, (next: Next, at: number) => Drawn>> = {
  "vary by a third, whatever the input": (next) => ({
    bytes: anySize(next),
    tokens: 10_000 * Math.exp(0.3 * normal(next)),
  }),
  "are proportional to the input": (next) => {
    const bytes = anySize(next);
    return { bytes, tokens: 100 * bytes * Math.exp(0.3 * normal(next)) };
  },
  "are nearly exactly proportional to the input": (next) => {
    const bytes = anySize(next);
    return { bytes, tokens: 100 * bytes * (1 + 0.05 * normal(next)) };
  },
  "have a fixed part and one by the input": (next) => {
    const bytes = anySize(next);
    return { bytes, tokens: (5000 + 10 * bytes) * Math.exp(0.2 * normal(next)) };
  },
  "grow with the root of the input": (next) => {
    const bytes = anySize(next);
    return { bytes, tokens: 100 * Math.sqrt(bytes) * Math.exp(0.5 * normal(next)) };
  },
  "rise with time": (next, at) => ({ bytes: 200, tokens: 10_000 * Math.exp(0.3 * normal(next) + 0.003 * at) }),
  "fall with time": (next, at) => ({ bytes: 200, tokens: 1_000_000 * Math.exp(0.3 * normal(next) - 0.003 * at) }),
  "have a heavy tail": (next) => ({ bytes: anySize(next), tokens: 500 * (1 - next()) ** (-1 / 1.5) }),
  "come from two kinds of work": (next) => ({
    bytes: anySize(next),
    tokens: (next() < 0.3 ? 50_000 : 2000) * (1 + 0.1 * normal(next)),
  }),
  "differ between two versions side by side": (next) => {
    const version = next() < 0.5 ? "1" : "2";
    return { bytes: 500, version, tokens: (version === "1" ? 1000 : 8000) * Math.exp(0.3 * normal(next)) };
  },
  "change with a second version": (next, at) => {
    const version = at < 200 ? "1" : "2";
    return { bytes: 500, version, tokens: (version === "1" ? 1000 : 3000) * Math.exp(0.3 * normal(next)) };
  },
};

const FIRST = 10;

/** The share of runs that did not pass what was said about them before, beginning with the eleventh. */
async function covered(store: Store, draw: (next: Next, at: number) => Drawn, runs: number, seed: number) {
  const next = randomOf(seed);
  const past = new Past(store, {}, `run-${seed}`);
  const versions = new Map<string, Program>();
  const versionOf = (name: string) => {
    const program = versions.get(name) ?? programNamed(`program of ${seed}`, name);
    versions.set(name, program);
    return program;
  };
  let kept = 0;
  let predicted = 0;
  for (let at = 0; at < runs; at++) {
    const { bytes, tokens, version = "1" } = draw(next, at);
    const program = versionOf(version);
    const llm_tokens = Math.max(1, Math.round(tokens));
    if (at >= FIRST) {
      const { estimate } = await past.estimate(program, bytes);
      predicted++;
      if (llm_tokens <= (estimate?.dimensions.llm_tokens?.upper ?? 0)) kept++;
    }
    await past.add(program, { bytes, used: { llm_tokens } });
  }
  return kept / predicted;
}

describe("what 95 of 100 runs do not pass, told by the runs before in a store", () => {
  it.each(Object.entries(SHAPES))("covers 90 to 99 % of the runs of a program whose figures %s", async (_, draw) => {
    const store = new MemoryStore();
    const share = await covered(store, draw, 400, 11);
    expect(share).toBeGreaterThanOrEqual(0.9);
    expect(share).toBeLessThanOrEqual(0.99);
  });

  it.each(Object.entries(SHAPES).filter(([name]) => !name.includes("version")))(
    "covers them soon after the tenth run, of many programs whose figures %s",
    async (_, draw) => {
      const store = new MemoryStore();
      let sum = 0;
      const programs = 50;
      for (let seed = 1; seed <= programs; seed++) sum += await covered(store, draw, 22, 1000 + seed);
      expect(sum / programs).toBeGreaterThanOrEqual(0.9);
      expect(sum / programs).toBeLessThanOrEqual(0.99);
    },
  );

  it("holds in SQLite as in memory", async () => {
    const draw = SHAPES["are proportional to the input"] as (next: Next, at: number) => Drawn;
    await using folder = await temporaryFolder();
    await using sqlite = await SqliteStore.open({ path: join(folder.path, "past.db") });
    expect(await covered(sqlite, draw, 150, 5)).toBe(await covered(new MemoryStore(), draw, 150, 5));
  });
});

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type BudgetLimits, Gate, MemoryStore, type Store, sha256Hex } from "bursar";
import { BudgetController } from "bursar/controller";
import { SqliteStore } from "bursar/sqlite";
import { type AsyncVariant, type Measured, measureAsync } from "./measure.js";
import type { Bar, Bench, Report } from "./report.js";

const CALLS = 200;
const LEVELS = 4;
const CALLERS = 64;
/** Names no limit of time, so that no call needs a signal that fires; one variant has it. */
const LIMITS: BudgetLimits = {
  cost_usd: 1e6,
  llm_tokens: 1e12,
  steps: 1e12,
  wall_clock_ms: null,
  network_egress_bytes: null,
  storage_write_bytes: null,
};
const TIMED: BudgetLimits = { ...LIMITS, wall_clock_ms: 1e9 };
const ASKED = { cost_usd: 0.02, llm_tokens: 2000 };
const ANSWER = { value: "", usage: { prompt_tokens: 900, completion_tokens: 120, total_cost_usd: 0.004 } };
/** A prime, so that steps of this width meet every leaf, and memory cannot be fetched ahead. */
const STRIDE = 7919;

const MAX_MEMORY = 8;
const MAX_CONTROLLER_NS = 10_000;
const MAX_GROWTH = 2;

export const gate: Bench = {
  name: "gate",
  about: `gate.call on a path of ${LEVELS} budgets, chain on, against SHA-256 of the two links that it writes`,
  async run(quick) {
    const rounds = quick ? 20 : 200;
    const inMemory = await measureInMemory(rounds);
    const trees = await measureTrees(quick ? [1, 100, 10_000] : [1, 100, 10_000, 100_000], rounds);
    return report(inMemory, trees, await measureOnSqlite(quick ? 5 : 50));
  },
};

function report(inMemory: readonly Measured[], trees: readonly Measured[], onSqlite: readonly Measured[]): Report {
  const [call, controller] = [inMemory[1], inMemory.at(-1)];
  const growth = Math.max(...trees.map(({ ratio }) => ratio));
  const bars: Bar[] = [
    {
      name: `gate.call in memory, path of ${LEVELS}, at most ${MAX_MEMORY} times the SHA-256 of its links`,
      measured: `${call?.ratio.toFixed(1)} x`,
      met: (call?.ratio ?? Number.NaN) <= MAX_MEMORY,
    },
    {
      name: `canProceed + record of a controller, in at most ${MAX_CONTROLLER_NS / 1000} µs`,
      measured: `${((controller?.medianNs ?? Number.NaN) / 1000).toFixed(1)} µs`,
      met: (controller?.medianNs ?? Number.NaN) <= MAX_CONTROLLER_NS,
    },
    {
      name: `flat however many budgets there are (at most ${MAX_GROWTH} times, for memory that is no longer near)`,
      measured: `up to ${growth.toFixed(2)} times the cost with one`,
      met: growth <= MAX_GROWTH,
    },
  ];
  return {
    tables: [
      { title: "one call in memory, ratio to hashing its two links", rows: inMemory },
      { title: "leaves taking turns in memory, ratio to one leaf", rows: trees },
      { title: "one call on SQLite, ratio to memory", rows: onSqlite },
    ],
    bars,
  };
}

async function measureInMemory(rounds: number): Promise<readonly Measured[]> {
  const full = await open(new MemoryStore(), LEVELS, { ...LIMITS, llm_tokens: 1 });
  const variants = [
    hashes(await linksOfACall()),
    called(`gate.call, path of ${LEVELS}`, await open(new MemoryStore(), LEVELS)),
    called("gate.call, one budget", await open(new MemoryStore(), 1)),
    called(`gate.call, path of ${LEVELS}, running time limited`, await open(new MemoryStore(), LEVELS, TIMED)),
    together(`gate.call, path of ${LEVELS}, ${CALLERS} callers`, await open(new MemoryStore(), LEVELS)),
    called("gate.call that is refused, with its reasons", full, "refused"),
    controlled(),
  ];
  return measureAsync(variants, rounds, () => {});
}

async function measureOnSqlite(rounds: number): Promise<readonly Measured[]> {
  const folder = mkdtempSync(join(tmpdir(), "bursar-bench-"));
  try {
    await using store = await SqliteStore.open({ path: join(folder, "store.db") });
    const path = await open(store, LEVELS);
    const variants = [
      called("baseline: gate.call in memory, one caller", await open(new MemoryStore(), LEVELS)),
      { ...called("gate.call on SQLite, one caller", path), operations: 10 },
      together(`gate.call on SQLite, ${CALLERS} callers`, path),
    ];
    return await measureAsync(variants, rounds, () => {});
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** A tree with so many leaves, all under one root. They are called in turns, each far from the last in memory. */
async function measureTrees(sizes: readonly number[], rounds: number): Promise<readonly Measured[]> {
  const variants: AsyncVariant[] = [];
  for (const size of sizes) {
    const store = new MemoryStore();
    const budgets = new Gate({ store });
    await budgets.open("root", { scope: "shared", limits: LIMITS });
    const leaves = Array.from({ length: size }, (_, index) => `leaf-${index}`);
    for (const leaf of leaves) await budgets.open(leaf, { parent: "root", limits: LIMITS });
    let turn = 0;
    const next = () => leaves[(turn++ * STRIDE) % size] as string;
    variants.push(called(size === 1 ? "1 leaf" : `${size.toLocaleString("en")} leaves`, { gate: budgets, next }));
  }
  return measureAsync(variants, rounds, () => {});
}

/** Where calls are made. */
interface Called {
  readonly gate: Gate;
  readonly next: () => string;
}

/** A path of budgets; the root is limited by what is given. */
async function open(store: Store, levels: number, limits: BudgetLimits = LIMITS): Promise<Called> {
  const budgets = new Gate({ store });
  for (let level = 0; level < levels; level++) {
    const parent = level === 0 ? {} : { parent: `b${level - 1}` };
    const own = level === 0 ? limits : LIMITS;
    await budgets.open(`b${level}`, { ...parent, scope: level < 2 ? "shared" : "run", limits: own });
  }
  return { gate: budgets, next: () => `b${levels - 1}` };
}

async function make({ gate, next }: Called, expected: "done" | "refused" = "done"): Promise<void> {
  const call = { budget: next(), capability_id: "llm", kind: "model", asked: ASKED } as const;
  const { kind } = await gate.call(call, async () => ANSWER);
  if (kind !== expected) throw new Error(`a call of the bench was ${kind}`);
}

function called(name: string, where: Called, expected?: "refused"): AsyncVariant {
  return {
    name,
    operations: CALLS,
    async run(operations) {
      for (let made = 0; made < operations; made++) await make(where, expected);
      await settled();
    },
  };
}

function together(name: string, where: Called): AsyncVariant {
  return {
    name,
    operations: CALLERS * 4,
    async run(operations) {
      const caller = async () => {
        for (let made = 0; made < operations / CALLERS; made++) await make(where);
      };
      await Promise.all(Array.from({ length: CALLERS }, caller));
      await settled();
    },
  };
}

/** The store in memory writes links after it has answered: a round lasts until they are written. */
async function settled(): Promise<void> {
  for (let turn = 0; turn < 4; turn++) await new Promise((resolve) => setImmediate(resolve));
}

function controlled(): AsyncVariant {
  const parent = new BudgetController({ maxCost: 1e6, maxTokens: 1e12, maxTime: 1e9, maxIterations: 1e12 });
  const child = new BudgetController(parent.getSubBudget());
  return {
    name: "canProceed + record of a controller below another",
    operations: CALLS,
    run(operations) {
      for (let made = 0; made < operations; made++) {
        if (!child.canProceed("iteration")) throw new Error("the bench's controller ran out");
        child.record({ cost: 0.000_004, inputTokens: 900, outputTokens: 120, iteration: true });
      }
    },
  };
}

/** The texts that a call of the bench has hashed: its two links, each in one piece as it comes from a store. */
async function linksOfACall(): Promise<readonly string[]> {
  const store = new MemoryStore();
  const where = await open(store, LEVELS);
  for (let warm = 0; warm < 10; warm++) await make(where);
  const lines: string[] = [];
  for await (const line of store.chain("b0")) lines.push(line);
  return lines.slice(-2).map((line) => Buffer.from(line.replace(/,"hash":"[0-9a-f]{64}"\}$/, "}")).toString());
}

function hashes(links: readonly string[]): AsyncVariant {
  return {
    name: "baseline: SHA-256 of its two links",
    operations: CALLS * 10,
    run(operations) {
      for (let made = 0; made < operations; made++) for (const link of links) sha256Hex(link);
    },
  };
}

import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { openBursar, openStore, readRun, type Store } from "bursar";
import { lookAtMachine } from "../machine.js";
import type { Measured } from "../measure.js";
import type { Bar, Bench } from "../report.js";
import { startServer } from "../store/server.js";
import { programs, tools } from "./agent.js";

const CLI = fileURLToPath(new URL("../../../apps/cli/bin/bursar.js", import.meta.url));
const MODULE = fileURLToPath(new URL("./agent.js", import.meta.url));
const RUNS = 1000;
const QUICK_RUNS = 60;
const ROUNDS = 3;
const NS = 1e9;
/** Runs a second of one process with its defaults. */
const BARS = { sqlite: 150, postgres: 80 } as const;

type Engine = keyof typeof BARS;

/** The processes that drive what is queued, as a user starts them. */
const DRIVERS: Readonly<Record<string, readonly string[]>> = {
  "bursar worker": ["worker", "--module", MODULE, "--quiet"],
  "bursar worker --once": ["worker", "--once", "--module", MODULE, "--quiet"],
  "bursar serve": ["serve", "--module", MODULE, "--port", "0"],
};

export const queue: Bench = {
  name: "queue",
  about: "queued runs of four steps, driven by one process with its defaults",
  async run(quick) {
    const folder = mkdtempSync(join(tmpdir(), "bursar-bench-queue-"));
    try {
      await using server = await startServer();
      const places = {
        sqlite: (name: string) => `sqlite:${join(folder, `${name}.db`)}`,
        postgres: (name: string) => `${server.url}?schema=${name}`,
      };
      return await measured(places, folder, quick);
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  },
};

type Places = Readonly<Record<Engine, (name: string) => string>>;

async function measured(places: Places, folder: string, quick: boolean) {
  const rates = new Map<string, number[]>();
  for (let round = 0; round < (quick ? 1 : ROUNDS); round++) {
    for (const engine of ["sqlite", "postgres"] as const) {
      for (const [index, [name, args]] of Object.entries(DRIVERS).entries()) {
        const url = places[engine](`queue_${round}_${index}`);
        const rate = await rateOf(url, args, folder, quick ? QUICK_RUNS : RUNS);
        const key = `${name}, ${engine}`;
        rates.set(key, [...(rates.get(key) ?? []), rate]);
        console.log(`  ${key}: ${rate.toFixed(0)} runs/s, load ${lookAtMachine().load[0]}`);
      }
    }
  }
  const rows: Measured[] = [];
  const bars: Bar[] = [];
  for (const [name, all] of rates) {
    const sorted = all.toSorted((a, b) => b - a);
    const median = sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
    const bar = BARS[name.endsWith("sqlite") ? "sqlite" : "postgres"];
    rows.push({ name, medianNs: NS / median, p10Ns: NS / (sorted[0] ?? median), ratio: median / bar });
    const spread = `${sorted.at(-1)?.toFixed(0)} to ${sorted[0]?.toFixed(0)}`;
    const text = `${median.toFixed(0)} runs/s (${spread}), at least ${bar}`;
    bars.push({ name, measured: text, met: median >= bar });
  }
  return { tables: [{ title: "per run of four steps; ratio of the rate to its bar", rows }], bars };
}

/** How many runs a second are driven, from the end of the first to that of the last. */
async function rateOf(url: string, args: readonly string[], folder: string, count: number): Promise<number> {
  await using store = await openStore(url);
  const bursar = openBursar({ store, tools, programs });
  for (let at = 0; at < count; at += 50) {
    const some = Array.from({ length: Math.min(50, count - at) }, () => bursar.start("four-steps", null));
    await Promise.all(some);
  }
  const env = { ...process.env, HOME: folder, BURSAR_STORE: url };
  const child = spawn(process.execPath, [CLI, ...args], { env, stdio: ["ignore", "ignore", "inherit"] });
  try {
    return await untilCompleted(store, child, count);
  } finally {
    if (child.exitCode === null) {
      child.kill("SIGTERM");
      await new Promise((resolve) => child.once("exit", resolve));
    }
  }
}

async function untilCompleted(store: Store, child: ChildProcess, count: number): Promise<number> {
  for (;;) {
    const { completed = 0 } = await store.counts("run");
    if (completed >= count) break;
    if (child.exitCode !== null)
      throw new Error(`ended with ${child.exitCode} when ${completed} of ${count} were done`);
    await sleep(200);
  }
  const ends: number[] = [];
  for await (const document of store.documents("run", "completed")) ends.push(readRun(document).ended ?? 0);
  return ((count - 1) * 1000) / (Math.max(...ends) - Math.min(...ends));
}

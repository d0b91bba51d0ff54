import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { openSandbox } from "@bursar/sandbox";
import { SqliteStore } from "bursar/sqlite";
import { type Measured, measureAsync } from "../measure.js";
import type { Bar, Bench } from "../report.js";
import { interleave, wallNs } from "../sandbox/interleave.js";
import { CACHE, PACKAGES } from "../sandbox/python-parts.js";
import { Runs } from "../store/steps.js";
import { GovernedSteps } from "./governed-steps.js";
import type { PausedMemory } from "./memory-process.js";
import { type Language, PausedGuests } from "./paused-guests.js";

const MEMORY = fileURLToPath(new URL("./memory-process.js", import.meta.url));
const MS = 1e6;
const MEGABYTE = 1024 * 1024;
const SHORT = 10;
const LONG = 10_000;
const QUICK_LONG = 300;
const PAUSED = 1000;
const QUICK_PAUSED = 40;
/** The first ones also pay for what they share, and for guests that nobody has collected yet. */
const MOST_WARM_UP = 300;

const MAX_STEP_RATIO = 2;
const MAX_PAUSE_MS = 100;
const MAX_GROWTH = 1.25;
/** One guest alone takes more; a thousand of them would take gigabytes. */
const MAX_MEGABYTES = 32;

export const runs: Bench = {
  name: "runs",
  about: "governed steps against the store's own, pausing and resuming, and what runs that stand still cost",
  async run(quick) {
    const folder = mkdtempSync(join(tmpdir(), "bursar-bench-"));
    const long = quick ? QUICK_LONG : LONG;
    try {
      const steps = await measureSteps(folder, quick);
      const { pause, python, javascript } = await measurePauses(folder, long, quick);
      const memory = measureMemory(folder, quick ? QUICK_PAUSED : PAUSED);
      return {
        tables: [
          { title: "a step of a TypeScript program on SQLite, ratio to the store's", rows: steps },
          { title: "yes, on, a step, and paused again; ratio to Python", rows: pause },
          { title: `the same in Python, ratio to that after ${SHORT} steps`, rows: python },
          { title: `the same in JavaScript, ratio to that after ${SHORT} steps`, rows: javascript },
        ],
        bars: [
          ratioBar("a governed step of a TypeScript program", steps, MAX_STEP_RATIO, "the store's own step"),
          pauseBar(pause),
          ratioBar(`resuming Python after ${long} steps`, python, MAX_GROWTH, `that after ${SHORT}`),
          ratioBar(`resuming JavaScript after ${long} steps`, javascript, MAX_GROWTH, `that after ${SHORT}`),
          memoryBar(memory),
        ],
      };
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  },
};

function ratioBar(name: string, rows: readonly Measured[], most: number, what: string): Bar {
  const ratio = rows[1]?.ratio ?? Number.NaN;
  return { name, measured: `${ratio.toFixed(2)} x ${what}, at most ${most}`, met: ratio <= most };
}

function pauseBar([python]: readonly Measured[]): Bar {
  const ms = (python?.medianNs ?? Number.NaN) / MS;
  const name = "a Python run approved, resumed, paused and saved again";
  return { name, measured: `${ms.toFixed(1)} ms, at most ${MAX_PAUSE_MS}`, met: ms <= MAX_PAUSE_MS };
}

function memoryBar({ runs, before, after }: PausedMemory): Bar {
  const [first, last] = [before, after].map((bytes) => bytes / MEGABYTE) as [number, number];
  return {
    name: `memory of ${runs} paused Python runs`,
    measured: `${first.toFixed(0)} MB at first, ${last.toFixed(0)} MB in the end, at most ${MAX_MEGABYTES} more`,
    met: last - first <= MAX_MEGABYTES,
  };
}

/** Steps come in rows, as in a program that has something to do: the end of each is written with the beginning of the next. */
async function measureSteps(folder: string, quick: boolean): Promise<readonly Measured[]> {
  await using own = await SqliteStore.open({ path: join(folder, "own.db") });
  await using governed = await SqliteStore.open({ path: join(folder, "governed.db") });
  const store = await Runs.open(own, "", 1);
  const program = await GovernedSteps.open(governed);
  const operations = quick ? 10 : 50;
  const run = async (count: number) => {
    for (let step = 0; step < count; step++) await store.step(0);
  };
  const measured = await measureAsync(
    [
      { name: "baseline: commit + journal + reserve, 8 limits", operations, run },
      { name: "ctx.model() in a session, 8 limits", operations, run: (count) => program.run(count) },
    ],
    quick ? 20 : 100,
    () => {},
  );
  await program.end();
  return measured;
}

interface Pauses {
  readonly pause: readonly Measured[];
  readonly python: readonly Measured[];
  readonly javascript: readonly Measured[];
}

/** A run goes on, takes a step and stands still again, with nothing but the disk in between: young ones, and old ones. */
async function measurePauses(folder: string, long: number, quick: boolean): Promise<Pauses> {
  await using store = await SqliteStore.open({ path: join(folder, "guests.db") });
  const places = { cacheFolder: CACHE, packagesFolder: PACKAGES, keyFile: join(folder, "key") };
  await using sandbox = await openSandbox({ ...places, workers: 1 });
  const guests = new PausedGuests(store, sandbox);
  const after = async (language: Language, steps: number, name = `after ${steps} steps`) => {
    const id = await guests.pausedAfter(language, steps);
    return { name, run: () => guests.goOn(id) };
  };
  const rounds = { rounds: quick ? 10 : 60, warmUp: quick ? 2 : 10, clock: wallNs };
  const young = [await after("python", 1, "Python"), await after("javascript", 1, "JavaScript")];
  const pause = await interleave(young, rounds);
  const both = async (language: Language) => [await after(language, SHORT), await after(language, long)];
  const python = await interleave(await both("python"), rounds);
  const javascript = await interleave(await both("javascript"), rounds);
  return { pause, python, javascript };
}

/** In a process of its own, so that what it grows by is what the runs take. */
function measureMemory(folder: string, count: number): PausedMemory {
  const counts = [Math.min(count, MOST_WARM_UP), count].map(String);
  const text = execFileSync(process.execPath, ["--expose-gc", MEMORY, folder, ...counts], { encoding: "utf8" });
  return JSON.parse(text) as PausedMemory;
}

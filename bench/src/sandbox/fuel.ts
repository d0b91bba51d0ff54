import { fileURLToPath } from "node:url";
import type { Measured } from "../measure.js";
import type { Bar, Bench } from "../report.js";
import { compare, execute, meanOf, type Runs, rowsOf } from "./comparison.js";
import { FastGuestRuns } from "./fast-guest.js";
import { quantile } from "./interleave.js";
import type { MeterTime } from "./meter-process.js";

const METER = fileURLToPath(new URL("./meter-process.js", import.meta.url));

const PYTHON_BAR = { most: 1.1, aim: 1.05 };
const JAVASCRIPT_BAR = { most: 1.35, aim: 1.2 };
const MAX_METER_SECONDS = 1;
const NS = 1e9;

export const fuel: Bench = {
  name: "sandbox-fuel",
  about: "metered guests against the same ones unmetered; the fast CPython; rewriting CPython",
  async run(quick) {
    const extent = quick ? { processes: 1, warmUp: 4, rounds: 7 } : { processes: 5, warmUp: 6, rounds: 11 };
    const runs: Record<"python" | "javascript", Runs[number][]> = { python: [], javascript: [] };
    const fast = await FastGuestRuns.open();
    const meters: MeterTime[] = [];
    for (let process = 0; process < extent.processes; process++) {
      runs.python.push(compare("python", extent));
      runs.javascript.push(compare("javascript", extent));
      fast.measure(extent);
      meters.push(JSON.parse(execute(METER, [])) as MeterTime);
    }
    return {
      tables: [
        { title: "CPython, metered, thread time, ratio to unmetered", rows: rowsOf(runs.python) },
        { title: "QuickJS, metered, thread time, ratio to unmetered", rows: rowsOf(runs.javascript) },
        ...fast.tables,
        { title: "once, in a fresh process", rows: [rewriting(meters)] },
      ],
      bars: [
        bar("CPython metered", runs.python, PYTHON_BAR),
        bar("QuickJS metered", runs.javascript, JAVASCRIPT_BAR),
        ...fast.bars,
        rewritingBar(meters),
      ],
    };
  },
};

function bar(name: string, runs: Runs, { most, aim }: { most: number; aim: number }): Bar {
  const { mean, workloads, spread } = meanOf(runs);
  return {
    name,
    measured: `${mean.toFixed(3)} x unmetered over ${workloads} workloads${spread}; at most ${most}, aim ${aim}`,
    met: mean <= most,
  };
}

function rewriting(meters: readonly MeterTime[]): Measured {
  const times = meters.map(({ threadNs }) => threadNs);
  return {
    name: "rewriting CPython, thread time",
    medianNs: quantile(times, 0.5),
    p10Ns: quantile(times, 0.1),
    ratio: 1,
  };
}

function rewritingBar(meters: readonly MeterTime[]): Bar {
  const seconds = rewriting(meters).medianNs / NS;
  return {
    name: "rewriting CPython",
    measured: `${seconds.toFixed(2)} s, at most ${MAX_METER_SECONDS}`,
    met: seconds <= MAX_METER_SECONDS,
  };
}

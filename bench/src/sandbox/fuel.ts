import { execFileSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import type { Measured } from "../measure.js";
import type { Bar, Bench } from "../report.js";
import type { WorkloadTimes } from "./fuel-process.js";
import { geometricMean, quantile } from "./interleave.js";
import type { MeterTime } from "./meter-process.js";

const WORKLOADS = fileURLToPath(new URL("./fuel-process.js", import.meta.url));
const METER = fileURLToPath(new URL("./meter-process.js", import.meta.url));

const PYTHON_BAR = { most: 1.1, aim: 1.05 };
const JAVASCRIPT_BAR = { most: 1.35, aim: 1.2 };
const MAX_METER_SECONDS = 1;
const NS = 1e9;

interface Extent {
  readonly processes: number;
  readonly warmUp: number;
  readonly rounds: number;
}

export const fuel: Bench = {
  name: "sandbox-fuel",
  about: "metered guests against the same ones unmetered; rewriting CPython",
  run(quick) {
    const extent = quick ? { processes: 1, warmUp: 4, rounds: 7 } : { processes: 5, warmUp: 6, rounds: 11 };
    const runs: Record<"python" | "javascript", (readonly WorkloadTimes[])[]> = { python: [], javascript: [] };
    const meters: MeterTime[] = [];
    for (let process = 0; process < extent.processes; process++) {
      runs.python.push(measure("python", extent));
      runs.javascript.push(measure("javascript", extent));
      meters.push(JSON.parse(execute(METER, [])) as MeterTime);
    }
    return {
      tables: [
        { title: "CPython, metered, thread time, ratio to unmetered", rows: rows(runs.python) },
        { title: "QuickJS, metered, thread time, ratio to unmetered", rows: rows(runs.javascript) },
        { title: "once, in a fresh process", rows: [rewriting(meters)] },
      ],
      bars: [
        bar("CPython metered", runs.python, PYTHON_BAR),
        bar("QuickJS metered", runs.javascript, JAVASCRIPT_BAR),
        rewritingBar(meters),
      ],
    };
  },
};

function measure(language: string, { warmUp, rounds }: Extent): readonly WorkloadTimes[] {
  return JSON.parse(execute(WORKLOADS, [language, String(warmUp), String(rounds)])) as readonly WorkloadTimes[];
}

function execute(file: string, args: readonly string[]): string {
  return execFileSync(process.execPath, [file, ...args], { encoding: "utf8" });
}

/** One row for each workload: its times in all processes, and the median of the ratios that they found. */
function rows(runs: readonly (readonly WorkloadTimes[])[]): readonly Measured[] {
  return (runs[0] ?? []).map(({ name }, index) => {
    const own = runs.flatMap((run) => run[index] ?? []);
    const times = own.flatMap(({ meteredNs }) => meteredNs);
    const ratio = quantile(
      own.map((each) => each.ratio),
      0.5,
    );
    return { name, medianNs: quantile(times, 0.5), p10Ns: quantile(times, 0.1), ratio };
  });
}

/** The geometric mean over the workloads of one process; of all processes, the median. */
function bar(
  name: string,
  runs: readonly (readonly WorkloadTimes[])[],
  { most, aim }: { most: number; aim: number },
): Bar {
  const means = runs.map((run) => geometricMean(run.map(({ ratio }) => ratio)));
  const mean = quantile(means, 0.5);
  const spread = means.length === 1 ? "" : `, ${Math.min(...means).toFixed(3)} to ${Math.max(...means).toFixed(3)}`;
  const count = runs[0]?.length ?? 0;
  return {
    name,
    measured: `${mean.toFixed(3)} x unmetered over ${count} workloads${spread}; at most ${most}, aim ${aim}`,
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

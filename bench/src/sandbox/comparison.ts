import { execFileSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import type { Measured } from "../measure.js";
import type { Comparison, WorkloadTimes } from "./fuel-process.js";
import { geometricMean, quantile } from "./interleave.js";

const WORKLOADS = fileURLToPath(new URL("./fuel-process.js", import.meta.url));

export interface Extent {
  readonly processes: number;
  readonly warmUp: number;
  readonly rounds: number;
}

/** What several processes have found, each over all workloads. */
export type Runs = readonly (readonly WorkloadTimes[])[];

/** Compares two guests once, in a process of its own. */
export function compare(comparison: Comparison, { warmUp, rounds }: Extent): readonly WorkloadTimes[] {
  return JSON.parse(execute(WORKLOADS, [comparison, String(warmUp), String(rounds)])) as readonly WorkloadTimes[];
}

export function execute(file: string, args: readonly string[]): string {
  return execFileSync(process.execPath, [file, ...args], { encoding: "utf8" });
}

/** One row for each workload: its times in all processes, and the median of the ratios that they found. */
export function rowsOf(runs: Runs): readonly Measured[] {
  return (runs[0] ?? []).map(({ name }, index) => {
    const own = runs.flatMap((run) => run[index] ?? []);
    const times = own.flatMap(({ comparedNs }) => comparedNs);
    const ratio = quantile(
      own.map((each) => each.ratio),
      0.5,
    );
    return { name, medianNs: quantile(times, 0.5), p10Ns: quantile(times, 0.1), ratio };
  });
}

/** The geometric mean over the workloads of one process; of all processes, the median, and in words how far they lie apart. */
export function meanOf(
  runs: Runs,
  ratioOf: (times: WorkloadTimes) => number = ({ ratio }) => ratio,
): { readonly mean: number; readonly workloads: number; readonly spread: string } {
  const means = runs.map((run) => geometricMean(run.map(ratioOf)));
  const spread = means.length === 1 ? "" : `, ${Math.min(...means).toFixed(3)} to ${Math.max(...means).toFixed(3)}`;
  return { mean: quantile(means, 0.5), workloads: runs[0]?.length ?? 0, spread };
}

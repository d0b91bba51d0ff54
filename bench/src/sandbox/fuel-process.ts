import { quantile, shuffled } from "./interleave.js";
import { JAVASCRIPT_CODE, JAVASCRIPT_WORKLOADS } from "./javascript-workloads.js";
import { PYTHON_CODE, PYTHON_WORKLOADS } from "./python-workloads.js";
import { fastRunners, guestRunners, javascriptRunners, pythonRunners, type Ran, type Runners } from "./runners.js";
import { threadNs } from "./thread-time.js";

/*
 * Run by bench/sandbox-fuel, several times: code that an engine compiles lies elsewhere in every process, and that alone is
 * felt. Runs all workloads of a language on two guests in turns, and prints what it found as JSON.
 */

/** What one workload takes, in nanoseconds of this thread, and how that compares. */
export interface WorkloadTimes {
  readonly name: string;
  readonly baselineNs: readonly number[];
  readonly comparedNs: readonly number[];
  /** The median of the ratios within rounds. */
  readonly ratio: number;
  readonly fuel: number;
}

const PYTHON = { names: PYTHON_WORKLOADS, code: PYTHON_CODE, call: (name: string) => `print(${name}())` } as const;

/** What is compared: guests metered with unmetered, and the fast guest with the one on npm. */
const COMPARISONS = {
  python: { ...PYTHON, make: () => pythonRunners(), metering: true },
  fast: { ...PYTHON, make: fastRunners, metering: true },
  guests: { ...PYTHON, make: guestRunners, metering: false },
  javascript: {
    metering: true,
    make: javascriptRunners,
    names: JAVASCRIPT_WORKLOADS,
    code: JAVASCRIPT_CODE,
    call: (name: string) => `console.log(${name}())`,
  },
} as const;

/** What only the host has charged is far below what the workload itself would have cost. */
const HOST_SHARE = 0.05;

export type Comparison = keyof typeof COMPARISONS;

async function measure(comparison: Comparison, warmUp: number, rounds: number): Promise<WorkloadTimes[]> {
  const { make, names, code, call, metering } = COMPARISONS[comparison];
  const runners = await make();
  await runners.baseline.run(code);
  await runners.compared.run(code);
  const times = names.map(() => ({ baselineNs: [] as number[], comparedNs: [] as number[], fuel: 0 }));
  for (let round = -warmUp; round < rounds; round++) {
    for (const index of shuffled(names.length)) {
      const [name, own] = [names[index] as string, times[index] as (typeof times)[number]];
      const { baselineNs, comparedNs, fuel } = await pair(runners, name, call(name), metering);
      if (round < 0) continue;
      own.baselineNs.push(baselineNs);
      own.comparedNs.push(comparedNs);
      own.fuel = fuel;
    }
  }
  return times.map((own, index) => {
    const ratios = own.comparedNs.map((value, round) => value / (own.baselineNs[round] as number));
    return { name: names[index] as string, ...own, ratio: quantile(ratios, 0.5) };
  });
}

/** Both guests, one after the other, in either order. */
async function pair(
  runners: Runners,
  name: string,
  code: string,
  metering: boolean,
): Promise<{ readonly baselineNs: number; readonly comparedNs: number; readonly fuel: number }> {
  const ran: Partial<Record<keyof Runners, Ran & { readonly ns: number }>> = {};
  const kinds = ["baseline", "compared"] as const;
  for (const at of shuffled(kinds.length)) {
    const kind = kinds[at] as keyof Runners;
    const start = threadNs();
    const result = await runners[kind].run(code);
    ran[kind] = { ...result, ns: threadNs() - start };
  }
  const { baseline, compared } = ran;
  if (baseline === undefined || compared === undefined || baseline.output !== compared.output) {
    throw new Error(`${name} gives ${baseline?.output} in one guest and ${compared?.output} in the other`);
  }
  const isMetered = baseline.fuel > compared.fuel * HOST_SHARE;
  if (metering && isMetered) throw new Error(`${name} was metered where it should not have been`);
  if (!metering && !isMetered) throw new Error(`${name} was not metered in the guest on npm`);
  return { baselineNs: baseline.ns, comparedNs: compared.ns, fuel: compared.fuel };
}

const [, , comparison = "", warmUp = "", rounds = ""] = process.argv;
if (!isComparison(comparison)) throw new Error(`say one of ${Object.keys(COMPARISONS).join(", ")}`);
console.log(JSON.stringify(await measure(comparison, Number(warmUp), Number(rounds))));

function isComparison(name: string): name is Comparison {
  return Object.hasOwn(COMPARISONS, name);
}

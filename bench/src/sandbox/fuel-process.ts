import { quantile, shuffled } from "./interleave.js";
import { JAVASCRIPT_CODE, JAVASCRIPT_WORKLOADS } from "./javascript-workloads.js";
import { PYTHON_CODE, PYTHON_WORKLOADS } from "./python-workloads.js";
import { javascriptRunners, pythonRunners, type Ran, type Runners } from "./runners.js";
import { threadNs } from "./thread-time.js";

/*
 * Run by bench/sandbox-fuel, several times: code that an engine compiles lies elsewhere in every process, and that alone is
 * felt. Runs all workloads of a language on both guests in turns, and prints what it found as JSON.
 */

/** What one workload takes, in nanoseconds of this thread, and how that compares. */
export interface WorkloadTimes {
  readonly name: string;
  readonly unmeteredNs: readonly number[];
  readonly meteredNs: readonly number[];
  /** The median of the ratios within rounds. */
  readonly ratio: number;
  readonly fuel: number;
}

const LANGUAGES = {
  python: {
    make: pythonRunners,
    names: PYTHON_WORKLOADS,
    code: PYTHON_CODE,
    call: (name: string) => `print(${name}())`,
  },
  javascript: {
    make: javascriptRunners,
    names: JAVASCRIPT_WORKLOADS,
    code: JAVASCRIPT_CODE,
    call: (name: string) => `console.log(${name}())`,
  },
} as const;

/** What only the host has charged is far below what the workload itself would have cost. */
const HOST_SHARE = 0.05;

async function measure(language: keyof typeof LANGUAGES, warmUp: number, rounds: number): Promise<WorkloadTimes[]> {
  const { make, names, code, call } = LANGUAGES[language];
  const runners = await make();
  await runners.unmetered.run(code);
  await runners.metered.run(code);
  const times = names.map(() => ({ unmeteredNs: [] as number[], meteredNs: [] as number[], fuel: 0 }));
  for (let round = -warmUp; round < rounds; round++) {
    for (const index of shuffled(names.length)) {
      const [name, own] = [names[index] as string, times[index] as (typeof times)[number]];
      const { unmeteredNs, meteredNs, fuel } = await pair(runners, name, call(name));
      if (round < 0) continue;
      own.unmeteredNs.push(unmeteredNs);
      own.meteredNs.push(meteredNs);
      own.fuel = fuel;
    }
  }
  return times.map((own, index) => {
    const ratios = own.meteredNs.map((value, round) => value / (own.unmeteredNs[round] as number));
    return { name: names[index] as string, ...own, ratio: quantile(ratios, 0.5) };
  });
}

/** Both guests, one after the other, in either order. */
async function pair(
  runners: Runners,
  name: string,
  code: string,
): Promise<{ readonly unmeteredNs: number; readonly meteredNs: number; readonly fuel: number }> {
  const ran: Partial<Record<keyof Runners, Ran & { readonly ns: number }>> = {};
  const kinds = ["unmetered", "metered"] as const;
  for (const at of shuffled(kinds.length)) {
    const kind = kinds[at] as keyof Runners;
    const start = threadNs();
    const result = await runners[kind].run(code);
    ran[kind] = { ...result, ns: threadNs() - start };
  }
  const [plain, metered] = [ran.unmetered, ran.metered];
  if (plain === undefined || metered === undefined || plain.output !== metered.output) {
    throw new Error(`${name} gives ${plain?.output} without metering and ${metered?.output} with it`);
  }
  if (plain.fuel > metered.fuel * HOST_SHARE) throw new Error(`${name} was metered where it should not have been`);
  return { unmeteredNs: plain.ns, meteredNs: metered.ns, fuel: metered.fuel };
}

const [, , language = "", warmUp = "", rounds = ""] = process.argv;
if (language !== "python" && language !== "javascript") throw new Error("say python or javascript");
console.log(JSON.stringify(await measure(language, Number(warmUp), Number(rounds))));

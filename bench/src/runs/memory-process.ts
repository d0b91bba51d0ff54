import { join } from "node:path";
import { openSandbox } from "@bursar/sandbox";
import { SqliteStore } from "bursar/sqlite";
import { quantile } from "../sandbox/interleave.js";
import { CACHE, PACKAGES } from "../sandbox/python-parts.js";
import { PausedGuests } from "./paused-guests.js";

/*
 * Run by bench/runs in a process of its own, with its collector within reach. Pauses Python runs, whose guests are in this process,
 * too, and prints what its memory was at first and in the end.
 */

export interface PausedMemory {
  readonly runs: number;
  /** Resident, the median of the first and of the last fifth of all samples. */
  readonly before: number;
  readonly after: number;
}

const SAMPLES = 50;

function resident(): number {
  (globalThis as { readonly gc?: () => void }).gc?.();
  return process.memoryUsage.rss();
}

const [, , folder = "", warmUp = "0", count = "1"] = process.argv;
const runs = Number(count);
await using store = await SqliteStore.open({ path: join(folder, "paused.db") });
const places = { cacheFolder: CACHE, packagesFolder: PACKAGES, keyFile: join(folder, "key") };
// In this process, so that its memory is all there is.
await using sandbox = await openSandbox({ ...places, workers: 1, isolation: "thread" });
const guests = new PausedGuests(store, sandbox);
for (let run = 0; run < Number(warmUp); run++) await guests.pausedAfter("python", 1);
// A guest that is done with stays until the engine collects it, so that single samples go up and down.
const samples: number[] = [];
for (let run = 0; run < runs; run++) {
  await guests.pausedAfter("python", 1);
  if (run % Math.ceil(runs / SAMPLES) === 0) samples.push(resident());
}
const left = await sandbox.sessions();
if (left.length > 0) throw new Error(`${left.length} sessions of paused runs are still there`);
const fifth = Math.ceil(samples.length / 5);
const before = quantile(samples.slice(0, fifth), 0.5);
const after = quantile(samples.slice(-fifth), 0.5);
console.log(JSON.stringify({ runs, before, after } satisfies PausedMemory));

import { readFileSync } from "node:fs";

const SCHEDULED = "/proc/thread-self/schedstat";
const NAP = new Int32Array(new SharedArrayBuffer(4));
const NAP_MS = 0.01;

type Usage = (() => { readonly user: number; readonly system: number }) | undefined;

/**
 * The nanoseconds for which this thread has had a processor: what else the machine does, and what V8 compiles on other
 * threads meanwhile, does not count.
 */
export const threadNs: () => number = choose();

function choose(): () => number {
  const usage = (process as unknown as { readonly threadCpuUsage: Usage }).threadCpuUsage;
  if (usage !== undefined) {
    return () => {
      const { user, system } = usage.call(process);
      return (user + system) * 1000;
    };
  }
  if (process.platform === "linux") return scheduledNs;
  return () => {
    const { user, system } = process.cpuUsage();
    return (user + system) * 1000;
  };
}

/** The kernel brings the figure up to date when a thread is put to sleep, and else only every few milliseconds. */
function scheduledNs(): number {
  Atomics.wait(NAP, 0, 0, NAP_MS);
  const [running = "0"] = readFileSync(SCHEDULED, "utf8").split(" ");
  return Number(running);
}

import { type ChildProcess, fork } from "node:child_process";
import { fileURLToPath } from "node:url";

/** A process of the bench, and the first thing it said. */
export interface Started<Said> extends Disposable {
  readonly said: Said;
  readonly child: ChildProcess;
}

/** Starts one of the files beside this one, and waits for its first message. */
export async function started<Said>(file: string, args: readonly string[]): Promise<Started<Said>> {
  const path = fileURLToPath(new URL(`./${file}.js`, import.meta.url));
  const child = fork(path, [...args], { execArgv: ["--expose-gc"], stdio: ["ignore", "inherit", "inherit", "ipc"] });
  const said = await new Promise<Said>((resolve, reject) => {
    child.once("message", (message) => resolve(message as Said));
    child.once("exit", (code) => reject(new Error(`${file} ended with ${code} before it said anything`)));
  });
  return { said, child, [Symbol.dispose]: () => void child.kill() };
}

/** What a process can be asked for. */
interface Taken {
  /** Memory, once everything that is not needed was given back. */
  readonly memory: { readonly rss: number; readonly heap: number };
  /** Time on a processor, in microseconds, of all its threads and in the system too. */
  readonly processor: { readonly us: number };
}

/** Asks a process what it has taken so far. */
export function takenBy<What extends keyof Taken>({ child }: Started<unknown>, what: What): Promise<Taken[What]> {
  return new Promise((resolve) => {
    child.once("message", (message) => resolve(message as Taken[What]));
    child.send(what);
  });
}

/** Lets this process be asked. */
export function tellTaken(): void {
  process.on("message", (what) => {
    process.send?.(what === "memory" ? memory() : processor());
  });
}

function memory(): Taken["memory"] {
  (globalThis as { readonly gc?: () => void }).gc?.();
  const { rss, heapUsed: heap } = process.memoryUsage();
  return { rss, heap };
}

function processor(): Taken["processor"] {
  const { user, system } = process.cpuUsage();
  return { us: user + system };
}

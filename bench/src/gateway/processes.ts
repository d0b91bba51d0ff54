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

/** Asks a process how much memory it has. */
export function memoryOf({ child }: Started<unknown>): Promise<{ readonly rss: number; readonly heap: number }> {
  return new Promise((resolve) => {
    child.once("message", (message) => resolve(message as { rss: number; heap: number }));
    child.send("memory");
  });
}

import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { MAIN } from "./run.js";

const MOST_LOOKS = 2000;

/** Looks again and again until it is so. */
export async function until(what: string, isSo: () => boolean | Promise<boolean>): Promise<void> {
  for (let look = 0; look < MOST_LOOKS; look++) {
    if (await isSo()) return;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  throw new Error(`it does not come to this: ${what}`);
}

export interface ListeningProcess extends AsyncDisposable {
  readonly url: string;
  readonly child: ChildProcess;
  /** What it has written so far. */
  stdout(): string;
  stderr(): string;
  /** Its lines of JSON, without the first, which tells where it listens. */
  served(): readonly Readonly<Record<string, unknown>>[];
  /** Sends a signal, and gives what it ends with. */
  end(signal: NodeJS.Signals): Promise<number | NodeJS.Signals | null>;
}

export function startGateway(
  args: readonly string[],
  env: Readonly<Record<string, string>>,
): Promise<ListeningProcess> {
  return startListening(["gateway", ...args], env);
}

/** Starts a built command that listens, on a free port, and waits until it does. */
export async function startListening(
  [command = "", ...args]: readonly string[],
  env: Readonly<Record<string, string>>,
): Promise<ListeningProcess> {
  const { OPENAI_API_KEY: _, ANTHROPIC_API_KEY: __, FORCE_COLOR: ___, ...inherited } = process.env;
  const child = spawn(process.execPath, [MAIN, command, "--port", "0", ...args], { env: { ...inherited, ...env } });
  let stdout = "";
  let stderr = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    stdout += text;
  });
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    stderr += text;
  });
  const over = once(child, "close") as Promise<[number | null, NodeJS.Signals | null]>;
  const address = () => /https?:\/\/(?:(?:[\w.-]+|\[[\w.:]+\]):\d+|bursar\.example)/.exec(stdout)?.[0];
  await until(
    `it listens: ${stderr}`,
    () => (address() !== undefined && stdout.includes("\n")) || child.exitCode !== null,
  );
  const end = async (signal: NodeJS.Signals) => {
    child.kill(signal);
    const [code, by] = await over;
    return code ?? by;
  };
  const url = address();
  if (url === undefined) throw new Error(`it does not listen: ${stderr}`);
  return {
    url,
    child,
    end,
    stdout: () => stdout,
    stderr: () => stderr,
    served: () =>
      stdout
        .trimEnd()
        .split("\n")
        .slice(1)
        .map((line) => JSON.parse(line) as Readonly<Record<string, unknown>>),
    [Symbol.asyncDispose]: async () => {
      if (child.exitCode === null && child.signalCode === null) await end("SIGKILL");
    },
  };
}

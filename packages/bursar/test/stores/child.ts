import { spawn } from "node:child_process";
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Operation, Outcome } from "bursar";

/** Where a store is, as a child opens it. */
export type Address =
  | { readonly path: string; readonly patience_ms?: number }
  | { readonly url: string; readonly schema: string; readonly patience_ms?: number; readonly connections?: number };

export interface Fault {
  readonly name?: string;
  readonly code?: string;
  readonly message?: string;
}

/** What is left of an outcome after `brief` of `children/load.mjs`. */
export interface Told extends Partial<Pick<Extract<Outcome, { op: "commit" }>, "charged" | "repeated" | "links">> {
  readonly op: Operation["op"];
  /** How a decision or an extension went. */
  readonly kind?: string;
  readonly opened?: string | null;
  readonly granted?: Extract<Outcome, { op: "reserve" }>["granted"];
  readonly document?: Extract<Outcome, { op: "put" }>["document"];
  readonly entry?: Extract<Outcome, { op: "journal" }>["entry"];
}

/** One line of a child. */
export interface Line {
  readonly place?: number;
  readonly n?: string;
  readonly tries?: readonly Operation[];
  readonly again?: boolean;
  readonly outcomes?: readonly Told[];
  readonly fault?: Fault;
  readonly opened?: boolean;
  readonly done?: boolean;
  readonly count?: number;
  readonly passed?: number;
  readonly waiting?: number;
  readonly early?: readonly string[];
  readonly answers?: number;
  readonly sums?: Readonly<Record<string, number>>;
}

export interface Child {
  readonly pid: number;
  /** What it has said so far. */
  lines(): readonly Line[];
  send(word: string): void;
  kill(): void;
  /** Settles when it is gone, by itself or not. */
  readonly over: Promise<Ended>;
}

export interface Ended {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly lines: readonly Line[];
  readonly stderr: string;
}

interface ChildOptions {
  /** As `kill:written:7`; see `children/trap.mjs`. */
  readonly trap?: string;
  /** A command to run it under, such as `["bash", "-c", "ulimit -f 100; exec \"$@\"", "limited"]`. */
  readonly under?: readonly string[];
}

const CHILDREN = fileURLToPath(new URL("./children/", import.meta.url));

/** Starts a script of `children/`. It speaks into a file, in which all it said stands even when it is killed. */
export function startChild(script: string, errand: unknown, { trap, under = [] }: ChildOptions = {}): Child {
  const folder = mkdtempSync(join(tmpdir(), "bursar-child-"));
  const files = ["out", "err"].map((name) => join(folder, name));
  const [out = "", err = ""] = files;
  const pipes = files.map((file) => openSync(file, "a"));
  const preload = trap === undefined ? [] : ["--import", new URL("./children/trap.mjs", import.meta.url).href];
  const [command = "", ...rest] = [
    ...under,
    process.execPath,
    ...preload,
    join(CHILDREN, script),
    JSON.stringify(errand),
  ];
  const child = spawn(command, rest, {
    stdio: ["pipe", pipes[0], pipes[1]],
    env: { ...process.env, ...(trap === undefined ? {} : { BURSAR_TRAP: trap }) },
  });
  for (const pipe of pipes) closeSync(pipe);
  let last: readonly Line[] | null = null;
  const lines = () => last ?? parse(readFileSync(out, "utf8"));
  const over = new Promise<Ended>((resolve, reject) => {
    child.once("error", reject);
    child.once("exit", (code, signal) => {
      last = lines();
      resolve({ code, signal, lines: last, stderr: readFileSync(err, "utf8") });
      rmSync(folder, { recursive: true, force: true });
    });
  });
  // A child that is gone cannot be told anything, and that is all right.
  child.stdin?.on("error", () => {});
  return {
    pid: child.pid ?? 0,
    lines,
    send: (word) => void child.stdin?.write(`${word}\n`),
    kill: () => void child.kill("SIGKILL"),
    over,
  };
}

/** Runs a script that is expected to end by itself. */
export async function runChild(script: string, errand: unknown, options?: ChildOptions): Promise<Ended> {
  const ended = await startChild(script, errand, options).over;
  if (ended.code !== 0) throw new Error(`${script} ended with ${ended.code ?? ended.signal}: ${ended.stderr}`);
  return ended;
}

/** Waits until a child has said something, or is gone. */
export async function heard(child: Child, what: (line: Line) => boolean): Promise<void> {
  const gone = child.over.then(({ stderr }) => {
    throw new Error(`the child ended too early: ${stderr}`);
  });
  gone.catch(() => {});
  while (!child.lines().some(what)) {
    await Promise.race([new Promise((resolve) => setTimeout(resolve, 20)), gone]);
  }
}

/** A line that was cut off in the middle was not said. */
function parse(text: string): readonly Line[] {
  const whole = text.slice(0, text.lastIndexOf("\n") + 1);
  return whole.split("\n").flatMap((line) => (line === "" ? [] : [JSON.parse(line) as Line]));
}

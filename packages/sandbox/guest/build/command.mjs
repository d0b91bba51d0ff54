import { spawn } from "node:child_process";
import { closeSync, openSync, readFileSync } from "node:fs";
import { BuildFailure, EXIT_CODES } from "./failure.mjs";
import { SOURCE_DATE_EPOCH } from "./settings.mjs";

const TAIL_LINES = 15;

/** What a command may know of the machine: nothing that could show in the result. */
export function environment(extra = {}) {
  return {
    PATH: "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
    HOME: "/nonexistent",
    LC_ALL: "C",
    TZ: "UTC",
    SOURCE_DATE_EPOCH: String(SOURCE_DATE_EPOCH),
    PYTHONHASHSEED: "0",
    PYTHONDONTWRITEBYTECODE: "1",
    ...extra,
  };
}

/** Runs a command to its end, with all it says in a log; if it fails, the end of the log is the message. */
export async function run(command, args, { cwd, env = environment(), log, signal }) {
  const status = await statusOf(command, args, { cwd, env, log, signal });
  signal?.throwIfAborted();
  if (status === 0) return;
  const tail = readFileSync(log, "utf8").trimEnd().split("\n").slice(-TAIL_LINES).join("\n");
  const said = `${command} ${args[0] ?? ""} ended with ${status}; its log is ${log} and ends so:\n${tail}`;
  throw new BuildFailure(said, EXIT_CODES.failed);
}

/** Runs a command and gives what it wrote to stdout, or null when it failed. */
export async function outputOf(command, args, { cwd, env = process.env, signal } = {}) {
  const child = spawn(command, args, { cwd, env, stdio: ["ignore", "pipe", "ignore"] });
  const chunks = [];
  child.stdout.on("data", (chunk) => chunks.push(chunk));
  const status = await ended(child, signal);
  signal?.throwIfAborted();
  return status === 0 ? Buffer.concat(chunks).toString("utf8") : null;
}

async function statusOf(command, args, { cwd, env, log, signal }) {
  const descriptor = openSync(log, "a");
  try {
    return await ended(spawn(command, args, { cwd, env, stdio: ["ignore", descriptor, descriptor] }), signal);
  } finally {
    closeSync(descriptor);
  }
}

/** The exit code, the signal, or why it could not be started. What has to stop is asked to, and waited for. */
function ended(child, signal) {
  const stop = () => child.kill();
  if (signal?.aborted) stop();
  signal?.addEventListener("abort", stop, { once: true });
  const status = new Promise((resolve) => {
    child.once("error", (error) => resolve(error.message));
    child.once("close", (code, name) => resolve(code ?? name));
  });
  return status.finally(() => signal?.removeEventListener("abort", stop));
}

/** Does some work for each item, so many at a time. */
export async function inParallel(items, width, work) {
  const waiting = [...items];
  const worker = async () => {
    for (let item = waiting.shift(); item !== undefined; item = waiting.shift()) await work(item);
  };
  await Promise.all(Array.from({ length: width }, worker));
}

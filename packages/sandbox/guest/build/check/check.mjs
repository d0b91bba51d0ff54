import { once } from "node:events";
import { Worker } from "node:worker_threads";
import { BuildFailure, EXIT_CODES } from "../failure.mjs";
import { HOST_STACK_MEGABYTES } from "../settings.mjs";

/**
 * Runs the finished guest and gives what is true of it. It runs where the sandbox runs it, in a worker thread, because
 * the stack of the main thread is a quarter of a worker's and too small for CPython's recursion limit.
 */
export async function checkGuest(wasm, stdlib) {
  const worker = new Worker(new URL("worker.mjs", import.meta.url), {
    workerData: { wasm, stdlib },
    resourceLimits: { stackSizeMb: HOST_STACK_MEGABYTES },
  });
  const [result] = await once(worker, "message");
  await worker.terminate();
  if (result.kind === "failed") throw new BuildFailure(result.message, EXIT_CODES.failed);
  return result.facts;
}

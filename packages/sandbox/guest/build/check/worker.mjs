// Tries a guest in a thread of its own and tells how it went.
import { parentPort, workerData } from "node:worker_threads";
import { BuildFailure } from "../failure.mjs";
import { tryGuest } from "./promises.mjs";

try {
  const { wasm, stdlib } = workerData;
  parentPort.postMessage({ kind: "kept", facts: tryGuest(wasm, Buffer.from(stdlib)) });
} catch (error) {
  const message = error instanceof BuildFailure ? error.message : `the guest was built, but broke down: ${error.stack}`;
  parentPort.postMessage({ kind: "failed", message });
}

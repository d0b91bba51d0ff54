import { parentPort, workerData } from "node:worker_threads";
import { Engine } from "./engine.js";
import type { FromWorker, ToWorker } from "./errand.js";

const port = parentPort;
if (port === null) throw new Error("this file is started by the pool, as a thread of its own");

const send = (message: FromWorker): void => port.postMessage(message);
const engine = new Engine((workerData as { readonly packages: string }).packages, send);

port.on("message", async (message: ToWorker) => {
  if (message.kind === "parts") return engine.learn(message.key, message.parts);
  if (message.kind === "forget") return engine.forget(message.session);
  try {
    send({ kind: "report", report: await engine.run(message.errand, message.parts, () => send({ kind: "started" })) });
  } catch (error) {
    send({ kind: "failed", message: error instanceof Error ? error.message : String(error) });
  }
});

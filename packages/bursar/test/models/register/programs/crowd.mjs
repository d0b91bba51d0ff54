// A program that knows nothing of budgets and has its work done by threads and processes.
import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { Worker } from "node:worker_threads";

const file = fileURLToPath(new URL("./openai.mjs", import.meta.url));
const [threads, processes] = process.argv.slice(2).map(Number);

function inThread() {
  return new Promise((resolve, reject) => {
    const worker = new Worker(file, { argv: ["chat"], stdout: true });
    let text = "";
    worker.stdout.on("data", (piece) => {
      text += piece;
    });
    worker.on("error", reject);
    worker.on("exit", () => resolve(text));
  });
}

async function inProcess() {
  return (await promisify(execFile)(process.execPath, [file, "chat"])).stdout;
}

const texts = await Promise.all([
  ...Array.from({ length: threads }, inThread),
  ...Array.from({ length: processes }, inProcess),
]);
console.log(JSON.stringify(texts.flatMap((text) => JSON.parse(text))));

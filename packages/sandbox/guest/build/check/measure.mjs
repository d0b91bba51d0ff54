// Measures one guest in a process of its own: node measure.mjs <module> [<standard library>]
import { readFileSync } from "node:fs";
import { runGuest } from "./run-guest.mjs";
import { createFolder, place } from "./tree.mjs";
import { withStdlib } from "./with-stdlib.mjs";

const [file, archive] = process.argv.slice(2);
const workloads = readFileSync(new URL("workloads.py", import.meta.url));

/** The guest on npm carries its standard library inside. */
function rootFor() {
  if (archive !== undefined) return withStdlib(readFileSync(archive), workloads);
  const root = createFolder();
  place(root, "check.py", workloads);
  return root;
}

/** The time that this thread had a processor, in nanoseconds: others on the same machine do not count. */
function processorTime() {
  const [nanoseconds = "0"] = readFileSync("/proc/thread-self/schedstat", "utf8").split(" ");
  return BigInt(nanoseconds);
}

const { exitCode, stdout, stderr } = runGuest(new WebAssembly.Module(readFileSync(file)), {
  args: ["python", "-I", "/check.py"],
  root: rootFor(),
  clock: processorTime,
});
if (exitCode !== 0) throw new Error(stderr);
const lines = stdout.trim().split("\n");
process.stdout.write(JSON.stringify(Object.fromEntries(lines.map((line) => line.split(" ")))));

// Gives several command lines to the built command in one process, one after the other, and tells what came of each: to load
// the command takes far longer than to refuse a command line. The module of the command is evaluated anew for each of them.
import { writeSync } from "node:fs";
import { pathToFileURL } from "node:url";

const [node, , main, module, lines] = process.argv;
process.setMaxListeners(0);
process.stdout.setMaxListeners(0);
const outcomes = [];
for (const [at, args] of JSON.parse(lines).entries()) {
  const said = { stdout: "", stderr: "" };
  for (const name of ["stdout", "stderr"]) {
    process[name].write = (text) => {
      said[name] += text;
      return true;
    };
  }
  process.argv = [node, main, ...args];
  process.exitCode = undefined;
  await import(`${pathToFileURL(module).href}?${at}`);
  outcomes.push({ status: process.exitCode ?? 0, ...said });
}
process.exitCode = 0;
writeSync(1, JSON.stringify(outcomes));

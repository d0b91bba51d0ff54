// Opens a sandbox, tells which process it has started for it, and lives until it is killed, or the test is gone.
import child_process from "node:child_process";
import { writeSync } from "node:fs";
import { syncBuiltinESMExports } from "node:module";

const { fork } = child_process;
child_process.fork = (...args) => {
  const child = fork(...args);
  writeSync(1, `${child.pid}\n`);
  return child;
};
syncBuiltinESMExports();
const { openSandbox } = await import("@bursar/sandbox");
const [, , places] = process.argv;
const sandbox = await openSandbox({ ...JSON.parse(places ?? "{}"), workers: 1 });
await sandbox.createSession({ language: "javascript" });
writeSync(1, "ready\n");
process.stdin.once("end", () => process.exit(1)).resume();

// Brings a saved session back, answers its question with 41, and prints the result.
import { readFileSync } from "node:fs";
import { openSandbox } from "@bursar/sandbox";

const [, , file, id, places] = process.argv;
const sandbox = await openSandbox({ ...JSON.parse(places), workers: 1, isolation: "thread" });
const session = await sandbox.restoreSession(readFileSync(file));
const { result } = await session.resume({ id: Number(id), value: 41 });
console.log(JSON.stringify(result));
await sandbox[Symbol.asyncDispose]();

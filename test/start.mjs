// Does what the README says after `npm start`: waits until it is healthy, approves the run that waits, over HTTP, and sees it complete
// with a chain that verifies, beside one that ran out of fuel and says what to do. It stops the server by its pid, which has to end by itself.
import { execFileSync, spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../", import.meta.url));
const folder = mkdtempSync(join(tmpdir(), "bursar-start-"));
const READY_MS = 300_000;
const STOP_MS = 30_000;

// A place of its own: what was started here before must not be what is found.
const env = { ...process.env, XDG_DATA_HOME: folder, NO_COLOR: "1" };
const server = spawn("npm", ["start"], { cwd: root, env, stdio: ["ignore", "pipe", "inherit"] });
const ended = new Promise((resolve) => server.once("exit", (code, signal) => resolve(signal ?? code)));
let printed = "";
server.stdout.setEncoding("utf8").on("data", (text) => {
  process.stdout.write(text);
  printed += text;
});

try {
  const url = await until("its address", () => /http:\/\/127\.0\.0\.1:\d+/.exec(printed)?.[0]);
  const pid = Number(await until("its pid", () => /process +(\d+)/.exec(printed)?.[1]));
  await until("its health", () => get(`${url}/health`).catch(() => null));
  const approval = await until("a run that waits", async () => (await get(`${url}/api/v1/approvals`)).items[0]);
  const { run } = await post(`${url}/api/v1/approvals/${approval.id}/approve?wait=60000`, {
    reason: "as the README says",
  });
  check(run.status === "completed", `the run is ${run.status}, not completed`);
  const { items } = await get(`${url}/api/v1/runs`);
  const endless = await get(`${url}/api/v1/runs/${items.find(({ program }) => program.name === "primes")?.id}`);
  const advice = endless.execution?.error_guidance?.error_type;
  check(advice === "OutOfFuel", `of the program that never ends it says ${advice}, not OutOfFuel`);
  const page = await fetch(url).then((answer) => answer.text());
  check(page.includes("<script"), "there is no page");
  const file = join(folder, "chain.jsonl");
  const chain = await fetch(`${url}/api/v1/runs/${run.id}/chain.jsonl`);
  writeFileSync(file, await chain.text());
  execFileSync("npx", ["bursar", "verify", file], { cwd: root, stdio: "inherit" });
  process.kill(pid, "SIGTERM");
  const end = await Promise.race([ended, new Promise((resolve) => setTimeout(resolve, STOP_MS, "still running"))]);
  check(end === 0, `stopped with SIGTERM, it ended with ${end}`);
  console.log("started, approved, completed, verified, stopped");
} finally {
  server.kill("SIGKILL");
  rmSync(folder, { recursive: true, force: true });
}

function check(holds, problem) {
  if (!holds) throw new Error(problem);
}

async function until(what, look) {
  for (const end = Date.now() + READY_MS; Date.now() < end; ) {
    if (server.exitCode !== null) throw new Error(`it ended with ${server.exitCode} before there was ${what}`);
    const found = await look();
    if (found) return found;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  throw new Error(`there is no sign of ${what}`);
}

async function get(url) {
  return answered(await fetch(url));
}

async function post(url, body) {
  return answered(
    await fetch(url, { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(body) }),
  );
}

async function answered(answer) {
  const body = await answer.json();
  if (!answer.ok) throw new Error(`${answer.url} answered ${answer.status}: ${JSON.stringify(body)}`);
  return body;
}

// Runs the sandbox with hostile programs, crashes the durable stores, and kills the workers of runs, for as long as one likes;
// `npm run soak -- --help` tells how.
import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";

const HELP = `Usage: npm run soak -- [flags]

First the sandbox: many sessions, one in ten of them hostile; every output is
checked, and memory has to stay flat. Then the durable stores, which are crashed
for as long as one likes: the same tests as always, with ever other seeds. Then
runs: many histories of the real orchestrator on a clock that is not real, and
real workers that are killed while they drive programs of every kind.

Flags:
  --only <part>         sandbox, stores or runs
  --sessions <number>   the sandbox: so many sessions (2000)
  --seeds <number>      the stores: until so many have crashed (5000)
  --histories <number>  runs: so many histories (5000)
  --kills <number>      runs: until so many workers were killed (200)
  --minutes <number>    the stores, and the workers of runs: for so long each
  --help                this text

BURSAR_SEED=7 npm run soak -- --only stores begins with this seed, as a failure
named it; so does --only runs with the workers that are killed. BURSAR_GUEST=npm
keeps a CPython that was built here out of it.
`;

/** The parts, and what may be said about each. */
const PARTS = { sandbox: ["sessions"], stores: ["seeds", "minutes"], runs: ["histories", "kills", "minutes"] };

/** What the command line asks for; a mistake in it is told in one line. */
function given() {
  try {
    const text = { type: "string" };
    const counts = { sessions: text, seeds: text, histories: text, kills: text, minutes: text };
    const { values } = parseArgs({ options: { only: text, ...counts, help: { type: "boolean", short: "h" } } });
    if (values.help) {
      process.stdout.write(HELP);
      process.exit(0);
    }
    const whole = (name, otherwise) => {
      const count = above(`--${name}`, values[name], otherwise);
      if (!Number.isSafeInteger(count)) throw new Error(`--${name} is "${values[name]}"; allowed: a whole number`);
      return count;
    };
    const [sessions, histories] = [whole("sessions", 2000), whole("histories", 5000)];
    const minutes = above("--minutes", values.minutes, Number.POSITIVE_INFINITY);
    const seed = Number(process.env.BURSAR_SEED || Math.floor(Math.random() * 1_000_000));
    if (!Number.isSafeInteger(seed) || seed < 0) throw new Error("BURSAR_SEED has to be a whole number, 0 or more");
    const many = (count) => (values.minutes === undefined ? count : Number.POSITIVE_INFINITY);
    const [seeds, kills] = [above("--seeds", values.seeds, many(5000)), above("--kills", values.kills, many(200))];
    return { parts: partsOf(values), sessions, histories, seeds, kills, minutes, first: seed };
  } catch (error) {
    console.error(`soak: ${error.message.split(". ")[0]}; see npm run soak -- --help`);
    process.exit(2);
  }
}

/** What is asked of a part that is left out was not meant so. */
function partsOf({ only, ...values }) {
  const all = Object.keys(PARTS);
  if (only === undefined) return all;
  if (!Object.hasOwn(PARTS, only)) throw new Error(`--only is "${only}"; allowed: ${all.join(", ")}`);
  for (const name of Object.keys(values)) {
    if (PARTS[only].includes(name)) continue;
    const about = all.filter((part) => PARTS[part].includes(name)).join(" and ");
    throw new Error(`--${name} is about ${about}, which --only ${only} leaves out`);
  }
  return [only];
}

function above(name, text, otherwise) {
  if (text === undefined) return otherwise;
  const value = text.trim() === "" ? Number.NaN : Number(text);
  if (!(value > 0)) throw new Error(`${name} is "${text}"; allowed: a number above 0`);
  return value;
}

const STORES = ["stores/crash", "stores/crash-postgres", "stores/power", "stores/torn", "models/everything-killed"].map(
  (name) => `packages/bursar/test/${name}.test.ts`,
);
const KILLS = ["kill", "points"].map((name) => `test/runs/${name}.test.ts`);
const HISTORIES = "packages/bursar/test/runs/simulation/history.test.ts";
/** How many times as much as in `npm test` one round does. */
const ROUNDS = 2;
/** A history takes milliseconds; so many take a while. */
const PATIENCE_MS = 24 * 60 * 60_000;

const root = fileURLToPath(new URL("..", import.meta.url));
const vitest = join(root, "node_modules", "vitest", "vitest.mjs");
const sandbox = join(root, "packages", "sandbox", "test", "escape", "soak.mjs");

/** Runs tests. Gives back what they printed if they failed, else null. */
async function failureOf(args, env) {
  const child = spawn(process.execPath, [vitest, "run", ...args], { cwd: root, env });
  const printed = [];
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (piece) => printed.push(piece));
  const code = await new Promise((resolve) => child.once("close", resolve));
  return code === 0 ? null : Buffer.concat(printed).toString();
}

/** Runs all of the tests once, and adds up their figures. */
async function round(tests, seed, folder, totals) {
  const figures = join(folder, `${seed}.jsonl`);
  const env = { ...process.env, BURSAR_SEED: String(seed), BURSAR_ROUNDS: String(ROUNDS), BURSAR_FIGURES: figures };
  const failure = await failureOf(tests, env);
  const lines = existsSync(figures) ? readFileSync(figures, "utf8").split("\n").filter(Boolean) : [];
  for (const line of lines) {
    for (const [name, count] of Object.entries(JSON.parse(line))) totals[name] = (totals[name] ?? 0) + count;
  }
  return failure;
}

/** Runs tests with ever other seeds until they have done enough, or time is up. Tells whether all was right. */
async function soakTests(part, tests, enough, { minutes, first }) {
  const folder = mkdtempSync(join(tmpdir(), "bursar-soak-"));
  const totals = {};
  const began = performance.now();
  const passed = () => (performance.now() - began) / 60_000;
  try {
    for (let seed = first; !enough(totals) && passed() < minutes; seed += 1_000_000) {
      const failure = await round(tests, seed, folder, totals);
      const figures = Object.entries(totals).map(([name, count]) => `${count} ${name}`);
      console.log(`${passed().toFixed(1)} min, seed ${seed}: ${figures.join(", ")}`);
      if (failure === null) continue;
      console.error(failure);
      console.error(`Again: BURSAR_SEED=${seed} npm run soak -- --only ${part}`);
      return false;
    }
    return true;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function crashed(totals) {
  return (totals["SQLite files crashed"] ?? 0) + (totals["PostgreSQL stores crashed"] ?? 0);
}

/** Whether every store that was crashed was right afterwards. */
function soakStores(asked) {
  return soakTests("stores", STORES, (totals) => crashed(totals) >= asked.seeds, asked);
}

/** Whether every session said what it had to, and memory stayed flat. */
async function soakSandbox({ sessions }) {
  const child = spawn(process.execPath, [sandbox, "--sessions", String(sessions)], { cwd: root, stdio: "inherit" });
  const code = await new Promise((resolve) => child.once("close", resolve));
  if (code !== 0) console.error(`Again: npm run soak -- --only sandbox --sessions ${sessions}`);
  return code === 0;
}

/** Whether every run came to its end, whatever happened, and whichever worker was killed. */
async function soakRuns(asked) {
  const { histories, kills } = asked;
  // With a seed the simulation would repeat that one alone.
  const { BURSAR_SEED: _, ...env } = process.env;
  const args = [HISTORIES, `--testTimeout=${PATIENCE_MS}`];
  const failure = await failureOf(args, { ...env, BURSAR_SEEDS: String(histories) });
  console.log(`${histories} histories: ${failure === null ? "all runs came to their end" : "not as they should be"}`);
  if (failure !== null) {
    console.error(failure);
    console.error(`Again: BURSAR_SEED=<the seed above> npx vitest run ${HISTORIES}`);
    return false;
  }
  return soakTests("runs", KILLS, (totals) => (totals["workers killed"] ?? 0) >= kills, asked);
}

const SOAKS = { sandbox: soakSandbox, stores: soakStores, runs: soakRuns };
const asked = given();
for (const part of asked.parts) {
  if (await SOAKS[part](asked)) continue;
  process.exitCode = 1;
  break;
}

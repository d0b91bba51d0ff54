// Runs the sandbox with hostile programs, and crashes the durable stores, for as long as one likes; `npm run soak -- --help`
// tells how.
import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";

const HELP = `Usage: npm run soak -- [flags]

First the sandbox: many sessions, one in ten of them hostile; every output is
checked, and memory has to stay flat. Then the durable stores, which are crashed
for as long as one likes: the same tests as always, with ever other seeds.

Flags:
  --only <part>        sandbox or stores
  --sessions <number>  the sandbox: so many sessions (2000)
  --seeds <number>     the stores: until so many have crashed (5000)
  --minutes <number>   the stores: for so long
  --help               this text

BURSAR_SEED=7 npm run soak -- --only stores begins with this seed, as a failure
named it. BURSAR_GUEST=npm keeps a CPython that was built here out of it.
`;

const PARTS = ["sandbox", "stores"];

/** What the command line asks for; a mistake in it is told in one line. */
function given() {
  try {
    const text = { type: "string" };
    const { values } = parseArgs({
      options: { only: text, sessions: text, seeds: text, minutes: text, help: { type: "boolean", short: "h" } },
    });
    if (values.help) {
      process.stdout.write(HELP);
      process.exit(0);
    }
    const sessions = above("--sessions", values.sessions, 2000);
    if (!Number.isSafeInteger(sessions)) throw new Error(`--sessions is "${values.sessions}"; allowed: a whole number`);
    const most = above("--minutes", values.minutes, Number.POSITIVE_INFINITY);
    const seed = Number(process.env.BURSAR_SEED || Math.floor(Math.random() * 1_000_000));
    if (!Number.isSafeInteger(seed) || seed < 0) throw new Error("BURSAR_SEED has to be a whole number, 0 or more");
    const many = values.minutes === undefined ? 5000 : Number.POSITIVE_INFINITY;
    const seeds = above("--seeds", values.seeds, many);
    return { parts: partsOf(values), sessions, seeds, minutes: most, first: seed };
  } catch (error) {
    console.error(`soak: ${error.message.split(". ")[0]}; see npm run soak -- --help`);
    process.exit(2);
  }
}

/** What is asked of a part that is left out was not meant so. */
function partsOf({ only, sessions, seeds, minutes }) {
  if (only === undefined) return PARTS;
  if (!PARTS.includes(only)) throw new Error(`--only is "${only}"; allowed: ${PARTS.join(", ")}`);
  if (only === "sandbox" && (seeds ?? minutes) !== undefined)
    throw new Error("--seeds and --minutes are about the stores, which --only sandbox leaves out");
  if (only === "stores" && sessions !== undefined)
    throw new Error("--sessions is about the sandbox, which --only stores leaves out");
  return [only];
}

function above(name, text, otherwise) {
  if (text === undefined) return otherwise;
  const value = text.trim() === "" ? Number.NaN : Number(text);
  if (!(value > 0)) throw new Error(`${name} is "${text}"; allowed: a number above 0`);
  return value;
}

const TESTS = ["crash", "crash-postgres", "torn"].map((name) => `packages/bursar/test/stores/${name}.test.ts`);
/** How many times as much as in `npm test` one round does. */
const ROUNDS = 2;

const root = fileURLToPath(new URL("..", import.meta.url));
const vitest = join(root, "node_modules", "vitest", "vitest.mjs");
const sandbox = join(root, "packages", "sandbox", "test", "escape", "soak.mjs");

/** Runs all of the tests once, and adds up their figures. Gives back what they printed if they failed, else null. */
async function round(seed, folder, totals) {
  const figures = join(folder, `${seed}.jsonl`);
  const env = { ...process.env, BURSAR_SEED: String(seed), BURSAR_ROUNDS: String(ROUNDS), BURSAR_FIGURES: figures };
  const child = spawn(process.execPath, [vitest, "run", ...TESTS], { cwd: root, env });
  const printed = [];
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (piece) => printed.push(piece));
  const code = await new Promise((resolve) => child.once("close", resolve));
  const lines = existsSync(figures) ? readFileSync(figures, "utf8").split("\n").filter(Boolean) : [];
  for (const line of lines) {
    for (const [name, count] of Object.entries(JSON.parse(line))) totals[name] = (totals[name] ?? 0) + count;
  }
  return code === 0 ? null : Buffer.concat(printed).toString();
}

function crashed(totals) {
  return (totals["SQLite files crashed"] ?? 0) + (totals["PostgreSQL stores crashed"] ?? 0);
}

/** Whether every store that was crashed was right afterwards. */
async function soakStores({ seeds, minutes, first }) {
  const folder = mkdtempSync(join(tmpdir(), "bursar-soak-"));
  const totals = {};
  const began = performance.now();
  const passed = () => (performance.now() - began) / 60_000;
  try {
    for (let seed = first; crashed(totals) < seeds && passed() < minutes; seed += 1_000_000) {
      const failure = await round(seed, folder, totals);
      const figures = Object.entries(totals).map(([name, count]) => `${count} ${name}`);
      console.log(`${passed().toFixed(1)} min, seed ${seed}: ${figures.join(", ")}`);
      if (failure === null) continue;
      console.error(failure);
      console.error(`Again: BURSAR_SEED=${seed} npm run soak -- --only stores`);
      return false;
    }
    return true;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Whether every session said what it had to, and memory stayed flat. */
async function soakSandbox({ sessions }) {
  const child = spawn(process.execPath, [sandbox, "--sessions", String(sessions)], { cwd: root, stdio: "inherit" });
  const code = await new Promise((resolve) => child.once("close", resolve));
  if (code !== 0) console.error(`Again: npm run soak -- --only sandbox --sessions ${sessions}`);
  return code === 0;
}

const SOAKS = { sandbox: soakSandbox, stores: soakStores };
const asked = given();
for (const part of asked.parts) {
  if (await SOAKS[part](asked)) continue;
  process.exitCode = 1;
  break;
}

// Crashes the durable stores for as long as one likes; `npm run soak -- --help` tells how.
import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";

const HELP = `Usage: npm run soak -- [flags]

Crashes the durable stores for as long as one likes: the same tests as always,
with ever other seeds.

Flags:
  --seeds <number>    until so many stores have crashed (5000)
  --minutes <number>  for so long
  --help              this text

BURSAR_SEED=7 npm run soak begins with this seed, as a failure named it.
`;

const { seeds, minutes, first } = given();

/** What the command line asks for; a mistake in it is told in one line. */
function given() {
  try {
    const { values } = parseArgs({
      options: { seeds: { type: "string" }, minutes: { type: "string" }, help: { type: "boolean", short: "h" } },
    });
    if (values.help) {
      process.stdout.write(HELP);
      process.exit(0);
    }
    const most = above("--minutes", values.minutes, Number.POSITIVE_INFINITY);
    const seed = Number(process.env.BURSAR_SEED || Math.floor(Math.random() * 1_000_000));
    if (!Number.isSafeInteger(seed) || seed < 0) throw new Error("BURSAR_SEED has to be a whole number, 0 or more");
    const many = values.minutes === undefined ? 5000 : Number.POSITIVE_INFINITY;
    return { seeds: above("--seeds", values.seeds, many), minutes: most, first: seed };
  } catch (error) {
    console.error(`soak: ${error.message.split(". ")[0]}; see npm run soak -- --help`);
    process.exit(2);
  }
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
const folder = mkdtempSync(join(tmpdir(), "bursar-soak-"));
const totals = {};
const began = performance.now();

/** Runs all of the tests once, and adds up their figures. Gives back what they printed if they failed, else null. */
async function round(seed) {
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

function crashed() {
  return (totals["SQLite files crashed"] ?? 0) + (totals["PostgreSQL stores crashed"] ?? 0);
}

function passed() {
  return (performance.now() - began) / 60_000;
}

let seed = first;
while (crashed() < seeds && passed() < minutes) {
  const failure = await round(seed);
  const figures = Object.entries(totals).map(([name, count]) => `${count} ${name}`);
  console.log(`${passed().toFixed(1)} min, seed ${seed}: ${figures.join(", ")}`);
  if (failure !== null) {
    console.error(failure);
    console.error(`Again: BURSAR_SEED=${seed} npm run soak`);
    process.exitCode = 1;
    break;
  }
  seed += 1_000_000;
}
rmSync(folder, { recursive: true, force: true });

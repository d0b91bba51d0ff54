// Crashes the durable stores for as long as one likes: the same tests as always, with ever other seeds.
//   npm run soak                      until 5000 stores have crashed
//   npm run soak -- --seeds 20000     until so many have
//   npm run soak -- --minutes 60      for so long
//   BURSAR_SEED=7 npm run soak        beginning with this seed, as a failure named it
import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";

const { values } = parseArgs({ options: { seeds: { type: "string" }, minutes: { type: "string" } } });
const minutes = values.minutes === undefined ? Number.POSITIVE_INFINITY : Number(values.minutes);
const seeds = values.seeds === undefined && minutes === Number.POSITIVE_INFINITY ? 5000 : Number(values.seeds ?? 1e12);
if (!(minutes > 0) || !(seeds > 0)) throw new Error("--minutes and --seeds are numbers above 0");

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

let seed = Number(process.env.BURSAR_SEED ?? Math.floor(Math.random() * 1_000_000));
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

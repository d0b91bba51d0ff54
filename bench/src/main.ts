import { mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { chain } from "./chain.js";
import { context } from "./context.js";
import { foresight } from "./foresight/foresight.js";
import { gate } from "./gate.js";
import { floods } from "./gateway/floods.js";
import { gateway } from "./gateway/gateway.js";
import { lookAtMachine, type Machine } from "./machine.js";
import { publish } from "./measurements.js";
import { models } from "./models/models.js";
import { page } from "./page/page.js";
import { queue } from "./queue/queue.js";
import { type Bench, type Report, renderReport } from "./report.js";
import { runs } from "./runs/runs.js";
import { analysis } from "./sandbox/analysis.js";
import { figures } from "./sandbox/figures.js";
import { fuel } from "./sandbox/fuel.js";
import { start } from "./sandbox/start.js";
import { postgres } from "./store/postgres.js";
import { sqlite } from "./store/sqlite.js";

const BENCHES: readonly Bench[] = [
  gate,
  context,
  chain,
  sqlite,
  postgres,
  fuel,
  start,
  analysis,
  figures,
  runs,
  queue,
  models,
  gateway,
  floods,
  page,
  foresight,
];
const RESULTS = fileURLToPath(new URL("../results", import.meta.url));

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    json: { type: "string" },
    quick: { type: "boolean" },
    strict: { type: "boolean" },
    publish: { type: "boolean" },
    help: { type: "boolean", short: "h" },
  },
});
if (values.help === true) {
  console.log(`npm run bench -- [name …] [--quick] [--strict] [--json file] [--publish]

Measures all, or those that are named: ${BENCHES.map(({ name }) => name).join(", ")}.

  --quick    only shows that a bench works; its figures are rough
  --strict   ends with 1 when a bar is not met
  --json     writes the result of one bench into a file; into bench/results otherwise
  --publish  puts the figures into docs/MEASUREMENTS.md`);
  process.exit();
}
if (values.publish === true && values.quick === true)
  throw new Error("rough figures are not published: leave out --quick");
const chosen = positionals.length === 0 ? BENCHES : positionals.flatMap(find);
if (values.json !== undefined && chosen.length > 1) throw new Error("--json takes one file; name one bench with it");

let kept = true;
for (const bench of chosen) {
  const machine = lookAtMachine();
  console.log(`bench/${bench.name}: ${bench.about}`);
  console.log(`${machine.cpu} x ${machine.cores}, Node ${machine.node}, load ${machine.load.join(" ")}\n`);
  const report = await bench.run(values.quick === true);
  console.log(`${renderReport(report)}\n`);
  kept &&= report.bars.every(({ met }) => met);
  if (values.publish === true) await publish(bench.name, machine, report);
  await save(values.json ?? join(RESULTS, `${bench.name}.json`), bench, machine, report);
}
if (values.strict === true && !kept) process.exitCode = 1;

/** A bench by its name, or all whose names begin with it: `store` is both stores. */
function find(name: string): readonly Bench[] {
  const found = BENCHES.filter((each) => each.name === name || each.name.startsWith(`${name}-`));
  if (found.length > 0) return found;
  throw new Error(`${name} is not a bench; known: ${BENCHES.map((each) => each.name).join(", ")}`);
}

async function save(file: string, bench: Bench, machine: Machine, report: Report): Promise<void> {
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, `${JSON.stringify({ bench: bench.name, machine, ...report }, null, 2)}\n`);
}

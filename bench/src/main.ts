import { mkdir, writeFile } from "node:fs/promises";
import { cpus, loadavg } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { chain } from "./chain.js";
import { context } from "./context.js";
import { foresight } from "./foresight/foresight.js";
import { gate } from "./gate.js";
import { gateway } from "./gateway/gateway.js";
import { models } from "./models/models.js";
import { page } from "./page/page.js";
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
  models,
  gateway,
  page,
  foresight,
];
const RESULTS = fileURLToPath(new URL("../results", import.meta.url));

interface Machine {
  readonly cpu: string;
  readonly cores: number;
  readonly node: string;
  readonly load: readonly number[];
}

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { json: { type: "string" }, quick: { type: "boolean" }, strict: { type: "boolean" } },
});
const chosen = positionals.length === 0 ? BENCHES : positionals.flatMap(find);
if (values.json !== undefined && chosen.length > 1) throw new Error("--json takes one file; name one bench with it");

let kept = true;
for (const bench of chosen) {
  const machine = look();
  console.log(`bench/${bench.name}: ${bench.about}`);
  console.log(`${machine.cpu} x ${machine.cores}, Node ${machine.node}, load ${machine.load.join(" ")}\n`);
  const report = await bench.run(values.quick === true);
  console.log(`${renderReport(report)}\n`);
  kept &&= report.bars.every(({ met }) => met);
  await save(values.json ?? join(RESULTS, `${bench.name}.json`), bench, machine, report);
}
if (values.strict === true && !kept) process.exitCode = 1;

/** A bench by its name, or all whose names begin with it: `store` is both stores. */
function find(name: string): readonly Bench[] {
  const found = BENCHES.filter((each) => each.name === name || each.name.startsWith(`${name}-`));
  if (found.length > 0) return found;
  throw new Error(`${name} is not a bench; known: ${BENCHES.map((each) => each.name).join(", ")}`);
}

function look(): Machine {
  const all = cpus();
  return {
    cpu: all[0]?.model ?? "unknown cpu",
    cores: all.length,
    node: process.versions.node,
    load: loadavg().map((value) => Number(value.toFixed(2))),
  };
}

async function save(file: string, bench: Bench, machine: Machine, report: Report): Promise<void> {
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, `${JSON.stringify({ bench: bench.name, machine, ...report }, null, 2)}\n`);
}

import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "./root.mjs";

const FOLDER = join(ROOT, "bench", "results");

/** What the benches have measured last, with the bars that were not met. */
export function measurementsPage() {
  const files = readdirSync(FOLDER)
    .filter((file) => file.endsWith(".json"))
    .sort();
  const parts = files.map((file) => printReport(JSON.parse(readFileSync(join(FOLDER, file), "utf8"))));
  const text = `# Measurements

What stands in \`bench/results\`, as the benches have written it. Each was run in one process, by turns with what it is compared with; the
load of the machine stands beside it. [PERFORMANCE.md](../PERFORMANCE.md) says what it means.

${parts.join("\n\n")}
`;
  return { file: "measurements.md", title: "Measurements", about: "What the benches have measured last.", text };
}

function printReport({ bench, machine, tables, bars }) {
  const { cpu, cores, node, load } = machine;
  const told = `\`npm run bench -- ${bench}\`; ${cpu}, ${cores} cores, Node ${node}, load ${load.join(", ")}.`;
  return [`## ${bench}`, told, ...tables.map(printTable), ...printBars(bars)].join("\n\n");
}

function printTable({ title, rows }) {
  const lines = rows.map(({ name, medianNs, ratio }) => `| ${name} | ${timeOf(medianNs)} | ${round(ratio)} |`);
  return [`| ${title} | median | ratio |`, "|---|---|---|", ...lines].join("\n");
}

function printBars(bars) {
  if (bars.length === 0) return [];
  const lines = bars.map(({ name, measured, met }) => `| ${name} | ${measured} | ${met ? "yes" : "**no**"} |`);
  return [["| bar | measured | met |", "|---|---|---|", ...lines].join("\n")];
}

const UNITS = [
  ["s", 1e9],
  ["ms", 1e6],
  ["µs", 1e3],
  ["ns", 1],
];

function timeOf(ns) {
  const [unit, size] = UNITS.find(([, each]) => ns >= each) ?? ["ns", 1];
  return `${round(ns / size)} ${unit}`;
}

function round(value) {
  return String(Number(value.toPrecision(3)));
}

import { readFile, writeFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import type { Machine } from "./machine.js";
import type { Measured } from "./measure.js";
import type { Report } from "./report.js";

const PAGE = fileURLToPath(new URL("../../docs/MEASUREMENTS.md", import.meta.url));
const UNITS = [
  ["s", 1e9],
  ["ms", 1e6],
  ["µs", 1e3],
  ["ns", 1],
] as const;

/** Puts what a bench has measured into docs/MEASUREMENTS.md, in the place of what stood there for it; sections are sorted by name. */
export async function publish(bench: string, machine: Machine, report: Report): Promise<void> {
  const page = await readFile(PAGE, "utf8");
  const [intro = "", ...sections] = page.split(/^(?=## )/m);
  const others = sections.filter((section) => !section.startsWith(`## ${bench}\n`)).map((section) => section.trimEnd());
  const all = [...others, sectionOf(bench, machine, report)].sort((a, b) => (titleOf(a) < titleOf(b) ? -1 : 1));
  await writeFile(PAGE, `${[intro.trimEnd(), ...all].join("\n\n")}\n`);
}

function titleOf(section: string): string {
  return section.slice(0, section.indexOf("\n"));
}

function sectionOf(bench: string, { cpu, cores, node, load }: Machine, { tables, bars }: Report): string {
  const about = `\`npm run bench -- ${bench}\`; ${cpu}, ${cores} cores, Node ${node}, load ${load.join(", ")}.`;
  const measured = tables.map(({ title, rows }) => table([title, "median", "ratio"], rows.map(cells)));
  const kept = bars.map(({ name, measured, met }) => [name, measured, met ? "yes" : "**no**"]);
  const promised = bars.length === 0 ? [] : [table(["bar", "measured", "met"], kept)];
  return [`## ${bench}`, about, ...measured, ...promised].join("\n\n");
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (row: readonly string[]) => `| ${row.join(" | ")} |`;
  return [line(head), `|${"---|".repeat(head.length)}`, ...rows.map(line)].join("\n");
}

function cells({ name, medianNs, ratio }: Measured): readonly string[] {
  const [unit, size] = UNITS.find(([, each]) => medianNs >= each) ?? (["ns", 1] as const);
  return [name, `${shortened(medianNs / size)} ${unit}`, shortened(ratio)];
}

/** Three digits that count. */
function shortened(value: number): string {
  return String(Number(value.toPrecision(3)));
}

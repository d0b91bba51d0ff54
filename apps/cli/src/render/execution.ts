import type { SandboxResult } from "@bursar/sandbox";
import { type Style, wrap } from "./style.js";

const COLUMNS = 76;

/** What is said of an execution behind its output: what it burnt, and what could be done about a failure. */
export function executionText({ fuel_consumed, duration_ms, metadata }: SandboxResult, style: Style): string {
  const { fuel_analysis: fuel, error_guidance: guidance } = metadata;
  const used = `${amount(fuel_consumed)} of ${amount(fuel.budget)} fuel, ${fuel.utilization_percent} %, ${duration_ms} ms`;
  const lines = [style.dim(`── ${used}`)];
  if (guidance) {
    lines.push(style.bad(`${guidance.error_type}: ${guidance.error_message}`));
    for (const advice of guidance.actionable_guidance) lines.push(...bullet(advice));
    for (const link of guidance.related_docs) lines.push(style.dim(`  see ${link}`));
  } else if (fuel.recommendation !== null) {
    lines.push(...wrap(fuel.recommendation, COLUMNS).map((line) => style.warn(line)));
  }
  return `${lines.join("\n")}\n`;
}

function bullet(text: string): readonly string[] {
  const [first = "", ...rest] = wrap(text, COLUMNS - 4);
  return [`  • ${first}`, ...rest.map((line) => `    ${line}`)];
}

const UNITS: readonly (readonly [size: number, name: string])[] = [
  [1e9, "B"],
  [1e6, "M"],
  [1e3, "k"],
];

/** `1310922` as `1.3M`. */
function amount(fuel: number): string {
  const [size, name] = UNITS.find(([least]) => fuel >= least) ?? [1, ""];
  const value = fuel / size;
  return `${value < 10 && size > 1 ? value.toFixed(1).replace(/\.0$/, "") : Math.floor(value)}${name}`;
}

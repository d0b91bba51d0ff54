import type { SandboxResult } from "@bursar/sandbox";
import type { Execution, Json, JsonObject } from "bursar";
import { harmless, type Style, wrap } from "./style.js";

const COLUMNS = 76;

/** What is said of an execution behind its output: what it burnt, and what could be done about a failure. */
export function executionText({ fuel_consumed, duration_ms, metadata }: SandboxResult, style: Style): string {
  const { fuel_analysis: fuel, error_guidance: guidance = null } = metadata;
  const used = `${amount(fuel_consumed)} of ${amount(fuel.budget)} fuel, ${fuel.utilization_percent} %, ${duration_ms} ms`;
  const execution = { fuel_analysis: { ...fuel }, error_guidance: guidance === null ? null : { ...guidance } };
  return [style.dim(`── ${used}`), ...adviceLines(execution, style)].map((line) => `${line}\n`).join("");
}

/** Which streams the session's limit of output has cut, such as `stdout was cut`; null when it has cut none. */
export function cutText({ metadata: { stdout_truncated, stderr_truncated } }: SandboxResult): string | null {
  if (stdout_truncated && stderr_truncated) return "stdout and stderr were cut";
  if (stdout_truncated) return "stdout was cut";
  return stderr_truncated ? "stderr was cut" : null;
}

/** The same of a program that is a run, as the store has kept it. */
export function executionLines(execution: Execution, style: Style): readonly string[] {
  const { fuel_analysis: fuel } = execution;
  return [...(fuel === null ? [] : [style.dim(`── ${fuelText(fuel)}`)]), ...adviceLines(execution, style)];
}

/** `5M of 5M fuel, 100 %, exhausted`. */
export function fuelText({ consumed, budget, utilization_percent, status }: JsonObject): string {
  if (typeof budget !== "number") return `${amount(Number(consumed))} fuel, no limit`;
  const share = `${amount(Number(consumed))} of ${amount(budget)} fuel, ${utilization_percent} %`;
  return harmless(`${share}, ${String(status)}`);
}

function adviceLines({ fuel_analysis: fuel, error_guidance: guidance }: Execution, style: Style): readonly string[] {
  if (guidance !== null) {
    const { error_type, error_message, actionable_guidance, related_docs } = guidance;
    return [
      style.bad(harmless(`${error_type}: ${error_message}`)),
      ...textsIn(actionable_guidance).flatMap(bullet),
      ...textsIn(related_docs).map((link) => style.dim(`  see ${link}`)),
    ];
  }
  const advice = fuel?.recommendation;
  return typeof advice === "string" ? wrap(harmless(advice), COLUMNS).map((line) => style.warn(line)) : [];
}

/** The sentences of a list, without what a terminal would obey. */
export function textsIn(list: Json | undefined): readonly string[] {
  return Array.isArray(list) ? list.filter((each) => typeof each === "string").map(harmless) : [];
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
export function amount(fuel: number): string {
  const [size, name] = UNITS.find(([least]) => fuel >= least) ?? [1, ""];
  const value = fuel / size;
  return `${value < 10 && size > 1 ? value.toFixed(1).replace(/\.0$/, "") : Math.floor(value)}${name}`;
}

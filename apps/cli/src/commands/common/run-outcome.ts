import { type ApprovalRequest, type Bursar, type RunRecord, systemClock } from "bursar";
import { runView } from "bursar/views";
import { type Needs, needsOf } from "../../app/programs/program-needs.js";
import { command } from "../../arguments/command-line.js";
import type { Given } from "../../arguments/run-flags.js";
import { approvalText } from "../../render/approval.js";
import { executionLines } from "../../render/execution.js";
import { resultText, valueText } from "../../render/run.js";
import { runFigure } from "../../render/run-figures.js";
import { printable } from "../../render/style.js";
import type { Terminal } from "../../terminal/terminal.js";
import { EXIT, exitCodeOf } from "./exit-code.js";
import type { Done } from "./run-command.js";
import { errorStyle, lastBars } from "./run-company.js";

/** What a command that has driven a run says at its end: the result to standard output, all else to standard error. */
export async function outcomeOf(bursar: Bursar, known: RunRecord, flags: Given, terminal: Terminal): Promise<Done> {
  const { run, requests, result } = await bursar.resultWithRequests(known);
  const next = nextSteps(run, requests, flags);
  const view = await runView(bursar.store, run.id);
  const { saved_usd = 0, expected = [] } = view ?? {};
  const report = { ...result, expected, saved_usd, program: run.program.name, ...(next.length > 0 && { next }) };
  if (flags.json !== true && flags.quiet !== true) {
    const style = errorStyle(terminal);
    const columns = terminal.aside?.columns() ?? Number.POSITIVE_INFINITY;
    const now = systemClock.now().instant;
    const asked = requests.map((request) => approvalText(request, now, style)).join("");
    const how = next.length === 0 ? "" : `  go on with:\n${next.map((line) => `    ${line}\n`).join("")}`;
    const bars = await lastBars(bursar, run, Math.max(1, columns - 1), style);
    const saved = saved_usd > 0 ? `  ${style.good(`saved ${runFigure("cost_usd", saved_usd)}`)}\n` : "";
    const said = result.execution === null ? [] : executionLines(result.execution, style);
    // What a run has burnt that went well stands among what it used.
    const isNews = result.status !== "completed" || said.length > 1;
    const sandbox = isNews ? said.map((line) => `  ${line}\n`).join("") : "";
    process.stderr.write(`\n${resultText(result, style)}${sandbox}${saved}${bars}${asked}${how}`);
  }
  const value = result.status === "completed" || result.status === "failed" ? valueText(result.result) : "";
  return { report, text: terminal.isTerminal ? printable(value) : value, code: exitCodeOf(result) };
}

/** The commands that let a run go on, ready to be copied. */
function nextSteps(run: RunRecord, requests: readonly ApprovalRequest[], flags: Given): readonly string[] {
  const needs = needsOf(run.program);
  if (run.status === "paused" && requests.length === 0) return [command("resume", run.id, flags, needs)];
  return requests.flatMap(({ id }) => [command("approve", id, flags, needs), command("deny", id, flags, null)]);
}

/** The last word when a run was left in the middle: it is not lost. */
export function interrupted(run: string, flags: Given, needs: Needs | null): Done {
  const next = command("resume", run, flags, needs);
  if (flags.json !== true) {
    process.stderr.write(`\nrun ${run} was left in the middle, and can be resumed:\n    ${next}\n`);
  }
  return {
    report: { run_id: run, status: "queued", interrupted: true, next: [next] },
    text: "",
    code: EXIT.interrupted,
  };
}

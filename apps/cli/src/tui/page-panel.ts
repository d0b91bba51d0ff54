import type { Link } from "bursar";
import type { BudgetView, RunView, StepView } from "bursar/views";
import { dimensionLines, worthALine } from "../render/dimension-lines.js";
import { expectedText } from "../render/estimate.js";
import { executionLines } from "../render/execution.js";
import { counted, span } from "../render/quantities.js";
import { denialText, statusText } from "../render/run.js";
import { linkText } from "../render/run-chain.js";
import { runFigure, runFigures } from "../render/run-figures.js";
import { clip, harmless, pad, printable, type Style } from "../render/style.js";
import { topicOf } from "./request-lines.js";
import { shownEnd } from "./scroll.js";
import type { Mark, RunSight, Sight } from "./sight.js";
import type { State } from "./state.js";

const LEAST_BELOW = 4;
const OUTPUT_LINES = 2;
const LONGEST_OUTPUT = 2000;

/** One run: how its limits stand, and its steps or the end of its chain. */
export function pagePanel(
  { page }: State,
  sight: Sight,
  { columns, rows }: { readonly columns: number; readonly rows: number },
  style: Style,
): readonly string[] {
  if (page === null) return [];
  const seen = sight.page;
  if (seen === null || seen.run.id !== page.run) return ["", style.dim(`  looking for run ${harmless(page.run)} …`)];
  const head = headLines(seen, sight.now, columns, style);
  const room = Math.max(1, rows - head.length - LEAST_BELOW);
  const limits = [...limitLines(seen.run.budgets, columns, style), ...expectedLines(seen.run, columns, style)];
  const shown = limits.length <= room ? limits : [...limits.slice(0, room - 1), style.dim("  …")];
  const below = rows - head.length - shown.length - 1;
  const isSteps = page.part === "steps";
  const title = isSteps ? stepsTitle(seen) : `chain: ${markText(seen.mark)}`;
  const lines = isSteps ? stepLines(seen, columns, style) : seen.links.map((link) => chainLine(link, columns, style));
  const rule = title.length + 4 > columns ? "" : "─".repeat(columns - title.length - 4);
  const painted = isSteps ? style.dim(title) : markStyle(seen.mark, style)(title);
  return [
    ...head,
    ...shown,
    `${style.dim("──")} ${painted} ${style.dim(rule)}`,
    ...shownEnd(lines, page.back, Math.max(1, below)),
  ];
}

function headLines({ run }: RunSight, now: number, columns: number, style: Style): readonly string[] {
  const { id, status, program, started_by, created, requests, worker } = run;
  const driven = worker !== null && worker.expires > now ? `, driven by ${harmless(worker.name)}` : "";
  const waits = requests.filter((request) => request.status === "pending");
  const lines = [
    `${style.bold(harmless(id))}  ${statusText(run.denied === null ? status : "denied", style, run.interrupted)}`,
    style.dim(
      `${harmless(program.name)} (${harmless(program.kind)}), started ${span(now - created)} ago by ${harmless(started_by)}${driven}`,
    ),
  ];
  if (run.interrupted) lines.push(style.warn("its process is gone; the next worker goes on with it, or r does here"));
  if (waits.length > 0) {
    const topics = waits.map(topicOf).join(", ");
    lines.push(style.warn(`waits for ${counted(waits.length, "approval")}: ${topics}; a approves, d denies`));
  }
  const handed = run.pause?.batches?.length ?? 0;
  if (handed > 0) lines.push(style.accent(`waits for ${counted(handed, "call")} in a batch of the provider`));
  if (run.pause?.problem !== undefined) lines.push(style.bad(harmless(run.pause.problem)));
  if (run.outlook !== null) lines.push(style.warn(harmless(run.outlook)));
  if (run.saved_usd > 0) lines.push(style.good(`saved ${runFigure("cost_usd", run.saved_usd)}`));
  if (run.failure !== null) lines.push(style.bad(harmless(`${run.failure.code}: ${run.failure.message}`)));
  if (run.denied !== null) lines.push(style.bad(harmless(denialText(run.denied))));
  else if (run.cancel !== null) {
    const { by, reason } = run.cancel;
    lines.push(style.bad(harmless(`cancelled by ${by}${reason === null ? "" : `: ${reason}`}`)));
  }
  if (status === "completed" && run.result !== null) lines.push(`result ${resultText(run.result)}`);
  return lines.map((line) => clip(`  ${line}`, columns));
}

function resultText(result: unknown): string {
  return harmless((typeof result === "string" ? result : JSON.stringify(result)).slice(0, LONGEST_OUTPUT));
}

/** Innermost first: a run's own limits are what people look for, and those above it may not fit. */
function limitLines(budgets: readonly BudgetView[], columns: number, style: Style): readonly string[] {
  return [...budgets].reverse().flatMap(({ owner, budget, dimensions }, index) => {
    const lines = dimensionLines(dimensions.filter(worthALine), columns - 2, style);
    const name = clip(`  ${owner} budget ${harmless(budget)}`, columns);
    return [...(index === 0 ? [] : [style.dim(name)]), ...lines.map((line) => `  ${line}`)];
  });
}

/** What it was expected to take, beside what it has used. */
function expectedLines({ expected, usage }: RunView, columns: number, style: Style): readonly string[] {
  if (expected.length === 0) return [];
  return expectedText(expected, usage, columns, style).trimEnd().split("\n");
}

export function stepsTitle({ run, steps }: Pick<RunSight, "run" | "steps">): string {
  const asked = run.steps + run.refused;
  if (asked > steps.length) return `steps: the last ${steps.length} of ${asked}`;
  return run.refused === 0 ? counted(run.steps, "step") : `${counted(run.steps, "step")}, ${run.refused} refused`;
}

const SIGNS: Readonly<Record<StepView["state"], readonly [string, "good" | "warn" | "bad" | "accent"]>> = {
  "in flight": ["…", "accent"],
  done: ["✓", "good"],
  failed: ["✗", "bad"],
  interrupted: ["?", "warn"],
  refused: ["‖", "warn"],
  released: ["·", "accent"],
};
const NAME = 22;

/** The steps, below them the end of what was printed, and what the sandbox says. */
export function stepLines({ run, steps }: RunSight, columns: number, style: Style): readonly string[] {
  const lines = steps.map((step) => stepLine(step, run.created, columns, style));
  const { stdout, stderr } = run.output;
  const printed = [...lastLines(stdout), ...lastLines(stderr)];
  const said = run.execution === null ? [] : executionLines(run.execution, style);
  return [
    ...lines,
    ...printed.map((line) => clip(`  ${style.dim("▏")}${line}`, columns)),
    ...said.map((line) => clip(`  ${line}`, columns)),
  ];
}

function stepLine(step: StepView, created: number, columns: number, style: Style): string {
  const [sign, paint] = SIGNS[step.state];
  const used = runFigures(step.used, ["steps", "llm_input_tokens", "llm_output_tokens"]);
  const took = step.duration_ms === null ? "" : ` ${(step.duration_ms / 1000).toFixed(1)} s`;
  const after = `+${((step.at - created) / 1000).toFixed(1)} s`;
  const name = pad(clip(harmless(step.capability), NAME - 1), NAME);
  const why = step.problem === null ? "" : `  ${harmless(step.problem)}`;
  const line = `  ${style[paint](sign)} ${pad(`#${step.number}`, 6)}${style.dim(pad(after, 10))}${name}${used}`;
  return clip(`${line}${style.dim(took)}${why}`, columns);
}

function lastLines(text: string): readonly string[] {
  const lines = printable(text.slice(-LONGEST_OUTPUT)).replaceAll("\t", "  ").trimEnd().split("\n");
  return text.trim() === "" ? [] : lines.slice(-OUTPUT_LINES);
}

function chainLine(link: Link, columns: number, style: Style): string {
  return `  ${linkText(link, columns - 2, style).trimEnd()}`;
}

function markText(mark: Mark): string {
  if (mark.kind === "broken") return `✗ not verified: ${harmless(mark.message)}`;
  if (mark.kind === "elsewhere") return harmless(mark.message);
  const links = counted(mark.links, "link");
  return mark.kind === "verified" ? `✓ verified, ${links}` : `verifying, ${links} so far`;
}

function markStyle({ kind }: Mark, style: Style): (text: string) => string {
  if (kind === "verified") return style.good;
  return kind === "broken" ? style.bad : style.dim;
}

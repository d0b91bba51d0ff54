import { type ApprovalRequest, hasEnded, type RunRecord, type RunResult } from "bursar";
import type { BudgetNode, ExpectedView, Story, StoryStep } from "bursar/views";
import { needsOf, quoted } from "../app/programs/program-needs.js";
import { approvalText } from "./approval.js";
import { expectedText } from "./estimate.js";
import { executionLines } from "./execution.js";
import { counted, span } from "./quantities.js";
import { facts } from "./report.js";
import { failureLines, standingOf, statusText, valueText } from "./run.js";
import { runBars, worthwhile } from "./run-bars.js";
import { runFigure, runFigures } from "./run-figures.js";
import { clip, fitted, harmless, pad, printable, type Style } from "./style.js";

/** Everything there is to see of a run. */
export interface RunPage {
  readonly run: RunRecord;
  /** Whether nobody drives it although it runs. */
  readonly interrupted: boolean;
  readonly result: RunResult;
  readonly budgets: readonly BudgetNode[];
  readonly story: Story;
  readonly children: readonly RunRecord[];
  readonly requests: readonly ApprovalRequest[];
  /** What it was expected to take; empty when nobody could say. */
  readonly expected: readonly ExpectedView[];
  /** What lies before it; null unless it is under way. */
  readonly outlook: string | null;
  /** With all that is below it. */
  readonly saved_usd: number;
  /** What this machine lacks to go on with it. */
  readonly missing: readonly string[];
}

interface Sight {
  readonly now: number;
  readonly columns: number;
  /** How many of the last steps are shown. */
  readonly most: number;
}

export function pageText(page: RunPage, sight: Sight, style: Style): string {
  const { run, requests, children } = page;
  const parts = [
    `${style.bold(harmless(run.id))}  ${statusText(standingOf(run), style, page.interrupted)}\n${headText(page, sight.now, style)}`,
    section("budgets", treeText(page, sight, style), style),
    section("set by", termsText(run), style),
    page.expected.length === 0
      ? ""
      : section("expected", expectedText(page.expected, page.result.usage, sight.columns, style), style),
    section("steps", stepsText(page, sight, style), style),
    children.length === 0 ? "" : section("below it", children.map((child) => childText(child, style)).join(""), style),
    requests.map((request) => approvalText(request, sight.now, style)).join(""),
    endText(page, style),
  ];
  return parts.filter((part) => part !== "").join("\n");
}

function section(title: string, text: string, style: Style): string {
  return text === "" ? "" : `${style.dim(title)}\n${text}`;
}

function headText({ run, story, outlook, saved_usd, missing }: RunPage, now: number, style: Style): string {
  const { program, session, parent, started_by, created, ended } = run;
  const took = ended === null ? "" : `, ended ${span(now - ended)} ago`;
  const pairs: (readonly [string, string])[] = [
    ["program", `${program.name} (${program.kind}, ${program.digest.slice(0, 12)})`],
    ["started", `${span(now - created)} ago by ${started_by}${took}`],
  ];
  if (session !== null) pairs.push(["session", session]);
  if (parent !== null) pairs.push(["below", parent]);
  if (run.cancel !== null)
    pairs.push([
      run.cancel.denied === undefined ? "cancelled" : "denied",
      `${deniedText(run)}by ${run.cancel.by}${run.cancel.reason === null ? "" : `: ${run.cancel.reason}`}`,
    ]);
  const handed = run.pause?.batches?.length ?? 0;
  if (handed > 0) pairs.push(["waits", `for ${counted(handed, "call")} in a batch of the provider`]);
  if (run.pause?.problem !== undefined) pairs.push(["problem", run.pause.problem]);
  const flags = hasEnded(run) ? [] : (needsOf(run.program)?.flags ?? []);
  if (flags.length > 0) pairs.push(["needs", flags.map(quoted).join(" ")]);
  for (const each of missing) pairs.push(["missing", each]);
  if (outlook !== null) pairs.push(["outlook", outlook]);
  if (saved_usd > 0) pairs.push(["saved", runFigure("cost_usd", saved_usd)]);
  pairs.push(["chain", counted(story.links, "link")]);
  return facts(pairs, style);
}

/** `more llm_tokens, `. */
function deniedText({ cancel }: RunRecord): string {
  return cancel?.denied === undefined ? "" : `more ${cancel.denied.dimension}, `;
}

function treeText({ budgets }: RunPage, { columns }: Sight, style: Style): string {
  return budgets
    .map(({ budget, positions }, depth) => {
      const name = `  ${"  ".repeat(depth)}${depth === 0 ? "" : "└ "}${harmless(budget)}`;
      const bars = runBars(
        worthwhile(positions).map((each) => ({ ...each, budget: "" })),
        columns,
        style,
      );
      return [clip(name, columns), ...bars].map((line) => `${line}\n`).join("");
    })
    .join("");
}

/** Who set the limits and policies of the run, where that is not the table of dimensions. */
function termsText({ terms = {} }: RunRecord): string {
  return Object.entries(terms)
    .map(([dimension, { limit, policy, not_granted }]) => {
      const missed = not_granted === undefined ? "" : `; not granted: ${not_granted}`;
      return harmless(`  ${pad(dimension, 22)}limit: ${limit}, policy: ${policy}${missed}`);
    })
    .map((line) => `${line}\n`)
    .join("");
}

const SIGNS: Readonly<Record<StoryStep["state"], readonly [string, "good" | "warn" | "bad" | "accent"]>> = {
  "in flight": ["…", "accent"],
  done: ["✓", "good"],
  failed: ["✗", "bad"],
  interrupted: ["?", "warn"],
  refused: ["‖", "warn"],
  released: ["·", "accent"],
};
const NAME_COLUMNS = 22;

function stepsText({ run, story }: RunPage, { columns, most }: Sight, style: Style): string {
  const shown = story.steps.slice(-most);
  const hidden = story.steps.length - shown.length;
  const before = hidden === 0 ? "" : `  ${style.dim(`${counted(hidden, "step")} before; --all shows them`)}\n`;
  return before + shown.map((step) => stepText(step, run.created, columns, style)).join("");
}

function stepText(step: StoryStep, created: number, columns: number, style: Style): string {
  const isStopped = step.state === "refused" && step.problem !== "paused";
  const [sign, paint] = SIGNS[isStopped ? "failed" : step.state];
  const after = `+${((step.at - created) / 1000).toFixed(1)} s`;
  const used = runFigures(step.used, ["steps", "llm_input_tokens", "llm_output_tokens"]);
  const took = step.duration_ms === null ? "" : style.dim(` ${(step.duration_ms / 1000).toFixed(1)} s`);
  const guess = step.estimated ? style.dim(" as reserved") : "";
  const name = pad(`${fitted(harmless(step.capability), NAME_COLUMNS - 1, columns)} `, NAME_COLUMNS);
  const line = `  ${style[paint](sign)} ${pad(`#${step.number}`, 6)}${style.dim(pad(after, 10))}${name}${used}${guess}${took}`;
  const why = step.problem === null ? "" : `${clip(`           ${harmless(step.problem)}`, columns)}\n`;
  return `${clip(line, columns)}\n${why}`;
}

function childText(run: RunRecord, style: Style): string {
  const { id, program } = run;
  return `  ${pad(statusText(standingOf(run), style), 14)}${harmless(id)}  ${style.dim(harmless(program.name))}\n`;
}

const LONGEST = 4000;

function endText({ run, result }: RunPage, style: Style): string {
  const { stdout, stderr } = run.output;
  const said = result.execution === null ? [] : executionLines(result.execution, style);
  const parts = [
    section("printed", printable(stdout.slice(-LONGEST)), style),
    section("errors", printable(stderr.slice(-LONGEST)), style),
    section("sandbox", said.map((line) => `  ${line}\n`).join(""), style),
  ];
  if (result.status === "failed")
    parts.push(
      failureLines(result.failure)
        .map((line) => `${line}\n`)
        .join(""),
    );
  if (result.status === "completed" || result.status === "failed") {
    parts.push(section("result", printable(valueText(result.result)), style));
  }
  return parts.filter((part) => part !== "").join("\n");
}

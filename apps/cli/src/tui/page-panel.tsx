import type { Link } from "bursar";
import type { BudgetView, RunView } from "bursar/views";
import type { ReactElement } from "react";
import { dimensionLines, worthALine } from "../render/dimension-lines.js";
import { expectedText } from "../render/estimate.js";
import { counted, span } from "../render/quantities.js";
import { denialText, statusText } from "../render/run.js";
import { linkText } from "../render/run-chain.js";
import { runFigure } from "../render/run-figures.js";
import { clip, harmless, type Style } from "../render/style.js";
import { Lines, Rule, useStyle } from "./line.js";
import { topicOf } from "./request-lines.js";
import { shownEnd } from "./scroll.js";
import type { Mark, RunSight, Sight } from "./sight.js";
import type { Size, State } from "./state.js";
import { stepLines } from "./step-lines.js";

const LEAST_BELOW = 4;
const LONGEST_OUTPUT = 2000;

interface PagePanelProps {
  readonly page: NonNullable<State["page"]>;
  readonly sight: Sight;
  readonly room: Size;
}

/** One run: how its limits stand, and its steps or the end of its chain. */
export function PagePanel({ page, sight, room: { columns, rows } }: PagePanelProps): ReactElement {
  const style = useStyle();
  const seen = sight.page;
  if (seen === null || seen.run.id !== page.run) {
    return <Lines indent={2} texts={["", style.dim(`looking for run ${harmless(page.run)} …`)]} />;
  }
  const head = headLines(seen, sight.now, style);
  const room = Math.max(1, rows - head.length - LEAST_BELOW);
  const limits = [...limitLines(seen.run.budgets, columns, style), ...expectedLines(seen.run, columns, style)];
  const shown = limits.length <= room ? limits : [...limits.slice(0, room - 1), style.dim("  …")];
  const below = Math.max(1, rows - head.length - shown.length - 1);
  const isSteps = page.part === "steps";
  const title = isSteps ? style.dim(stepsTitle(seen)) : markText(seen.mark, style);
  const lines = isSteps ? stepLines(seen, columns, style) : seen.links.map((link) => chainLine(link, columns, style));
  return (
    <>
      <Lines indent={2} texts={head} />
      <Lines texts={shown} />
      <Rule columns={columns} text={title} />
      <Lines texts={shownEnd(lines, page.back, below)} />
    </>
  );
}

function headLines({ run }: RunSight, now: number, style: Style): readonly string[] {
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
  return lines;
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

function chainLine(link: Link, columns: number, style: Style): string {
  return `  ${linkText(link, columns - 2, style).trimEnd()}`;
}

function markText(mark: Mark, style: Style): string {
  switch (mark.kind) {
    case "broken":
      return style.bad(`chain: ✗ not verified: ${harmless(mark.message)}`);
    case "elsewhere":
      return style.dim(`chain: ${harmless(mark.message)}`);
    case "verified":
      return style.good(`chain: ✓ verified, ${counted(mark.links, "link")}`);
    default:
      return style.dim(`chain: verifying, ${counted(mark.links, "link")} so far`);
  }
}

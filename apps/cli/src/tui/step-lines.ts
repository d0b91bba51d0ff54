import type { StepView } from "bursar/views";
import { executionLines } from "../render/execution.js";
import { runFigures } from "../render/run-figures.js";
import { clip, harmless, pad, printable, type Style } from "../render/style.js";
import type { RunSight } from "./sight.js";

const OUTPUT_LINES = 2;
const LONGEST_OUTPUT = 2000;

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

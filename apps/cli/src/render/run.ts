import type { Denial, Failure, Json, RunRecord, RunResult } from "bursar";
import { runFigures } from "./run-figures.js";
import { harmless, type Style, wrap } from "./style.js";

const COLUMNS = 78;

interface Wording {
  readonly sign: string;
  readonly paint: "good" | "warn" | "bad" | "accent";
}

const WORDINGS: Readonly<Record<RunRecord["status"] | "denied", Wording>> = {
  denied: { sign: "✗", paint: "bad" },
  queued: { sign: "·", paint: "accent" },
  running: { sign: "▶", paint: "accent" },
  paused: { sign: "‖", paint: "warn" },
  completed: { sign: "✓", paint: "good" },
  failed: { sign: "✗", paint: "bad" },
  cancelled: { sign: "✗", paint: "bad" },
};

/** A run's status with its sign, as it stands everywhere. One whose worker is gone runs by name only. */
export function statusText(status: RunRecord["status"] | "denied", style: Style, interrupted = false): string {
  if (interrupted) return style.warn("! interrupted");
  const { sign, paint } = WORDINGS[status];
  return style[paint](`${sign} ${status}`);
}

/** How a run stands, in a line or two. */
export function resultText(result: RunResult, style: Style): string {
  const denied = result.status === "cancelled" ? result.denied : null;
  const head = `${statusText(denied === null ? result.status : "denied", style)}  run ${harmless(result.run_id)}`;
  const used = Object.fromEntries(Object.entries(result.usage).filter(([, value]) => value !== 0));
  const figures = runFigures(used, ["llm_input_tokens", "llm_output_tokens"]);
  const lines = [head, ...(figures === "" ? [] : wrap(figures, COLUMNS).map((line) => `  ${style.dim(line)}`))];
  if (result.status === "failed") lines.push(...failureLines(result.failure));
  if (denied !== null) lines.push(`  ${harmless(denialText(denied))}`);
  else if (result.status === "cancelled" && result.reason !== null) lines.push(`  ${harmless(result.reason)}`);
  return lines.map((line) => `${line}\n`).join("");
}

/** `more llm_tokens was denied by ann: too dear`. */
export function denialText({ by, reason, dimension }: Denial): string {
  return `more ${dimension} was denied by ${by}${reason === null ? "" : `: ${reason}`}`;
}

/** How a run stands, in a word; one that has ended because of a no is told apart from one that somebody has cancelled. */
export function standingOf({ status, cancel }: Pick<RunRecord, "status" | "cancel">): RunRecord["status"] | "denied" {
  return status === "cancelled" && cancel?.denied !== undefined ? "denied" : status;
}

/** Why it was denied what it asked for; empty where that is not why it has ended. */
export function noText({ cancel }: Pick<RunRecord, "cancel">): string {
  if (cancel?.denied === undefined) return "";
  return denialText({ by: cancel.by, reason: cancel.reason, ...cancel.denied });
}

const LONGEST_FAILURE = 2000;

export function failureLines({ code, message }: Failure): readonly string[] {
  const [first = "", ...more] = message.slice(0, LONGEST_FAILURE).trimEnd().split("\n");
  const lines = [...wrap(`${code}: ${first}`, COLUMNS), ...more];
  return lines.map((line) => `  ${harmless(line)}`);
}

/** What a run gives back: a text as it is, all else as JSON. */
export function valueText(value: Json): string {
  if (value === null) return "";
  return typeof value === "string" ? `${value}\n` : `${JSON.stringify(value, null, 2)}\n`;
}

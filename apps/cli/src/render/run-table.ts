import type { JsonObject, RunRecord } from "bursar";
import { counted, span } from "./quantities.js";
import { statusText } from "./run.js";
import { runFigure } from "./run-figures.js";
import { clip, harmless, pad, type Style } from "./style.js";

/** A run in a list, with what it has used. */
export interface RunRow {
  readonly run: RunRecord;
  readonly usage: JsonObject;
}

const STATUS_COLUMNS = 13;
const AGE_COLUMNS = 6;
const COST_COLUMNS = 10;
const LONGEST_ID = 40;

/** Runs as a table; what does not fit on a line is cut. */
export function runsText(rows: readonly RunRow[], more: number, now: number, columns: number, style: Style): string {
  if (rows.length === 0) return `${style.dim("no runs")}\n`;
  const ids = Math.min(LONGEST_ID, Math.max(...rows.map(({ run }) => run.id.length))) + 2;
  const lines = rows.map(({ run, usage }) => {
    const status = pad(statusText(run.status, style), STATUS_COLUMNS);
    const id = pad(clip(harmless(run.id), ids - 2), ids);
    const age = style.dim(pad(shortSpan(now - run.created), AGE_COLUMNS));
    const cost = pad(runFigure("cost_usd", usage.cost_usd ?? 0), COST_COLUMNS);
    return clip(`${status}${id}${age}${cost}${harmless(run.program.name)}`, columns);
  });
  const rest = more === 0 ? "" : `${style.dim(`and ${counted(more, "run")} before; --most shows more`)}\n`;
  return lines.map((line) => `${line}\n`).join("") + rest;
}

/** `3 hours` as `3h`. */
export function shortSpan(ms: number): string {
  const [, count = "0", unit = "s"] = /^([\d,]+) (\w)/.exec(span(ms)) ?? [];
  return `${count}${unit}`;
}

import type { JsonObject, RunRecord } from "bursar";
import { counted, span } from "./quantities.js";
import { standingOf, statusText } from "./run.js";
import { runFigure } from "./run-figures.js";
import { clip, fitted, harmless, pad, type Style } from "./style.js";

/** A run in a list, with what it has used. */
export interface RunRow {
  readonly run: RunRecord;
  readonly usage: JsonObject;
  /** What is held for calls under way: neither used nor free. */
  readonly held: JsonObject;
  /** Whether nobody drives it although it runs. */
  readonly interrupted: boolean;
}

const STATUS_COLUMNS = 13;
/** One word is longer than all others, and rare. */
const LONGEST_STATUS = 15;
const AGE_COLUMNS = 6;
const LEAST_COST_COLUMNS = 8;
const LONGEST_ID = 40;

/** Runs as a table; what does not fit on a line is cut. `more` is null where more follow and were not counted. */
export function runsText(
  rows: readonly RunRow[],
  more: number | null,
  now: number,
  columns: number,
  style: Style,
): string {
  if (rows.length === 0) return `${style.dim("no runs")}\n`;
  const names = rows.map(({ run }) => fitted(harmless(run.id), LONGEST_ID, columns));
  const ids = Math.max(...names.map((name) => name.length)) + 2;
  const costs = rows.map(costText);
  const room = Math.max(LEAST_COST_COLUMNS, ...costs.map((cost) => cost.length)) + 2;
  const wide = rows.some(({ interrupted }) => interrupted) ? LONGEST_STATUS : STATUS_COLUMNS;
  const lines = rows.map(({ run, interrupted }, index) => {
    const status = pad(statusText(standingOf(run), style, interrupted), wide);
    const id = pad(names[index] ?? "", ids);
    const age = style.dim(pad(shortSpan(now - run.created), AGE_COLUMNS));
    const cost = pad(costs[index] ?? "", room);
    return clip(`${status}${id}${age}${cost}${harmless(run.program.name)}`, columns);
  });
  const many = more === null ? "more" : counted(more, "run");
  const rest = more === 0 ? "" : `${style.dim(`and ${many} before; --most shows more`)}\n`;
  return lines.map((line) => `${line}\n`).join("") + rest;
}

/** `$0.12 + $0.05`: what is held for calls under way stands apart. */
export function costText({ usage, held }: Pick<RunRow, "usage" | "held">): string {
  const used = runFigure("cost_usd", usage.cost_usd ?? 0);
  return typeof held.cost_usd === "number" ? `${used} + ${runFigure("cost_usd", held.cost_usd)}` : used;
}

/** `3 hours` as `3h`. */
export function shortSpan(ms: number): string {
  const [, count = "0", unit = "s"] = /^([\d,]+) (\w)/.exec(span(ms)) ?? [];
  return `${count}${unit}`;
}

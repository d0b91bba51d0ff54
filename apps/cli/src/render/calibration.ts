import type { Calibrated, CalibrationRow } from "bursar";
import { roundFigure } from "./estimate.js";
import { number } from "./quantities.js";
import { harmless, type Style } from "./style.js";
import { tableText } from "./table.js";

const WORDS: Readonly<Record<Calibrated, readonly [string, "good" | "warn" | "dim"]>> = {
  good: ["✓ good", "good"],
  too_tight: ["! too tight", "warn"],
  too_wide: ["! too wide", "warn"],
  too_few: ["too few", "dim"],
};

/** How well predictions have held, a line for each dimension of each program. */
export function calibrationText(
  rows: readonly CalibrationRow[],
  program: string | null,
  width: number,
  style: Style,
): string {
  if (rows.length === 0) {
    const whose = program === null ? "no run" : `no run of ${harmless(program)}`;
    return `${style.dim(`${whose} was predicted and has ended, so there is nothing to compare`)}\n`;
  }
  const programs = [...new Set(rows.map((row) => row.program))];
  const tables = programs.map((name) => {
    const own = rows.filter((row) => row.program === name).map((row) => cellsOf(row, style));
    return `${style.bold(harmless(name))}\n${tableText(COLUMNS, own, width, style)}`;
  });
  const about = [
    "within: the runs that did not pass their 95 %; 90 to 99 % are as promised",
    "off by: how far half of the runs were from their predicted median",
    "reached: how much of its bound a run takes of which 95 of 100 take less",
  ];
  return `${tables.join("\n")}\n${about.map((line) => `  ${style.dim(line)}\n`).join("")}`;
}

const right = true;
const COLUMNS = [
  { title: "dimension" },
  { title: "the 95 %" },
  { title: "runs", right },
  { title: "cut", right },

  { title: "within", right },
  { title: "off by", right },
  { title: "reached", right },
] as const;

function cellsOf(row: CalibrationRow, style: Style): readonly string[] {
  const [words, paint] = WORDS[row.calibrated];
  return [
    harmless(row.dimension),
    style[paint](words),
    number(row.runs),
    number(row.cut),
    percent(row.covered),
    roundFigure(row.dimension, row.median_error),
    percent(row.reached),
  ];
}

function percent(share: number): string {
  return `${(share * 100).toFixed(share < 1 ? 1 : 0)} %`;
}

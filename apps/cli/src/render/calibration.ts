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
  const right = true;
  const columns = [
    ...[{ title: "program" }, { title: "dimension" }, { title: "runs", right }, { title: "cut", right }],
    ...[{ title: "within 95 %", right }, { title: "off by", right }, { title: "reached", right }, { title: "" }],
  ] as const;
  const cells = rows.map((row) => {
    const [words, paint] = WORDS[row.calibrated];
    return [
      ...[harmless(row.program), harmless(row.dimension), number(row.runs), number(row.cut)],
      ...[
        percent(row.covered),
        roundFigure(row.dimension, row.median_error),
        percent(row.reached),
        style[paint](words),
      ],
    ];
  });
  const about = [
    "within 95 %: the runs that did not pass their bound; 90 to 99 % are as promised",
    "off by: how far half of the runs were from their predicted median",
    "reached: how much of its bound a run takes of which 95 of 100 take less",
  ];
  return `${tableText(columns, cells, width, style)}\n${about.map((line) => `  ${style.dim(line)}\n`).join("")}`;
}

function percent(share: number): string {
  return `${(share * 100).toFixed(share < 1 ? 1 : 0)} %`;
}

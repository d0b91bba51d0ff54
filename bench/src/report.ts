import type { Measured } from "./measure.js";

/** Something that was promised, and whether the measurement keeps the promise. */
export interface Bar {
  readonly name: string;
  readonly measured: string;
  readonly met: boolean;
}

interface Table {
  readonly title: string;
  readonly rows: readonly Measured[];
}

export interface Report {
  readonly tables: readonly Table[];
  readonly bars: readonly Bar[];
}

export interface Bench {
  readonly name: string;
  readonly about: string;
  /** A quick run shows that the bench works; its figures are rough. */
  run(quick: boolean): Report | Promise<Report>;
}

const WIDTH = 58;

export function renderReport({ tables, bars }: Report): string {
  const blocks = tables.map(({ title, rows }) => {
    const head = `${title.padEnd(WIDTH)}${"median".padStart(12)}${"p10".padStart(12)}${"ratio".padStart(8)}`;
    return [head, ...rows.map(renderRow)].join("\n");
  });
  const kept = bars.map(({ name, measured, met }) => `${met ? "met    " : "NOT MET"}  ${name}: ${measured}`);
  return [...blocks, kept.join("\n")].join("\n\n");
}

function renderRow({ name, medianNs, p10Ns, ratio }: Measured): string {
  return `  ${name.padEnd(WIDTH - 2)}${ns(medianNs)}${ns(p10Ns)}${ratio.toFixed(2).padStart(8)}`;
}

function ns(value: number): string {
  return `${value < 10_000 ? value.toFixed(0) : `${(value / 1000).toFixed(1)}k`} ns`.padStart(12);
}

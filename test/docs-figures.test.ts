import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";

interface Result {
  readonly bars: readonly { readonly name: string; readonly measured: string }[];
}

const read = (path: string): string => readFileSync(new URL(`../${path}`, import.meta.url), "utf8");

/** What a bench has measured, as the bar of this name says it first. */
function measured(bench: string, bar: string): number {
  const { bars } = JSON.parse(read(`bench/results/${bench}.json`)) as Result;
  const text = bars.find(({ name }) => name === bar)?.measured ?? "";
  return Number(/\d+(?:\.\d+)?/.exec(text)?.[0]);
}

/** Bench and bar, with what the rows of README.md and docs/PERFORMANCE.md that tell it have in them. */
const TOLD: readonly (readonly [bench: string, bar: string, readme: string, performance: string])[] = [
  ["gate", "at most a third of the time of bare counters", "four bare counters", "four bare counters, check"],
  ["store-sqlite", "a full step, every caller alone", "SQLite: a full durable step", "SQLite: a full durable step"],
  [
    ...(["store-sqlite", "an operation in group commit, 64 callers in one run"] as const),
    ...(["64 callers in one run at once", "SQLite: an operation, 64 callers"] as const),
  ],
  ["store-sqlite", "cost from the smallest store to the largest", "1,000,000 budgets", "1,000,000 budgets"],
  ["store-postgres", "a full step", "PostgreSQL: a full durable step", "PostgreSQL: a full durable step"],
  ["store-postgres", "batching on one hot budget", "64 callers on one hot budget", "64 callers on one hot budget"],
  ["store-postgres", "leases on one hot budget", "64 callers on one hot budget", "the same with leases"],
  ["gateway", "latency of one whole, p50", "a request through the gateway", "a request through the gateway"],
  ["sandbox-start", "memory of each of 50 Python sessions", "of 50 Python sessions", "of 50 Python sessions"],
];

/** Whether a row tells a figure, rounded as it may be. */
function tells(file: string, words: string, figure: number): boolean {
  const row = read(file)
    .split("\n")
    .find((line) => line.startsWith("|") && line.includes(words));
  const result = row?.split("|").slice(3).join("|") ?? "";
  const ways = new Set([figure < 10 ? 1 : 0, 2].map((digits) => figure.toFixed(digits)));
  return [...result.matchAll(/\d+(?:\.\d+)?/g)].some(([text]) => ways.has(text));
}

describe.each(TOLD)("%s, %s", (bench, bar, readme, performance) => {
  test("is told as it was measured, and the same everywhere", () => {
    const figure = measured(bench, bar);
    expect(figure).toBeGreaterThan(0);
    expect([figure, tells("README.md", readme, figure)]).toEqual([figure, true]);
    expect([figure, tells("docs/PERFORMANCE.md", performance, figure)]).toEqual([figure, true]);
  });
});

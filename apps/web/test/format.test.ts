import { describe, expect, test } from "vitest";
import { exactAmount, formatAmount, percentOf } from "../src/format/amount.js";
import { inOrder, labelOf } from "../src/format/dimension.js";
import { shortId } from "../src/format/id.js";
import { knownLocale, mendLocale } from "../src/format/locale.js";
import { formatAgo, formatClock, formatDuration, formatInstant, isoInstant } from "../src/format/time.js";

describe("an amount is written", () => {
  test.for([
    ["cost_usd", 0, "$0.00"],
    ["cost_usd", 0.5, "$0.50"],
    ["cost_usd", 0.0425, "$0.0425"],
    ["cost_usd", 0.000_042, "$0.000042"],
    ["cost_usd", 0.000_000_001, "<$0.000001"],
    ["cost_usd", 1234.5, "$1,234.50"],
    ["cost_usd", -0.25, "-$0.25"],
    ["llm_tokens", 12_345, "12,345"],
    ["llm_tokens", 2_500_000, "2.5M"],
    ["wall_clock_ms", 90_000, "1m 30s"],
    ["network_egress_bytes", 10_485_760, "10 MiB"],
    ["network_egress_bytes", 512, "512 B"],
    ["fuel", 12_750_000_000, "12.8B"],
    ["fuel", 999, "999"],
    ["emails_sent", 3, "3"],
  ] as const)("%s %d as %s", ([dimension, amount, text]) => {
    expect(formatAmount(dimension, amount)).toBe(text);
  });

  test("in full where that matters", () => {
    expect(exactAmount("cost_usd", 0.000_000_001)).toBe("0.000000001 USD");
    expect(exactAmount("fuel", 12_750_000_000)).toBe("12,750,000,000 fuel");
  });
});

test("a share is 100 % only when nothing is left", () => {
  expect(percentOf(99.9, 100)).toBe(99);
  expect(percentOf(100, 100)).toBe(100);
  expect(percentOf(150, 100)).toBe(150);
  expect(percentOf(0, 0)).toBe(0);
  expect(percentOf(1, 0)).toBe(100);
});

test.for([
  [0, "0 ms"],
  [999, "999 ms"],
  [1500, "1.5 s"],
  [59_960, "1m"],
  [60_000, "1m"],
  [3_661_000, "1h 1m"],
  [90_000_000, "1d 1h"],
  [-1500, "-1.5 s"],
] as const)("%d ms last %s", ([ms, text]) => {
  expect(formatDuration(ms)).toBe(text);
});

test("an instant is told by its distance", () => {
  expect(formatAgo(1_000_000, 1_002_000)).toBe("now");
  expect(formatAgo(1_000_000, 1_180_000)).toBe("3 min ago");
  expect(formatAgo(90_000_000, 3_600_000)).toBe("in 24 h");
});

test("what is no date is shown without one", () => {
  expect(formatInstant(8_640_000_000_000_001)).toBe("beyond all dates");
  expect(isoInstant(8_640_000_000_000_001)).toBe("");
  expect(isoInstant(0)).toBe("1970-01-01T00:00:00.000Z");
  expect(formatClock(Number.NaN)).toBe("");
});

test("dimensions have names, and always the same order", () => {
  expect(labelOf("emails_sent")).toBe("Emails sent");
  expect(inOrder(["fuel", "emails_sent", "steps", "cost_usd"], (each) => each)).toEqual([
    "cost_usd",
    "steps",
    "fuel",
    "emails_sent",
  ]);
});

test("a long id keeps the end that tells it apart", () => {
  expect(shortId("run-7")).toBe("run-7");
  expect(shortId("01a1e48b-e10e-7cdc-be7e-0f0f0dd4e5c3")).toBe("01a1e4…0dd4e5c3");
});

test.each([
  ["de-CH", "de-CH"],
  ["en", "en"],
  ["en-US@posix", "en-US"],
  ["C", "en-US"],
  ["", "en-US"],
])("a browser whose language is %j formats as in %s", (language, expected) => {
  expect(knownLocale(language)).toBe(expected);
  const browser = Object.create({ language }) as { readonly language: string };
  mendLocale(browser);
  expect(browser.language).toBe(expected);
});

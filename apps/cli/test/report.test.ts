import type { CheckReport } from "bursar/store";
import { expect, test } from "vitest";
import { readSpan } from "../src/arguments/read-span.js";
import { bytes, counted, span } from "../src/render/quantities.js";
import { checkText } from "../src/render/report.js";
import { harmless, styleFor } from "../src/render/style.js";
import { ProgressBar } from "../src/terminal/progress-bar.js";
import { FakeScreen } from "./screen.js";

test("quantities are written as people read them", () => {
  expect([0, 1023, 1024, 1_572_864].map(bytes)).toEqual(["0 B", "1023 B", "1.0 KiB", "1.5 MiB"]);
  expect([counted(1, "link"), counted(1200, "link")]).toEqual(["1 link", "1,200 links"]);
  expect([10, 1000, 90_000, 86_400_000 * 3].map(span)).toEqual([
    "less than a second",
    "1 second",
    "1 minute",
    "3 days",
  ]);
});

test.for([
  ["30d", 2_592_000_000],
  ["12h", 43_200_000],
  ["0s", 0],
  ["2w", 1_209_600_000],
  ["30", null],
  ["d", null],
  ["-1d", null],
  ["1.5d", null],
  ["30D", null],
] as const)("%s is a span of %d ms", ([text, ms]) => {
  expect(readSpan(text)).toBe(ms);
});

test("a report shows what is wrong within 80 columns, and obeys nothing in it", () => {
  const defect = {
    severity: "error",
    where: "budget \x1b[2J",
    problem: "is wrong ".repeat(20),
    advice: "mend it",
  } as const;
  const counts = {
    chains: 1,
    links: 2,
    archived: 0,
    files: null,
    anchors: 0,
    budgets: 1,
    rebuilt: 1,
    calls: 0,
    keys: 0,
  };
  const report: CheckReport = {
    ok: false,
    where: "x.db",
    engine: "sqlite",
    schema: 1,
    integrity: "sound",
    ...counts,
    errors: 5,
    warnings: 1,
    defects: [defect],
  };
  const text = checkText(report, styleFor(false));
  expect(text).not.toContain("\x1b");
  expect(text).toContain("and 5 more");
  expect(text).toContain("✗ 5 errors, 1 warning");
  for (const line of text.split("\n")) expect(line.length).toBeLessThanOrEqual(80);
  expect(harmless("a\u009bb")).toBe("a�b");
});

test("a progress bar is drawn in place, and gone when the work is done", async () => {
  const screen = new FakeScreen();
  {
    using bar = new ProgressBar(screen);
    const until = performance.now() + 250;
    while (performance.now() < until) bar.show({ what: "rows", done: 50, total: 200 });
    expect(screen.text).toContain("25 %  50 of 200");
  }
  expect(screen.text).toBe("");
  using nobody = new ProgressBar(null);
  nobody.show({ what: "rows", done: 1, total: 1 });
});

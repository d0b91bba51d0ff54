import type { RunRecord } from "bursar";
import { expect, test } from "vitest";
import { runsText } from "../src/render/run-table.js";
import { styleFor } from "../src/render/style.js";

test.each([0.5, 12.013335, 4321.123456])("a run that cost $%d keeps its distance from what follows", (cost_usd) => {
  const run = { id: "r", status: "running", created: 0, program: { name: "writer" } } as RunRecord;
  const text = runsText([{ run, interrupted: false, usage: { cost_usd }, held: {} }], 0, 1000, 80, styleFor(false));
  expect(text).toMatch(/\$[\d,.]+ {2,}writer\n/);
});

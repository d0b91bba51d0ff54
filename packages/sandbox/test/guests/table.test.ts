import { PACKAGES, packageTable } from "@bursar/sandbox/analysis";
import { expect, test } from "vitest";
import type { GuestFuel } from "../../src/guests/guest-fuel.js";
import { setupOf } from "../../src/sessions/options.js";
import { type Ended, resultOf } from "../../src/sessions/result.js";

const EMPTY = { text: "", truncated: false };
const FAST: GuestFuel = {
  costs: "1",
  start: 1,
  empty: 1,
  work: [],
  imports: [
    { package: "openpyxl", code: "import openpyxl", first: 961_300_000, uncompiled: 2_393_000_000, cached: 36_017 },
    {
      package: "openpyxl",
      code: "import openpyxl.chart",
      first: 988_000_000,
      uncompiled: 2_393_000_000,
      cached: 179_013,
    },
  ],
};

function figureOf(table: typeof PACKAGES, name: string) {
  return table.find((each) => each.name === name);
}

/** An execution that was stopped in the middle of its import. */
function ended(table?: typeof PACKAGES): Ended {
  return {
    session: "s",
    setup: setupOf({ language: "python", packages: ["openpyxl"] }),
    code: "import openpyxl",
    outcome: { kind: "trapped", reason: "out_of_fuel", message: "out of fuel" },
    imports: [],
    earlier: [],
    fuel: 500_000_000,
    budget: 500_000_000,
    memory_bytes: 0,
    duration_ms: 1,
    timeout_ms: 1000,
    stdout: EMPTY,
    stderr: EMPTY,
    files_created: [],
    files_modified: [],
    ...(table !== undefined && { packages: table }),
  };
}

test("the table of a guest has its own figures, outwards to two digits", () => {
  expect(figureOf(packageTable(FAST), "openpyxl")).toEqual({
    name: "openpyxl",
    modules: ["openpyxl"],
    needs: ["et_xmlfile"],
    first: { least: 960_000_000, most: 990_000_000 },
    cached: { least: 36_000, most: 180_000 },
  });
});

test("of a package that is not compiled for it, it has the larger ones", () => {
  expect(figureOf(packageTable(FAST, ["OpenPyXL"]), "openpyxl")).toMatchObject({
    first: { least: 2_300_000_000, most: 2_400_000_000 },
    cached: { least: 36_000, most: 180_000 },
  });
});

test("the budget that guidance gives as an example is enough for the import", () => {
  const [, , , , example] = resultOf(ended(packageTable(FAST, ["openpyxl"]))).metadata.error_guidance
    ?.actionable_guidance ?? [""];

  expect(example).toBe("Example: create_session(language='python', fuel_budget=5_000_000_000)");
});

test("what was not measured on a guest is not taken from another", () => {
  expect(figureOf(packageTable(FAST), "jinja2")).toMatchObject({ first: null, cached: null });
  expect(packageTable(null).map(({ name }) => name)).toEqual(PACKAGES.map(({ name }) => name));
  expect(packageTable(null).every(({ first, cached }) => first === null && cached === null)).toBe(true);
});

test("every package that sessions know was measured on the guest that everybody has", () => {
  expect(PACKAGES.filter(({ first, cached }) => first === null || cached === null)).toEqual([]);
});

test("advice goes by the table of the guest that it was", () => {
  const { fuel_analysis, error_guidance } = resultOf(ended(packageTable(FAST))).metadata;

  expect(fuel_analysis.likely_causes).toEqual(["Heavy package import detected: openpyxl (requires 960-990M fuel)"]);
  expect(fuel_analysis.recommendation).toContain("openpyxl requires 960-990M fuel for first import.");
  expect(error_guidance?.actionable_guidance).toContain("Likely cause: Heavy package imports (openpyxl 960-990M)");
});

test("and by none where nothing was measured", () => {
  const { fuel_analysis } = resultOf(ended(packageTable(null))).metadata;

  expect(fuel_analysis.likely_causes.join()).not.toContain("requires");
});

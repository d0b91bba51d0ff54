import { describe, expect, test } from "vitest";
import { scenario } from "../../../../specs/scenario.js";
import { analyzeFuel } from "../../src/analysis/fuel.js";
import { explainError } from "../../src/analysis/guidance.js";
import { B, failed, fuel, M, SPEC_TABLE } from "./spec-table.js";

const first = (module: string, consumed: number | null) => ({ module, first: true, fuel: consumed });
const again = (module: string, consumed: number | null) => ({ module, first: false, fuel: consumed });

scenario("000/efficient-fuel-usage", () => {
  expect(analyzeFuel(fuel({ consumed: 2_500_000_000, budget: 10_000_000_000 }))).toEqual({
    consumed: 2_500_000_000,
    budget: 10_000_000_000,
    utilization_percent: 25.0,
    status: "efficient",
    recommendation: null,
    likely_causes: [],
  });
});

scenario("000/moderate-fuel-usage", () => {
  const analysis = analyzeFuel(fuel({ consumed: 6.2 * B }));

  expect(analysis.status).toBe("moderate");
  expect(analysis.recommendation).toBe("Code used 62% of fuel budget - acceptable for current workload");
  expect(analysis.likely_causes).toEqual([]);
});

scenario("000/moderate-fuel-usage", "with an import to name", () => {
  const analysis = analyzeFuel(fuel({ consumed: 6.2 * B, imports: [first("jinja2", 4.4 * B)] }));

  expect(analysis.likely_causes).toEqual(["Heavy package import detected: jinja2 (requires 4-5B fuel)"]);
  expect(analysis.recommendation).toMatch(/^Code used 62% of fuel budget - acceptable for current workload\. First/);
});

scenario("000/warning-fuel-usage", () => {
  const analysis = analyzeFuel(fuel({ consumed: 8.5 * B, imports: [first("openpyxl", null)] }));

  expect(analysis.status).toBe("warning");
  expect(analysis.recommendation).toContain(
    "Code used 85% of fuel budget. Consider increasing budget to 15B+ instructions for similar workloads to avoid exhaustion.",
  );
  expect(analysis.likely_causes).toEqual(["Heavy package import detected: openpyxl (requires 5-7B fuel)"]);
});

scenario("000/critical-fuel-usage", () => {
  const imports = [first("jinja2", 0.8 * B), first("PyPDF2", 0.9 * B)];
  const analysis = analyzeFuel(fuel({ consumed: 9.7 * B, imports }));

  expect(analysis.status).toBe("critical");
  expect(analysis.recommendation).toContain(
    "CRITICAL: Code used 97% of fuel budget. Increase budget to at least 20B instructions for future executions to prevent OutOfFuel errors.",
  );
  expect(analysis.likely_causes).toEqual([
    "Heavy package import detected: jinja2 (requires 4-5B fuel)",
    "Heavy package import detected: PyPDF2 (requires 5-6B fuel)",
    "Multiple package imports (cumulative fuel cost)",
    "Complex data processing or large dataset detected",
  ]);
});

scenario("000/critical-fuel-usage", "also when a program ends normally with its last instruction", () => {
  expect(analyzeFuel(fuel({ consumed: 10 * B }))).toMatchObject({ status: "critical", utilization_percent: 100 });
});

scenario("000/fuel-exhaustion", () => {
  const facts = failed({ consumed: 10 * B, trap: "out_of_fuel", stderr: "Execution trapped: OutOfFuel" });
  const analysis = analyzeFuel(facts);
  const guidance = explainError(facts);

  expect(analysis.status).toBe("exhausted");
  expect(analysis.recommendation).toMatch(/^Execution exceeded budget\. See error_guidance for solutions\./);
  expect(guidance?.error_type).toBe("OutOfFuel");
  expect(guidance?.actionable_guidance.at(-1)).toMatch(/^See fuel_analysis/);
});

scenario("000/fuel-exhaustion", "consumed is the budget, wherever the meter stopped", () => {
  const analysis = analyzeFuel(fuel({ consumed: 10 * B + 658, trap: "out_of_fuel" }));

  expect(analysis).toMatchObject({ consumed: 10 * B, utilization_percent: 100 });
});

scenario("000/fuel-exhaustion", "both structures name the same budget and the same cause", () => {
  const facts = failed({ trap: "out_of_fuel", imports: [first("openpyxl", null)] });

  expect(analyzeFuel(facts).recommendation).toContain("increasing budget to 20B instructions (2x current consumption)");
  expect(analyzeFuel(facts).likely_causes[0]).toContain("openpyxl (requires 5-7B fuel)");
  expect(explainError(facts)?.actionable_guidance).toEqual(
    expect.arrayContaining([
      "Likely cause: Heavy package imports (openpyxl 5-7B)",
      "Example: create_session(language='python', fuel_budget=20_000_000_000)",
    ]),
  );
});

describe("packages", () => {
  const cause = "Heavy package import detected: openpyxl (requires 5-7B fuel)";
  const unwatched = (texts: { stderr?: string; code?: string }) => {
    const { imports: _, ...facts } = fuel({ consumed: 8 * B, ...texts });
    return analyzeFuel(facts).likely_causes;
  };

  scenario("000/heavy-package-import-detection", "from what the guest imported", () => {
    const imports = [first("openpyxl.workbook", 6.1 * B)];

    expect(analyzeFuel(fuel({ consumed: 8 * B, imports })).likely_causes).toEqual([cause]);
  });

  scenario("000/heavy-package-import-detection", "from stderr, where nobody watched", () => {
    const traceback = 'Traceback (most recent call last):\n  File "<string>", line 1\n    import openpyxl\n';

    expect(unwatched({ stderr: traceback })).toEqual([cause]);
    expect(unwatched({ stderr: "ModuleNotFoundError: No module named 'openpyxl'" })).toEqual([cause]);
  });

  scenario("000/heavy-package-import-detection", "from the code, where nobody watched", () => {
    expect(unwatched({ code: "import os, openpyxl as xl  # jinja2" })).toEqual([cause]);
    expect(unwatched({ code: "def f():\n  from openpyxl.chart import BarChart\n" })).toEqual([cause]);
  });

  scenario("000/heavy-package-import-detection", "names match whole, in any case", () => {
    expect(unwatched({ code: "import pypdf2" })).toEqual([
      "Heavy package import detected: PyPDF2 (requires 5-6B fuel)",
    ]);
    for (const other of ["notopenpyxl", "openpyxl_evil", "openpyxlé", "my.openpyxl"]) {
      expect(unwatched({ code: `import ${other}` })).toEqual(["Complex data processing or large dataset detected"]);
    }
  });

  test("what was watched is not contradicted by what was read", () => {
    const facts = fuel({ consumed: 8 * B, code: "if False:\n  import openpyxl", stderr: "import openpyxl" });

    expect(analyzeFuel(facts).likely_causes).toEqual(["Complex data processing or large dataset detected"]);
  });

  test("an import that is not in the table is named by what it consumed", () => {
    const imports = [first("sympy", 3.25 * B), first("json", 20 * M)];

    expect(analyzeFuel(fuel({ consumed: 6 * B, imports })).likely_causes).toEqual([
      "Heavy package import detected: sympy (used 3.25B fuel)",
    ]);
  });

  test("a package of JavaScript is not taken for Python's of the same name", () => {
    const imports = [first("jinja2", 600 * M)];

    expect(analyzeFuel(fuel({ consumed: 6 * B, imports, language: "javascript" })).likely_causes).toEqual([
      "Heavy package import detected: jinja2 (used 600M fuel)",
    ]);
  });

  test("an import of which only a part was measured is taken at the figure of the table", () => {
    const imports = [first("openpyxl", null), first("openpyxl.chart", 30 * M)];

    expect(analyzeFuel(fuel({ consumed: 8 * B, imports })).likely_causes).toEqual([cause]);
  });

  test("an import that a guest claims to have consumed more than everything did is not believed", () => {
    const imports = [first("sympy", 9 * B), first("a b\u001b[31m", 5 * B)];

    expect(analyzeFuel(fuel({ consumed: 6 * B, imports })).likely_causes).toEqual([]);
  });

  test("an import that turned out cheap is no cause", () => {
    const imports = [first("openpyxl", 30 * M)];

    expect(analyzeFuel(fuel({ consumed: 6 * B, imports })).likely_causes).toEqual([]);
  });

  scenario("000/large-dataset-processing-detection", () => {
    const causes = (consumed: number) => analyzeFuel(fuel({ consumed })).likely_causes;

    expect(causes(7 * B)).toEqual([]);
    expect(causes(7 * B + 1)).toEqual(["Complex data processing or large dataset detected"]);
  });

  scenario("000/multiple-package-imports-detection", "in what the guest imported", () => {
    const imports = [first("jinja2", 4_100 * M), first("openpyxl", 4_200 * M)];

    expect(analyzeFuel(fuel({ consumed: 9 * B, imports })).likely_causes).toContain(
      "Multiple package imports (cumulative fuel cost)",
    );
  });

  scenario("000/multiple-package-imports-detection", "in code", () => {
    expect(unwatched({ code: "import jinja2\nimport openpyxl" })).toContain(
      "Multiple package imports (cumulative fuel cost)",
    );
  });

  scenario("000/multiple-package-imports-detection", "what a package draws in is not another one", () => {
    const imports = [first("jinja2", 4_100 * M), first("markupsafe", 100 * M), first("jinja2.ext", 50 * M)];

    expect(analyzeFuel(fuel({ consumed: 6 * B, imports })).likely_causes).toEqual([
      "Heavy package import detected: jinja2 (requires 4-5B fuel)",
    ]);
  });
});

describe("sessions", () => {
  const sessionAdvice =
    "Consider using persistent session with auto_persist_globals=True to cache imports across executions";
  const cachedNote = "Fuel usage low due to cached imports from previous executions in this session.";

  scenario("000/first-import-in-session", () => {
    const imports = [first("openpyxl", 6.5 * B)];
    const analysis = analyzeFuel(fuel({ consumed: 6.9 * B, imports, autoPersistGlobals: true }));

    expect(analysis.recommendation).toContain(
      "First import of openpyxl consumed 6.5B fuel. Subsequent imports will use <100M fuel due to caching.",
    );
  });

  scenario("000/first-import-in-session", "noted below half of the budget as well", () => {
    const imports = [first("openpyxl", 6.5 * B)];
    const analysis = analyzeFuel(fuel({ consumed: 6.9 * B, budget: 20 * B, imports, autoPersistGlobals: true }));

    expect(analysis).toMatchObject({
      status: "efficient",
      recommendation:
        "First import of openpyxl consumed 6.5B fuel. Subsequent imports will use <100M fuel due to caching.",
      likely_causes: [],
    });
  });

  scenario("000/first-import-in-session", "promises no caching where nothing is kept", () => {
    const imports = [first("openpyxl", 6.5 * B)];

    expect(analyzeFuel(fuel({ consumed: 6.9 * B, imports })).recommendation).toContain(
      "Subsequent imports will use <100M fuel due to caching in a session with auto_persist_globals=True.",
    );
  });

  test("a trap undoes the import, so that nothing is promised", () => {
    const imports = [first("openpyxl", 6.5 * B)];
    const facts = fuel({ consumed: 7 * B, trap: "memory_limit", imports, autoPersistGlobals: true });

    expect(analyzeFuel(facts).recommendation).not.toContain("First import");
  });

  scenario("000/cached-import-in-existing-session", () => {
    const earlierImports = [{ module: "openpyxl", fuel: 6.5 * B }];
    const imports = [again("openpyxl", 2 * M)];
    const analysis = analyzeFuel(fuel({ consumed: 60 * M, imports, earlierImports, autoPersistGlobals: true }));

    expect(analysis.recommendation).toBe(cachedNote);
    expect(analysis.likely_causes).toEqual([]);
  });

  scenario("000/cached-import-in-existing-session", "code that uses the import without another one", () => {
    const earlierImports = [{ module: "openpyxl", fuel: null }];
    const facts = fuel({
      consumed: 60 * M,
      earlierImports,
      autoPersistGlobals: true,
      code: "wb = openpyxl.Workbook()",
    });

    expect(analyzeFuel(facts).recommendation).toBe(cachedNote);
  });

  scenario("000/cached-import-in-existing-session", "not for code that has nothing to do with it, or used much", () => {
    const earlierImports = [{ module: "openpyxl", fuel: 6.5 * B }];
    const facts = fuel({ earlierImports, autoPersistGlobals: true });

    expect(analyzeFuel({ ...facts, consumed: 60 * M, code: "print(1)" }).recommendation).toBeNull();
    expect(
      analyzeFuel({ ...facts, consumed: 9 * B, imports: [again("openpyxl", 2 * M)] }).recommendation,
    ).not.toContain("cached");
  });

  scenario("000/session-recommendation", () => {
    const earlierImports = [{ module: "openpyxl", fuel: 6.4 * B }];
    const imports = [again("openpyxl", 6.5 * B)];

    expect(analyzeFuel(fuel({ consumed: 6.9 * B, imports, earlierImports })).recommendation).toContain(sessionAdvice);
  });

  scenario("000/session-recommendation", "only where globals do not live on, and only for what is heavy", () => {
    const kept = fuel({ consumed: 6.9 * B, imports: [again("openpyxl", 6.5 * B)], autoPersistGlobals: true });
    const light = fuel({ consumed: 6.9 * B, imports: [again("json", 20 * M)] });

    expect(analyzeFuel(kept).recommendation).not.toContain(sessionAdvice);
    expect(analyzeFuel(light).recommendation).not.toContain(sessionAdvice);
  });
});

describe("suggestions", () => {
  scenario("000/incremental-budget-increase", () => {
    expect(analyzeFuel(fuel({ consumed: 8.5 * B })).recommendation).toContain(
      "Consider increasing budget to 15B instructions (1.5x current consumption)",
    );
  });

  scenario("000/package-specific-recommendations", () => {
    const facts = fuel({ budget: 7 * B, trap: "out_of_fuel", imports: [first("openpyxl", null)] });

    expect(analyzeFuel(facts).recommendation).toBe(
      "Execution exceeded budget. See error_guidance for solutions. " +
        "Consider increasing budget to 15B instructions (2x current consumption). " +
        "openpyxl requires 5-7B fuel for first import. Increase budget to 15B+ for reliable openpyxl usage.",
    );
  });

  test.each([
    [1 * B, ["openpyxl"], "15B", "15x"],
    [10 * B, ["openpyxl"], "20B", "2x"],
    [10 * B, ["openpyxl", "PyPDF2", "jinja2"], "20B", "2x"],
    [6 * B, ["openpyxl", "PyPDF2", "jinja2"], "30B", "5x"],
    [1 * B, [], "2B", "2x"],
  ] as const)("of %d fuel that ran out with %j, all advice names one budget", (budget, modules, amount, times) => {
    const imports = modules.map((module) => first(module, null));
    const facts = failed({ budget, consumed: budget, trap: "out_of_fuel", imports });
    const { recommendation } = analyzeFuel(facts);
    const named = [...(recommendation ?? "").matchAll(/budget to (\S+B)/g)].map(([, text]) => text?.replace("+", ""));
    const example = explainError(facts)?.actionable_guidance.find((line) => line.startsWith("Example"));

    expect(new Set(named)).toEqual(new Set([amount]));
    expect(recommendation).toContain(`(${times} current consumption)`);
    expect(example).toContain(`fuel_budget=${amount.slice(0, -1)}_000_000_000)`);
  });

  scenario("000/package-specific-recommendations", "never less than what was there already", () => {
    const analysis = analyzeFuel(fuel({ budget: 40 * B, trap: "out_of_fuel", imports: [first("openpyxl", null)] }));

    expect(analysis.recommendation).toContain("Increase budget to 80B+ for reliable openpyxl usage.");
  });
});

test.for([
  [4_999_999_999, "efficient", 49.99],
  [5_000_000_000, "moderate", 50],
  [7_499_999_999, "moderate", 74.99],
  [7_500_000_000, "warning", 75],
  [8_999_999_999, "warning", 89.99],
  [9_000_000_000, "critical", 90],
  [10_000_000_000, "critical", 100],
] as const)("%d of 10B is %s", ([consumed, status, utilization_percent]) => {
  expect(analyzeFuel(fuel({ consumed }))).toMatchObject({ status, utilization_percent });
});

test("a budget of nothing", () => {
  expect(analyzeFuel(fuel({ consumed: 0, budget: 0 })).status).toBe("efficient");
  expect(analyzeFuel(fuel({ consumed: 0, budget: 0, trap: "out_of_fuel" })).recommendation).toBe(
    "Execution exceeded budget. See error_guidance for solutions.",
  );
});

test.for([Number.NaN, -1, 0.5, Number.POSITIVE_INFINITY, 2 ** 53])("fuel of %d is refused", (bad) => {
  expect(() => analyzeFuel(fuel({ consumed: bad }))).toThrow(/^consumed is .* whole number/);
  expect(() => analyzeFuel(fuel({ budget: bad }))).toThrow(/^budget is .* whole number/);
});

test("a table with a range the wrong way round is refused", () => {
  const [openpyxl] = SPEC_TABLE;
  if (openpyxl === undefined) throw new Error("the table of the specification is empty");
  const packages = [{ ...openpyxl, first: { least: 7, most: 5 } }];

  expect(() => analyzeFuel(fuel({ packages }))).toThrow("openpyxl.first is 7 to 5");
});

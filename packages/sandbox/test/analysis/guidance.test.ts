import { describe, expect, test } from "vitest";
import { scenario } from "../../../../specs/scenario.js";
import { explainError } from "../../src/analysis/guidance.js";
import type { ErrorType, TrapReason } from "../../src/analysis/result.js";
import { B, failed, fuel, M } from "./spec-table.js";

const typeOf = (facts: Parameters<typeof failed>[0]) => explainError(failed(facts))?.error_type ?? null;
const traceback = (line: string) =>
  `Traceback (most recent call last):\n  File "/usr/lib/x.py", line 1, in <module>\n    x()\n${line}\n`;

scenario("001/outoffuel-error-guidance", () => {
  const { imports: _, ...unwatched } = failed({ trap: "out_of_fuel", consumed: 10 * B });
  const guidance = explainError(unwatched);

  expect(guidance).toEqual({
    error_type: "OutOfFuel",
    error_message: "Execution trapped: OutOfFuel",
    actionable_guidance: [
      "Code exceeded 10B instruction budget",
      "Likely cause: Heavy package imports (openpyxl 5-7B, PyPDF2 5-6B, jinja2 4-5B)",
      "Solution 1: Simplify code or use lighter alternatives",
      "Solution 2: Create session with higher fuel budget",
      "Example: create_session(language='python', fuel_budget=20_000_000_000)",
      "See fuel_analysis for consumption, likely causes and a suggested budget",
    ],
    related_docs: ["docs/PYTHON_CAPABILITIES.md#fuel-budget-guidelines"],
  });
});

scenario("001/outoffuel-error-guidance", "where the imports are known, it names those alone", () => {
  const causes = (facts: Parameters<typeof failed>[0]) =>
    explainError(failed({ trap: "out_of_fuel", ...facts }))?.actionable_guidance[1];

  expect(causes({ imports: [{ module: "jinja2", first: true, fuel: 4_500 * M }] })).toBe(
    "Likely cause: Heavy package imports (jinja2 4-5B)",
  );
  expect(causes({ imports: [] })).toBe("Likely cause: Complex data processing or large dataset detected");
});

scenario("001/outoffuel-error-guidance", "an import that the trap cut off is found in the code", () => {
  const facts = failed({ trap: "out_of_fuel", imports: [], code: "import openpyxl\nwb = openpyxl.Workbook()" });

  expect(explainError(facts)?.actionable_guidance[1]).toBe("Likely cause: Heavy package imports (openpyxl 5-7B)");
});

scenario("001/outoffuel-error-guidance", "in JavaScript", () => {
  const { imports: _, ...unwatched } = failed({ trap: "out_of_fuel", language: "javascript", budget: 750 * M });

  expect(explainError(unwatched)).toMatchObject({
    actionable_guidance: expect.arrayContaining([
      "Code exceeded 750M instruction budget",
      "Likely cause: Complex data processing or large dataset detected",
      "Example: create_session(language='javascript', fuel_budget=1_500_000_000)",
    ]),
    related_docs: ["docs/JAVASCRIPT_CAPABILITIES.md#fuel-budget-guidelines"],
  });
});

describe("paths", () => {
  const expected = {
    error_type: "PathRestriction",
    error_message: "FileNotFoundError: /etc/passwd",
    actionable_guidance: [
      "Security error: Cannot access '/etc/passwd' - all file operations restricted to /app directory",
      "Use absolute paths like '/app/data.txt' or relative paths 'data.txt' (auto-prefixed with /app)",
      "WASI capability isolation prevents access outside preopened directories",
    ],
    related_docs: ["docs/MCP_INTEGRATION.md#security-considerations"],
  };

  scenario("001/path-restriction-error-guidance", () => {
    expect(explainError(failed({ stderr: "FileNotFoundError: /etc/passwd" }))).toEqual(expected);
  });

  scenario("001/path-restriction-error-guidance", "as CPython reports it", () => {
    const stderr = traceback("FileNotFoundError: [Errno 44] No such file or directory: '/etc/passwd'");

    expect(explainError(failed({ stderr }))).toEqual(expected);
  });

  test.for([
    "PermissionError: [Errno 76] Capabilities insufficient: '/app/../etc/passwd'",
    "FileNotFoundError: [Errno 44] No such file or directory: '/application/x'",
    "FileNotFoundError: [Errno 44] No such file or directory: '../x'",
    "FileNotFoundError: [Errno 44] No such file or directory: '/app/a' -> '/etc/b'",
    "FileNotFoundError: [Errno 44] No such file or directory: b'/'",
    'FileNotFoundError: [Errno 44] No such file or directory: "/etc/it\'s"',
    "FileNotFoundError: can't open '/etc/passwd'",
    "FileNotFoundError: config is missing: /etc/app.conf.",
    "FileNotFoundError: [Errno 44] No usable temporary directory found in ['/tmp', '/var/tmp', '/usr/tmp', '/']",
    "OSError: [Errno 69] Read-only file system: '/data/site-packages/x.py'",
  ])("outside of /app: %s", (line) => {
    expect(typeOf({ stderr: traceback(line) })).toBe("PathRestriction");
  });

  test.for([
    "FileNotFoundError: [Errno 44] No such file or directory: '/app/data.txt'",
    "FileNotFoundError: [Errno 44] No such file or directory: '/app'",
    "FileNotFoundError: [Errno 44] No such file or directory: 'data.txt'",
    "FileNotFoundError: [Errno 44] No such file or directory: '/app/x/../../app/y'",
    "FileNotFoundError: [Errno 44] No such file or directory: '/data/site-packages/absent.py'",
    "FileNotFoundError",
    "FileNotFoundError: the sheet 'Summary' is missing",
    "OSError: [Errno 58] Not supported",
    "ValueError: /etc/passwd",
    "my.FileNotFoundError: /etc/passwd",
  ])("not outside of /app: %s", (line) => {
    expect(typeOf({ stderr: traceback(line) })).toBeNull();
  });

  test("a mounted folder can be read, so it is no restriction that a file is missing there", () => {
    const stderr = "FileNotFoundError: [Errno 44] No such file or directory: '/input/a.csv'";

    expect(typeOf({ stderr })).toBe("PathRestriction");
    expect(typeOf({ stderr, mounts: ["/input"] })).toBeNull();
    expect(typeOf({ stderr: stderr.replace("input/", "inputs/"), mounts: ["/input"] })).toBe("PathRestriction");
  });

  test("a mounted folder cannot be written, and the guidance says why", () => {
    const stderr = "PermissionError: [Errno 63] Operation not permitted: '/input/a.csv'";

    expect(explainError(failed({ stderr, mounts: ["/input"] }))?.actionable_guidance[0]).toBe(
      "Security error: Cannot write '/input/a.csv' - only the /app directory can be written",
    );
  });

  test.for([
    ["Error: No such file or directory: /etc/passwd\n    at writeFile", "PathRestriction"],
    ["Error: Operation not permitted: /etc/passwd", "PathRestriction"],
    ["Unhandled promise rejection: Error: No such file or directory: ../x", "PathRestriction"],
    ["Error: No such file or directory: /app/x", null],
    ["Error: the answer is /etc/passwd", null],
    ["TypeError: No such file or directory: /etc/passwd", null],
  ] as const)("in JavaScript: %s", ([stderr, type]) => {
    expect(typeOf({ language: "javascript", stderr })).toBe(type);
  });

  test("frames of a traceback are no paths that were asked for", () => {
    expect(typeOf({ stderr: traceback("ZeroDivisionError: division by zero") })).toBeNull();
  });

  test("what a guest writes is cut short and cannot steer a terminal", () => {
    const guidance = explainError(failed({ stderr: `FileNotFoundError: /etc/\u001b[2J\u202e${"x".repeat(5_000)}` }));

    expect(guidance?.error_message).toMatch(/^FileNotFoundError: \/etc\/\uFFFD\[2J\uFFFDx{200,300}…$/);
  });
});

scenario("001/quickjs-tuple-destructuring-error-guidance", () => {
  const stderr = "TypeError: value is not iterable\n    at <eval> (main.js:1:1)\n";

  expect(explainError(failed({ language: "javascript", stderr }))).toEqual({
    error_type: "QuickJSTupleDestructuring",
    error_message: "TypeError: value is not iterable",
    actionable_guidance: [
      "QuickJS functions return [result, error] tuples - use destructuring",
      "Incorrect: const files = os.readdir('/app')",
      "Correct: const [files, err] = os.readdir('/app')",
      "Check for errors: if (err) { console.error(err); }",
    ],
    related_docs: ["docs/JAVASCRIPT_CAPABILITIES.md#quickjs-api-patterns"],
    code_examples: [
      "const [files, err] = os.readdir('/app');",
      "if (err) { console.error('Failed to read directory:', err); }",
      "else { console.log('Files:', files); }",
    ],
  });
});

describe("packages", () => {
  const missing = (module: string) => traceback(`ModuleNotFoundError: No module named '${module}'`);

  scenario("001/missing-vendored-package-import-error-guidance", () => {
    expect(explainError(failed({ stderr: missing("openpyxl") }))).toEqual({
      error_type: "MissingVendoredPackage",
      error_message: "ModuleNotFoundError: No module named 'openpyxl'",
      actionable_guidance: [
        "Package 'openpyxl' is pre-installed but requires sys.path configuration",
        "Add at start of code: import sys; sys.path.insert(0, '/data/site-packages')",
        "Then import normally: import openpyxl",
        "Note: In MCP server, sys.path is auto-configured - this error should not occur",
      ],
      related_docs: ["docs/PYTHON_CAPABILITIES.md#using-vendored-packages"],
    });
  });

  scenario("001/missing-vendored-package-import-error-guidance", "a package that is not mounted", () => {
    const lines = (facts: Parameters<typeof failed>[0]) =>
      explainError(failed({ stderr: missing("openpyxl"), ...facts }))?.actionable_guidance;

    expect(lines({ mountedPackages: ["jinja2"] })).toEqual([
      "Package 'openpyxl' is known but not mounted in this session: create the session with packages: ['openpyxl']",
      "Add at start of code: import sys; sys.path.insert(0, '/data/site-packages')",
      "Then import normally: import openpyxl",
    ]);
    expect(lines({ mountedPackages: [], autoPath: true })).toEqual([
      "Package 'openpyxl' is known but not mounted in this session: create the session with packages: ['openpyxl']",
      "Then import normally: import openpyxl",
    ]);
    expect(lines({ mountedPackages: ["OpenPyXL"] })?.[0]).toContain("is pre-installed");
  });

  test("a name in the wrong case is the package, and is put right", () => {
    expect(explainError(failed({ stderr: missing("pypdf2") }))?.actionable_guidance).toEqual(
      expect.arrayContaining([
        "The module is called 'PyPDF2', not 'pypdf2': names are case-sensitive",
        "Then import normally: import PyPDF2",
      ]),
    );
  });

  test("a package is known by the name of its module, in the table that is shipped", () => {
    const { packages: _, ...facts } = failed({ stderr: missing("yaml"), mountedPackages: [] });

    expect(explainError(facts)?.actionable_guidance).toEqual(
      expect.arrayContaining([expect.stringContaining("packages: ['PyYAML']"), "Then import normally: import yaml"]),
    );
  });

  test.for(["notopenpyxl", "openpyxl_evil", "numpy", "openpyxl.absent", "", "__proto__", "constructor"])(
    "not known, or not missing as a whole: '%s'",
    (module) => {
      expect(typeOf({ stderr: missing(module) })).toBeNull();
    },
  );
});

describe("classification", () => {
  const traps: readonly (readonly [TrapReason, ErrorType])[] = [
    ["out_of_fuel", "OutOfFuel"],
    ["unreachable", "WASMUnreachable"],
    ["memory_limit", "MemoryExhausted"],
    ["stack_overflow", "StackOverflow"],
    ["timeout", "Timeout"],
    ["trap", "WASMUnreachable"],
  ];

  scenario("001/trap-based-classification", () => {
    for (const [trap, type] of traps) {
      const guidance = explainError(failed({ trap, exitCode: 0, trapMessage: "wasm: table index" }));
      expect(guidance?.error_type).toBe(type);
      expect(guidance?.error_message).toMatch(/^Execution trapped: /);
      if (trap !== "out_of_fuel") expect(guidance?.error_message).toContain("(wasm: table index)");
      expect(guidance?.actionable_guidance.length).toBeGreaterThan(0);
    }
  });

  scenario("001/trap-based-classification", "a trap goes before stderr", () => {
    expect(typeOf({ trap: "timeout", stderr: "FileNotFoundError: /etc/passwd" })).toBe("Timeout");
  });

  test("limits are named where they are known", () => {
    const first = (facts: Parameters<typeof failed>[0]) => explainError(failed(facts))?.actionable_guidance[0];

    expect(first({ trap: "timeout", timeoutMs: 2_500 })).toBe("Execution ran longer than its time limit of 2.5 s");
    expect(first({ trap: "memory_limit", memoryLimitBytes: 134_217_728 })).toContain("128 MiB memory limit");
  });

  scenario("001/stderr-based-classification", () => {
    expect(typeOf({ stderr: traceback("FileNotFoundError: '/etc/hosts'") })).toBe("PathRestriction");
    expect(typeOf({ stderr: "TypeError: value is not iterable", language: "javascript" })).toBe(
      "QuickJSTupleDestructuring",
    );
    expect(typeOf({ stderr: "TypeError: value is not iterable", language: "python" })).toBeNull();
    expect(typeOf({ stderr: traceback("ModuleNotFoundError: No module named 'jinja2'") })).toBe(
      "MissingVendoredPackage",
    );
    expect(
      explainError(failed({ stderr: '  File "<string>", line 1\n    x = (\n        ^\nSyntaxError: oh' })),
    ).toEqual({
      error_type: "SyntaxError",
      error_message: "SyntaxError: oh",
      actionable_guidance: [],
      related_docs: [],
    });
  });

  test.for([
    ["python", "IndentationError: unexpected indent", "SyntaxError"],
    ["javascript", "SyntaxError: unexpected token in expression: ''", "SyntaxError"],
    ["python", "MemoryError", "MemoryExhausted"],
    ["javascript", "InternalError: out of memory", "MemoryExhausted"],
    ["python", "RecursionError: maximum recursion depth exceeded", "StackOverflow"],
    ["javascript", "InternalError: stack overflow", "StackOverflow"],
    ["javascript", "RangeError: Maximum call stack size exceeded", "StackOverflow"],
    ["javascript", "Uncaught TypeError: value is not iterable", "QuickJSTupleDestructuring"],
    [
      "javascript",
      "Possibly unhandled promise rejection: TypeError: cannot read property 'Symbol.iterator' of undefined",
      "QuickJSTupleDestructuring",
    ],
  ] as const)("%s: %s is %s", ([language, stderr, type]) => {
    expect(typeOf({ language, stderr: `${stderr}\r\n` })).toBe(type);
  });

  scenario("001/no-error-detected", () => {
    expect(explainError(failed({ exitCode: 0, stderr: "FileNotFoundError: /etc/passwd" }))).toBeNull();
    expect(explainError({ ...fuel(), language: "javascript", exitCode: 0 })).toBeNull();
  });

  test("a failure about which nothing is known has no guidance", () => {
    expect(explainError(failed({ exitCode: 3 }))).toBeNull();
    expect(explainError(failed({ stderr: traceback("ValueError: no") }))).toBeNull();
  });
});

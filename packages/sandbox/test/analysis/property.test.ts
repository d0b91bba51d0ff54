import fc from "fast-check";
import { expect, test } from "vitest";
import type { ErrorFacts, ImportFact } from "../../src/analysis/facts.js";
import { analyzeFuel } from "../../src/analysis/fuel.js";
import { explainError } from "../../src/analysis/guidance.js";
import type { FuelStatus, TrapReason } from "../../src/analysis/result.js";
import { fuel, SPEC_TABLE } from "./spec-table.js";

const reasons: readonly (TrapReason | null)[] = [
  null,
  "out_of_fuel",
  "memory_limit",
  "unreachable",
  "stack_overflow",
  "timeout",
  "trap",
];
const fragment = fc.constantFrom(
  "FileNotFoundError: ",
  "ModuleNotFoundError: No module named '",
  "TypeError: value is not iterable",
  "Traceback (most recent call last):\n",
  "During handling of the above exception",
  "Exception ignored in",
  "import ",
  "from ",
  "openpyxl",
  "'/etc/passwd'",
  "/..",
  "\n",
  "  ",
  ":",
  "'",
  "\u001b[2J",
  "\ud800",
);
const text = fc.oneof(
  fc.string({ unit: "binary" }),
  fc.array(fc.oneof(fragment, fc.string({ maxLength: 4 })), { maxLength: 40 }).map((parts) => parts.join("")),
);
const anyFuel = fc.option(fc.oneof(fc.maxSafeNat(), fc.double()), { nil: null });
const module = fc.oneof(text, fc.constantFrom("openpyxl", "PYPDF2", "jinja2.ext", "json", "__proto__"));
const imports: fc.Arbitrary<ImportFact[]> = fc.array(fc.record({ module, first: fc.boolean(), fuel: anyFuel }));

const facts: fc.Arbitrary<ErrorFacts> = fc.record(
  {
    consumed: fc.maxSafeNat(),
    budget: fc.maxSafeNat(),
    trap: fc.constantFrom(...reasons),
    language: fc.constantFrom("python" as const, "javascript" as const),
    exitCode: fc.integer({ min: 0, max: 255 }),
    imports,
    earlierImports: fc.array(fc.record({ module, fuel: anyFuel })),
    autoPersistGlobals: fc.boolean(),
    stderr: text,
    code: text,
    trapMessage: fc.option(text, { nil: null }),
    mountedPackages: fc.array(module),
    autoPath: fc.boolean(),
    mounts: fc.array(text),
    packages: fc.constantFrom(SPEC_TABLE, []),
  },
  { requiredKeys: ["consumed", "budget", "trap", "language", "exitCode"] },
);

test("no text and no claim of a guest makes the analysis throw, or lets through what steers a terminal", () => {
  fc.assert(
    fc.property(facts, (given) => {
      const written = [
        ...(explainError(given)?.actionable_guidance ?? []),
        explainError(given)?.error_message ?? "",
        analyzeFuel(given).recommendation ?? "",
        ...analyzeFuel(given).likely_causes,
      ];

      for (const sentence of written) {
        // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what must not come through.
        expect(sentence).not.toMatch(/[\u0000-\u001f\u007f-\u009f\u202a-\u202e]|\p{Surrogate}/u);
        expect(sentence.length).toBeLessThan(4_000);
      }
    }),
    { numRuns: 1_000 },
  );
});

test("guidance exists for every trap, and never for a success", () => {
  fc.assert(
    fc.property(facts, (given) => {
      if (given.trap !== null) expect(explainError(given)).not.toBeNull();
      else if (given.exitCode === 0) expect(explainError(given)).toBeNull();
    }),
  );
});

test("the same facts give the same answer, and are left as they were", () => {
  fc.assert(
    fc.property(facts, (given) => {
      const before = structuredClone(given);

      expect(analyzeFuel(given)).toEqual(analyzeFuel(given));
      expect(explainError(given)).toEqual(explainError(given));
      expect(given).toEqual(before);
    }),
  );
});

test("the bands divide all shares between them, at the exact boundaries", () => {
  const bands: readonly (readonly [FuelStatus, bigint, bigint])[] = [
    ["efficient", 0n, 50n],
    ["moderate", 50n, 75n],
    ["warning", 75n, 90n],
    ["critical", 90n, 1_000_000_000_000_000_000_000n],
  ];
  const near = fc
    .record({
      quarter: fc.integer({ min: 1, max: 2 ** 45 }),
      percent: fc.constantFrom(50, 75, 90, 100),
      off: fc.integer({ min: -2, max: 2 }),
    })
    .map(({ quarter, percent, off }) => ({ consumed: Math.max(0, quarter * percent + off), budget: quarter * 100 }));
  const any = fc.record({ consumed: fc.maxSafeNat(), budget: fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER }) });

  fc.assert(
    fc.property(fc.oneof(near, any), ({ consumed, budget }) => {
      const { status, utilization_percent } = analyzeFuel(fuel({ consumed, budget }));
      const share = BigInt(consumed) * 100n;
      const due = bands.filter(([, from, to]) => share >= from * BigInt(budget) && share < to * BigInt(budget));

      expect(due.map(([name]) => name)).toEqual([status]);
      const [, from, to] = due[0] ?? ["", 0n, 0n];
      expect(utilization_percent).toBeGreaterThanOrEqual(Number(from));
      expect(utilization_percent).toBeLessThan(Number(to));
    }),
    { numRuns: 2_000 },
  );
});

test("only the trap exhausts, and whoever is exhausted has consumed everything", () => {
  fc.assert(
    fc.property(facts, (given) => {
      const { status, consumed, budget, utilization_percent } = analyzeFuel(given);

      expect(status === "exhausted").toBe(given.trap === "out_of_fuel");
      if (status === "exhausted") expect([consumed, utilization_percent]).toEqual([budget, 100]);
    }),
  );
});

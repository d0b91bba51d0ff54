import { describe, expect, test } from "vitest";
import { scenario } from "../../../../specs/scenario.js";
import { analyzeFuel } from "../../src/analysis/fuel.js";
import { explainError } from "../../src/analysis/guidance.js";
import type { PackageFigure } from "../../src/analysis/package-figure.js";
import { B, failed, SPEC_TABLE } from "./spec-table.js";
import { countSteps } from "./steps.js";

const MEGABYTE = 1_048_576;

/** Texts that make a careless reader go over them again and again. */
const NASTY: Readonly<Record<string, string>> = {
  "line ends": "\n",
  "short lines": "a\n",
  "one line": "x",
  exceptions: "Error\n",
  "names of exceptions without an end": "Error",
  "names as long as they may be": `${"a".repeat(199)}:\n`,
  "names a little longer": `${"a".repeat(201)}:\n`,
  dots: "a.",
  quotes: "'",
  "quotes that open": " '",
  "slashes and dots": "/..",
  "paths that are missing": "FileNotFoundError: '/etc/passwd'\n",
  "modules that are missing": "ModuleNotFoundError: No module named 'openpyxl'\n",
  "beginnings of a missing module": "No module named ",
  imports: "import a, b, c\n",
  "imports without an end": "import ",
  commas: "import ,",
  causes: "ValueError: 7\nDuring handling of the above exception, another exception occurred:\n",
  "beginnings of causes": "During handling of the above exceptio\n",
  "exceptions that are ignored": "Exception ignored in: x\n",
  "unhandled rejections": "Possibly unhandled promise rejection: Error: x\n",
  "a package and what follows it": "openpyxl imported ",
  indentation: " \n A\nB\n",
  "characters beyond ASCII": "é\u2028\ud800\n",
};

function analyze(text: string, language: "python" | "javascript"): void {
  const { imports: _, ...facts } = failed({ consumed: 9 * B, language, stderr: text, code: text });
  analyzeFuel(facts);
  explainError(facts);
}

describe.for(Object.entries(NASTY))("%s", ([, piece]) => {
  const sized = (length: number) => piece.repeat(Math.ceil(length / piece.length)).slice(0, length);

  test.for(["python", "javascript"] as const)(
    "cost so much each and no more, however many there are, in %s",
    (language) => {
      for (const length of [4_096, 16_384, 65_536, MEGABYTE]) {
        const { characters, expressions } = countSteps(() => analyze(sized(length), language));

        expect(characters).toBeLessThanOrEqual(50 * length);
        expect(expressions).toBe(0);
      }
    },
  );

  test("cost nothing beyond what is looked at", () => {
    const some = countSteps(() => analyze(sized(MEGABYTE), "python"));
    const many = countSteps(() => analyze(sized(16 * MEGABYTE), "python"));

    expect(many.characters).toBeLessThanOrEqual(some.characters * 1.01 + 1_000);
  });
});

test("the count itself sees a reader that goes over a text again and again", () => {
  const careless = (text: string) => {
    for (let at = 0; at < text.length; at++) text.indexOf("\n", at);
  };

  expect(countSteps(() => careless("x".repeat(1_000))).characters).toBeGreaterThan(400_000);
  expect(countSteps(() => /a/.test("b")).expressions).toBe(1);
});

scenario("000/analysis-computation-overhead", "only the beginning of stderr is looked at", () => {
  const { imports: _, ...facts } = failed({ consumed: 9 * B });
  const causes = (stderr: string) => analyzeFuel({ ...facts, stderr }).likely_causes;
  const noise = "x\n".repeat(5_200);

  expect(causes(`import openpyxl\n${noise}`)[0]).toContain("openpyxl");
  expect(causes(`${noise}import openpyxl\n`)).toEqual(["Complex data processing or large dataset detected"]);
  const { characters } = countSteps(() => causes("import openpyxl\n".repeat(MEGABYTE / 16)));
  expect(characters).toBeLessThanOrEqual(20 * 10_240);
});

scenario("000/analysis-computation-overhead", "what a table says is prepared once", () => {
  let reads = 0;
  const packages: readonly PackageFigure[] = SPEC_TABLE.map((figure) => ({
    ...figure,
    get name() {
      reads++;
      return figure.name;
    },
  }));
  const { imports: _, ...facts } = failed({ consumed: 9 * B, packages });

  analyzeFuel(facts);
  const first = reads;
  analyzeFuel(facts);

  expect(first).toBeGreaterThan(0);
  expect(reads).toBe(first);
});

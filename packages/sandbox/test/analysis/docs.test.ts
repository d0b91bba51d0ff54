import { existsSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { scenario } from "../../../../specs/scenario.js";
import { DOCS } from "../../src/analysis/docs.js";
import { explainError } from "../../src/analysis/guidance.js";
import type { ErrorType, TrapReason } from "../../src/analysis/result.js";
import { failed } from "./spec-table.js";

const ROOT = fileURLToPath(new URL("../../../../", import.meta.url));

/** The anchors that a page's headings get, outside of code. */
function anchorsOf(page: string): ReadonlySet<string> {
  const prose = page.split("```").filter((_, at) => at % 2 === 0);
  const headings = prose.flatMap((part) => part.split("\n").filter((line) => /^#{1,6} /.test(line)));
  return new Set(
    headings.map((heading) =>
      heading
        .replace(/^#+ /, "")
        .toLowerCase()
        .replace(/[^\p{L}\p{N}\s_-]/gu, "")
        .replaceAll(" ", "-"),
    ),
  );
}

function leadsSomewhere(link: string): boolean {
  const [file = "", anchor = ""] = link.split("#");
  return existsSync(`${ROOT}${file}`) && anchorsOf(readFileSync(`${ROOT}${file}`, "utf8")).has(anchor);
}

const traps: readonly TrapReason[] = [
  "out_of_fuel",
  "memory_limit",
  "unreachable",
  "stack_overflow",
  "timeout",
  "trap",
];
const stderrs: readonly string[] = [
  "FileNotFoundError: /etc/passwd",
  "ModuleNotFoundError: No module named 'openpyxl'",
  "TypeError: value is not iterable",
  "SyntaxError: invalid syntax",
  "MemoryError",
];

/** Every kind of guidance there is, in both languages. */
const guidances = (["python", "javascript"] as const).flatMap((language) =>
  [
    ...traps.map((trap) => failed({ language, trap })),
    ...stderrs.map((stderr) => failed({ language, stderr })),
  ].flatMap((facts) => explainError(facts) ?? []),
);

scenario("001/valid-documentation-references", () => {
  const links = guidances.flatMap(({ related_docs }) => related_docs);

  expect(links.filter((link) => !leadsSomewhere(link))).toEqual([]);
  expect(links.filter((link) => !/^docs\/[A-Z_]+\.md#[a-z-]+$/.test(link))).toEqual([]);
});

scenario("001/valid-documentation-references", "of every type of error", () => {
  const seen = new Map(guidances.map(({ error_type, related_docs }) => [error_type, related_docs.length]));
  const expected: Record<ErrorType, number> = {
    OutOfFuel: 1,
    PathRestriction: 1,
    QuickJSTupleDestructuring: 1,
    MissingVendoredPackage: 1,
    WASMUnreachable: 1,
    MemoryExhausted: 1,
    SyntaxError: 0,
    Timeout: 1,
    StackOverflow: 1,
  };

  expect(Object.fromEntries(seen)).toEqual(expected);
});

test("every section that guidance may point to exists, and is pointed to", () => {
  const all = Object.values(DOCS).flatMap((entry) => (typeof entry === "string" ? [entry] : Object.values(entry)));
  const used = new Set(guidances.flatMap(({ related_docs }) => related_docs));

  expect(all.filter((link) => !leadsSomewhere(link))).toEqual([]);
  expect(all.filter((link) => !used.has(link))).toEqual([]);
});

test("the check finds a page that is missing, and a section that is", () => {
  expect(leadsSomewhere("docs/ABSENT.md#limits")).toBe(false);
  expect(leadsSomewhere("docs/PYTHON_CAPABILITIES.md#absent")).toBe(false);
  expect(anchorsOf("## Fuel: what & why\n```sh\n# no heading\n```\n")).toEqual(new Set(["fuel-what--why"]));
});

import { readFileSync } from "node:fs";
import { PACKAGES, packageTable } from "@bursar/sandbox/analysis";
import { describe, expect, test } from "vitest";
import { writeFuel, writeRange } from "../../src/analysis/fuel-amount.js";
import { type GuestFuel, readFuel } from "../../src/guests/guest-fuel.js";
import { NPM_PYTHON_FUEL } from "../../src/guests/npm-python-fuel.js";
import { QUICKJS_FUEL } from "../../src/guests/quickjs-fuel.js";

const ROOT = new URL("../../../../", import.meta.url);
const python = lines("docs/PYTHON_CAPABILITIES.md");
const javascript = lines("docs/JAVASCRIPT_CAPABILITIES.md");
const guests = lines("docs/GUESTS.md");
const FAST = readFuel(
  JSON.parse(readFileSync(new URL("packages/sandbox/guest/build/fuel.json", ROOT), "utf8")),
) as GuestFuel;

function lines(path: string): readonly string[] {
  return readFileSync(new URL(path, ROOT), "utf8").split("\n");
}

/** To two digits, as people are told. */
function told(fuel: number): string {
  const unit = 10 ** Math.max(0, String(fuel).length - 2);
  return writeFuel(Math.round(fuel / unit) * unit);
}

function row(...cells: readonly string[]): string {
  return `| ${cells.join(" | ")} |`;
}

describe("what documents say about fuel is what manifests say", () => {
  test.each(NPM_PYTHON_FUEL.work.map((each, at) => [each.name, each.fuel, FAST.work[at]?.fuel ?? 0] as const))(
    "in Python: %s",
    (name, npm, fast) => {
      expect(python).toContain(row(name, told(npm), told(fast)));
    },
  );

  test.each(packageTable(FAST).map((fast, at) => [fast.name, PACKAGES[at], fast] as const))(
    "of packages: %s",
    (name, npm, fast) => {
      if (npm?.first == null || npm.cached === null || fast.first === null || fast.cached === null) {
        throw new Error(`${name} was not measured`);
      }
      const later = ({ most }: { most: number }) => `below ${writeFuel(most)}`;
      expect(python).toContain(
        row(name, writeRange(npm.first), writeRange(fast.first), later(npm.cached), later(fast.cached)),
      );
    },
  );

  test.each(QUICKJS_FUEL.work)("in JavaScript: $name", ({ name, fuel }) => {
    expect(javascript).toContain(row(name, told(fuel)));
  });

  test("of programs without a line, and of starting", () => {
    const all = [NPM_PYTHON_FUEL, FAST, QUICKJS_FUEL];

    expect(python).toContain(row("an empty program", told(NPM_PYTHON_FUEL.empty), told(FAST.empty)));
    expect(javascript).toContain(row("an empty program", told(QUICKJS_FUEL.empty)));
    expect(guests).toContain(row("its own start, which no session pays", ...all.map(({ start }) => told(start))));
    expect(guests).toContain(row("an empty program", ...all.map(({ empty }) => told(empty))));
    const loops = all.map(({ work }) => told(work[0]?.fuel ?? 0));
    expect(guests).toContain(row("1,000,000 turns of an empty loop", ...loops));
  });
});

import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { type Citation, citationsIn } from "../specs/citations.js";
import {
  findChangedText,
  findDuplicateIds,
  findMalformedIds,
  findMiscountedRanges,
  findMisnamedScenarios,
  findOverlappingProse,
  findUncited,
  findUnknownCitations,
  findUnownedLines,
} from "../specs/coverage.js";
import { parseLines } from "../specs/lines.js";
import { requirement, requirements, type Spec, specs } from "../specs/manifest.js";
import { prose } from "../specs/prose.js";
import { scenario } from "../specs/scenario.js";

const root = fileURLToPath(new URL("../", import.meta.url));
const citations = testFiles().flatMap((file) => citationsIn(relative(root, file), readFileSync(file, "utf8")));

describe.for(specs)("$file", (spec) => {
  const proseOfSpec = prose[spec.number] ?? [];

  test("is the text that was fixed", () => {
    expect(findChangedText(spec)).toEqual([]);
  });

  test("has no line that belongs to nothing", () => {
    expect(findUnownedLines(spec, proseOfSpec)).toEqual([]);
  });

  test("has no prose that belongs to a requirement", () => {
    expect(findOverlappingProse(spec, proseOfSpec)).toEqual([]);
  });

  test("has ranges that begin and end on text", () => {
    expect(findMiscountedRanges(spec, proseOfSpec)).toEqual([]);
  });

  test("has well-formed ids, named after its scenarios", () => {
    expect([...findMalformedIds(spec), ...findMisnamedScenarios(spec)]).toEqual([]);
  });
});

describe("the requirements", () => {
  test("have distinct ids", () => {
    expect(findDuplicateIds(requirements.map(({ id }) => id))).toEqual([]);
  });

  test("are each proven by a test", () => {
    expect(findUncited(requirements, citations)).toEqual([]);
  });

  test("are the only ones tests cite", () => {
    expect(findUnknownCitations(requirements, citations)).toEqual([]);
  });
});

describe("the check finds", () => {
  const sound: Spec = {
    number: "009",
    file: "specs/009-example.md",
    sha256: "64c5ba7df7315c42fcb070a4f37773985bde7a95d24672c9859f9c138c02bf4f",
    text: "# Example\n\n#### Scenario: First thing (always)\n- it holds\n",
    requirements: [{ id: "009/first-thing", lines: [[3, 4]], title: "First thing (always)" }],
  };
  const heading = [["heading", "1"]] as const;
  const cited: Citation = { id: "009/first-thing", file: "test/example.test.ts", line: 7 };

  test("nothing in a sound spec", () => {
    const findings = [
      ...findChangedText(sound),
      ...findUnownedLines(sound, heading),
      ...findOverlappingProse(sound, heading),
      ...findMiscountedRanges(sound, heading),
      ...findMalformedIds(sound),
      ...findMisnamedScenarios(sound),
      ...findUncited(sound.requirements, [cited]),
      ...findUnknownCitations(sound.requirements, [cited]),
    ];

    expect(findings).toEqual([]);
  });

  test("a changed text", () => {
    expect(findChangedText({ ...sound, text: sound.text.replace("holds", "might hold") })).toEqual([
      expect.stringContaining("specs/009-example.md is not the text that was fixed"),
    ]);
  });

  test("a line that belongs to nothing", () => {
    expect(findUnownedLines(sound, [])).toEqual([
      "specs/009-example.md:1 belongs to no requirement and to no prose: # Example",
    ]);
  });

  test("prose that belongs to a requirement", () => {
    expect(findOverlappingProse(sound, [["heading", "1-3"]])).toEqual([
      "specs/009-example.md:3 is prose, but belongs to 009/first-thing; let go of one of them",
    ]);
  });

  test.for(["2", "4-6"])("a range that begins or ends on no text: %s", (lines) => {
    expect(findMiscountedRanges(sound, [["heading", lines]])).toHaveLength(1);
  });

  test.for(["10-9", "0", "3-", "a", "", "1,2"])("lines that are no range: '%s'", (lines) => {
    expect(() => parseLines(lines)).toThrow("is not a range of lines");
  });

  test.for(["009/First", "008/first-thing", "009/first--thing", "009/", "first-thing"])("a malformed id: %s", (id) => {
    expect(findMalformedIds({ ...sound, requirements: [{ id, lines: [[3, 4]], title: "" }] })).toHaveLength(1);
  });

  test("an id listed twice", () => {
    expect(findDuplicateIds(["009/a", "009/b", "009/a", "009/a"])).toEqual([
      expect.stringContaining("009/a is listed"),
    ]);
  });

  test("a scenario under another name, and one without any", () => {
    const misnamed = { ...sound, requirements: [{ id: "009/other-thing", lines: parseLines("3-4"), title: "" }] };

    expect(findMisnamedScenarios(misnamed)).toEqual([
      "specs/009-example.md:3 is the scenario 009/first-thing, but begins 009/other-thing",
    ]);
    expect(findMisnamedScenarios({ ...sound, requirements: [] })).toHaveLength(1);
  });

  test("a requirement that no test cites", () => {
    expect(findUncited(sound.requirements, [])).toEqual(["009/first-thing is proven by no test: First thing (always)"]);
  });

  test("a citation of an unknown id", () => {
    expect(findUnknownCitations(sound.requirements, [{ ...cited, id: "009/second-thing" }])).toEqual([
      "test/example.test.ts:7 cites 009/second-thing, which is in no manifest of specs/manifest/",
    ]);
  });

  test("a citation whose id is computed", () => {
    expect(findUnknownCitations(sound.requirements, [{ ...cited, id: null }])).toEqual([
      expect.stringContaining("test/example.test.ts:7 computes the id"),
    ]);
  });

  test("citations in code, but not in comments and strings", () => {
    const source = [
      'scenario("009/first-thing", "note", async () => {});',
      '// scenario("009/in-a-comment", () => {});',
      'const text = `scenario("009/in-a-string", () => {})`;',
      'describe("group", () => {',
      "  scenario(",
      '    "009/second-thing",',
      "    () => {},",
      "  );",
      "  for (const id of ids) scenario(id, () => {});",
      "});",
    ].join("\n");

    expect(citationsIn("test/example.test.ts", source)).toEqual([
      { id: "009/first-thing", file: "test/example.test.ts", line: 1 },
      { id: "009/second-thing", file: "test/example.test.ts", line: 5 },
      { id: null, file: "test/example.test.ts", line: 9 },
    ]);
  });
});

describe("a scenario", () => {
  test("with an unknown id is refused when it is declared", () => {
    const declare = scenario as (id: string, proof: () => void) => void;

    expect(() => declare("002/no-such-thing", () => {})).toThrow('"002/no-such-thing" is no requirement');
  });

  test.for([
    ["002/cost-limit-check", "Cost limit check"],
    ["000/efficient-fuel-usage", "Efficient Fuel Usage (<50%)"],
    ["003/budget-immutable", "Budget lives in weakincentives.budget as an immutable dataclass holding"],
    ["004/dimension-steps", "steps, count, 50, Capability calls"],
    ["004/policy-hard-stop", "HardStop – Run ends as Failed"],
    ["004/flow-create-context", "Create BudgetContext with limits/policies"],
    ["004/check-result-warning", "BudgetCheckResult::Warning → log, proceed"],
    ["004/resume-load-checkpoint", "Load checkpoint from storage"],
  ])("%s takes its title from the text: %s", ([id, title]) => {
    expect(requirement(id ?? "").title).toBe(title);
  });
});

function testFiles(): readonly string[] {
  const rooms = ["packages", "apps"].flatMap((room) => subfolders(room).map((name) => join(root, room, name, "test")));
  return [...rooms, join(root, "test")]
    .filter((folder) => existsSync(folder))
    .flatMap((folder) => readdirSync(folder, { recursive: true, encoding: "utf8" }).map((file) => join(folder, file)))
    .filter((file) => file.endsWith(".test.ts"))
    .sort();
}

function subfolders(room: string): readonly string[] {
  const folder = join(root, room);
  return existsSync(folder) ? readdirSync(folder) : [];
}

import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { ConfigError, readConfig } from "../../src/config/config.js";
import { complaints, problemsOf } from "./helpers.js";

describe("YAML is refused", () => {
  test.for([
    ["indented by a tab", "governance:\n\tpolicies: {}\n", "a tab cannot indent", 2, 1],
    ["with a key twice", "store: sqlite:a\nstore: sqlite:b\n", "store is there already, in line 1", 2, 1],
    ["with an anchor", "governance: &a {}\n", "uses an anchor or an alias", 1, 16],
    ["with an alias", "governance: {policies: *a}\n", "uses an anchor or an alias", 1, 24],
    ["with a tag", "governance: !x {}\n", "tag", 1, 13],
    ["with a tag of YAML's own", 'store: !!str "memory:"\n', "has a tag", 1, 14],
    ["with a directive", "%YAML 1.1\n---\ngovernance: {}\n", "directives are not allowed", 1, 1],
    ["with a second document", "governance: {}\n---\nstore: x\n", "there is a second document", 2, 1],
    ["with a merge key", "governance: {<<: {policies: {}}}\n", "governance.<< is not known here", 1, 14],
    ["with a key that is no word", "? [a]\n: b\n", "a key must be a word", 1, 3],
    ["with two keys in a line", "governance: policies: {}\n", "there are two keys in one line", 1, 13],
    ["with a quote left open", 'store: "memory:\n', "it is not YAML: missing closing", 2, 1],
    [
      "with indentation that does not fit",
      "governance:\n  policies: {}\n agents: {}\n",
      "the indentation does not fit",
      3,
      1,
    ],
  ] as const)("%s", ([, text, complaint, line, column]) => {
    const { problems } = problemsOf(text, { file: "bursar.yaml" });
    expect(problems[0]?.message).toContain(complaint);
    expect(problems[0]?.place).toEqual({ file: "bursar.yaml", line, column });
  });

  test.for([
    ["lists", "[".repeat(60_000)],
    ["closed lists", `${"[".repeat(3000)}${"]".repeat(3000)}`],
    ["mappings", "{a: ".repeat(20_000)],
    ["dashes", "- ".repeat(20_000)],
    ["questions", "? ".repeat(20_000)],
    ["colons", ": ".repeat(20_000)],
    ["indentation", Array.from({ length: 300 }, (_, depth) => `${" ".repeat(depth)}a:\n`).join("")],
  ] as const)("nested too deeply: %s", ([, text]) => {
    expect(complaints(text)).toEqual(["it is nested more than 32 levels deep"]);
  });

  test("when it is too large, or has too many values", () => {
    expect(complaints("#".repeat(300_000))).toEqual([expect.stringContaining("at most 262144 are read")]);
    expect(complaints("- 1\n".repeat(60_000))).toEqual([expect.stringContaining("the configuration is a list")]);
    expect(complaints(`[${"a,".repeat(120_000)}]`)).toEqual([expect.stringContaining("more than 100000 values")]);
  });

  test("as a bomb of aliases, before anything grows", () => {
    const rows = Array.from({ length: 12 }, (_, at) => `a${at + 1}: &a${at + 1} [${`*a${at}, `.repeat(10)}]`);
    const told = complaints(["a0: &a0 x", ...rows].join("\n"));
    expect(told.filter((each) => each.includes("uses an anchor or an alias")).length).toBeGreaterThan(12);
  });

  test("in few and short words, however much is wrong and however long its names are", () => {
    const policies = (line: (at: number) => string) =>
      `governance:\n  policies:\n${Array.from({ length: 4000 }, (_, at) => `    ${line(at)}\n`).join("")}`;
    const texts = [
      policies((at) => `p${at}: {extends: q${at}}`),
      policies((at) => `p${at}: {extends: p${(at + 1) % 4000}}`),
      policies((at) => `p${at}: {extends: p${at + 1}}`),
      `governance: {${"a:".repeat(100_000)}}`,
      `governance: {default_policy: "${"a".repeat(200_000)}"}`,
    ];
    for (const text of texts) expect(problemsOf(text).message.length).toBeLessThan(50_000);
  });

  test("with a bounded number of problems, in the order of the text", () => {
    const { problems } = problemsOf(Array.from({ length: 5000 }, (_, at) => `k${at}: 1`).join("\n"));
    expect(problems).toHaveLength(101);
    expect(problems.at(-1)?.message).toBe("and 4900 further problems; mend these first");
    const lines = problems.slice(0, 100).map(({ place }) => place?.line ?? 0);
    expect(lines).toEqual(lines.toSorted((a, b) => a - b));
  });
});

test("what is no mistake is read: an empty file, comments, a byte order mark, Windows line ends, words with a -", () => {
  for (const text of ["", "# nothing\n", "---\n", "\ufeffgovernance: {}\n"]) {
    expect(readConfig(text).defaultPolicy.value).toBe("default");
  }
  const text = "governance:\r\n  policies:\r\n    default:\r\n      budgets:\r\n        cost-usd: x\r\n";
  expect(problemsOf(text, { file: "b.yaml" }).problems[0]).toMatchObject({
    place: { line: 5, column: 19 },
    excerpt: { text: "        cost-usd: x" },
  });
});

test("whatever the text is, there is a configuration or a ConfigError, and every place is in the text", () => {
  const piece = fc.constantFrom(
    ..."governance|policies|default|budgets|steps|cost_usd|extends|a|: |:\n|\n|  |    |- |[|]|{|}|, |\"|'|&x |*x|!t |#|\t|0|-1|null|.nan|10MB|%|---\n|\u0000|\u{1f4a5}".split(
      "|",
    ),
  );
  fc.assert(
    fc.property(
      fc.oneof(
        fc.string(),
        fc.array(piece, { maxLength: 60 }).map((pieces) => pieces.join("")),
      ),
      (text) => {
        try {
          readConfig(text, { file: "f" });
        } catch (error) {
          if (!(error instanceof ConfigError)) throw error;
          const lines = text.split("\n").length;
          for (const { place } of error.problems) expect(place?.line ?? 1).toBeLessThanOrEqual(lines);
        }
      },
    ),
    { numRuns: 2000 },
  );
});

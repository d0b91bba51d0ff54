import fc from "fast-check";
import { expect, test } from "vitest";
import { checkText } from "../../../src/models/wire/request-fields.js";
import { isDeeper, scanText } from "../../../src/models/wire/text-scan.js";

function depthOf(value: unknown): number {
  if (typeof value !== "object" || value === null) return 0;
  return 1 + Math.max(0, ...Object.values(value).map(depthOf));
}

test("the depth of a text is that of what it says, whatever its strings hold", () => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 6 }), fc.integer({ min: 0, max: 8 }), (value, levels) => {
      expect(isDeeper(JSON.stringify(value), levels)).toBe(depthOf(value) > levels);
    }),
  );
});

test.each([
  ['"[[[["', false],
  ['["\\"[[[["]', false],
  ['["\\\\", [[]]]', true],
  ['["unended', false],
  ["[".repeat(1_000_000), true],
])("%.20s", (text, deeper) => {
  expect(isDeeper(text, 2)).toBe(deeper);
});

/** The names of every object, cut off after each of them: what an engine has to know. */
function shapesOf(value: unknown, found = new Set<string>()): number {
  if (typeof value !== "object" || value === null) return found.size;
  const names = Array.isArray(value) ? [] : Object.keys(value);
  for (let end = 1; end <= names.length; end++) found.add(JSON.stringify(names.slice(0, end)));
  for (const each of Object.values(value)) shapesOf(each, found);
  return found.size;
}

test("the shapes of a text are those of its objects", () => {
  const value = fc.jsonValue({ maxDepth: 4 });
  // Short texts cannot have many, so they are not looked at: a long string makes every text long enough.
  const long = value.map((part) => [part, "x".repeat(1000)]);
  fc.assert(
    fc.property(long, fc.integer({ min: 0, max: 30 }), fc.constantFrom(0, 2), (part, most, indent) => {
      const text = JSON.stringify(part, null, indent);
      expect(scanText(text, 20, { shapes: most }).problem).toBe(shapesOf(JSON.parse(text)) > most ? "shapes" : null);
    }),
  );
});

test.each([
  ['[1e20, 2E-3, "3e4", true, false, -1.5e+2]', 3],
  ['{"1e5": "x1e5", "e": [10]}', 0],
])("the exponents of %s are counted", (text, exponents) => {
  expect(scanText(text, 5, { shapes: 5 }).exponents).toBe(exponents);
});

const MANY = 10_000;
const NAMES = [..."abcdefghij"];

test.each([
  ["a table of many names", { table: Object.fromEntries(Array.from({ length: MANY }, (_, at) => [`key${at}`, 1])) }],
  [
    "many small objects of their own",
    Array.from({ length: MANY / 4 }, (_, at) => turned([at, at + 1, at + 2, at + 3])),
  ],
  ["few names in many orders", Array.from({ length: MANY }, (_, at) => ordered(at))],
])("%s are too many shapes", (_, value) => {
  expect(scanText(JSON.stringify(value), 10, { shapes: MANY / 2 }).problem).toBe("shapes");
});

test("a long conversation has few shapes", () => {
  const messages = Array.from({ length: 30_000 }, () => ({ role: "user", content: [{ type: "text", text: "a: b" }] }));
  expect(scanText(JSON.stringify({ model: "m", messages }), 10, { shapes: 10 }).problem).toBeNull();
});

/** So many names of its own for every object. */
function named(objects: number, names: number, value: unknown): readonly unknown[] {
  return Array.from({ length: objects }, (_, at) =>
    Object.fromEntries(Array.from({ length: names }, (_, member) => [`name_${at}_${member}`, value])),
  );
}

const PARAMETER = { type: "string", description: "What to look for." };
const tool = (properties: unknown, at: number) => ({
  type: "function",
  function: { name: `tool_${at}`, description: "Does it.", parameters: { type: "object", properties } },
});
const files = (written: unknown, at: number) => ({
  role: "assistant",
  content: [{ type: "tool_use", id: `t${at}`, name: "write_files", input: { files: written } }],
});

test.each([
  ["an answer in a form of as many properties as OpenAI takes", named(1, 5000, { type: "string" })],
  ["a hundred and twenty-eight tools of fifty parameters each", named(128, 50, PARAMETER).map(tool)],
  ["a conversation of eight hundred calls with eight files each", named(800, 8, "const one = 1;\n").map(files)],
])("%s is taken", (_, value) => {
  expect(checkText(JSON.stringify(value), 0)).toBe(0);
});

test.each([
  ["many names", { table: named(1000, 10, 1) }],
  // Each of the two is taken by itself.
  [
    "many names beside many messages",
    [named(800, 10, 1), Array.from({ length: 31_000 }, () => ({ role: 1, text: "" }))],
  ],
])("%s are not taken", (_, value) => {
  expect(() => checkText(JSON.stringify(value), 0)).toThrow(/names/);
});

function turned(values: readonly number[]): Record<string, number> {
  return Object.fromEntries(values.map((value) => [`k${value}_${values[0]}`, value]));
}

/** The names in an order of its own for every number. */
function ordered(number: number): Record<string, number> {
  const left = [...NAMES];
  const names: string[] = [];
  for (let rest = number; left.length > 0; rest = Math.floor(rest / (left.length + 1))) {
    names.push(...left.splice(rest % left.length, 1));
  }
  return Object.fromEntries(names.map((name) => [name, 1]));
}

import fc from "fast-check";
import { expect, test } from "vitest";
import { readInput } from "../src/pages/start/json-input.js";

test("what is JSON is read as it is, and an empty field is null", () => {
  expect(readInput(" \n")).toEqual({ kind: "value", value: null });
  fc.assert(
    fc.property(fc.jsonValue({ noUnicodeString: false }), (value) => {
      const read = readInput(JSON.stringify(value, null, 2));
      expect(read).toEqual({ kind: "value", value: JSON.parse(JSON.stringify(value)) });
    }),
  );
});

test.for([
  ['{"a": 1,\n  b: 2}', /^This is not JSON: .*in line 2, column 3\.$/],
  ["rivers", /^This is not JSON: Unexpected token 'r' in "rivers"\.$/],
  ['{"a": ', /^This is not JSON: Unexpected end of JSON input\.$/],
  ["{'a': 1}", /in line 1, column 2\.$/],
  ["[1, 2,]", /in line 1, column 7\.$|Unexpected token/],
] as const)("%j is none, and it is said where", ([text, message]) => {
  const read = readInput(text);
  expect(read.kind === "fault" && read.message).toMatch(message);
});

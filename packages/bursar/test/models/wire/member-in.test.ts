import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { reportIn } from "../../../src/models/wire/answer-report.js";
import { membersIn } from "../../../src/models/wire/member-in.js";
import { OPENAI_CHAT } from "../../../src/models/wire/openai-chat.js";

const NAMES = ["usage", "model"];

/** What is said under the first name: null where there is no such member, undefined where that cannot be told. */
function usageOf(text: string): unknown {
  const members = membersIn(text, NAMES);
  return members === undefined ? undefined : (members.usage ?? null);
}

describe("one member of a text", () => {
  test.each([
    ['{"a":1,"usage":{"n":[1,{"usage":2}]},"b":"x"}', { n: [1, { usage: 2 }] }],
    ['{"usage":1,"usage":2}', 2],
    [' {\n "usage" : [ 1 , 2 ] }\n ', [1, 2]],
    ['{"a":"\\"usage\\":5","usage":"}"}', "}"],
    ['{"a":{"usage":1},"b":["usage"]}', null],
    ['{"usage":null}', null],
    ["{}", null],
  ])("is what whoever parses it finds: %s", (text, value) => {
    expect(usageOf(text)).toEqual(value);
  });

  test.each([
    "",
    "[1]",
    "7",
    '"usage"',
    '{"usage":1',
    '{"usage":1}}',
    '{"usage":1} x',
    '{"us\\u0061ge":1}',
    '{"usage":}',
  ])("is not told from the outside: %s", (text) => {
    expect(usageOf(text)).toBeUndefined();
  });

  test("is the same as if all of it were parsed, or not told, whatever the text is", () => {
    const name = fc.oneof(fc.constant("usage"), fc.constantFrom("a", 'us"age', "usage\\", "ü"), fc.string());
    const object = fc.array(fc.tuple(name, fc.jsonValue({ maxDepth: 3 })), { maxLength: 6 });
    fc.assert(
      fc.property(object, fc.boolean(), (members, spaced) => {
        const [comma, colon] = spaced ? [" ,\n", "\t: "] : [",", ":"];
        const written = members.map(([key, value]) => `${JSON.stringify(key)}${colon}${JSON.stringify(value)}`);
        const text = `{${written.join(comma)}}`;
        const told = usageOf(text);
        const parsed = (JSON.parse(text) as Record<string, unknown>).usage;
        if (told !== undefined) expect(told).toEqual(parsed ?? null);
        else expect(text).toContain("\\");
      }),
      { numRuns: 2000 },
    );
  });
});

test("several members are found, and nothing that stands inside of others", () => {
  const text = '{"model":"a","choices":[{"model":"b","usage":7}],"usage":{"model":"c"},"model":"d"}';
  expect(membersIn(text, NAMES)).toEqual({ model: "d", usage: { model: "c" } });
});

test("usage is read beside whatever else an answer holds, and not from what is cut off", () => {
  const usage = '"usage":{"prompt_tokens":7,"completion_tokens":3}';
  const counts = { input: 7, output: 3 };
  expect(reportIn(OPENAI_CHAT, `{"choices":[{"message":{"content":"\\"usage\\""}}],${usage}}`).counts).toEqual(counts);
  expect(reportIn(OPENAI_CHAT, `{"\\u0061":1,${usage}}`).counts).toEqual(counts);
  expect(reportIn(OPENAI_CHAT, `{${usage},"choices":[`).counts).toBeNull();
  expect(reportIn(OPENAI_CHAT, "nothing").counts).toBeNull();
});

import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { memberIn } from "../../../src/models/wire/member-in.js";
import { OPENAI_CHAT } from "../../../src/models/wire/openai-chat.js";
import { usageIn } from "../../../src/models/wire/usage-in.js";

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
    expect(memberIn(text, "usage")).toEqual(value);
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
    expect(memberIn(text, "usage")).toBeUndefined();
  });

  test("is the same as if all of it were parsed, or not told, whatever the text is", () => {
    const name = fc.oneof(fc.constant("usage"), fc.constantFrom("a", 'us"age', "usage\\", "ü"), fc.string());
    const object = fc.array(fc.tuple(name, fc.jsonValue({ maxDepth: 3 })), { maxLength: 6 });
    fc.assert(
      fc.property(object, fc.boolean(), (members, spaced) => {
        const [comma, colon] = spaced ? [" ,\n", "\t: "] : [",", ":"];
        const written = members.map(([key, value]) => `${JSON.stringify(key)}${colon}${JSON.stringify(value)}`);
        const text = `{${written.join(comma)}}`;
        const told = memberIn(text, "usage");
        const parsed = (JSON.parse(text) as Record<string, unknown>).usage;
        if (told !== undefined) expect(told).toEqual(parsed ?? null);
        else expect(text).toContain("\\");
      }),
      { numRuns: 2000 },
    );
  });
});

test("usage is read beside whatever else an answer holds, and not from what is cut off", () => {
  const usage = '"usage":{"prompt_tokens":7,"completion_tokens":3}';
  const counts = { input: 7, output: 3 };
  expect(usageIn(OPENAI_CHAT, `{"choices":[{"message":{"content":"\\"usage\\""}}],${usage}}`)).toEqual(counts);
  expect(usageIn(OPENAI_CHAT, `{"\\u0061":1,${usage}}`)).toEqual(counts);
  expect(usageIn(OPENAI_CHAT, `{${usage},"choices":[`)).toBeNull();
  expect(usageIn(OPENAI_CHAT, "nothing")).toBeNull();
});

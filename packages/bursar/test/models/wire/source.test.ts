import { deepStrictEqual } from "node:assert";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Json, JsonObject } from "../../../src/core/chain/canonical.js";
import { type Source, writeSent as writeText } from "../../../src/models/wire/source.js";

const LONG = "all work and no play ".repeat(20);

/** A body as it comes, with the text that it came as. */
function come(text: string): { readonly body: JsonObject; readonly source: Source } {
  const body = JSON.parse(text) as JsonObject;
  return { body, source: { text, parsed: body, isAscii: Buffer.byteLength(text) === text.length } };
}

function writeSent(sent: JsonObject, source: Source | undefined): string {
  const { text, bytes } = writeText(sent, source);
  if (bytes !== null) expect(bytes).toBe(Buffer.byteLength(text));
  return text;
}

/** A JSON text with white space wherever it may stand. */
function spaced(value: Json, space: () => string): string {
  const pad = (text: string) => `${space()}${text}${space()}`;
  if (Array.isArray(value)) return pad(`[${value.map((each) => spaced(each as Json, space)).join(",") || space()}]`);
  if (typeof value !== "object" || value === null) return pad(JSON.stringify(value));
  const members = Object.entries(value).map(
    ([name, each]) => `${pad(JSON.stringify(name))}:${spaced(each as Json, space)}`,
  );
  return pad(`{${members.join(",") || space()}}`);
}

describe("what is sent in place of a body", () => {
  test("has its long members as they came, and the short ones written anew", () => {
    const text = `{ "messages" : [ {"role":"user", "content":"${LONG}\\u00e9", "size": 12345678901234567890} ] , "max_tokens" : 1e2}`;
    const { body, source } = come(text);
    const written = writeSent({ ...body, max_tokens: 7, stream: true }, source);
    expect(written).toContain(`[ {"role":"user", "content":"${LONG}\\u00e9", "size": 12345678901234567890} ]`);
    expect(written).toMatch(/,"max_tokens":7,"stream":true\}$/);
  });

  test("has as many bytes as are said, also where what was escaped is written out", () => {
    const { body, source } = come(`{"messages":["${LONG}"],"user":"\\u00e9\\ud83d\\udc4b"}`);
    expect(source.isAscii).toBe(true);
    const { text, bytes } = writeText({ ...body, ü: true }, source);
    expect(text).toBe(JSON.stringify({ ...body, ü: true }));
    expect(bytes).toBe(text.length + 1 + 2 + 1);
  });

  test("is written anew as a whole where nobody knows the text", () => {
    const body = { messages: [LONG] };
    expect(writeSent({ ...body, n: 1 }, undefined)).toBe(JSON.stringify({ messages: [LONG], n: 1 }));
  });

  test("does not have what stood there before in a member that is another one now", () => {
    const { body, source } = come(JSON.stringify({ messages: [LONG], system: LONG }));
    const sent = { ...body, messages: [`${LONG}!`] };
    expect(writeSent(sent, source)).toBe(JSON.stringify(sent));
  });

  test("names the model that was chosen in place of the one that was asked for, however long that was written", () => {
    const text = `{"model":${" ".repeat(300)}"bursar/auto","messages":["${LONG}"]}`;
    const asked = JSON.parse(text) as JsonObject;
    const chosen = { ...asked, model: "small" };
    expect(writeSent({ ...chosen, n: 1 }, { text, parsed: asked, isAscii: true })).toBe(
      `{"model":"small","messages":["${LONG}"],"n":1}`,
    );
  });

  test("has every limit as it was read, however long it was written", () => {
    const { body, source } = come(`{"messages":["${LONG}"],"max_tokens":7.${"0".repeat(300)}}`);
    expect(writeSent({ ...body }, source)).toBe(JSON.stringify(body));
  });

  test.for([
    ["at the top", `{"messages":["${LONG}"],"n":1,"n":9}`],
    ["at the top, of which the second is as long", `{"messages":["${LONG}"],"messages":["${LONG}?"]}`],
    ["in the middle", `{"messages":[{"content":"${LONG}","detail":"low","detail":"high"}]}`],
    ["in another spelling", `{"messages":[{"content":"${LONG}","detail":"low","d\\u0065tail":"high"}]}`],
    ["in another spelling at the top", `{"messages":["${LONG}"],"m\\u0065ssages":["${LONG}?"]}`],
  ] as const)("has no name twice, %s", ([, text]) => {
    const { body, source } = come(text);
    expect(writeSent(body, source)).toBe(JSON.stringify(body));
  });

  test("is written anew where there are very many names", () => {
    const text = `{"messages": [${Array.from({ length: 30_000 }, () => '{"a": 1}').join(",")}]}`;
    const { body, source } = come(text);
    expect(writeSent(body, source)).toBe(JSON.stringify(body));
  });

  test("means the same, whatever it is and however it is spaced", () => {
    const json = fc.jsonValue({ maxDepth: 4 }) as fc.Arbitrary<Json>;
    const name = fc.oneof(fc.constantFrom("messages", "__proto__", "toJSON", '"', "a:b", "0"), fc.string());
    const long = fc.oneof(json, fc.constantFrom<Json>(LONG, [LONG, { '"}': `${LONG}"\\`, "},": [LONG] }]));
    const spaces = fc.infiniteStream(fc.constantFrom("", "", " ", "\n\t", "\r\n  "));
    fc.assert(
      fc.property(
        fc.array(fc.tuple(name, long)),
        fc.array(fc.tuple(name, json)),
        spaces,
        (members, changes, stream) => {
          const text = spaced(Object.fromEntries(members), () => stream.next().value as string);
          const { body, source } = come(text);
          const sent = { ...body, ...Object.fromEntries(changes) } as JsonObject;
          deepStrictEqual(JSON.parse(writeSent(sent, source)), JSON.parse(JSON.stringify(sent)));
        },
      ),
    );
  });
});

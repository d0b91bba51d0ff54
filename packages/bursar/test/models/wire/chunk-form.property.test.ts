import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { JsonObject } from "../../../src/core/chain/canonical.js";
import { ChunkForm } from "../../../src/models/wire/chunk-form.js";
import { OPENAI_CHAT } from "../../../src/models/wire/openai-chat.js";
import type { StreamReader } from "../../../src/models/wire/protocol.js";

const USAGE = { prompt_tokens: 9, completion_tokens: 1, total_tokens: 10 };

function opened(more: JsonObject = {}): StreamReader {
  const body = { model: "gpt-4o", messages: [{ role: "user", content: "Hi" }], stream: true, ...more };
  return OPENAI_CHAT.stream(OPENAI_CHAT.read(body, { bytes: 100, compatible: true }));
}

function chunk(content: string, more: JsonObject = {}): string {
  const choices = [{ index: 0, delta: { content }, logprobs: null, finish_reason: null }];
  return JSON.stringify({ id: "c", object: "chat.completion.chunk", created: 1, model: "gpt-4o", choices, ...more });
}

/** The same chunk in a way that no chunk before was written in, so that it has to be parsed; what is no JSON is left as it is. */
function unlike(data: string, index: number): string {
  try {
    JSON.parse(data);
    return " ".repeat(index) + data;
  } catch {
    return data;
  }
}

/** What a reader knows after each of some events. */
function knownOf(reader: StreamReader, events: readonly string[]) {
  const known = events.map((data) => {
    const { pass, last } = reader.read("", data);
    return { pass, last, usage: reader.usage, bytes: reader.seen_bytes, tokens: reader.seen_tokens };
  });
  return { known, end: reader.finish() };
}

const TEXT = fc.oneof(
  fc.constantFrom(
    "",
    " word",
    "content",
    '"content":"',
    "obfuscation",
    '"',
    "\\",
    "\n",
    "\u0000",
    "\ud83d",
    "👋",
    "ü€",
  ),
  fc.string({ unit: "binary", maxLength: 6 }),
);
const LIKE = fc.constantFrom(
  '{"content":',
  '"content":"a",',
  '"c\\u006fntent":"a",',
  '{"delta":{"content":"a"}},',
  '"content"',
  "content",

  '"obfuscation":"x",',
  '"usage":{},',
  '"error":{},',
  '"role":"assistant",',
  "{",
  "}",
  "]",
  ",",
  ":",
  '"',
  "\\",
  " ",
);
const MORE = fc.constantFrom<JsonObject>(
  {},
  {},
  {},
  { obfuscation: "abc" },
  { obfuscation: "" },
  { usage: null },
  { usage: USAGE },
  { error: null },
  { error: { message: "content" } },
  { id: "content" },
  { choices: [] },
  { content: "top" },
  { choices: [{ index: 1, delta: { content: "b", role: "assistant" }, finish_reason: "stop" }] },
  { choices: [{ index: 0, delta: { content: "b" }, text: "old" }] },
  { choices: [{ index: 0, delta: { content: "b", reasoning: { content: "c" } } }] },
  {
    choices: [
      { index: 0, delta: { content: "b" } },
      { index: 1, delta: { content: "b" } },
    ],
  },
);
/** A chunk with any text in it, written as it should be or as it is. */
const CHUNK = fc.tuple(TEXT, TEXT, MORE, fc.boolean(), fc.boolean()).map(([said, padding, more, isRaw, isSpaced]) => {
  const padded = "obfuscation" in more ? { ...more, obfuscation: padding } : more;
  if (isSpaced) return chunk(said, padded).replaceAll('":', '" : ').replaceAll(",", " ,\t");
  return isRaw ? chunk("@", padded).replace('"@"', `"${said}"`) : chunk(said, padded);
});
/** One that somebody has written something into. */
const MANGLED = fc.tuple(CHUNK, LIKE, fc.nat(), fc.nat(4)).map(([data, text, place, cut]) => {
  const at = place % (data.length + 1);
  return data.slice(0, at) + text + data.slice(at + cut);
});

/** Chunks into all of which the same was written at the same place, counted from the start or from the end. */
const ALIKE = fc
  .tuple(MORE, LIKE, fc.integer({ min: -70, max: 140 }), fc.nat(1), fc.array(TEXT, { minLength: 2, maxLength: 5 }))
  .map(([more, text, place, cut, texts]) =>
    texts.map((said) => {
      const data = chunk(said, more);
      const at = place < 0 ? data.length + place : place;
      return data.slice(0, at) + text + data.slice(at + cut);
    }),
  );

describe("chunks that are compared and not parsed", () => {
  test("are read as if they had been parsed, whatever is in them", () => {
    const single = fc.oneof({ weight: 4, arbitrary: CHUNK }, MANGLED, fc.constant("[DONE]"));
    const streams = fc.oneof(fc.array(single, { maxLength: 12 }), ALIKE);
    fc.assert(
      fc.property(streams, fc.boolean(), (events, told) => {
        const more = told ? { stream_options: { include_usage: true } } : {};
        expect(knownOf(opened(more), events)).toEqual(knownOf(opened(more), events.map(unlike)));
      }),
      { numRuns: 4000 },
    );
  });

  test("are so if nothing but what was said has changed, and the padding beside it", () => {
    const form = ChunkForm.of(chunk("a"), JSON.parse(chunk("a")) as JsonObject);
    expect(form?.bytesIn(chunk(" longer"))).toBe(7);
    expect(form?.bytesIn(chunk("ü€"))).toBe(5);
    expect(form?.bytesIn(chunk(""))).toBe(0);
    for (const other of [
      chunk('"'),
      chunk("\n"),
      chunk("👋"),
      chunk("a", { usage: USAGE }),
      `${chunk("a")} `,
      "[DONE]",
      "",
    ]) {
      expect(form?.bytesIn(other)).toBe(-1);
    }
    const padded = chunk("a", { obfuscation: "x" });
    const other = ChunkForm.of(padded, JSON.parse(padded) as JsonObject);
    expect(other?.bytesIn(chunk("abc", { obfuscation: "" }))).toBe(3);
    expect(other?.bytesIn(chunk("abc"))).toBe(-1);
  });

  test("have no form that anything could hide in", () => {
    const first = '{"choices":[{"delta":{"content":"a"';
    const texts = [
      chunk("a", { usage: USAGE }),
      chunk("a", { error: "no" }),
      chunk("content"),
      chunk("\n"),
      chunk("a", { choices: [] }),
      `${first},"content":"b"}}]}`,
      `${first},"c\\u006fntent":"b"}}]}`,
      `${first}}},{}]}`,
    ];
    for (const data of texts) expect(ChunkForm.of(data, JSON.parse(data) as JsonObject)).toBeNull();
  });
});

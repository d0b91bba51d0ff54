import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Json, JsonObject } from "../../../src/core/chain/canonical.js";
import { InputError } from "../../../src/core/errors.js";
import { ANTHROPIC_MESSAGES } from "../../../src/models/wire/anthropic-messages.js";
import { OPENAI_CHAT } from "../../../src/models/wire/openai-chat.js";
import { OPENAI_EMBEDDINGS } from "../../../src/models/wire/openai-embeddings.js";
import { OPENAI_RESPONSES } from "../../../src/models/wire/openai-responses.js";
import type { Protocol, WireRequest } from "../../../src/models/wire/protocol.js";
import { UnboundedError } from "../../../src/models/wire/unbounded-error.js";
import { CHAT_TEXT, CHAT_TOOLS, dataOf, MESSAGE, RESPONSES, type TraceEvent } from "./traces.js";

const LIMITS = ["max_tokens", "max_completion_tokens", "max_output_tokens"];

interface Way {
  readonly protocol: Protocol;
  readonly body: JsonObject;
  readonly trace: readonly TraceEvent[];
}

const WAYS: readonly Way[] = [
  {
    protocol: OPENAI_CHAT,
    trace: [...CHAT_TEXT, ...CHAT_TOOLS],
    body: {
      model: "gpt-5",
      messages: [
        {
          role: "user",
          content: [
            { type: "text", text: "a" },
            { type: "image_url", image_url: { url: "data:,x" } },
          ],
        },
        { role: "assistant", tool_calls: [{ id: "c", type: "function", function: { name: "f", arguments: "{}" } }] },
      ],
      tools: [{ type: "function", function: { name: "f" } }],
      max_tokens: 100,
      n: 2,
      stream: true,
      stream_options: {},
      modalities: ["text"],
    },
  },
  {
    protocol: OPENAI_RESPONSES,
    trace: RESPONSES,
    body: {
      model: "gpt-5",
      input: [
        { role: "user", content: [{ type: "input_text", text: "a" }] },
        { type: "function_call_output", call_id: "c", output: "x" },
      ],
      tools: [{ type: "namespace", name: "n", tools: [{ type: "function", name: "f" }] }],
      max_output_tokens: 100,
      reasoning: { effort: "low" },
      stream: true,
    },
  },
  {
    protocol: OPENAI_EMBEDDINGS,
    trace: CHAT_TEXT,
    body: { model: "text-embedding-3-small", input: ["a", [1, 2]] },
  },
  {
    protocol: ANTHROPIC_MESSAGES,
    trace: MESSAGE,
    body: {
      model: "claude-opus-5-5",
      max_tokens: 4_000,
      system: [{ type: "text", text: "a", cache_control: { type: "ephemeral", ttl: "1h" } }],
      messages: [{ role: "user", content: [{ type: "tool_result", content: [{ type: "text", text: "b" }] }] }],
      thinking: { type: "enabled", budget_tokens: 2_000 },
      tools: [{ name: "f", input_schema: {} }],
      stream: true,
    },
  },
];

/** Values that break things: wrong types, large and odd numbers, keys that objects have by themselves. */
const NASTY: fc.Arbitrary<Json> = fc.oneof(
  fc.constantFrom<Json>(
    null,
    true,
    false,
    0,
    -1,
    1.5,
    2 ** 53,
    1e300,
    "",
    "auto",
    [],
    {},
    [[]],
    [null],
    "\ud800",
    "constructor",
    "__proto__",
  ),
  fc
    .constantFrom('{"__proto__":{"max_tokens":1e9}}', '{"constructor":1}', '{"type":"__proto__"}')
    .map((text) => JSON.parse(text)),
  fc.jsonValue({ maxDepth: 3 }) as fc.Arbitrary<Json>,
  fc
    .constantFrom("text", "image", "image_url", "document", "file", "tool_result", "reasoning", "function")
    .map((type) => ({ type })),
);

/** Every place in a value, as a list of keys. */
function placesIn(value: Json, path: readonly (string | number)[] = []): (readonly (string | number)[])[] {
  if (typeof value !== "object" || value === null) return [path];
  const entries: [string | number, Json][] = Array.isArray(value) ? [...value.entries()] : Object.entries(value);
  return [path, ...entries.flatMap(([key, item]) => placesIn(item, [...path, key]))];
}

function replaced(value: Json, [key, ...rest]: readonly (string | number)[], by: Json): Json {
  if (key === undefined) return by;
  if (Array.isArray(value)) return value.map((item: Json, index) => (index === key ? replaced(item, rest, by) : item));
  const object = value as JsonObject;
  return { ...object, [key]: replaced(object[key] ?? null, rest, by) };
}

/** A value with some of its places replaced. */
function mutated<Value extends Json>(value: Value): fc.Arbitrary<Json> {
  const places = placesIn(value).filter((path) => path.length > 0);
  return fc
    .array(fc.tuple(fc.constantFrom(...places), NASTY), { minLength: 1, maxLength: 3 })
    .map((changes) =>
      changes.reduce<Json>((now, [path, by]) => (hasPlace(now, path) ? replaced(now, path, by) : now), value),
    );
}

function hasPlace(value: Json, path: readonly (string | number)[]): boolean {
  let at: Json | undefined = value;
  for (const key of path) {
    if (typeof at !== "object" || at === null || !Object.hasOwn(at, key)) return false;
    at = (at as Record<string | number, Json>)[key];
  }
  return true;
}

function read(protocol: Protocol, body: JsonObject, compatible: boolean): WireRequest | null {
  try {
    return protocol.read(body, { bytes: Buffer.byteLength(JSON.stringify(body)), compatible });
  } catch (error) {
    expect(error instanceof InputError || error instanceof UnboundedError).toBe(true);
    return null;
  }
}

describe.each(WAYS)("$protocol.name", ({ protocol, body, trace }) => {
  test("a mutated request is read, or refused with a reason, and never asks for more than it is held to", () => {
    fc.assert(
      fc.property(mutated(body), fc.boolean(), fc.nat(10_000), (changed, compatible, to) => {
        const request = read(protocol, changed as JsonObject, compatible);
        if (request === null) return;
        const sent = request.held(to);

        const limits = LIMITS.flatMap((field) => (typeof sent[field] === "number" ? [sent[field]] : []));
        expect(Math.max(...limits, 0)).toBeLessThanOrEqual(to);
        expect(limits.length > 0).toBe(request.output_tokens !== 0 || protocol === ANTHROPIC_MESSAGES);
        expect(Object.getPrototypeOf(sent)).toBe(Object.prototype);
        expect(Number.isSafeInteger(request.input_tokens)).toBe(true);
        expect(request.input_tokens).toBeGreaterThanOrEqual(Buffer.byteLength(JSON.stringify(changed)));
        expect(request.answers).toBeGreaterThanOrEqual(1);
        // What is sent reads the same again, so that a second meter on the way agrees with the first.
        expect(read(protocol, sent, compatible)?.output_tokens ?? 0).toBeLessThanOrEqual(to);
      }),
      { numRuns: 400 },
    );
  });

  test("texts and what is around them never come to less than the texts themselves", () => {
    fc.assert(
      fc.property(mutated(body), (changed) => {
        const request = read(protocol, changed as JsonObject, true);
        if (request === null || request.texts === null) return;
        const bytes = request.texts.pieces.reduce((sum, piece) => sum + Buffer.byteLength(piece), 0);

        expect(request.texts.around).toBeGreaterThan(0);
        expect(bytes + request.texts.around).toBeLessThanOrEqual(request.input_tokens);
      }),
      { numRuns: 200 },
    );
  });

  test("a mutated stream is followed to its end, and can be ended anywhere", () => {
    const events = trace.filter(([, data]) => data !== "[DONE]");
    const request = protocol.read(body, { bytes: 100, compatible: false });
    const event = fc
      .constantFrom(...events)
      .chain(([name, data]) => mutated(data).map((changed): TraceEvent => [name, changed]));
    fc.assert(
      fc.property(fc.array(fc.oneof(fc.constantFrom(...trace), event), { maxLength: 20 }), (mixed) => {
        const reader = protocol.stream(request);
        for (const [name, data] of mixed) {
          const before = reader.seen_bytes;
          const reading = reader.read(name, dataOf(data));
          expect(reading.pass === "same" || reading.pass === null).toBe(true);
          expect(reader.seen_bytes).toBeGreaterThanOrEqual(before);
          expect(reader.seen_bytes).toBeGreaterThanOrEqual(reader.seen_tokens);
          const { counts } = reader.usage ?? { counts: { input: 0, output: 0 } };
          expect(Number.isSafeInteger(counts.input + counts.output)).toBe(true);
        }
        for (const line of reader.finish().split("\n\n")) {
          const data = line.slice(line.indexOf("data: ") + 6);
          if (data !== "" && data !== "[DONE]") expect(() => JSON.parse(data)).not.toThrow();
        }
        expect(reader.finish()).toBe("");
      }),
      { numRuns: 300 },
    );
  });

  test("usage of anything is usage or nothing", () => {
    fc.assert(
      fc.property(NASTY, (usage) => {
        const counts = protocol.usage({ usage });
        expect(counts === null || Number.isSafeInteger(counts.input + counts.output)).toBe(true);
      }),
    );
  });

  test("a body that is too deep is refused, and one of many megabytes is read in one go", () => {
    const deep = (levels: number) => JSON.parse(`${"[".repeat(levels)}${"]".repeat(levels)}`) as Json;
    const facts = { bytes: 1_000_000, compatible: true };

    expect(() => protocol.read({ ...body, metadata: deep(100_000) }, facts)).toThrow(InputError);
    expect(JSON.stringify(protocol.read({ ...body, metadata: deep(900) }, facts).held(1))).toContain("[[[[");
    const wide: JsonObject = { ...body, metadata: Array(300_000).fill([0]), x: "a".repeat(4_000_000) };
    const allow = new Set(["x"]);
    expect(protocol.read(wide, { bytes: 5_000_000, compatible: true, allow }).input_tokens).toBeGreaterThan(5_000_000);
  });
});

test("keys that every object has by itself are data like any other", () => {
  const body = JSON.parse(
    '{"model":"gpt-5","messages":[],"__proto__":{"max_tokens":5,"stream":true},"constructor":{"prototype":{}}}',
  ) as JsonObject;

  const facts = { bytes: 100, compatible: true };
  expect(() => OPENAI_CHAT.read(body, facts)).toThrow("__proto__ is no member that is known");
  const request = OPENAI_CHAT.read(body, { ...facts, allow: new Set(["__proto__", "constructor"]) });

  expect(request).toMatchObject({ output_tokens: null, stream: false });
  expect(JSON.stringify(request.held(7))).toBe(
    '{"model":"gpt-5","messages":[],"__proto__":{"max_tokens":5,"stream":true},"constructor":{"prototype":{}},"max_completion_tokens":7}',
  );
});

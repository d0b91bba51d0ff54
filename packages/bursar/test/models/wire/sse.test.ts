import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type SseEvent, SseSplitter } from "../../../src/models/wire/sse.js";

const encoder = new TextEncoder();

/** What a splitter makes of some pieces: all events, and what was left at the end. */
function split(pieces: readonly Uint8Array[], mostBytes?: number): SseEvent[] {
  const splitter = new SseSplitter(mostBytes === undefined ? {} : { mostBytes });
  const events = pieces.flatMap((piece) => [...splitter.push(piece)]);
  const rest = splitter.end();
  return rest === null ? events : [...events, rest];
}

function fieldsOf(text: string): (readonly [event: string, data: string | null])[] {
  return split([encoder.encode(text)]).map(({ event, data }) => [event, data]);
}

function together(events: readonly SseEvent[]): string {
  return Buffer.concat(events.map(({ bytes }) => bytes)).toString("latin1");
}

/** Events of a stream in one piece, cut at blank lines by looking at each byte, and read line by line. */
function cutSlowly(bytes: Uint8Array): (readonly [event: string, data: string | null, bytes: string])[] {
  const ends: number[] = [];
  let isBlank = true;
  for (let at = 0; at < bytes.length; at++) {
    if (bytes[at] !== 10 && bytes[at] !== 13) {
      isBlank = false;
      continue;
    }
    if (bytes[at] === 13 && bytes[at + 1] === 10) at++;
    if (isBlank) ends.push(at + 1);
    isBlank = true;
  }
  const stretches = [...ends, bytes.length].map((end, index) => bytes.slice(index === 0 ? 0 : ends[index - 1], end));
  return stretches
    .filter(({ length }) => length > 0)
    .map((stretch, index) => {
      const text = Buffer.from(stretch).toString("utf8");
      const lines = (index === 0 ? text.replace(/^\ufeff/, "") : text).split(/\r\n|\n|\r/);
      const fields = lines.map((line) => /^([^:]*)(?:: ?)?(.*)$/s.exec(line) ?? []);
      const data = fields.filter(([, name]) => name === "data").map(([, , value = ""]) => value);
      const [, , event = ""] = fields.findLast(([, name]) => name === "event") ?? [];
      return [event, data.length === 0 ? null : data.join("\n"), Buffer.from(stretch).toString("latin1")];
    });
}

describe("a splitter of server-sent events", () => {
  const TABLE: readonly (readonly [
    what: string,
    text: string,
    events: readonly (readonly [string, string | null])[],
  ])[] = [
    ["one line of data", "data: a\n\n", [["", "a"]]],
    ["a named event", "event: ping\ndata: {}\n\n", [["ping", "{}"]]],
    [
      "several events",
      "data: a\n\ndata: b\n\n",
      [
        ["", "a"],
        ["", "b"],
      ],
    ],
    [
      "CRLF",
      "event: x\r\ndata: a\r\n\r\ndata: b\r\n\r\n",
      [
        ["x", "a"],
        ["", "b"],
      ],
    ],
    [
      "CR",
      "event: x\rdata: a\r\rdata: b\r\r",
      [
        ["x", "a"],
        ["", "b"],
      ],
    ],
    [
      "line ends of all kinds at once",
      "event: x\rdata: a\r\n\ndata: b\n\r\n",
      [
        ["x", "a"],
        ["", "b"],
      ],
    ],
    ["several lines of data", "data: a\ndata:b\ndata\n\n", [["", "a\nb\n"]]],
    ["one space at most is not data", "data:  a\n\n", [["", " a"]]],
    ["a colon in data", "data: a: b\n\n", [["", "a: b"]]],
    [
      "a comment alone",
      ": keep-alive\n\ndata: a\n\n",
      [
        ["", null],
        ["", "a"],
      ],
    ],
    ["a comment inside", "data: a\n: no\ndata: b\n\n", [["", "a\nb"]]],
    ["fields that mean nothing here", "id: 1\nretry: 5\ndatax: q\ndata: a\n\n", [["", "a"]]],
    ["the last of two names", "event: a\nevent: b\ndata: c\n\n", [["b", "c"]]],
    ["a byte order mark", "\ufeffdata: a\n\n", [["", "a"]]],
    [
      "half an event at the end",
      "data: a\n\ndata: [DO",
      [
        ["", "a"],
        ["", "[DO"],
      ],
    ],
    [
      "empty lines between events",
      "data: a\n\n\n\ndata: b\n\n",
      [
        ["", "a"],
        ["", null],
        ["", null],
        ["", "b"],
      ],
    ],
    ["nothing", "", []],
  ];

  test.each(TABLE)("reads %s", (_what, text, events) => {
    expect(fieldsOf(text)).toEqual(events);
  });

  test("gives an event as soon as its blank line is there, and the LF of a CRLF with the next one", () => {
    const splitter = new SseSplitter();

    expect(splitter.push(encoder.encode("data: a\r\n\r"))).toHaveLength(1);
    const [event] = splitter.push(encoder.encode("\ndata: b\r\n\r\n"));

    expect(event).toMatchObject({ data: "b" });
    expect(new TextDecoder().decode(event?.bytes)).toBe("\ndata: b\r\n\r\n");
    expect(splitter.end()).toBeNull();
  });

  const LINE = fc.oneof(
    fc.constantFrom("", "data", "data:", "data: ", ": c", "event: e", "data: ü€👋", "id: 1", "\ufeff"),
    fc.string({ unit: "grapheme", maxLength: 8 }).map((text) => `data: ${text}`),
  );
  const STREAM = fc
    .array(fc.tuple(LINE, fc.constantFrom("\n", "\r\n", "\r", "\n\n", "\r\n\r\n")), { maxLength: 24 })
    .map((lines) => encoder.encode(lines.flat().join("")));

  test("however the bytes are cut, the events and the bytes are the same", () => {
    fc.assert(
      fc.property(STREAM, fc.array(fc.nat(), { maxLength: 12 }), (bytes, cuts) => {
        const places = [0, ...cuts.map((cut) => cut % (bytes.length + 1)), bytes.length].sort((a, b) => a - b);
        const pieces = places.slice(1).map((to, index) => bytes.subarray(places[index], to));
        const cut = split(pieces);
        const whole = split([bytes]);

        expect(together(cut)).toBe(Buffer.from(bytes).toString("latin1"));
        expect(together(whole)).toBe(Buffer.from(bytes).toString("latin1"));
        const read = (events: readonly SseEvent[]) =>
          events.flatMap(({ event, data }) => (data === null ? [] : [[event, data]]));
        expect(read(cut)).toEqual(read(whole));
      }),
      { numRuns: 500 },
    );
  });

  test("bytes of any kind are cut where one who looks at each of them cuts, and read as he reads them", () => {
    const token = fc.oneof(
      fc.constantFrom("\n", "\n\n", "data: a\n\n", "data: ", "event: e\n", "data", ":", "\r", "\r\n", "\ufeff", "€"),
      fc.string({ unit: "grapheme", maxLength: 4 }),
    );
    const piece = fc.oneof(
      token.map((text) => encoder.encode(text)),
      fc.uint8Array({ maxLength: 3 }),
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 24 }), fc.array(fc.nat(), { maxLength: 6 }), (all, cuts) => {
        const bytes = new Uint8Array(Buffer.concat(all));
        const seen = (events: readonly SseEvent[]) =>
          events.map((each) => [each.event, each.data, Buffer.from(each.bytes).toString("latin1")]);
        expect(seen(split([bytes]))).toEqual(cutSlowly(bytes));
        const places = [0, ...cuts.map((cut) => cut % (bytes.length + 1)), bytes.length].sort((a, b) => a - b);
        const pieces = places.slice(1).map((to, index) => bytes.subarray(places[index], to));
        // The LF of a CRLF that was cut in two goes with the next event, and nowhere else is there a difference.
        if (!bytes.includes(13)) expect(seen(split(pieces))).toEqual(cutSlowly(bytes));
      }),
      { numRuns: 1000 },
    );
  });

  test("byte by byte, a character of four bytes is still one", () => {
    const bytes = encoder.encode("data: 👋ü\r\n\r\ndata: b\n\n");

    const events = split([...bytes].map((byte) => Uint8Array.of(byte)));

    expect(events.flatMap(({ data }) => data ?? [])).toEqual(["👋ü", "b"]);
  });

  test("an event that does not end is refused at its bound, and events below it are not", () => {
    const line = encoder.encode(`data: ${"x".repeat(100)}\n`);
    const splitter = new SseSplitter({ mostBytes: 1000 });

    expect(() => {
      for (let count = 0; count < 20; count++) splitter.push(line);
    }).toThrow("an event of more than 1000 bytes");
    const ended = encoder.encode(`data: ${"x".repeat(900)}\n\n`);
    expect(split([ended, ended, ended], 1000)).toHaveLength(3);
  });
});

import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { AnswerReader } from "../../../src/gateway/provider/answer-reader.js";
import { ConnectionLost, MalformedAnswer } from "../../../src/gateway/provider/errors.js";
import { answer, said } from "./raw-server.js";
import { CUT, MALFORMED, RECORDED } from "./recorded.js";

/** Reads bytes as they come, split at these places. */
function read(bytes: string, splits: readonly number[] = []) {
  const pieces: string[] = [];
  const seen = { begun: 0, isOver: false, pieces };
  const reader = new AnswerReader({
    begin: () => void seen.begun++,
    push: (piece) => void pieces.push(piece.toString("latin1")),
  });
  const places = [0, ...[...splits].sort((a, b) => a - b), bytes.length];
  for (let at = 1; at < places.length; at++) {
    const part = Buffer.from(bytes.slice(places[at - 1], places[at]), "latin1");
    if (part.length > 0) seen.isOver = reader.read(part);
  }
  const { head } = reader;
  return { ...seen, head: head && { ...head }, body: pieces.join(""), reader };
}

/** What came of it, whether it was read or refused. */
function outcome(bytes: string, splits: readonly number[] = []) {
  try {
    const { head, body, isOver, begun } = read(bytes, splits);
    return { head, body, isOver, begun };
  } catch (error) {
    return { error };
  }
}

function splitsOf(bytes: string) {
  return fc.array(fc.nat({ max: bytes.length }), { maxLength: 12 });
}

describe.each(RECORDED)("an answer %s", (_, bytes, body) => {
  test("is read to its end, and begins once", () => {
    expect(read(bytes)).toMatchObject({ body, isOver: true, begun: 1 });
  });

  test("is the same wherever it is split in two", () => {
    const whole = outcome(bytes);
    for (let at = 1; at < bytes.length; at++) expect(outcome(bytes, [at])).toEqual(whole);
  });

  test("is the same byte by byte, and in any pieces", () => {
    const whole = outcome(bytes);
    const each = Array.from({ length: bytes.length }, (_, at) => at);
    expect(outcome(bytes, each)).toEqual(whole);
    fc.assert(fc.property(splitsOf(bytes), (splits) => void expect(outcome(bytes, splits)).toEqual(whole)));
  });

  test("is not over a byte before its end", () => {
    expect(read(bytes.slice(0, -1)).isOver).toBe(false);
  });
});

describe.each(MALFORMED)("an answer with %s", (_, bytes) => {
  test("is refused, wherever it is split", () => {
    const splits = bytes.length > 2000 ? [[], [1000]] : Array.from({ length: bytes.length }, (_, at) => [at]);
    for (const places of splits) {
      // What has come before is over, and the rest is found on a connection that nobody uses, which is closed for it.
      const { error, isOver } = refusal(bytes, places);
      expect(isOver || error instanceof MalformedAnswer).toBe(true);
    }
    expect(refusal(bytes, []).error).toBeInstanceOf(MalformedAnswer);
  });
});

/** Reads until the answer is over or refused. */
function refusal(bytes: string, splits: readonly number[]) {
  const reader = new AnswerReader({ begin: () => {}, push: () => {} });
  const [at = bytes.length] = splits;
  try {
    for (const part of [bytes.slice(0, at), bytes.slice(at)]) {
      if (part !== "" && reader.read(Buffer.from(part, "latin1"))) return { isOver: true, error: null };
    }
    return { isOver: false, error: null };
  } catch (error) {
    return { isOver: false, error };
  }
}

test.each(CUT)("an answer that is cut off %s is not whole", (_, bytes) => {
  const { isOver, reader } = read(bytes);
  expect(isOver).toBe(false);
  expect(() => reader.close()).toThrow(ConnectionLost);
});

test("an answer that goes until the connection is closed is whole with that, and not before", () => {
  const { isOver, body, head, reader } = read(answer(["x-one: 1"], "as much as comes"));
  expect([isOver, body]).toEqual([false, "as much as comes"]);
  expect(head?.idle_ms).toBe(0);
  expect(() => reader.close()).not.toThrow();
});

test("chunks that come at once are handed over as one piece, and also before something malformed", () => {
  const chunks = "5\r\nhello\r\n2\r\n, \r\n5\r\nworld\r\n";
  expect(read(answer(["transfer-encoding: chunked"], chunks)).pieces).toEqual(["hello, world"]);
  const pieces: string[] = [];
  const reader = new AnswerReader({ begin: () => {}, push: (piece) => void pieces.push(piece.toString()) });
  const bytes = Buffer.from(answer(["transfer-encoding: chunked"], `${chunks}x`));
  expect(() => reader.read(bytes)).toThrow(MalformedAnswer);
  expect(pieces).toEqual(["hello, world"]);
});

test("nothing of an answer is shown that has bytes behind its end", () => {
  const pieces: Buffer[] = [];
  const reader = new AnswerReader({
    begin: () => expect.unreachable("it has begun"),
    push: (piece) => void pieces.push(piece),
  });
  expect(() => reader.read(Buffer.from(`${said("hello")}!`))).toThrow("there are bytes behind its end");
  expect(pieces).toEqual([]);
});

test("headers have small letters; what is said twice is a list, or one text where that is what is read", () => {
  const lines = [
    "X-One: 1",
    "x-one: 2",
    "X-ONE: 3",
    "Connection: a",
    "connection: b",
    "content-type: c",
    "content-type: d",
  ];
  expect(read(said("", ...lines)).head?.headers).toEqual({
    "content-length": "0",
    "x-one": ["1", "2", "3"],
    connection: "a, b",
    "content-type": "c, d",
  });
  const odd = read(said("", "constructor: a", "constructor: b", "__proto__: c", "__proto__: d", "x: \xa0 "));
  expect(Object.entries(odd.head?.headers ?? {})).toEqual([
    ["content-length", "0"],
    ["constructor", ["a", "b"]],
    ["x", "\xa0"],
  ]);
  expect(Object.getPrototypeOf(odd.head?.headers)).toBe(Object.prototype);
});

test.each<[string, string, number]>([
  ["nothing is said", said(""), 4000],
  ["it may be kept", said("", "connection: keep-alive"), 4000],
  ["it may be kept for long", said("", "keep-alive: timeout=60, max=100"), 4000],
  ["it may be kept for a while", said("", "Keep-Alive: max=100, TIMEOUT = 3"), 2000],
  ["it may be kept for a moment", said("", "keep-alive: timeout=1"), 0],
  ["it may not be kept", said("", "keep-alive: timeout=0"), 0],
  ["what is said about keeping is nothing", said("", "keep-alive: timeout=soon"), 4000],
  ["it is closed", said("", "connection: close"), 0],
  ["it is closed, in large letters and among others", said("", "Connection: x-hop, CLOSE "), 0],
  ["it is closed, in a second line", said("", "connection: keep-alive", "connection: close"), 0],
  ["something is called almost like that", said("", "connection: closed"), 4000],
  ["it is HTTP/1.0", said("").replace("1.1", "1.0"), 0],
  ["it is HTTP/1.0 and may be kept", said("", "connection: keep-alive").replace("1.1", "1.0"), 0],
  ["it goes until the connection is closed", answer([]), 0],
  ["it has no body", answer([], "", "204 No Content"), 4000],
  ["it has no body, of no length", answer(["content-length: 0"], "", "204 No Content"), 4000],
  ["it has no body, but speaks of a length", answer(["content-length: 5"], "", "304 Not Modified"), 0],
  ["it has no body, but speaks of chunks", answer(["transfer-encoding: chunked"], "", "204 No Content"), 0],
])("a connection is used again only where that is certain: %s", (_, bytes, idle_ms) => {
  expect(read(bytes).head?.idle_ms).toBe(idle_ms);
});

test("whatever comes is read or refused, and never fails in another way; and splits do not matter", () => {
  const line = fc.constantFrom(
    "\r\n",
    "\n",
    "HTTP/1.1 200 OK\r\n",
    "content-length: 3\r\n",
    "transfer-encoding: chunked\r\n",
  );
  const more = fc.constantFrom(
    "3\r\nabc\r\n",
    "0\r\n",
    "abc",
    ":",
    " ",
    "\0",
    "HTTP/1.1 103 -\r\n",
    "HTTP/1.1 204\r\n",
  );
  const bytes = fc.array(fc.oneof(line, more), { maxLength: 12 }).map((parts) => parts.join(""));
  fc.assert(
    fc.property(bytes, fc.nat(), (text, nat) => {
      const whole = refusal(text, []);
      const split = refusal(text, [text.length === 0 ? 0 : nat % text.length]);
      for (const { error } of [whole, split]) expect(error === null || error instanceof MalformedAnswer).toBe(true);
      // What is whole when it comes at once is whole however it comes.
      if (whole.isOver) expect(split.isOver).toBe(true);
    }),
    { numRuns: 3000 },
  );
});

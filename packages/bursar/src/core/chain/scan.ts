import { type Bytes, pattern } from "./bytes.js";
import { type KnownKey, knownKeyAt, learnKey, NO_KEY, scanKey } from "./keys.js";
import { scanNumber, scanPattern, scanString } from "./tokens.js";

/** How deep containers may nest: deeper values are refused, so that no reader's stack depends on a stranger's data. */
export const MAX_DEPTH = 1000;

const QUOTE = 0x22;
const COMMA = 0x2c;
const OPEN_ARRAY = 0x5b;
const CLOSE_ARRAY = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;

const TRUE = pattern("true");
const FALSE = pattern("false");
const NULL = pattern("null");

/** Scans the value that starts at `at` and stands inside `depth` containers; as with tokens, gives the index behind it or -1. */
export function scanValue(text: Bytes, at: number, depth: number): number {
  const { bytes } = text;
  switch (bytes[at]) {
    case QUOTE:
      return scanString(text, at);
    case OPEN_OBJECT:
      return depth < MAX_DEPTH ? scanObject(text, at, depth + 1) : -1;
    case OPEN_ARRAY:
      return depth < MAX_DEPTH ? scanArray(text, at, depth + 1) : -1;
    case 0x74:
      return scanPattern(text, at, TRUE);
    case 0x66:
      return scanPattern(text, at, FALSE);
    case 0x6e:
      return scanPattern(text, at, NULL);
    default:
      return scanNumber(bytes, at);
  }
}

function scanArray(text: Bytes, at: number, depth: number): number {
  const { bytes } = text;
  if (bytes[at + 1] === CLOSE_ARRAY) return at + 2;
  let index = at;
  do {
    index = scanValue(text, index + 1, depth);
    if (index < 0) return -1;
  } while (bytes[index] === COMMA);
  return bytes[index] === CLOSE_ARRAY ? index + 1 : -1;
}

function scanObject(text: Bytes, at: number, depth: number): number {
  const { bytes } = text;
  if (bytes[at + 1] === CLOSE_OBJECT) return at + 2;
  let index = at;
  let previous = -1;
  let known: KnownKey | undefined = NO_KEY;
  do {
    const key = index + 1;
    const next: KnownKey | undefined = known && knownKeyAt(text, key, known);
    const valueAt: number = next === undefined ? scanKey(text, key, previous) : key + next.pattern.length;
    if (valueAt < 0) return -1;
    known = next ?? (known && learnKey(text, key, valueAt, known));
    previous = key;
    index = bytes[valueAt] === QUOTE ? scanString(text, valueAt) : scanValue(text, valueAt, depth);
    if (index < 0) return -1;
  } while (bytes[index] === COMMA);
  return bytes[index] === CLOSE_OBJECT ? index + 1 : -1;
}

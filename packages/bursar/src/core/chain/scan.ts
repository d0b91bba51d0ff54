/*
 * Reads canonical JSON (RFC 8785) as bytes. Bytes, because a loop over a typed array is several times faster than one
 * over a string's characters. Every function takes the index where its token starts and gives the index behind it, or
 * -1 when the token is not canonical. The text must be followed by a zero byte (see bytes.ts): no token accepts one, so
 * no loop needs to compare its index with the end.
 */

/** How deep containers may nest: deeper values are refused, so that no reader's stack depends on a stranger's data. */
export const MAX_DEPTH = 1000;

/**
 * A decimal of at most 15 digits, with no exponent and no closing zero, is what its double prints as, because no two such
 * decimals share a double. A longer number has to be printed again to know its shortest form.
 */
const SAFE_DIGITS = 15;
/** 0.000001 is written so, and a tenth of it as 1e-7. */
const SMALLEST_FRACTION_DIGITS = 6;
/** No double prints longer than 25 characters. */
const MAX_NUMBER_LENGTH = 32;

const QUOTE = 0x22;
const PLUS = 0x2b;
const COMMA = 0x2c;
const MINUS = 0x2d;
const POINT = 0x2e;
const ZERO = 0x30;
const NINE = 0x39;
const COLON = 0x3a;
const OPEN_ARRAY = 0x5b;
const BACKSLASH = 0x5c;
const CLOSE_ARRAY = 0x5d;
const LOWER_E = 0x65;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;

const encoder = new TextEncoder();
const TRUE = encoder.encode("true");
const FALSE = encoder.encode("false");
const NULL = encoder.encode("null");

/** 1 for every byte that stands for itself inside a string. */
const PLAIN: Uint8Array = new Uint8Array(256).fill(1, 0x20);
PLAIN[QUOTE] = 0;
PLAIN[BACKSLASH] = 0;

/** The one escape a canonical text has for each character that needs one; `\/` and `\u0041` are not among them. */
const ESCAPES: ReadonlySet<string> = new Set(
  ['"', "\\", ...Array.from({ length: 0x20 }, (_, code) => String.fromCharCode(code))].map((character) =>
    JSON.stringify(character).slice(1, -1),
  ),
);

/** Scans the value that starts at `at` and stands inside `depth` containers. */
export function scanValue(bytes: Uint8Array, at: number, depth: number): number {
  switch (bytes[at]) {
    case QUOTE:
      return scanString(bytes, at);
    case OPEN_OBJECT:
      return depth < MAX_DEPTH ? scanObject(bytes, at, depth + 1) : -1;
    case OPEN_ARRAY:
      return depth < MAX_DEPTH ? scanArray(bytes, at, depth + 1) : -1;
    case 0x74:
      return scanBytes(bytes, at, TRUE);
    case 0x66:
      return scanBytes(bytes, at, FALSE);
    case 0x6e:
      return scanBytes(bytes, at, NULL);
    default:
      return scanNumber(bytes, at);
  }
}

/** Scans exactly these bytes; gives -1 also for a start of -1, so that scans can be strung together. */
export function scanBytes(bytes: Uint8Array, at: number, expected: Uint8Array): number {
  if (at < 0) return -1;
  for (let index = 0; index < expected.length; index++) {
    if (bytes[at + index] !== expected[index]) return -1;
  }
  return at + expected.length;
}

/** Scans a whole number of 0 or more, of any length and without leading zeros. */
export function scanWhole(bytes: Uint8Array, at: number): number {
  const end = scanDigits(bytes, at);
  return end === at || (bytes[at] === ZERO && end > at + 1) ? -1 : end;
}

/** Scans a string, from its opening quote. */
export function scanString(bytes: Uint8Array, at: number): number {
  let index = at + 1;
  for (;;) {
    while (PLAIN[bytes[index] as number] === 1) index++;
    if (bytes[index] === QUOTE) return index + 1;
    if (bytes[index] !== BACKSLASH) return -1;
    index = scanEscape(bytes, index);
    if (index < 0) return -1;
  }
}

function scanEscape(bytes: Uint8Array, at: number): number {
  const length = bytes[at + 1] === 0x75 ? 6 : 2;
  return ESCAPES.has(ascii(bytes, at, at + length)) ? at + length : -1;
}

function scanArray(bytes: Uint8Array, at: number, depth: number): number {
  if (bytes[at + 1] === CLOSE_ARRAY) return at + 2;
  let index = at;
  do {
    index = scanValue(bytes, index + 1, depth);
    if (index < 0) return -1;
  } while (bytes[index] === COMMA);
  return bytes[index] === CLOSE_ARRAY ? index + 1 : -1;
}

function scanObject(bytes: Uint8Array, at: number, depth: number): number {
  if (bytes[at + 1] === CLOSE_OBJECT) return at + 2;
  let index = at;
  let previous = -1;
  do {
    const key = index + 1;
    if (bytes[key] !== QUOTE) return -1;
    index = scanString(bytes, key);
    if (index < 0 || bytes[index] !== COLON) return -1;
    if (previous >= 0 && !ascends(bytes, previous, key)) return -1;
    previous = key;
    index = scanValue(bytes, index + 1, depth);
    if (index < 0) return -1;
  } while (bytes[index] === COMMA);
  return bytes[index] === CLOSE_OBJECT ? index + 1 : -1;
}

/** Whether the key at `previous` sorts strictly before the key at `key`; both are scanned strings. */
function ascends(bytes: Uint8Array, previous: number, key: number): boolean {
  for (let offset = 1; ; offset++) {
    const a = bytes[previous + offset] as number;
    const b = bytes[key + offset] as number;
    if (a === BACKSLASH || b === BACKSLASH) return keyAt(bytes, previous) < keyAt(bytes, key);
    if (b === QUOTE) return false;
    if (a === QUOTE) return true;
    if (a !== b) return utf16Rank(a) < utf16Rank(b);
  }
}

/**
 * Bytes sort like code points, canonical keys like UTF-16 code units. The two orders differ in one place: there, the
 * characters beyond U+FFFF (first byte F0 and up) come before U+E000 to U+FFFF (first byte EE or EF).
 */
function utf16Rank(byte: number): number {
  return byte === 0xee || byte === 0xef ? byte + 0x10 : byte;
}

function keyAt(bytes: Uint8Array, at: number): string {
  return JSON.parse(new TextDecoder().decode(bytes.subarray(at, scanString(bytes, at))));
}

function scanNumber(bytes: Uint8Array, at: number): number {
  const start = bytes[at] === MINUS ? at + 1 : at;
  const point = scanDigits(bytes, start);
  const end = bytes[point] === POINT ? scanDigits(bytes, point + 1) : point;
  if (bytes[end] === LOWER_E || point === start || end - start > SAFE_DIGITS) return scanOddNumber(bytes, at);
  const last = bytes[end - 1];
  const isShortest = point === end || (last !== ZERO && last !== POINT);
  const isLed = bytes[start] !== ZERO || (point === start + 1 && isZeroLed(bytes, at, point, end));
  return isShortest && isLed ? end : scanOddNumber(bytes, at);
}

/** Whether a number whose whole part is 0 prints as it stands: not as `-0`, and with an exponent only below 0.000001. */
function isZeroLed(bytes: Uint8Array, at: number, point: number, end: number): boolean {
  if (point === end) return bytes[at] === ZERO;
  let first = point + 1;
  while (bytes[first] === ZERO) first++;
  return first - point <= SMALLEST_FRACTION_DIGITS;
}

function scanDigits(bytes: Uint8Array, at: number): number {
  let index = at;
  while ((bytes[index] as number) >= ZERO && (bytes[index] as number) <= NINE) index++;
  return index;
}

function scanOddNumber(bytes: Uint8Array, at: number): number {
  let end = at;
  while (isNumeric(bytes[end] as number)) end++;
  if (end === at || end - at > MAX_NUMBER_LENGTH) return -1;
  const text = ascii(bytes, at, end);
  return `${Number(text)}` === text ? end : -1;
}

function isNumeric(byte: number): boolean {
  return (byte >= ZERO && byte <= NINE) || byte === MINUS || byte === POINT || byte === LOWER_E || byte === PLUS;
}

function ascii(bytes: Uint8Array, at: number, end: number): string {
  return String.fromCharCode(...bytes.subarray(at, end));
}

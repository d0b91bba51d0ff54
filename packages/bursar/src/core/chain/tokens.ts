import { type Bytes, type Pattern, WORD_BYTES } from "./bytes.js";

/*
 * The tokens of canonical JSON (RFC 8785), read as bytes. Bytes, because a loop over a typed array is several times
 * faster than one over a string's characters. Every function takes the index where its token starts and gives the index
 * behind it, or -1 when the token is not canonical. The text must be followed by a zero byte (see bytes.ts): no token
 * accepts one, so no loop needs to compare its index with the end.
 */

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
const MINUS = 0x2d;
const POINT = 0x2e;
const ZERO = 0x30;
const NINE = 0x39;
const BACKSLASH = 0x5c;
const LOWER_E = 0x65;

/** The one escape a canonical text has for each character that needs one; `\/` and `\u0041` are not among them. */
const ESCAPES: ReadonlySet<string> = new Set(
  ['"', "\\", ...Array.from({ length: 0x20 }, (_, code) => String.fromCharCode(code))].map((character) =>
    JSON.stringify(character).slice(1, -1),
  ),
);

/** Scans exactly this; gives -1 also for a start of -1, so that scans can be strung together. */
export function scanPattern({ words }: Bytes, at: number, { length, words: expected }: Pattern): number {
  if (at < 0) return -1;
  const last = expected.length - 1;
  for (let index = 0; index < last; index++) {
    if (words.getInt32(at + index * WORD_BYTES, true) !== expected[index]) return -1;
  }
  const end = at + length;
  return words.getInt32(end - WORD_BYTES, true) === expected[last] ? end : -1;
}

/** Scans a whole number of 0 or more, of any length and without leading zeros. */
export function scanWhole(bytes: Uint8Array, at: number): number {
  const end = scanDigits(bytes, at);
  return end === at || (bytes[at] === ZERO && end > at + 1) ? -1 : end;
}

/** Scans a string, from its opening quote. */
export function scanString(text: Bytes, at: number): number {
  const { bytes } = text;
  let index = at + 1;
  for (;;) {
    index = skipPlain(text, index);
    if (bytes[index] === QUOTE) return index + 1;
    if (bytes[index] !== BACKSLASH) return -1;
    index = scanEscape(bytes, index);
    if (index < 0) return -1;
  }
}

const EACH_BYTE = 0x01010101;
const HIGH_BITS = 0x80808080;
const EACH_QUOTE = QUOTE * EACH_BYTE;
const EACH_BACKSLASH = BACKSLASH * EACH_BYTE;
const EACH_SPACE = 0x20 * EACH_BYTE;

/**
 * The index of the first byte that does not stand for itself inside a string, found by looking at four bytes at a time.
 * Taking a number from each byte of a word sets the high bit of those that were less and had none. That shows control
 * characters, and, taken from the difference with quotes or backslashes, these. A borrow can make only bytes behind the
 * first one look so, and the first one, which a word has lowest, is all that counts.
 */
function skipPlain({ words }: Bytes, at: number): number {
  for (let index = at; ; index += WORD_BYTES) {
    const word = words.getInt32(index, true);
    const quotes = word ^ EACH_QUOTE;
    const backslashes = word ^ EACH_BACKSLASH;
    const controlBits = (word - EACH_SPACE) & ~word;
    const quoteBits = (quotes - EACH_BYTE) & ~quotes;
    const backslashBits = (backslashes - EACH_BYTE) & ~backslashes;
    const bits = (controlBits | quoteBits | backslashBits) & HIGH_BITS;
    if (bits !== 0) return index + ((31 - Math.clz32(bits & -bits)) >> 3);
  }
}

function scanEscape(bytes: Uint8Array, at: number): number {
  const length = bytes[at + 1] === 0x75 ? 6 : 2;
  return ESCAPES.has(ascii(bytes, at, at + length)) ? at + length : -1;
}

/** Scans a number; what stands there may be anything else, too. */
export function scanNumber(bytes: Uint8Array, at: number): number {
  const first = bytes[at] as number;
  if (first > ZERO && first <= NINE) {
    const whole = scanDigits(bytes, at + 1);
    if (bytes[whole] !== POINT && bytes[whole] !== LOWER_E && whole - at <= SAFE_DIGITS) return whole;
  }
  return scanAnyNumber(bytes, at);
}

function scanAnyNumber(bytes: Uint8Array, at: number): number {
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

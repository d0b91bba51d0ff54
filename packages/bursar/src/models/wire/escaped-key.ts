const BACKSLASH = 0x5c;
const PERCENT = 0x25;
const AMPERSAND = 0x26;
const HASH = 0x23;
const SEMICOLON = 0x3b;
const SMALL_U = 0x75;
const SMALL_X = 0x78;

/** All that an escape may consist of. */
const IN_ESCAPES = "\\u%&#xXamp;0123456789abcdefABCDEF";
/** What stands in place of the rest of an `&` that was escaped. */
const AMP = "amp;";
/** No escape of one character is longer, however often it was escaped again. */
const LONGEST_ESCAPE = 24;

/** One escaped character: its code, and where what follows begins. */
interface Escape {
  readonly code: number;
  readonly end: number;
}

/** `open` where the bytes end before it can be told. */
type Unit = Escape | "open" | null;

/** A stretch of bytes that is the key, or may become it with what follows. */
interface Found {
  readonly start: number;
  readonly end: number;
  /** How many characters of the key it has; all of them unless the bytes end first. */
  readonly characters: number;
}

/**
 * Finds a key in which characters are escaped, all or a few of them: as JSON does (`\u002B`, `\/`), percent-encoding (`%2b`) or HTML
 * (`&#43;`), in capitals or small letters, once or several times over. What has no escape at all is left to a plain search.
 */
export class EscapedKey {
  private readonly codes: Uint8Array;
  /** Where in the key each character stands. */
  private readonly places: readonly (readonly number[])[];

  constructor(key: string) {
    this.codes = Uint8Array.from(Buffer.from(key.toLowerCase(), "latin1"));
    this.places = Array.from({ length: 256 }, (_, code) =>
      [...this.codes.keys()].filter((place) => this.codes[place] === code),
    );
  }

  /** The bytes that may be a part of an escape. */
  static get bytes(): Buffer {
    return Buffer.from(IN_ESCAPES, "latin1");
  }

  /** The places at which it stands, whole. */
  *wholeIn(bytes: Buffer): Generator<Found> {
    for (const found of this.from(bytes, 0)) if (found.characters === this.codes.length) yield found;
  }

  /** The beginning of it that the bytes end with; null where they do not. */
  openIn(bytes: Buffer): Found | null {
    const from = Math.max(0, bytes.length - this.codes.length * LONGEST_ESCAPE);
    for (const found of this.from(bytes, from)) if (found.characters < this.codes.length) return found;
    const end = bytes.length;
    for (let characters = this.codes.length - 1; characters > 0; characters--) {
      if (this.isPlain(bytes, end - characters, characters)) return { start: end - characters, end, characters };
    }
    return null;
  }

  /** By the first escape in it: what stands before that is written as it is. */
  private *from(bytes: Buffer, from: number): Generator<Found> {
    // Many texts have none, which is found out faster than one by one.
    const first = Math.min(
      nextOf(bytes, BACKSLASH, from),
      nextOf(bytes, PERCENT, from),
      nextOf(bytes, AMPERSAND, from),
    );
    for (let at = first; at < bytes.length; at++) {
      const code = bytes[at];
      if (code !== BACKSLASH && code !== PERCENT && code !== AMPERSAND) continue;
      const unit = unitAt(bytes, at);
      const found = unit === null ? null : this.foundAt(bytes, at, unit);
      if (found !== null) yield found;
    }
  }

  private foundAt(bytes: Buffer, at: number, unit: "open" | Escape): Found | null {
    const places = unit === "open" ? [...this.codes.keys()].reverse() : (this.places[lower(unit.code)] ?? []);
    for (const place of places) {
      if (!this.isPlain(bytes, at - place, place)) continue;
      const rest = unit === "open" ? { end: bytes.length, characters: place } : this.follow(bytes, unit.end, place + 1);
      if (rest !== null) return { start: at - place, ...rest };
    }
    return null;
  }

  /** Whether so many characters of its beginning stand there as they are. */
  private isPlain(bytes: Buffer, start: number, count: number): boolean {
    if (start < 0) return false;
    for (let place = 0; place < count; place++) {
      if (lower(bytes[start + place] as number) !== this.codes[place]) return false;
    }
    return true;
  }

  /** Reads on from one of its characters; null where it goes on in another way. */
  private follow(bytes: Buffer, from: number, first: number): Omit<Found, "start"> | null {
    let at = from;
    for (let place = first; place < this.codes.length; place++) {
      if (at >= bytes.length) return { end: bytes.length, characters: place };
      if (lower(bytes[at] as number) === this.codes[place]) {
        at++;
        continue;
      }
      const unit = unitAt(bytes, at);
      if (unit === "open") return { end: bytes.length, characters: place };
      if (unit === null || lower(unit.code) !== this.codes[place]) return null;
      at = unit.end;
    }
    return { end: at, characters: this.codes.length };
  }
}

/** The escaped character at a place; null where none is. */
function unitAt(bytes: Buffer, at: number): Unit {
  const last = Math.min(bytes.length, at + LONGEST_ESCAPE);
  switch (bytes[at]) {
    case BACKSLASH:
      return afterBackslash(bytes, at, last);
    case PERCENT:
      return afterPercent(bytes, at, last);
    case AMPERSAND:
      return afterAmpersand(bytes, at, last);
    default:
      return null;
  }
}

function afterBackslash(bytes: Buffer, from: number, last: number): Unit {
  let at = from;
  while (at < last && bytes[at] === BACKSLASH) at++;
  if (at >= last) return cutAt(bytes, at);
  const code = bytes[at] as number;
  if (code === SMALL_U) return hexAt(bytes, at + 1, 4);
  // Of letters and digits it makes another character, or none.
  return isLetterOrDigit(code) ? null : { code, end: at + 1 };
}

function afterPercent(bytes: Buffer, from: number, last: number): Unit {
  let at = from + 1;
  // What was encoded again has `%25` in place of its `%`.
  while (at + 2 <= last && bytes[at] === 0x32 && bytes[at + 1] === 0x35 && isHexAt(bytes, at + 2)) at += 2;
  return hexAt(bytes, at, 2);
}

function afterAmpersand(bytes: Buffer, from: number, last: number): Unit {
  let at = from + 1;
  // Mostly it stands for itself.
  if (at < last && bytes[at] !== HASH && bytes[at] !== AMP.charCodeAt(0)) return null;
  while (bytes.toString("latin1", at, Math.min(last, at + AMP.length)) === AMP) at += AMP.length;
  if (at >= last || AMP.startsWith(bytes.toString("latin1", at, last))) return cutAt(bytes, last);
  if (bytes[at] !== HASH) return at > from + 1 ? { code: AMPERSAND, end: at } : null;
  const length = bytes.subarray(at, last).indexOf(SEMICOLON);
  if (length === -1) return cutAt(bytes, last);
  const end = at + length;
  const isHex = lower(bytes[at + 1] ?? 0) === SMALL_X;
  const digits = bytes.toString("latin1", at + (isHex ? 2 : 1), end);
  const code = Number.parseInt(digits, isHex ? 16 : 10);
  return code >= 0 && code < 256 ? { code, end: end + 1 } : null;
}

/** So many hexadecimal digits. */
function hexAt(bytes: Buffer, at: number, digits: number): Unit {
  let code = 0;
  for (let place = at; place < at + digits; place++) {
    if (place >= bytes.length) return "open";
    const digit = digitOf(bytes[place] as number);
    if (digit === -1) return null;
    code = code * 16 + digit;
  }
  return code < 256 ? { code, end: at + digits } : null;
}

function cutAt(bytes: Buffer, at: number): Unit {
  return at >= bytes.length ? "open" : null;
}

function isHexAt(bytes: Buffer, at: number): boolean {
  return at >= bytes.length || digitOf(bytes[at] as number) !== -1;
}

/** What a hexadecimal digit stands for; -1 for anything else. */
function digitOf(code: number): number {
  if (code >= 0x30 && code <= 0x39) return code - 0x30;
  const small = lower(code);
  return small >= 0x61 && small <= 0x66 ? small - 0x57 : -1;
}

function isLetterOrDigit(code: number): boolean {
  const small = lower(code);
  return (code >= 0x30 && code <= 0x39) || (small >= 0x61 && small <= 0x7a);
}

function nextOf(bytes: Buffer, byte: number, from: number): number {
  const at = bytes.indexOf(byte, from);
  return at === -1 ? Number.POSITIVE_INFINITY : at;
}

/** A letter of ASCII as a small one. */
function lower(code: number): number {
  return code >= 0x41 && code <= 0x5a ? code + 0x20 : code;
}

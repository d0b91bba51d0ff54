import { type Bytes, type Pattern, pattern, textOf } from "./bytes.js";
import { scanPattern, scanString } from "./tokens.js";

/*
 * The keys of objects. Links say the same things over and over, so the keys that have been scanned are remembered by what
 * came before them in their object, and compared when they come again: that takes half as long as to scan them, and their
 * order is known. A key that is not remembered is scanned; what is remembered changes the time it takes and nothing else.
 */

/** A key that was found to be canonical and in order after the ones that lead to it. */
export interface KnownKey {
  /** The key in quotes and its colon. */
  readonly pattern: Pattern;
  readonly followers: KnownKey[];
}

const MAX_FOLLOWERS = 8;
const MAX_KNOWN = 1024;
const MAX_LENGTH = 64;
/** The shortest pattern has this length, so the empty key is not remembered. */
const MIN_LENGTH = 4;

const QUOTE = 0x22;
const COLON = 0x3a;
const BACKSLASH = 0x5c;

/** Where every object starts; its followers are first keys. */
export const NO_KEY: KnownKey = { pattern: pattern("none"), followers: [] };
let known = 0;

/** The known key that stands here, if one of those that have come after `before` does. */
export function knownKeyAt(text: Bytes, at: number, before: KnownKey): KnownKey | undefined {
  const { followers } = before;
  for (let index = 0; index < followers.length; index++) {
    const key = followers[index] as KnownKey;
    if (scanPattern(text, at, key.pattern) > 0) return key;
  }
  return undefined;
}

/** Remembers the key from `at` to `end`, which has been scanned, unless there are too many already or it is too long. */
export function learnKey(text: Bytes, at: number, end: number, before: KnownKey): KnownKey | undefined {
  if (before.followers.length >= MAX_FOLLOWERS || end - at > MAX_LENGTH || end - at < MIN_LENGTH) return undefined;
  if (known >= MAX_KNOWN) {
    NO_KEY.followers.length = 0;
    known = 0;
  }
  known++;
  const key: KnownKey = { pattern: pattern(textOf(text.bytes.subarray(at, end))), followers: [] };
  before.followers.push(key);
  return key;
}

/** Scans a key and its colon. The key before it in the same object is at `previous`, or there is none if that is -1. */
export function scanKey(text: Bytes, at: number, previous: number): number {
  const { bytes } = text;
  if (bytes[at] !== QUOTE) return -1;
  const end = scanString(text, at);
  if (end < 0 || bytes[end] !== COLON) return -1;
  return previous < 0 || ascends(text, previous, at) ? end + 1 : -1;
}

/** Whether the key at `previous` sorts strictly before the key at `key`; both are scanned strings. */
function ascends(text: Bytes, previous: number, key: number): boolean {
  const { bytes } = text;
  for (let offset = 1; ; offset++) {
    const a = bytes[previous + offset] as number;
    const b = bytes[key + offset] as number;
    if (a === BACKSLASH || b === BACKSLASH) return keyAt(text, previous) < keyAt(text, key);
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

function keyAt(text: Bytes, at: number): string {
  return JSON.parse(new TextDecoder().decode(text.bytes.subarray(at, scanString(text, at))));
}

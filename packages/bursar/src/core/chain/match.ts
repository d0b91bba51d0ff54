import { type Bytes, type Pattern, pattern, scansWhole, textOf } from "./bytes.js";
import { HASH_MEMBER_LENGTH, HASH_START } from "./line.js";
import { causeProblem, ZERO_HASH } from "./rules.js";
import { scanValue } from "./scan.js";
import { scanPattern, scanString, scanWhole } from "./tokens.js";

/** Where the next link of a chain has to tie in, and the chain's own parts of a line, ready to be compared. */
export interface Place {
  readonly chain: string;
  readonly seq: number;
  readonly prev: string;
  readonly idStart: Pattern;
  readonly chainToData: Pattern;
  readonly ownCause: Pattern;
}

/** The place of a chain's first link. */
export function firstPlace(chain: string): Place {
  const quoted = JSON.stringify(chain);
  const ownId = `${quoted.slice(0, -1)}#`;
  const chainToData = pattern(`,"chain":${quoted},"data":`);
  return {
    chain,
    seq: 0,
    prev: ZERO_HASH,
    chainToData,
    idStart: pattern(`,"id":${ownId}`),
    ownCause: pattern(`,"cause":${ownId}`),
  };
}

/** The place after a link with this hash. */
export function nextPlace(place: Place, hash: string): Place {
  const { chain, seq, idStart, chainToData, ownCause } = place;
  return { chain, seq: seq + 1, prev: hash, idStart, chainToData, ownCause };
}

/**
 * Whether a line has, but for its hash, everything that a link at this place must have. Nearly all lines do, and this
 * sees it without parsing them: what is known beforehand is compared, and only the rest is scanned. A `false` may come
 * from an unusual but correct line, so whoever gets it has to parse and look closely.
 */
export function fits(line: string, place: Place): boolean {
  return scansWhole(line, (text, length) => {
    const dataAt = scanToData(text, place);
    const dataEnd = dataAt > 0 && text.bytes[dataAt] === OPEN_OBJECT ? scanValue(text, dataAt, 1) : -1;
    const eventAt = scanPattern(text, dataEnd, EVENT);
    const idAt = eventAt > 0 ? scanName(text, eventAt) : dataEnd;
    return scanTie(text, idAt, place, line, length);
  });
}

const QUOTE = 0x22;
const ZERO = 0x30;
const NINE = 0x39;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;
const MAX_DIGITS = 15;

const TYPE = pattern('{"action_type":');
const TIME = pattern(',"at":');
const CAUSE = pattern(',"cause":');
const NULL = pattern("null");
const EVENT = pattern(',"event":');
const PREV = pattern('","prev":"');
const SEQ = pattern('","seq":');
const HASH = pattern(HASH_START);

/** The index of the value of `data`, or -1 when what comes before it is wrong or unusual. */
function scanToData(text: Bytes, place: Place): number {
  const typeEnd = scanName(text, scanPattern(text, 0, TYPE));
  const timeAt = scanPattern(text, typeEnd, TIME);
  const timeEnd = timeAt < 0 ? -1 : scanWhole(text.bytes, timeAt);
  if (timeEnd - timeAt > MAX_DIGITS) return -1;
  return scanPattern(text, scanCause(text, timeEnd, place), place.chainToData);
}

/** Scans a string that is not empty. */
function scanName(text: Bytes, at: number): number {
  const { bytes } = text;
  return at > 0 && bytes[at] === QUOTE && bytes[at + 1] !== QUOTE ? scanString(text, at) : -1;
}

/** Scans the whole member: nearly all causes are links of the same chain, and for them all but the seq is known. */
function scanCause(text: Bytes, at: number, place: Place): number {
  const seqAt = scanPattern(text, at, place.ownCause);
  if (seqAt < 0) return scanOtherCause(text, scanPattern(text, at, CAUSE), place);
  const end = scanSeq(text.bytes, seqAt, 0, place.seq - 1);
  return end > 0 && text.bytes[end] === QUOTE ? end + 1 : -1;
}

function scanOtherCause(text: Bytes, at: number, place: Place): number {
  if (at < 0) return -1;
  if (text.bytes[at] !== QUOTE) return scanPattern(text, at, NULL);
  const end = scanName(text, at);
  if (end < 0) return -1;
  const cause = textOf(text.bytes.subarray(at + 1, end - 1));
  return !cause.includes("\\") && causeProblem(cause, place.chain, place.seq) === null ? end : -1;
}

/**
 * Scans the members that tie a link to its place, and its hash, of which only the length is known. `prev` is compared as
 * text, which for 64 characters is faster; its index is counted from the end, where bytes and characters are the same.
 */
function scanTie(text: Bytes, at: number, place: Place, line: string, length: number): number {
  const { bytes } = text;
  const idEnd = scanSeq(bytes, scanPattern(text, at, place.idStart), place.seq, place.seq);
  const prevAt = scanPattern(text, idEnd, PREV);
  const prevEnd = prevAt + ZERO_HASH.length;
  if (prevAt < 0 || line.slice(prevAt - length, prevEnd - length) !== place.prev) return -1;
  const seqEnd = scanSeq(bytes, scanPattern(text, prevEnd, SEQ), place.seq, place.seq);
  const isEnd = bytes[length - 2] === QUOTE && bytes[length - 1] === CLOSE_OBJECT;
  return isEnd && scanPattern(text, seqEnd, HASH) > 0 ? seqEnd + HASH_MEMBER_LENGTH : -1;
}

/** Scans a number within bounds; one with more digits than a double holds is inexact here, but beyond any bound. */
function scanSeq(bytes: Uint8Array, at: number, least: number, most: number): number {
  if (at < 0) return -1;
  let value = 0;
  let end = at;
  for (let byte = bytes[at] as number; byte >= ZERO && byte <= NINE; byte = bytes[end] as number) {
    value = value * 10 + byte - ZERO;
    end++;
  }
  const isWhole = end === at + 1 || (end > at && bytes[at] !== ZERO);
  return isWhole && value >= least && value <= most ? end : -1;
}

import { isWellFormed } from "./bytes.js";
import { canonicalizeAt, type JsonObject } from "./canonical.js";
import { isPlainObject } from "./canonical-error.js";
import { withHash } from "./line.js";
import { parseMembers } from "./members.js";
import { remember } from "./remember.js";
import { CHAIN_ID_RULE, causeProblem, checkMember, isChainId, isCount, isHash, LinkError, ZERO_HASH } from "./rules.js";

/** Everything a link says; its hash is taken over exactly this. */
export interface LinkBody {
  /** What kind of action this records, as `BudgetConsumptionRecorded`. */
  readonly action_type: string;
  /** When, in milliseconds since 1970 UTC. */
  readonly at: number;
  /** Id of the link that caused this one, in this chain or another; null when no recorded link did. */
  readonly cause: string | null;
  readonly chain: string;
  readonly data: JsonObject;
  /** For budget events, which one: `Allocation`, `Consumption` and so on. */
  readonly event?: string;
  /** Always `${chain}#${seq}`. */
  readonly id: string;
  /** The predecessor's hash; 64 zeros in the first link. */
  readonly prev: string;
  /** Position in the chain, from 0. */
  readonly seq: number;
}

/** One recorded action, tied to its predecessor: `hash` is the SHA-256 of the canonical JSON of all other members. */
export interface Link extends LinkBody {
  readonly hash: string;
}

/** The last link of a chain, by position and hash. Whoever knows it can tell whether the chain was cut or rewritten. */
export interface Head {
  readonly chain: string;
  /** -1 while the chain has no link. */
  readonly seq: number;
  readonly hash: string;
}

/** What the caller says of a new link; the rest follows from the head it is appended to. */
export interface LinkDraft extends Pick<LinkBody, "action_type" | "at" | "cause" | "data"> {
  readonly event?: string | undefined;
}

/** A draft whose data may be canonical JSON already. Only a text that is known to be may be given. */
export interface WrittenDraft extends Omit<LinkDraft, "data"> {
  readonly data: JsonObject | string;
}

/** A new link, the line to store for it, and the head to append the next one to. */
export interface Appended extends AppendedLine {
  readonly link: Link;
}

/** The line of a new link, and the head to append the next one to. */
export interface AppendedLine {
  /**
   * The canonical JSON of the body with the hash as its last member. It must be stored as it is: the hashed bytes are
   * these, up to the comma before `"hash"`, and the closing brace.
   */
  readonly line: string;
  readonly head: Head;
}

/**
 * The head of a chain that has no link yet.
 *
 * @example
 * ```ts
 * emptyHead("run-7"); // { chain: "run-7", seq: -1, hash: "000…" }
 * ```
 *
 * @throws {LinkError} when the chain's id is empty, too long, or holds `#` or control characters.
 */
export function emptyHead(chain: string): Head {
  if (!isChainId(chain)) throw new LinkError("malformed", `a chain id ${CHAIN_ID_RULE}`);
  return { chain, seq: -1, hash: ZERO_HASH };
}

/**
 * Makes the link that follows `head`. Nothing is stored: write `line` and keep the new `head`, in one transaction.
 *
 * @example
 * ```ts
 * const first = appendLink(
 *   emptyHead("run-7"),
 *   { action_type: "RunStarted", at: 1767225600000, cause: null, data: { program: "summarise" } },
 *   sha256Hex,
 * );
 * const second = appendLink(
 *   first.head,
 *   { action_type: "RunEnded", at: 1767225600250, cause: first.link.id, data: { status: "Completed" } },
 *   sha256Hex,
 * );
 * ```
 *
 * @throws {LinkError} when the draft or the head is not well-formed; {@link CanonicalError} when `data` is not JSON.
 */
export function appendLink(head: Head, draft: LinkDraft, hash: (text: string) => string): Appended {
  checkData(draft.data);
  const { line, head: next } = appendLine(head, draft, hash);
  return { link: writeLink(draft, head, next), line, head: next };
}

/** The same without the link itself, also for data that was written before. */
export function appendLine(head: Head, draft: WrittenDraft, hash: (text: string) => string): AppendedLine {
  const chain = chainParts(head.chain);
  if (head.hash !== chain.lastHash || head.seq !== chain.lastSeq) checkHead(head);
  const seq = head.seq + 1;
  checkDraft(draft, seq);
  const digits = `${seq}`;
  const body = writeBody(draft, head, seq, digits, chain);
  const digest = hash(body);
  // A hash function that gives hex once gives hex always, so the digits are looked at in a chain's first link only.
  if (chain.lastSeq < 0 ? !isHash(digest) : digest.length !== ZERO_HASH.length) {
    throw new LinkError("malformed", "the hash must be 64 lowercase hex digits");
  }
  chain.lastSeq = seq;
  chain.lastHash = digest;
  chain.lastId = chain.idPrefix + digits;
  chain.lastDigits = digits;
  return { line: withHash(body, digest), head: { chain: head.chain, seq, hash: digest } };
}

/** Throws for a link that could not be made at this position of a chain, so that it can be made later. */
export function checkLater(chain: string, draft: LinkDraft, seq: number): void {
  checkData(draft.data);
  // To write it is the surest way to know that it can be written, and takes several times as long.
  if (!isPlain(draft.data)) canonicalizeAt(draft.data, "data", 1);
  checkFrame(chain, draft, seq);
}

/** The same for a link whose data is known to be canonical JSON once it is written. */
export function checkFrame(chain: string, draft: Omit<LinkDraft, "data">, seq: number): void {
  checkDraft(draft, seq);
  const problem = causeProblem(draft.cause, chain, seq);
  if (problem !== null) throw new LinkError("bad_cause", `"cause" ${problem}`);
}

/**
 * Reads a stored line back. It checks the form, not the hash: that is what `verifyChain` does.
 *
 * @example
 * ```ts
 * parseLine(line).data; // what was recorded
 * ```
 *
 * @throws {LinkError} when the line is not a link (`malformed`) or not in the form it was hashed in (`not_canonical`).
 */
export function parseLine(line: string): Link {
  return parseMembers(line) as unknown as Link;
}

/** Throws for a head that no chain can have; heads come from databases and from other people. */
export function checkHead(head: Head): void {
  if (!isChainId(head.chain)) throw new LinkError("malformed", `the head's chain ${CHAIN_ID_RULE}`);
  if (head.seq !== -1 && !isCount(head.seq)) throw new LinkError("malformed", "the head's seq is not a position");
  if (!isHash(head.hash)) throw new LinkError("malformed", "the head's hash must be 64 lowercase hex digits");
  if (head.seq === -1 && head.hash !== ZERO_HASH) {
    throw new LinkError("malformed", "the head's hash must be all 0 when there is no link yet");
  }
}

/** The names are checked where they are quoted, which for each happens once, and the cause where it is written. */
function checkDraft({ at, cause }: Omit<LinkDraft, "data">, seq: number): void {
  if (!isCount(at)) checkMember("at", at);
  if (cause !== null && typeof cause !== "string") checkMember("cause", cause);
  if (!isCount(seq)) throw new LinkError("malformed", "the chain has no position left");
}

function checkData(data: unknown): void {
  if (typeof data !== "object" || data === null || Array.isArray(data)) checkMember("data", data);
}

/** Longer texts may be more than the engine can hold once they are escaped. */
const LONGEST_PLAIN = 64 * 1024;

/** Whether a value can be written for certain: finite numbers and short, well-formed texts, in plain objects. */
function isPlain(value: unknown): boolean {
  switch (typeof value) {
    case "number":
      return Number.isFinite(value);
    case "string":
      return value.length <= LONGEST_PLAIN && isWellFormed(value);
    case "object":
      return value === null || isPlainInside(value);
    default:
      return false;
  }
}

function isPlainInside(value: object): boolean {
  if (Array.isArray(value)) return value.every(isPlain);
  if (!isPlainObject(value)) return false;
  // Names are ours, or those of dimensions, which were looked at where they were made.
  for (const key in value) if (!isPlain(value[key])) return false;
  return true;
}

/** Two literals and no spread, which would cost as much as the hash. */
function writeLink(draft: LinkDraft, { hash: prev }: Head, { chain, seq, hash }: Head): Link {
  const { action_type, at, cause, data, event } = draft;
  const id = `${chain}#${seq}`;
  return event === undefined
    ? { action_type, at, cause, chain, data, id, prev, seq, hash }
    : { action_type, at, cause, chain, data, event, id, prev, seq, hash };
}

/**
 * The members in canonical order; `prev` and `seq` come last, so what ties a link to its place is the end of the line.
 * It is put together from as few pieces as can be: each costs time twice, here and when the text is laid out for the hash.
 */
function writeBody(draft: WrittenDraft, head: Head, seq: number, digits: string, chain: ChainParts): string {
  const start = writeTime(typeParts(draft.action_type), draft.at);
  const caused = draft.cause === null ? start + chain.nullToData : writeCause(start, draft.cause, seq, chain);
  const data = typeof draft.data === "string" ? draft.data : canonicalizeAt(draft.data, "data", 1);
  const idStart = draft.event === undefined ? chain.idStart : eventPart(draft.event) + chain.idStart;
  return `${caused}${data}${idStart}${digits}","prev":"${head.hash}${`","seq":${digits}}`}`;
}

/** Most causes are the link before, and of that one everything is known. */
function writeCause(before: string, cause: string, seq: number, chain: ChainParts): string {
  if (cause === chain.lastId && chain.lastSeq < seq) {
    return before + chain.ownCause + chain.lastDigits + chain.ownToData;
  }
  const problem = causeProblem(cause, chain.id, seq);
  if (problem !== null) throw new LinkError("bad_cause", `"cause" ${problem}`);
  return `${before},"cause":${canonicalizeAt(cause, "cause", 1)}${chain.chainToData}`;
}

const MILLISECONDS: readonly string[] = Array.from({ length: 1000 }, (_, count) => `${count}`.padStart(3, "0"));
/** Up to here a division by 1000 cannot round up to the next second. */
const LAST_PLAIN_TIME = 1e15;

/** Printing a number of that size takes as long as all the rest of the frame, and within a second it ends in three digits. */
function writeTime(type: TypeParts, at: number): string {
  if (at < 1000 || at > LAST_PLAIN_TIME) return `${type.start}${at}`;
  const second = Math.floor(at / 1000);
  if (second !== type.second) {
    type.second = second;
    type.startToSecond = onePiece(type.start, `${second}`);
  }
  return type.startToSecond + MILLISECONDS[at - second * 1000];
}

interface TypeParts {
  readonly start: string;
  /** The second that a link of this type was last written in, and the text up to it. */
  second: number;
  startToSecond: string;
}

interface ChainParts {
  readonly id: string;
  readonly idPrefix: string;
  readonly nullToData: string;
  readonly ownCause: string;
  readonly ownToData: string;
  readonly chainToData: string;
  readonly idStart: string;
  /** The head made last. It is known to be sound, and to check a hash takes a third as long as to make one. */
  lastSeq: number;
  lastHash: string;
  lastId: string;
  lastDigits: string;
}

const chainParts = remember((chain): ChainParts => {
  if (!isChainId(chain)) throw new LinkError("malformed", `the head's chain ${CHAIN_ID_RULE}`);
  const quoted = JSON.stringify(chain);
  const ownId = `${quoted.slice(0, -1)}#`;
  const chainToData = onePiece(',"chain":', quoted, ',"data":');
  return {
    id: chain,
    idPrefix: onePiece(chain, "#"),
    nullToData: onePiece(',"cause":null', chainToData),
    ownCause: onePiece(',"cause":', ownId),
    ownToData: onePiece('"', chainToData),
    chainToData,
    idStart: onePiece(',"id":', ownId),
    lastSeq: -1,
    lastHash: ZERO_HASH,
    lastId: "",
    lastDigits: "",
  };
});
const typeParts = remember((type): TypeParts => {
  const start = onePiece('{"action_type":', quotedName("action_type", type), ',"at":');
  return { start, second: -1, startToSecond: start };
});
const eventPart = remember((event) => onePiece(',"event":', quotedName("event", event)));

/** Texts that are added up stay in pieces inside the engine until somebody reads them; joined, they are one at once. */
function onePiece(...parts: readonly string[]): string {
  return parts.join("");
}

function quotedName(member: "action_type" | "event", name: string): string {
  checkMember(member, name);
  return canonicalizeAt(name, member, 1);
}

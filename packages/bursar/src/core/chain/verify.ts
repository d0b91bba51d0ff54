import { claimedHash, hashedText } from "./line.js";
import { LineSplitter } from "./lines.js";
import { checkHead, type Head, type Link, parseLine } from "./link.js";
import { firstPlace, fits, nextPlace, type Place } from "./match.js";
import { causeProblem, LinkError } from "./rules.js";

/** Why a chain does not verify. */
export type VerificationReason =
  | "malformed"
  | "not_canonical"
  | "hash_mismatch"
  | "wrong_chain"
  | "wrong_seq"
  | "wrong_prev"
  | "bad_cause"
  | "beyond_head"
  | "wrong_head"
  | "truncated"
  | "wrong_anchor"
  | "empty";

/** What is wrong with a chain: the first bad line, and why, in a sentence. */
export interface VerificationFailure {
  readonly ok: false;
  /** Index of the line, from 0; the number of lines when it is the end that is missing. */
  readonly at: number;
  /** What the bad link says its seq is, or the first missing one; null when that cannot be read. */
  readonly seq: number | null;
  readonly reason: VerificationReason;
  readonly message: string;
}

/** The outcome of a verification. */
export type Verification =
  | { readonly ok: true; readonly chain: string; readonly links: number; readonly head: Head }
  | VerificationFailure;

/** What a verification needs to know. */
export interface VerifyOptions {
  /** SHA-256 in lowercase hex over the text's UTF-8 bytes. */
  readonly hash: (text: string) => string | Promise<string>;
  /** The chain's last link, if it is known from elsewhere. Without it nobody can tell a chain that was cut short. */
  readonly head?: Head | undefined;
  /** Whether links may follow the known head, as in a chain that has grown since the head was handed out. */
  readonly mayContinue?: boolean;
  /** The link before the first of the lines, where those before were dropped or are elsewhere. Without it they begin with link 0. */
  readonly after?: Head | undefined;
}

/**
 * Checks that the lines are a chain to which nothing was done: no link changed, dropped, inserted or moved, and none
 * missing or added at the end if the head is known. Needs the memory of one line, however long the chain is.
 *
 * @example
 * ```ts
 * const verification = await verifyChain(lines, { hash: sha256Hex, head });
 * if (!verification.ok) console.error(verification.message);
 * ```
 */
export async function verifyChain(
  lines: AsyncIterable<string> | Iterable<string>,
  options: VerifyOptions,
): Promise<Verification> {
  // A text is an iterable of characters, and would be called malformed though it may be a sound chain.
  if (typeof lines === "string") throw new TypeError("lines is a text; give its lines, or use verifyJsonl([text], …)");
  const walk = new Walk(options);
  if (isAsync(lines)) {
    for await (const line of lines) {
      const failure = await walk.next(line);
      if (failure) return failure;
    }
    return walk.end();
  }
  return (await walkAll(walk, lines)) ?? walk.end();
}

/**
 * Checks an exported chain (JSON lines) straight from a stream of bytes or text, in pieces of any size.
 *
 * @example
 * ```ts
 * await verifyJsonl(createReadStream("run-7.jsonl"), { hash: sha256Hex });
 * ```
 */
export async function verifyJsonl(
  chunks: AsyncIterable<string | Uint8Array> | Iterable<string | Uint8Array>,
  options: VerifyOptions,
): Promise<Verification> {
  const walk = new Walk(options);
  const splitter = new LineSplitter();
  for await (const chunk of chunks) {
    const failure = await walkAll(walk, splitter.push(chunk));
    if (failure) return failure;
    if (splitter.fault !== null) return walk.malformed(splitter.fault);
  }
  const failure = await walkAll(walk, splitter.end());
  if (failure) return failure;
  return splitter.fault === null ? walk.end() : walk.malformed(splitter.fault);
}

function isAsync<T>(items: AsyncIterable<T> | Iterable<T>): items is AsyncIterable<T> {
  return (items as Partial<AsyncIterable<T>>)[Symbol.asyncIterator] !== undefined;
}

/** Waits only where the hash does: a promise for each link would cost as much as hashing it. */
async function walkAll(walk: Walk, lines: Iterable<string>): Promise<VerificationFailure | null> {
  if (Array.isArray(lines)) return walkArray(walk, lines);
  for (const line of lines) {
    const step = walk.next(line);
    const failure = step === null ? null : await step;
    if (failure !== null) return failure;
  }
  return null;
}

/**
 * Lines that are all there already are first matched and then hashed, some at a time: going to and fro between the two
 * makes both slower, because each drives the other's code and data out of the processor's caches.
 */
async function walkArray(walk: Walk, lines: readonly string[]): Promise<VerificationFailure | null> {
  let at = 0;
  while (at < lines.length) {
    const fitting = walk.fitting(lines, at);
    const end = Math.max(fitting, at + 1);
    for (; at < end; at++) {
      const line = lines[at] as string;
      const step = at < fitting ? walk.nextFitting(line) : walk.next(line);
      const failure = step === null ? null : await step;
      if (failure !== null) return failure;
    }
  }
  return null;
}

const LINES_AT_A_TIME = 64;

/** Goes along a chain link by link and remembers only where it is. */
class Walk {
  readonly #hash: VerifyOptions["hash"];
  readonly #known: Head | undefined;
  readonly #mayContinue: boolean;
  /** The position of the first of the lines. */
  readonly #from: number;
  #place: Place | null;
  #links = 0;

  constructor(options: VerifyOptions) {
    if (typeof options?.hash !== "function") {
      throw new TypeError("options.hash is missing; give a function from text to SHA-256 in hex, such as sha256Hex");
    }
    if (options.head) checkHead(options.head);
    if (options.after) checkHead(options.after);
    this.#hash = options.hash;
    this.#known = options.head;
    this.#mayContinue = options.mayContinue ?? false;
    const { after } = options;
    const chain = after?.chain ?? options.head?.chain;
    this.#from = after === undefined ? 0 : after.seq + 1;
    this.#place =
      chain === undefined ? null : { ...firstPlace(chain), seq: this.#from, ...(after && { prev: after.hash }) };
  }

  next(line: string): VerificationFailure | null | Promise<VerificationFailure | null> {
    if (typeof line !== "string") throw new TypeError("lines must be texts, exactly as they were stored");
    const known = this.#known;
    if (known && this.#from + this.#links > known.seq && !this.#mayContinue) {
      return this.#fail("beyond_head", null, `the chain goes on after its known head, ${idOf(known)}`);
    }
    let link: Link | null = null;
    if (this.#place === null || !fits(line, this.#place)) {
      try {
        link = parseLine(line);
      } catch (error) {
        if (error instanceof LinkError) return this.#fail(error.reason, null, error.message);
        throw error;
      }
    }
    return this.#check(line, link);
  }

  /**
   * The index of the first of these lines, from `from` on, that does not fit its place or may not be there, or where to
   * look again. Each place follows from the hash that the line before claims, so `nextFitting` has to check that first.
   */
  fitting(lines: readonly string[], from: number): number {
    const most = this.#known && !this.#mayContinue ? this.#known.seq + 1 - this.#from - this.#links : LINES_AT_A_TIME;
    const end = Math.min(lines.length, from + Math.min(most, LINES_AT_A_TIME));
    let place = this.#place;
    for (let at = from; at < end; at++) {
      const line = lines[at] as string;
      if (place === null || typeof line !== "string" || !fits(line, place)) return at;
      place = nextPlace(place, claimedHash(line));
    }
    return end;
  }

  /** Like `next`, for a line of which `fitting` has said that it fits. */
  nextFitting(line: string): VerificationFailure | null | Promise<VerificationFailure | null> {
    return this.#check(line, null);
  }

  malformed(problem: string): VerificationFailure {
    return this.#fail("malformed", null, problem);
  }

  end(): Verification {
    const known = this.#known;
    const place = this.#place;
    if (place === null)
      return { ok: false, at: 0, seq: null, reason: "empty", message: "There are no links to verify." };
    if (known && place.seq <= known.seq) {
      const message = `The chain ends after ${this.#from + this.#links} links, but its known head is ${idOf(known)}: the end is missing.`;
      return { ok: false, at: this.#links, seq: place.seq, reason: "truncated", message };
    }
    const head: Head = { chain: place.chain, seq: place.seq - 1, hash: place.prev };
    return { ok: true, chain: place.chain, links: this.#links, head };
  }

  #check(line: string, link: Link | null): VerificationFailure | null | Promise<VerificationFailure | null> {
    const digest = this.#hash(hashedText(line));
    return typeof digest === "string" ? this.#settle(line, link, digest) : this.#settleLater(line, link, digest);
  }

  async #settleLater(line: string, link: Link | null, digest: Promise<string>): Promise<VerificationFailure | null> {
    return this.#settle(line, link, await digest);
  }

  #settle(line: string, link: Link | null, digest: string): VerificationFailure | null {
    const place = this.#place ?? firstPlace(link?.chain ?? "");
    const seq = link?.seq ?? place.seq;
    if (digest !== claimedHash(line)) {
      return this.#fail(
        "hash_mismatch",
        seq,
        "its content does not match its hash, so it was changed after it was written",
      );
    }
    if (link !== null) {
      const problem = problemAt(link, place);
      if (problem !== null) return this.#fail(problem[0], seq, problem[1]);
    }
    if (seq === this.#known?.seq && digest !== this.#known.hash) {
      return this.#fail("wrong_head", seq, "it is not the known head, so the chain was rewritten here or before");
    }
    this.#place = nextPlace(place, digest);
    this.#links++;
    return null;
  }

  #fail(reason: VerificationReason, seq: number | null, problem: string): VerificationFailure {
    const line = `Line ${this.#links + 1}`;
    const message = seq === null ? `${line}: ${problem}.` : `${line} (seq ${seq}): ${problem}.`;
    return { ok: false, at: this.#links, seq, reason, message };
  }
}

function idOf(head: Head): string {
  return head.seq < 0 ? "that of a chain without links" : `link ${head.chain}#${head.seq}`;
}

/** What is wrong with a sound link at this place, or null. */
function problemAt(link: Link, place: Place): [VerificationReason, string] | null {
  if (link.chain !== place.chain)
    return ["wrong_chain", `it belongs to the chain ${link.chain}, not to ${place.chain}`];
  if (link.seq > place.seq) return ["wrong_seq", `seq ${place.seq} should come here, so one or more links are missing`];
  if (link.seq < place.seq) return ["wrong_seq", `seq ${place.seq} should come here, so a link was inserted or moved`];
  if (link.prev !== place.prev) {
    return ["wrong_prev", "it was written after another link than the one before it, so one of the two was replaced"];
  }
  const problem = causeProblem(link.cause, link.chain, link.seq);
  return problem === null ? null : ["bad_cause", `its cause ${problem}`];
}

import { createReadStream } from "node:fs";
import { access } from "node:fs/promises";
import { join } from "node:path";
import { claimedHash, hashedText } from "../../../core/chain/line.js";
import { LineSplitter } from "../../../core/chain/lines.js";
import { type Head, type Link, parseLine } from "../../../core/chain/link.js";
import { verifyChain, verifyJsonl } from "../../../core/chain/verify.js";
import { TENANT_CHAIN } from "../../../core/keep.js";
import { sha256Hex } from "../../../runtime/crypto.js";
import type { Defects } from "./defect.js";
import { eachGroup } from "./groups.js";
import { countOf, type Sql, type SqlRow, type WorkOptions } from "./port.js";
import { standingsAt } from "./positions.js";

export interface ChainCounts {
  chains: number;
  links: number;
  archived: number;
  /** Of archived chains, and sound; null when they are not looked at. */
  files: number | null;
}

export interface ChainOptions extends WorkOptions {
  /** The folder with the archived chains, if they are to be verified too. */
  readonly archive?: string;
  /** Is shown every chain, line by line. */
  readonly reader?: ChainReader;
}

/** Whoever reads along while chains are verified. */
export interface ChainReader {
  /** A chain begins. */
  begin(chain: string): void;
  take(line: string): void | Promise<void>;
  /** It has ended. `part` says how much of it was there: all of it, what came after it was archived, or links that prove nothing. */
  end(part: ChainPart, isArchived: boolean): Promise<void>;
}

export type ChainPart = "whole" | "rest" | "broken";

interface StoredHead extends Head {
  readonly archived: string | null;
}

/** The head of each chain, and after it its lines. */
const CHAINS = `
  SELECT chain, -1 AS seq, hash AS lines, seq AS last, archived FROM heads
  UNION ALL
  SELECT chain, seq, lines, NULL, NULL FROM links
  ORDER BY chain, seq`;

/** Verifies every chain against its head, in one pass and with the memory of a few lines. */
export async function checkChains(sql: Sql, defects: Defects, options: ChainOptions = {}): Promise<ChainCounts> {
  const counts: ChainCounts = { chains: 0, links: 0, archived: 0, files: options.archive === undefined ? null : 0 };
  const total = await countOf(sql, "links");
  let rows = 0;
  await eachGroup(
    sql.rows(CHAINS),
    ({ chain }) => String(chain),
    async (chain, group) => {
      counts.chains++;
      const { reader } = options;
      const read = new Reading(group, reader);
      const head = await read.head(chain);
      let part: ChainPart = "broken";
      reader?.begin(chain);
      if (head === null) defects.add("error", `chain ${chain}`, "has links but no head");
      else if (head.archived === null) part = (await checkChain(read, head, defects)) ? "whole" : "broken";
      else {
        counts.archived++;
        const before = defects.errors;
        const isVerified = await checkArchived(read, head, head.archived, defects, options);
        if (isVerified) counts.files = (counts.files ?? 0) + 1;
        if (defects.errors === before) part = isVerified ? "whole" : "rest";
      }
      await read.drain();
      await reader?.end(part, head !== null && head.archived !== null);
      counts.links += read.links;
      rows += read.rows;
      options.progress?.({ what: "chains", done: rows, total });
    },
  );
  return counts;
}

/** Reads the rows of one chain: its head, then its lines. */
class Reading {
  links = 0;
  rows = 0;
  /** What is wrong with the numbers beside the lines. */
  fault: string | null = null;
  private readonly source: AsyncIterator<SqlRow>;
  private readonly reader: ChainReader | undefined;
  private next: number | null = null;

  constructor(group: AsyncIterable<SqlRow>, reader: ChainReader | undefined) {
    this.source = group[Symbol.asyncIterator]();
    this.reader = reader;
  }

  async head(chain: string): Promise<StoredHead | null> {
    const { value, done } = await this.source.next();
    if (done === true || Number(value.seq) >= 0) return null;
    const archived = value.archived === null ? null : String(value.archived);
    if (archived === null) this.next = 0;
    return { chain, seq: Number(value.last), hash: String(value.lines), archived };
  }

  async *lines(): AsyncGenerator<string> {
    for (;;) {
      const { value, done } = await this.source.next();
      if (done === true) return;
      this.rows++;
      const seq = Number(value.seq);
      const lines = String(value.lines).split("\n");
      if (this.next !== null && seq !== this.next)
        this.fault ??= `a row says that it begins at ${seq}, not ${this.next}`;
      this.next = seq + lines.length;
      // All of them, because whoever verifies may stop in the middle.
      this.links += lines.length;
      if (this.reader !== undefined) await readAlong(this.reader, lines);
      yield* lines;
    }
  }

  async drain(): Promise<void> {
    for await (const _ of this.lines());
  }
}

/** Most lines need no waiting for. */
async function readAlong(reader: ChainReader, lines: readonly string[]): Promise<void> {
  for (const line of lines) {
    const taken = reader.take(line);
    if (taken !== undefined) await taken;
  }
}

/** Gives back whether it is sound. */
async function checkChain(read: Reading, head: StoredHead, defects: Defects): Promise<boolean> {
  const { chain, seq, hash } = head;
  const problem = isSound(head) ? null : "has a head that no chain can have";
  const verification =
    problem === null ? await verifyChain(read.lines(), { hash: sha256Hex, head: { chain, seq, hash } }) : null;
  const found = problem ?? (verification?.ok === false ? verification.message : read.fault);
  if (found !== null) defects.add("error", `chain ${chain}`, found);
  return found === null;
}

function isSound({ seq, hash }: Head): boolean {
  return Number.isSafeInteger(seq) && seq >= 0 && /^[0-9a-f]{64}$/.test(hash);
}

/**
 * What is left in the store of an archived chain is usually nothing. With the folder, the file is verified too; gives back
 * whether it was, and is sound.
 */
async function checkArchived(
  read: Reading,
  head: StoredHead,
  file: string,
  defects: Defects,
  { archive: folder, reader }: ChainOptions,
): Promise<boolean> {
  const where = `chain ${head.chain}`;
  const path = folder === undefined ? null : join(folder, file);
  const isHere = path !== null && (await exists(path));
  // Before the rest, which follows on it.
  if (isHere && reader !== undefined) await readFileAlong(reader, path);
  const { first, problem } = await restOf(read, head);
  if (problem !== null) {
    defects.add("error", where, problem);
    return false;
  }
  // What is archived leaves the store, so the rest cannot begin at the beginning.
  if (first !== null && first.seq < 0) {
    defects.add("error", where, `is said to have been archived to ${file}, but its first link is here`);
    return false;
  }
  if (first !== null) {
    const advice = "nothing: both parts are kept, and the newer one can be read from there on";
    defects.add("warning", where, `has grown by ${read.links} links since it was archived to ${file}`, advice);
  }
  if (path === null) return false;
  if (!isHere) {
    defects.add("error", where, `was archived to ${file}, which is not in ${folder}`, "bring the file back");
    return false;
  }
  const known =
    first === null ? { chain: head.chain, seq: head.seq, hash: head.hash } : { ...first, chain: head.chain };
  const verification = await verifyJsonl(createReadStream(path), { hash: sha256Hex, head: known });
  if (!verification.ok) defects.add("error", where, `its file ${file}: ${verification.message}`, "bring the file back");
  return verification.ok;
}

async function readFileAlong(reader: ChainReader, path: string): Promise<void> {
  const splitter = new LineSplitter();
  for await (const chunk of createReadStream(path)) await readAlong(reader, [...splitter.push(chunk)]);
  await readAlong(reader, [...splitter.end()]);
}

interface Rest {
  /** The head of the archived part, as the rest says it was. */
  readonly first: { readonly seq: number; readonly hash: string } | null;
  readonly problem: string | null;
}

/** Checks links that follow on ones that are not here: each for itself, to its neighbour, and the last against the head. */
async function restOf(read: Reading, head: Head): Promise<Rest> {
  let first: Rest["first"] = null;
  let before: { seq: number; hash: string } | null = null;
  for await (const line of read.lines()) {
    const hash = claimedHash(line);
    if (sha256Hex(hashedText(line)) !== hash) return { first, problem: `a line after its archive was changed` };
    const link = readable(line);
    if (link === null) return { first, problem: "a line after its archive cannot be read" };
    const follows = before === null || (link.seq === before.seq + 1 && link.prev === before.hash);
    if (!follows || link.chain !== head.chain)
      return { first, problem: `link ${link.seq} does not follow on the one before` };
    first ??= { seq: link.seq - 1, hash: link.prev };
    before = { seq: link.seq, hash };
  }
  const cut = before !== null && (before.seq !== head.seq || before.hash !== head.hash);
  return { first, problem: cut ? "its last link is not its head" : read.fault };
}

function readable(line: string): Link | null {
  try {
    return parseLine(line);
  } catch {
    return null;
  }
}

async function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}

interface Anchor extends Head {
  readonly by: string;
}

/** Compares every head that the tenant's chain names with what stands there now. Gives back how many there were. */
export async function checkAnchors(sql: Sql, defects: Defects): Promise<number> {
  let anchors = 0;
  for await (const { wanted, line, head } of standingsAt(sql, anchorsIn(sql))) {
    anchors++;
    const { chain, seq, hash, by } = wanted;
    const name = `link ${seq}, which ${by} vouches for,`;
    if (line !== null) {
      if (claimedHash(line) !== hash) defects.add("error", `chain ${chain}`, `${name} is another one now`);
    } else if (head?.archived == null) {
      defects.add("error", `chain ${chain}`, `${name} is not there`);
    } else if (head.seq === seq && head.hash !== hash) {
      defects.add("error", `chain ${chain}`, `its head is not the one that ${by} vouches for`);
    }
  }
  return anchors;
}

async function* anchorsIn(sql: Sql): AsyncGenerator<Anchor> {
  for await (const row of sql.rows("SELECT seq, lines FROM links WHERE chain = $1 ORDER BY seq", [TENANT_CHAIN])) {
    for (const line of String(row.lines).split("\n")) yield* headsIn(line);
  }
}

/** What a line of the tenant's chain vouches for. A line that cannot be read is found by the verification of that chain. */
function headsIn(line: string): readonly Anchor[] {
  try {
    const { id, action_type, data } = parseLine(line);
    if (action_type !== "ChainsAnchored" || !Array.isArray(data.heads)) return [];
    return (data.heads as unknown as readonly Head[])
      .filter((head) => typeof head?.chain === "string" && Number.isSafeInteger(head.seq))
      .map(({ chain, seq, hash }) => ({ chain, seq, hash, by: id }));
  } catch {
    return [];
  }
}

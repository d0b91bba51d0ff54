import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { claimedHash } from "../../../core/chain/line.js";
import type { Head } from "../../../core/chain/link.js";
import { verifyJsonl } from "../../../core/chain/verify.js";
import { TENANT_CHAIN } from "../../../core/keep.js";
import type { Store } from "../../../ports/store.js";
import { sha256Hex } from "../../../runtime/crypto.js";
import { StoreError } from "../errors.js";
import { isThere, makeFile, makeFolder, sweepFolder, writing } from "./files.js";
import { eachGroup } from "./groups.js";
import type { Engine, Sql, SqlValue, WorkOptions } from "./port.js";
import { instantOf, type Position, standingsAt } from "./positions.js";

export interface ArchiveOptions extends WorkOptions {
  /** Where the files go. It is made when it is not there. */
  readonly folder: string;
  /** Chains whose last link is older than this, in milliseconds. */
  readonly older_ms: number;
  /** Only tells what would be archived. */
  readonly dry?: boolean;
}

export interface ArchivedChain {
  readonly chain: string;
  readonly links: number;
  readonly file: string;
}

export interface ArchiveReport {
  readonly archived: readonly ArchivedChain[];
  /** Chains that somebody wrote to meanwhile; they stay as they are. */
  readonly skipped: readonly string[];
}

/** A chain all of whose budgets have ended. */
interface Ended extends Position, Head {
  readonly budgets: readonly string[];
}

/** So many chains are taken out of the tables with one transaction: without an index on their budgets, calls are all looked through. */
const AT_ONCE = 100;

/** Writes old chains to files, and takes their links, calls and journal entries out of the store. Budgets and heads stay. */
export async function archive(
  engine: Engine,
  store: Store,
  instant: number,
  options: ArchiveOptions,
): Promise<ArchiveReport> {
  if (options.dry !== true) await anchorAll(store);
  const old = await engine.reading((sql) => oldChains(sql, instant - options.older_ms));
  const named = old.map((chain) => ({ ...chain, file: fileName(chain.chain) }));
  const told = ({ chain, seq, file }: (typeof named)[number]) => ({ chain, links: seq + 1, file });
  if (options.dry === true) return { archived: named.map(told), skipped: [] };
  await sweepFolder(options.folder);
  if (named.length > 0) await makeFolder(options.folder);
  const archived: ArchivedChain[] = [];
  const skipped: string[] = [];
  for (let at = 0; at < named.length; at += AT_ONCE) {
    const batch = named.slice(at, at + AT_ONCE);
    for (const [index, chain] of batch.entries()) {
      options.signal?.throwIfAborted();
      await writeChain(engine, chain, join(options.folder, chain.file));
      options.progress?.({ what: "chains", done: at + index + 1, total: named.length });
    }
    for (const { chain, taken } of await engine.writing(false, (sql) => takeOut(sql, batch))) {
      if (taken) archived.push(told(chain));
      else {
        skipped.push(chain.chain);
        await rm(join(options.folder, chain.file), { force: true });
      }
    }
  }
  return { archived, skipped };
}

/**
 * Every head has to be in the tenant's chain first: that is what an archived chain can be verified against for ever. Chains
 * that are in use grow all the time; they are waited for once, and not again.
 */
async function anchorAll(store: Store): Promise<void> {
  const seen = new Set<string>();
  for (;;) {
    const [{ heads }] = await store.apply([{ op: "anchor" }]);
    const before = seen.size;
    for (const { chain } of heads) seen.add(chain);
    if (seen.size === before) return;
  }
}

async function oldChains(sql: Sql, before: number): Promise<readonly Ended[]> {
  const ended: Ended[] = [];
  const rows = sql.rows(
    `SELECT accounts.chain AS chain, accounts.id AS id, accounts.ended AS ended, heads.seq AS seq, heads.hash AS hash
     FROM accounts JOIN heads ON heads.chain = accounts.chain
     WHERE heads.archived IS NULL ORDER BY accounts.chain, accounts.id`,
  );
  await eachGroup(
    rows,
    ({ chain }) => String(chain),
    async (chain, group) => {
      const budgets: string[] = [];
      let all = true;
      let head: Head | null = null;
      for await (const row of group) {
        budgets.push(String(row.id));
        all &&= Number(row.ended) !== 0;
        head = { chain, seq: Number(row.seq), hash: String(row.hash) };
      }
      if (all && head !== null && chain !== TENANT_CHAIN) ended.push({ ...head, budgets });
    },
  );
  const old: Ended[] = [];
  for await (const { wanted, line } of standingsAt(sql, ended)) {
    const at = line === null ? null : instantOf(line);
    if (at !== null && at < before) old.push(wanted);
  }
  return old;
}

/** Exact lines. What an attempt that was interrupted has left is used, or written anew when the chain has grown since. */
async function writeChain(engine: Engine, { chain, seq, hash }: Ended, path: string): Promise<void> {
  const head = { chain, seq, hash };
  if (await isThere(path)) {
    if (!(await isBeginning(engine, path, head))) return verifyFile(path, head);
    await rm(path);
  }
  await makeFile(path, async (temporary) => {
    await writing(temporary, (file) =>
      engine.reading(async (sql) => {
        const rows = sql.rows("SELECT lines FROM links WHERE chain = $1 ORDER BY seq", [chain]);
        for await (const { lines } of rows) await file.appendFile(`${lines}\n`);
      }),
    );
    await verifyFile(temporary, head);
  });
}

/** Whether a file holds the beginning of a chain that has grown since; all of it is still in the store then. */
async function isBeginning(engine: Engine, path: string, { chain, seq }: Head): Promise<boolean> {
  const verification = await verifyJsonl(createReadStream(path), { hash: sha256Hex });
  if (!verification.ok || verification.chain !== chain || verification.head.seq >= seq) return false;
  return engine.reading(async (sql) => {
    for await (const { wanted, line } of standingsAt(sql, [verification.head])) {
      return line !== null && claimedHash(line) === wanted.hash;
    }
    return false;
  });
}

async function verifyFile(path: string, head: Head): Promise<void> {
  const verification = await verifyJsonl(createReadStream(path), { hash: sha256Hex, head });
  if (verification.ok) return;
  throw new StoreError(
    "store_damaged",
    `the chain ${head.chain} does not verify in ${path}, so it stays in the store: ${verification.message}`,
  );
}

/** Only if nothing has happened to a chain since its file was written: opening a budget in it would have added a link. */
async function takeOut<Chain extends Ended & { readonly file: string }>(
  sql: Sql,
  batch: readonly Chain[],
): Promise<readonly { readonly chain: Chain; readonly taken: boolean }[]> {
  const results: { chain: Chain; taken: boolean }[] = [];
  // Budgets before calls before heads: in the order in which writers take them, so that nobody waits for each other.
  await inLists(
    batch.flatMap((chain) => chain.budgets),
    async (list, some) => {
      await sql.all(`SELECT id FROM states WHERE id IN (${list}) ORDER BY id ${sql.forUpdate}`, some);
    },
  );
  for (const chain of batch) {
    await sql.run("UPDATE heads SET archived = $1 WHERE chain = $2 AND seq = $3 AND grown = 0 AND archived IS NULL", [
      chain.file,
      chain.chain,
      chain.seq,
    ]);
    const [row] = await sql.all("SELECT seq, archived FROM heads WHERE chain = $1", [chain.chain]);
    results.push({ chain, taken: row?.archived === chain.file && Number(row.seq) === chain.seq });
  }
  const taken = results.filter((result) => result.taken).map(({ chain }) => chain);
  const budgets = taken.flatMap((chain) => chain.budgets);
  for (const { chain, seq } of taken) await sql.run("DELETE FROM links WHERE chain = $1 AND seq <= $2", [chain, seq]);
  await inLists(budgets, async (list, some) => {
    await sql.run(`DELETE FROM calls WHERE budget IN (${list})`, some);
    const runs = await sql.all(`SELECT id FROM runs WHERE budget IN (${list})`, some);
    await takeOutJournals(sql, [...new Set([...some, ...runs.map(({ id }) => id)].map(String))]);
  });
  return results;
}

/** A run's journal is kept under the run's name, and from its first snapshot on under `<run>:<number>`. */
async function takeOutJournals(sql: Sql, runs: readonly string[]): Promise<void> {
  const parts: string[] = [];
  for (const run of runs) {
    // What begins with the name and a colon: names are compared byte by byte, and a semicolon comes next.
    const text = "SELECT DISTINCT run FROM journal WHERE run > $1 AND run < $2";
    const found = await sql.all(text, [`${run}:`, `${run};`]);
    parts.push(...found.map((row) => String(row.run)).filter((part) => /^\d+$/.test(part.slice(run.length + 1))));
  }
  await inLists(runs, (list, some) => sql.run(`DELETE FROM journal WHERE run IN (${list})`, some));
  // A run may be called so itself.
  await inLists(parts, (list, some) =>
    sql.run(`DELETE FROM journal WHERE run IN (${list}) AND run NOT IN (SELECT id FROM runs)`, some),
  );
}

const MOST_VALUES = 5000;

/** Does something with values, as many at a time as a statement takes. */
async function inLists(
  values: readonly SqlValue[],
  work: (list: string, some: readonly SqlValue[]) => Promise<void>,
): Promise<void> {
  for (let at = 0; at < values.length; at += MOST_VALUES) {
    const some = values.slice(at, at + MOST_VALUES);
    await work(some.map((_, index) => `$${index + 1}`).join(", "), some);
  }
}

const LONGEST_NAME = 80;

/** A name that every file system takes and that no other chain gets, also where upper and lower case are the same. */
export function fileName(chain: string): string {
  const plain = /^[a-z0-9][a-z0-9._-]*[a-z0-9]$/.test(chain) && !/^(?:con|prn|aux|nul|com\d|lpt\d)(?:\.|$)/.test(chain);
  if (plain && chain.length <= LONGEST_NAME) return `${chain}.jsonl`;
  const safe = chain
    .replace(/[^A-Za-z0-9._-]+/g, "_")
    .replace(/^\.+/, "")
    .slice(0, LONGEST_NAME);
  return `${safe}~${createHash("sha256").update(chain).digest("hex").slice(0, 12)}.jsonl`;
}

import { createHash, randomUUID } from "node:crypto";
import { readdir, readFile, rename, rm, stat, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { makePrivateFolder } from "./private-folder.js";

/** What cached bytes were made from. The same key means the same bytes. */
export interface CacheKey {
  /** What it is, such as `metered-module`; it begins the name of the file. */
  readonly what: string;
  /** The bytes it is made from, or their SHA-256 in hexadecimal. */
  readonly source: Uint8Array | string;
  /** The version of whatever makes it, options included. */
  readonly version: string;
}

const MAGIC = Buffer.from("bursar\n1", "latin1");
const HASH_BYTES = 32;
const HEADER_BYTES = MAGIC.length + HASH_BYTES;

const MOST_WRITING_MS = 3_600_000;
const DAY_MS = 24 * 3_600_000;
/** What nobody has used for so long belongs to another version, which is gone. */
const MOST_UNUSED_MS = 30 * DAY_MS;
/** The rest is for the next time. */
const MOST_REMOVED = 100;

/** Bytes that are being made in this process, by file, so that two who need the same do not both make it. */
const inFlight = new Map<string, Promise<Uint8Array>>();

/**
 * Gives derived bytes from a folder on disk, or makes and keeps them. A file is written beside and renamed, so nobody sees half
 * of one; it begins with the hash of its contents, so a broken one is noticed and made again. The hash is against accidents:
 * whoever can write into the folder can put anything there, so it has to belong to the user. A folder that cannot be written
 * costs time, not function.
 */
export async function cached(
  folder: string,
  key: CacheKey,
  make: () => Uint8Array | Promise<Uint8Array>,
): Promise<Uint8Array> {
  const file = join(folder, fileName(key));
  const underway = inFlight.get(file);
  if (underway !== undefined) return underway;
  const work = readOrMake(folder, key.what, file, make);
  inFlight.set(file, work);
  try {
    return await work;
  } finally {
    inFlight.delete(file);
  }
}

async function readOrMake(
  folder: string,
  what: string,
  file: string,
  make: () => Uint8Array | Promise<Uint8Array>,
): Promise<Uint8Array> {
  const kept = await read(file);
  if (kept !== null) return kept;
  const bytes = await make();
  await keep(folder, what, file, bytes);
  return bytes;
}

/** The hash covers every part of the key with its length, so that no two keys can mean the same file. */
function fileName({ what, source, version }: CacheKey): string {
  if (!/^[a-z][a-z0-9-]{0,63}$/.test(what))
    throw new RangeError(`${JSON.stringify(what)} is no name for a cached file; use a-z, 0-9 and -`);
  const sourceHash = typeof source === "string" ? source : sha256(source).toString("hex");
  if (!/^[0-9a-f]{64}$/.test(sourceHash))
    throw new RangeError("the source is neither bytes nor a SHA-256 in hexadecimal");
  return `${what}-${sha256(Buffer.from(JSON.stringify([what, version, sourceHash]))).toString("hex")}`;
}

/** The bytes of a file that is whole, or null. */
async function read(file: string): Promise<Uint8Array | null> {
  const found = await readFile(file).catch(() => null);
  if (found === null || found.length < HEADER_BYTES) return null;
  const bytes = found.subarray(HEADER_BYTES);
  const isWhole =
    found.subarray(0, MAGIC.length).equals(MAGIC) && found.subarray(MAGIC.length, HEADER_BYTES).equals(sha256(bytes));
  if (!isWhole) return null;
  await touch(file);
  return bytes;
}

/** Says that a file is still used. Once a day is enough, so mostly nothing is written. */
async function touch(file: string): Promise<void> {
  try {
    const now = Date.now();
    const { mtimeMs } = await stat(file);
    if (now - mtimeMs > DAY_MS) await utimes(file, new Date(now), new Date(now));
  } catch {
    // A folder that cannot be written is one that nobody cleans, either.
  }
}

async function keep(folder: string, what: string, file: string, bytes: Uint8Array): Promise<void> {
  const beside = `${file}.${randomUUID()}.tmp`;
  try {
    makePrivateFolder(folder);
    await writeFile(beside, [MAGIC, sha256(bytes), bytes], { mode: 0o600, flag: "wx", flush: true });
    await rename(beside, file);
    await sweep(folder, what);
  } catch {
    await rm(beside, { force: true }).catch(() => undefined);
  }
}

/** Removes what a process that died has left half written, and what is kept of the same kind and nobody uses any more. */
async function sweep(folder: string, what: string): Promise<void> {
  const kind = new RegExp(`^${what}-[0-9a-f]{64}$`);
  let removed = 0;
  for (const name of await readdir(folder)) {
    // Nobody writes for longer than that.
    const longest = name.endsWith(".tmp") ? MOST_WRITING_MS : kind.test(name) ? MOST_UNUSED_MS : null;
    const path = join(folder, name);
    if (longest === null || inFlight.has(path)) continue;
    const { mtimeMs } = await stat(path);
    if (Date.now() - mtimeMs <= longest) continue;
    await rm(path, { force: true });
    removed += 1;
    if (removed >= MOST_REMOVED) return;
  }
}

function sha256(bytes: Uint8Array): Buffer {
  return createHash("sha256").update(bytes).digest();
}

import { createHash, randomUUID } from "node:crypto";
import { mkdir, readdir, readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";

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
  const work = readOrMake(folder, file, make);
  inFlight.set(file, work);
  try {
    return await work;
  } finally {
    inFlight.delete(file);
  }
}

async function readOrMake(
  folder: string,
  file: string,
  make: () => Uint8Array | Promise<Uint8Array>,
): Promise<Uint8Array> {
  const kept = await read(file);
  if (kept !== null) return kept;
  const bytes = await make();
  await keep(folder, file, bytes);
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
  return isWhole ? bytes : null;
}

async function keep(folder: string, file: string, bytes: Uint8Array): Promise<void> {
  const beside = `${file}.${randomUUID()}.tmp`;
  try {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    await writeFile(beside, [MAGIC, sha256(bytes), bytes], { mode: 0o600, flag: "wx", flush: true });
    await rename(beside, file);
    await sweep(folder);
  } catch {
    await rm(beside, { force: true }).catch(() => undefined);
  }
}

/** Removes what a process that died has left half written: nobody writes for so long. */
async function sweep(folder: string): Promise<void> {
  for (const name of await readdir(folder)) {
    if (!name.endsWith(".tmp")) continue;
    const { mtimeMs } = await stat(join(folder, name));
    if (Date.now() - mtimeMs > MOST_WRITING_MS) await rm(join(folder, name), { force: true });
  }
}

function sha256(bytes: Uint8Array): Buffer {
  return createHash("sha256").update(bytes).digest();
}

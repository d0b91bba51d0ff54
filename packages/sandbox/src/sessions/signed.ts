import { createHmac, randomBytes, timingSafeEqual } from "node:crypto";
import { constants, copyFile, link, readFile, rm, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import { promisify } from "node:util";
import { deserialize, serialize } from "node:v8";
import { gunzip, gzip } from "node:zlib";
import { systemCode } from "../packages/errors.js";
import { makePrivateFolder } from "../wasm/private-folder.js";
import { SandboxInputError } from "./input-error.js";
import { SavedSessionError } from "./saved-session-error.js";
import type { Kept } from "./session.js";

const FORMAT = 2;
const MAGIC = Buffer.from(`bursar session ${FORMAT}\n`);
const SIGNATURE = 32;
const KEY_BYTES = 32;
/** More than a session can have; a forged one must not be able to fill the memory. */
const MOST_BYTES = 2 ** 31;

// In threads of Node's own: meanwhile others are served.
const pack = promisify<Uint8Array, { level: number }, Buffer>(gzip);
const unpack = promisify<Uint8Array, { maxOutputLength: number }, Buffer>(gunzip);

/** A session as one piece, signed: whoever could change it could put any memory into a guest. */
export async function sign(kept: Kept, key: Uint8Array): Promise<Uint8Array> {
  const body = await pack(serialize(kept), { level: 1 });
  return Buffer.concat([MAGIC, signatureOf(body, key), body]);
}

/** The session in such a piece. It throws for what was not signed with this key. */
export async function verified(bytes: Uint8Array, key: Uint8Array): Promise<Kept> {
  const file = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const begin = MAGIC.length + SIGNATURE;
  if (file.length < begin || !file.subarray(0, MAGIC.length).equals(MAGIC)) throw otherFormat(file);
  const body = file.subarray(begin);
  if (!timingSafeEqual(signatureOf(body, key), file.subarray(MAGIC.length, begin))) {
    throw new SavedSessionError("key", "is not signed with this sandbox's key: it was changed, or saved elsewhere");
  }
  try {
    return deserialize(await unpack(body, { maxOutputLength: MOST_BYTES })) as Kept;
  } catch (error) {
    throw new SavedSessionError("damaged", `cannot be read: ${error instanceof Error ? error.message : String(error)}`);
  }
}

function otherFormat(file: Buffer): SavedSessionError {
  const [, version] = /^bursar session (\d{1,6})\n/.exec(file.toString("latin1", 0, 40)) ?? [];
  if (version === undefined || Number(version) === FORMAT)
    return new SavedSessionError("damaged", "is no saved session, or one of another version");
  const how = `was saved in format ${version}, and this sandbox reads format ${FORMAT}`;
  return new SavedSessionError(Number(version) > FORMAT ? "newer" : "older", how);
}

/** Names a key without telling it: two sandboxes with the same fingerprint can restore each other's sessions. */
function fingerprintOf(key: Uint8Array): string {
  return createHmac("sha256", key).update("bursar sandbox key").digest("hex").slice(0, 16);
}

/** The fingerprint of the key in a file; null when there is none yet. It makes none. */
export async function fingerprintIn(file: string): Promise<string | null> {
  const key = await readKey(file);
  return key === null ? null : fingerprintOf(key);
}

function signatureOf(body: Uint8Array, key: Uint8Array): Buffer {
  return createHmac("sha256", key).update(MAGIC).update(body).digest();
}

/** The key in a file; the first who asks makes it. Nobody else may read it. */
export async function keyIn(file: string): Promise<Uint8Array> {
  const known = await readKey(file);
  if (known !== null) return known;
  makePrivateFolder(dirname(file));
  const key = randomBytes(KEY_BYTES);
  const beside = `${file}.${process.pid}.${randomBytes(4).toString("hex")}`;
  try {
    await writeFile(beside, key, { mode: 0o600, flag: "wx", flush: true });
    // Nobody sees half of a key, and nobody's key is replaced: something may be signed with it already.
    await give(beside, file);
    return key;
  } catch (error) {
    // Two came at the same time; the key of the first is the one both use.
    const first = systemCode(error) === "EEXIST" ? await readKey(file) : null;
    if (first !== null) return first;
    throw error;
  } finally {
    await rm(beside, { force: true });
  }
}

/** What is said where no file can have two names: on exFAT, and on some disks of other machines. */
const WITHOUT_LINKS: ReadonlySet<string | null> = new Set(["EPERM", "ENOTSUP", "EOPNOTSUPP", "ENOSYS"]);

/** Gives what is whole its name, unless something has it. */
async function give(beside: string, file: string): Promise<void> {
  await link(beside, file).catch((error: unknown) => {
    if (!WITHOUT_LINKS.has(systemCode(error))) throw error;
    return copyFile(beside, file, constants.COPYFILE_EXCL);
  });
}

/** Null when there is none yet. A key that is damaged is not made anew: nothing that it has signed could be restored. */
async function readKey(file: string): Promise<Uint8Array | null> {
  const found = await readFile(file).catch((error: unknown) => {
    if (systemCode(error) === "ENOENT") return null;
    throw new SandboxInputError("keyFile", `${file} cannot be read (${systemCode(error) ?? String(error)})`);
  });
  if (found === null || found.length === KEY_BYTES) return found;
  throw new SandboxInputError(
    "keyFile",
    `${file} is damaged: it has ${found.length} bytes and not ${KEY_BYTES}. Put a copy of it back; or remove it, and a new key is made, with which no session can be restored that was saved before`,
  );
}

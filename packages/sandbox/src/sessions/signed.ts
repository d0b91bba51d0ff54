import { createHmac, randomBytes, timingSafeEqual } from "node:crypto";
import { readFile, rename, rm, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import { promisify } from "node:util";
import { deserialize, serialize } from "node:v8";
import { gunzip, gzip } from "node:zlib";
import { makePrivateFolder } from "../wasm/private-folder.js";
import { SandboxInputError } from "./options.js";
import type { Kept } from "./session.js";

const MAGIC = Buffer.from("bursar session 2\n");
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
  if (file.length < begin || !file.subarray(0, MAGIC.length).equals(MAGIC)) {
    throw new SandboxInputError("session", "is no saved session, or one of another version");
  }
  const body = file.subarray(begin);
  if (!timingSafeEqual(signatureOf(body, key), file.subarray(MAGIC.length, begin))) {
    throw new SandboxInputError("session", "is not signed with this sandbox's key: it was changed, or saved elsewhere");
  }
  return deserialize(await unpack(body, { maxOutputLength: MOST_BYTES })) as Kept;
}

function signatureOf(body: Uint8Array, key: Uint8Array): Buffer {
  return createHmac("sha256", key).update(MAGIC).update(body).digest();
}

/** The key in a file; the first who asks makes it. Nobody else may read it. */
export async function keyIn(file: string): Promise<Uint8Array> {
  const known = await readKey(file);
  if (known !== null) return known;
  makePrivateFolder(dirname(file));
  const beside = `${file}.${process.pid}.${randomBytes(4).toString("hex")}`;
  await writeFile(beside, randomBytes(KEY_BYTES), { mode: 0o600, flag: "wx", flush: true });
  try {
    // Two may come at the same time; then the later key is the one both use.
    if ((await readKey(file)) === null) await rename(beside, file);
  } finally {
    await rm(beside, { force: true });
  }
  return (await readKey(file)) ?? randomBytes(KEY_BYTES);
}

async function readKey(file: string): Promise<Uint8Array | null> {
  const found = await readFile(file).catch(() => null);
  return found?.length === KEY_BYTES ? found : null;
}

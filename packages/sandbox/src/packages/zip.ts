import { crc32, inflateRawSync } from "node:zlib";
import { PackageError, show } from "./errors.js";
import { checkPath, MAX_FILE_BYTES, MAX_FILES, MAX_PACKAGE_BYTES, type PackageFile } from "./paths.js";

const END_SIGNATURE = 0x06054b50;
const END_LENGTH = 22;
const ENTRY_SIGNATURE = 0x02014b50;
const ENTRY_LENGTH = 46;
const LOCAL_SIGNATURE = 0x04034b50;
const LOCAL_LENGTH = 30;
const MAX_COMMENT = 0xffff;
const ENCRYPTED = 0x0001;
const STORED = 0;
const DEFLATED = 8;
const FILE_TYPE = 0o170000;
const SYMLINK = 0o120000;
const UNIX = 3;

interface ZipEntry {
  readonly path: string;
  readonly name: Buffer;
  readonly method: number;
  readonly crc: number;
  readonly packedBytes: number;
  readonly bytes: number;
  readonly offset: number;
}

/**
 * Reads all files of a zip. It believes nothing it reads: what an entry claims to hold is added up before anything is
 * unpacked, unpacking stops at what was claimed, and links and paths that lead elsewhere are refused.
 */
export function readZip(zip: Buffer): readonly PackageFile[] {
  const entries = readDirectory(zip);
  const total = entries.reduce((sum, { bytes }) => sum + bytes, 0);
  if (total > MAX_PACKAGE_BYTES) {
    throw refused(`it unpacks to ${total} bytes; at most ${MAX_PACKAGE_BYTES} are taken`);
  }
  return entries.map((entry) => ({ path: entry.path, bytes: unpack(zip, entry) }));
}

function readDirectory(zip: Buffer): readonly ZipEntry[] {
  const end = findEnd(zip);
  const count = zip.readUInt16LE(end + 10);
  let at = zip.readUInt32LE(end + 16);
  if (zip.readUInt16LE(end + 4) !== 0 || zip.readUInt16LE(end + 8) !== count)
    throw refused("it is one part of several");
  if (count > MAX_FILES) throw refused(`it holds ${count} files; at most ${MAX_FILES} are taken`);
  const entries: ZipEntry[] = [];
  for (let index = 0; index < count; index++) {
    if (at + ENTRY_LENGTH > end || zip.readUInt32LE(at) !== ENTRY_SIGNATURE) throw broken("its directory is cut off");
    const nameLength = zip.readUInt16LE(at + 28);
    const next = at + ENTRY_LENGTH + nameLength + zip.readUInt16LE(at + 30) + zip.readUInt16LE(at + 32);
    if (next > end) throw broken("its directory is cut off");
    const entry = readEntry(zip, at, nameLength);
    if (entry !== null) entries.push(entry);
    at = next;
  }
  return entries;
}

/** The end of the directory is found from behind, because a comment of any length may follow it. */
function findEnd(zip: Buffer): number {
  const first = Math.max(0, zip.length - END_LENGTH - MAX_COMMENT);
  for (let at = zip.length - END_LENGTH; at >= first; at--) {
    if (zip.readUInt32LE(at) === END_SIGNATURE && at + END_LENGTH + zip.readUInt16LE(at + 20) === zip.length) return at;
  }
  throw broken("it is no zip, or it is cut off");
}

/** Null for a folder, which exists by what is in it. */
function readEntry(zip: Buffer, at: number, nameLength: number): ZipEntry | null {
  const name = zip.subarray(at + ENTRY_LENGTH, at + ENTRY_LENGTH + nameLength);
  const written = name.toString("utf8");
  const isUnix = zip.readUInt16LE(at + 4) >> 8 === UNIX;
  const mode = isUnix ? zip.readUInt32LE(at + 38) >>> 16 : 0;
  if ((mode & FILE_TYPE) === SYMLINK) throw refused(`it holds a link at ${show(written)}; a wheel has files only`);
  if (written.endsWith("/")) {
    checkPath(written.slice(0, -1));
    return null;
  }
  const path = checkPath(written);
  const bytes = zip.readUInt32LE(at + 24);
  if (bytes > MAX_FILE_BYTES) throw refused(`${show(path)} unpacks to more than ${MAX_FILE_BYTES} bytes`);
  if ((zip.readUInt16LE(at + 8) & ENCRYPTED) !== 0) throw refused(`${show(path)} is encrypted`);
  return {
    path,
    name,
    method: zip.readUInt16LE(at + 10),
    crc: zip.readUInt32LE(at + 16),
    packedBytes: zip.readUInt32LE(at + 20),
    bytes,
    offset: zip.readUInt32LE(at + 42),
  };
}

function unpack(zip: Buffer, entry: ZipEntry): Uint8Array {
  const packed = packedBytes(zip, entry);
  const bytes = inflate(packed, entry);
  if (bytes.length !== entry.bytes || crc32(bytes) !== entry.crc) {
    throw broken(`${show(entry.path)} is not what the directory says`);
  }
  return bytes;
}

/** The header before the data repeats the name; a zip that tells two stories is meant to fool somebody. */
function packedBytes(zip: Buffer, { path, name, offset, packedBytes: length }: ZipEntry): Buffer {
  if (offset + LOCAL_LENGTH > zip.length || zip.readUInt32LE(offset) !== LOCAL_SIGNATURE) {
    throw broken(`${show(path)} is not where the directory says`);
  }
  const nameLength = zip.readUInt16LE(offset + 26);
  const localName = zip.subarray(offset + LOCAL_LENGTH, offset + LOCAL_LENGTH + nameLength);
  if (!localName.equals(name)) throw refused(`${show(path)} has another name where its data is`);
  const start = offset + LOCAL_LENGTH + nameLength + zip.readUInt16LE(offset + 28);
  if (start + length > zip.length) throw broken(`${show(path)} is cut off`);
  return zip.subarray(start, start + length);
}

function inflate(packed: Buffer, { path, method, bytes }: ZipEntry): Buffer {
  if (method === STORED) return packed;
  if (method !== DEFLATED) throw refused(`${show(path)} is packed by method ${method}; only deflate is taken`);
  try {
    // One byte more than claimed, because a limit of nothing is not accepted; the length is compared afterwards.
    return inflateRawSync(packed, { maxOutputLength: bytes + 1 });
  } catch (error) {
    throw broken(`${show(path)} cannot be unpacked`, error);
  }
}

function refused(problem: string): PackageError {
  return new PackageError("package_refused", problem);
}

function broken(problem: string, cause?: unknown): PackageError {
  return new PackageError("package_refused", problem, { cause });
}

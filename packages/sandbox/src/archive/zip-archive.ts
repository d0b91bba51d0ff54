import { crc32, inflateRawSync } from "node:zlib";

/** One entry of a zip archive, as its directory describes it. Nothing of it is trusted before it is unpacked. */
export interface ZipEntry {
  /** The name as it is written. A folder ends with a slash. */
  readonly name: string;
  readonly isLink: boolean;
  readonly isEncrypted: boolean;
  readonly method: number;
  readonly checksum: number;
  readonly packedBytes: number;
  readonly bytes: number;
  readonly offset: number;
}

/** The archive is cut off, damaged, contradicts itself, or uses something that is not read. */
export class ZipError extends Error {
  override readonly name: string = "ZipError";
}

const END_SIGNATURE = 0x06054b50;
const END_BYTES = 22;
const ENTRY_SIGNATURE = 0x02014b50;
const ENTRY_BYTES = 46;
const LOCAL_SIGNATURE = 0x04034b50;
const LOCAL_BYTES = 30;
const MAX_COMMENT_BYTES = 0xffff;
const ENCRYPTED_FLAG = 0x0001;
const STORED = 0;
const DEFLATED = 8;
const FILE_TYPE_MASK = 0o170000;
const SYMLINK_TYPE = 0o120000;
const UNIX = 3;

/** Reads the directory of an archive. Nothing is unpacked, so limits can be checked first. */
export function readZipEntries(archive: Buffer): readonly ZipEntry[] {
  const end = findEndRecord(archive);
  const count = archive.readUInt16LE(end + 10);
  if (archive.readUInt16LE(end + 4) !== 0 || archive.readUInt16LE(end + 8) !== count) {
    throw new ZipError("it is one part of several");
  }
  const entries: ZipEntry[] = [];
  let at = archive.readUInt32LE(end + 16);
  for (let index = 0; index < count; index++) {
    if (at + ENTRY_BYTES > end || archive.readUInt32LE(at) !== ENTRY_SIGNATURE) {
      throw new ZipError("its directory is cut off or damaged");
    }
    const nameEnd = at + ENTRY_BYTES + archive.readUInt16LE(at + 28);
    const next = nameEnd + archive.readUInt16LE(at + 30) + archive.readUInt16LE(at + 32);
    if (next > end) throw new ZipError("its directory is cut off or damaged");
    entries.push(readEntry(archive, at, nameEnd));
    at = next;
  }
  return entries;
}

function readEntry(archive: Buffer, at: number, nameEnd: number): ZipEntry {
  const isUnix = archive.readUInt16LE(at + 4) >> 8 === UNIX;
  const mode = isUnix ? archive.readUInt32LE(at + 38) >>> 16 : 0;
  return {
    name: archive.toString("utf8", at + ENTRY_BYTES, nameEnd),
    isLink: (mode & FILE_TYPE_MASK) === SYMLINK_TYPE,
    isEncrypted: (archive.readUInt16LE(at + 8) & ENCRYPTED_FLAG) !== 0,
    method: archive.readUInt16LE(at + 10),
    checksum: archive.readUInt32LE(at + 16),
    packedBytes: archive.readUInt32LE(at + 20),
    bytes: archive.readUInt32LE(at + 24),
    offset: archive.readUInt32LE(at + 42),
  };
}

/** The end record is searched from behind, because a comment of any length may follow it. */
function findEndRecord(archive: Buffer): number {
  const first = Math.max(0, archive.length - END_BYTES - MAX_COMMENT_BYTES);
  for (let at = archive.length - END_BYTES; at >= first; at--) {
    const isEnd = archive.readUInt32LE(at) === END_SIGNATURE;
    if (isEnd && at + END_BYTES + archive.readUInt16LE(at + 20) === archive.length) return at;
  }
  throw new ZipError("it is no zip archive, or it is cut off");
}

/** Unpacks one entry. Unpacking stops at the length that the directory states, and length and checksum have to agree with it. */
export function unpackZipEntry(archive: Buffer, entry: ZipEntry): Uint8Array {
  const bytes = inflate(findPackedBytes(archive, entry), entry);
  if (bytes.length !== entry.bytes || crc32(bytes) !== entry.checksum) {
    throw new ZipError(`${JSON.stringify(entry.name)} is not what the directory says`);
  }
  return bytes;
}

/** The header before the data repeats the name. An archive with two names for one file is meant to deceive its readers. */
function findPackedBytes(archive: Buffer, { name, offset, packedBytes }: ZipEntry): Buffer {
  if (offset + LOCAL_BYTES > archive.length || archive.readUInt32LE(offset) !== LOCAL_SIGNATURE) {
    throw new ZipError(`${JSON.stringify(name)} is not where the directory says; the archive is damaged`);
  }
  const nameEnd = offset + LOCAL_BYTES + archive.readUInt16LE(offset + 26);
  if (archive.toString("utf8", offset + LOCAL_BYTES, nameEnd) !== name) {
    throw new ZipError(`${JSON.stringify(name)} has another name where its data is`);
  }
  const start = nameEnd + archive.readUInt16LE(offset + 28);
  if (start + packedBytes > archive.length) throw new ZipError(`${JSON.stringify(name)} is cut off`);
  return archive.subarray(start, start + packedBytes);
}

function inflate(packed: Buffer, { name, method, bytes }: ZipEntry): Buffer {
  if (method === STORED) return packed;
  if (method !== DEFLATED) {
    throw new ZipError(
      `${JSON.stringify(name)} is packed by method ${method}; only stored and deflated files are read`,
    );
  }
  try {
    // One byte more than stated, because zlib does not accept a limit of 0. The length is compared afterwards.
    return inflateRawSync(packed, { maxOutputLength: bytes + 1 });
  } catch (cause) {
    throw new ZipError(`${JSON.stringify(name)} cannot be unpacked`, { cause });
  }
}

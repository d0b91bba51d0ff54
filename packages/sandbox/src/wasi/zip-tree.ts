import { inflateRawSync } from "node:zlib";
import type { ReadOnlyTree, TreeEntry } from "./tree.js";

const END_MARK = 0x06054b50;
const ENTRY_MARK = 0x02014b50;
const FILE_MARK = 0x04034b50;
const END_SIZE = 22;
const ENTRY_SIZE = 46;
const FILE_SIZE = 30;
const MAX_COMMENT = 0xffff;

interface Member {
  readonly method: number;
  readonly packedSize: number;
  readonly size: number;
  readonly offset: number;
}

/** The files of a zip archive, such as a standard library. A file is unpacked when it is first read, once for everybody. */
export class ZipTree implements ReadOnlyTree {
  private readonly archive: Buffer;
  private readonly members = new Map<string, Member>();
  private readonly directories = new Map<string, Map<string, TreeEntry>>([["", new Map()]]);
  private readonly unpacked = new Map<string, Uint8Array>();

  constructor(archive: Uint8Array) {
    this.archive = Buffer.from(archive.buffer, archive.byteOffset, archive.byteLength);
    this.readIndex();
  }

  entries(path: string): readonly TreeEntry[] {
    return [...(this.directories.get(path)?.values() ?? [])];
  }

  read(path: string): Uint8Array {
    let bytes = this.unpacked.get(path);
    if (bytes === undefined) {
      const member = this.members.get(path);
      if (member === undefined) throw new Error(`the archive has no file ${path}`);
      bytes = this.unpack(path, member);
      this.unpacked.set(path, bytes);
    }
    return bytes;
  }

  private readIndex(): void {
    const { archive } = this;
    const end = findEnd(archive);
    const count = archive.readUInt16LE(end + 10);
    let at = archive.readUInt32LE(end + 16);
    for (let index = 0; index < count; index++) {
      if (at + ENTRY_SIZE > end || archive.readUInt32LE(at) !== ENTRY_MARK) {
        throw new Error(`the zip archive is damaged at byte ${at}; make it anew`);
      }
      const nameEnd = at + ENTRY_SIZE + archive.readUInt16LE(at + 28);
      const name = archive.toString("utf8", at + ENTRY_SIZE, nameEnd);
      const [packedSize, size] = [archive.readUInt32LE(at + 20), archive.readUInt32LE(at + 24)];
      const offset = archive.readUInt32LE(at + 42);
      this.add(name, { method: archive.readUInt16LE(at + 10), packedSize, size, offset });
      at = nameEnd + archive.readUInt16LE(at + 30) + archive.readUInt16LE(at + 32);
    }
  }

  private add(name: string, member: Member): void {
    const parts = name.split("/");
    const last = parts.pop() ?? "";
    if (parts.some((part) => part === "" || part === "." || part === "..") || last === "." || last === "..") {
      throw new Error(`the zip archive has a name that leads elsewhere: ${name}`);
    }
    const directory = this.directory(parts);
    if (last === "") return;
    directory.set(last, { name: last, kind: "file", size: member.size });
    this.members.set(name, member);
  }

  private directory(parts: readonly string[]): Map<string, TreeEntry> {
    let path = "";
    let names = this.directories.get("") ?? new Map();
    for (const part of parts) {
      path = path === "" ? part : `${path}/${part}`;
      let below = this.directories.get(path);
      if (below === undefined) {
        below = new Map();
        this.directories.set(path, below);
        names.set(part, { name: part, kind: "directory", size: 0 });
      }
      names = below;
    }
    return names;
  }

  private unpack(path: string, { method, packedSize, size, offset }: Member): Uint8Array {
    const { archive } = this;
    if (offset + FILE_SIZE > archive.length || archive.readUInt32LE(offset) !== FILE_MARK) {
      throw new Error(`the zip archive is damaged at ${path}; make it anew`);
    }
    const start = offset + FILE_SIZE + archive.readUInt16LE(offset + 26) + archive.readUInt16LE(offset + 28);
    const packed = archive.subarray(start, start + packedSize);
    if (method === 0) return packed;
    if (method !== 8) throw new Error(`${path} is packed by method ${method}; only stored and deflated files are read`);
    return inflateRawSync(packed, { maxOutputLength: Math.max(1, size) });
  }
}

/** The end of the archive stands last, before a comment of at most 64 KB. */
function findEnd(archive: Buffer): number {
  const lowest = Math.max(0, archive.length - END_SIZE - MAX_COMMENT);
  for (let at = archive.length - END_SIZE; at >= lowest; at--) {
    if (archive.readUInt32LE(at) === END_MARK) return at;
  }
  throw new Error("this is not a zip archive: it has no end record");
}

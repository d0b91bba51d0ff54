import { createHash } from "node:crypto";
import { crc32, deflateRawSync, gzipSync } from "node:zlib";

/** A file to pack; whatever is set beside path and content makes it a file no honest tool would write. */
export interface Packed {
  readonly path: string;
  readonly content?: string | Uint8Array;
  /** The name in the header before the data, where it differs. */
  readonly localPath?: string;
  readonly mode?: number;
  readonly flags?: number;
  readonly method?: number;
  /** The length that the directory claims. */
  readonly claimed?: number;
  readonly crc?: number;
}

/** Builds a real zip file. */
export function buildZip(files: readonly Packed[], comment = ""): Buffer {
  const parts: Buffer[] = [];
  const directory: Buffer[] = [];
  let offset = 0;
  for (const file of files) {
    const content = Buffer.from(file.content ?? "");
    const method = file.method ?? 8;
    const packed = method === 8 ? deflateRawSync(content) : content;
    const name = Buffer.from(file.path);
    const localName = Buffer.from(file.localPath ?? file.path);
    const fields = { method, flags: file.flags ?? 0, crc: file.crc ?? crc32(content), packed: packed.length };
    const bytes = file.claimed ?? content.length;
    const local = Buffer.alloc(30);
    local.writeUInt32LE(0x04034b50, 0);
    local.writeUInt16LE(method, 8);
    local.writeUInt16LE(localName.length, 26);
    parts.push(local, localName, packed);
    const entry = Buffer.alloc(46);
    entry.writeUInt32LE(0x02014b50, 0);
    entry.writeUInt16LE(3 << 8, 4);
    entry.writeUInt16LE(fields.flags, 8);
    entry.writeUInt16LE(fields.method, 10);
    entry.writeUInt32LE(fields.crc, 16);
    entry.writeUInt32LE(fields.packed, 20);
    entry.writeUInt32LE(bytes, 24);
    entry.writeUInt16LE(name.length, 28);
    entry.writeUInt32LE(((file.mode ?? 0o100644) << 16) >>> 0, 38);
    entry.writeUInt32LE(offset, 42);
    directory.push(entry, name);
    offset += local.length + localName.length + packed.length;
  }
  const end = Buffer.alloc(22);
  const table = Buffer.concat(directory);
  end.writeUInt32LE(0x06054b50, 0);
  end.writeUInt16LE(files.length, 8);
  end.writeUInt16LE(files.length, 10);
  end.writeUInt32LE(table.length, 12);
  end.writeUInt32LE(offset, 16);
  end.writeUInt16LE(comment.length, 20);
  return Buffer.concat([...parts, table, end, Buffer.from(comment)]);
}

export interface Tarred {
  readonly path: string;
  readonly content?: string;
  readonly type?: string;
  readonly link?: string;
}

/** Builds a real tar file. */
export function buildTar(files: readonly Tarred[]): Buffer {
  const blocks = files.map(({ path, content = "", type = "0", link = "" }) => {
    const body = Buffer.from(content);
    const header = Buffer.alloc(512);
    header.write(path, 0, 100);
    header.write("0000644\0", 100);
    header.write(`${body.length.toString(8).padStart(11, "0")}\0`, 124);
    header.write(type, 156);
    header.write(link, 157, 100);
    header.write("ustar\0", 257, "latin1");
    header.write("        ", 148);
    const sum = header.reduce((total, byte) => total + byte, 0);
    header.write(`${sum.toString(8).padStart(6, "0")}\0 `, 148);
    return Buffer.concat([header, body, Buffer.alloc((512 - (body.length % 512)) % 512)]);
  });
  return Buffer.concat([...blocks, Buffer.alloc(1024)]);
}

export function buildTarGz(files: readonly Tarred[]): Buffer {
  return gzipSync(buildTar(files));
}

export interface WheelContent {
  readonly requirements?: readonly string[];
  /** Further lines of the metadata. */
  readonly headers?: readonly string[];
  readonly files?: readonly Packed[];
  /** What the metadata says where it differs from the file name. */
  readonly saysName?: string;
}

/** Builds a real wheel with one module, named after the package. */
export function buildWheel(name: string, version: string, content: WheelContent = {}): Buffer {
  const module = name.replaceAll("-", "_");
  const info = `${module}-${version}.dist-info`;
  const metadata = metadataOf(name, version, content);
  return buildZip([
    { path: `${module}/__init__.py`, content: `__version__ = "${version}"\n` },
    ...(content.files ?? []),
    { path: `${info}/METADATA`, content: metadata },
    { path: `${info}/WHEEL`, content: "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n" },
    { path: `${info}/LICENSE`, content: `The licence of ${name}.\n` },
  ]);
}

export function metadataOf(name: string, version: string, content: WheelContent = {}): string {
  const requirements = (content.requirements ?? []).map((each) => `Requires-Dist: ${each}`);
  const lines = ["Metadata-Version: 2.1", `Name: ${content.saysName ?? name}`, `Version: ${version}`];
  return [...lines, "License: MIT", ...(content.headers ?? []), ...requirements, "", "A description.", ""].join("\n");
}

export function sha256(bytes: Uint8Array | string): string {
  return createHash("sha256").update(bytes).digest("hex");
}

import { readZipEntries, unpackZipEntry, type ZipEntry } from "../archive/zip-archive.js";
import type { ReadOnlyTree, TreeEntry } from "./tree.js";

/** The files of a zip archive, such as a standard library. A file is unpacked when it is first read, once for all sessions. */
export class ZipTree implements ReadOnlyTree {
  private readonly archive: Buffer;
  private readonly files = new Map<string, ZipEntry>();
  private readonly directories = new Map<string, Map<string, TreeEntry>>([["", new Map()]]);
  private readonly unpacked = new Map<string, Uint8Array>();

  constructor(archive: Uint8Array) {
    this.archive = Buffer.from(archive.buffer, archive.byteOffset, archive.byteLength);
    for (const entry of readZipEntries(this.archive)) this.add(entry);
  }

  entries(path: string): readonly TreeEntry[] {
    return [...(this.directories.get(path)?.values() ?? [])];
  }

  read(path: string): Uint8Array {
    let bytes = this.unpacked.get(path);
    if (bytes === undefined) {
      const entry = this.files.get(path);
      if (entry === undefined) throw new Error(`the archive has no file ${path}`);
      bytes = unpackZipEntry(this.archive, entry);
      this.unpacked.set(path, bytes);
    }
    return bytes;
  }

  private add(entry: ZipEntry): void {
    const { name, bytes } = entry;
    const parts = name.split("/");
    const last = parts.pop() ?? "";
    if (parts.some((part) => part === "" || part === "." || part === "..") || last === "." || last === "..") {
      throw new Error(`the zip archive has a name that leads elsewhere: ${name}`);
    }
    const directory = this.directory(parts);
    if (last === "") return;
    directory.set(last, { name: last, kind: "file", size: bytes });
    this.files.set(name, entry);
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
}

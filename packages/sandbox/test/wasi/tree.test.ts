import { crc32, deflateRawSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import type { ReadOnlyTree, TreeEntry } from "../../src/wasi/tree.js";
import { Vfs } from "../../src/wasi/vfs.js";
import { ZipTree } from "../../src/wasi/zip-tree.js";
import { failure, newGuest, O, ROOT } from "./guest.js";

/** A tree that says what it was asked for. */
class AskedTree implements ReadOnlyTree {
  readonly asked: string[] = [];
  private readonly files: Readonly<Record<string, string>> = {
    "a.py": "print(1)",
    "pkg/b.py": "b",
    "pkg/sub/c.py": "c",
  };

  entries(path: string): readonly TreeEntry[] {
    this.asked.push(`list ${path}`);
    const prefix = path === "" ? "" : `${path}/`;
    const below = Object.entries(this.files).filter(([name]) => name.startsWith(prefix));
    const names = new Map<string, TreeEntry>();
    for (const [file, content] of below) {
      const [name = "", more] = file.slice(prefix.length).split("/");
      names.set(name, {
        name,
        kind: more === undefined ? "file" : "directory",
        size: more === undefined ? content.length : 0,
      });
    }
    return [...names.values()];
  }

  read(path: string): Uint8Array {
    this.asked.push(`read ${path}`);
    return Buffer.from(this.files[path] ?? "");
  }
}

describe("a read-only tree", () => {
  it("is asked for what somebody looks at, once for all sessions", () => {
    const tree = new AskedTree();
    const sessions = [1, 2].map(() => new Vfs({ mounts: { "/lib": { kind: "tree", tree } } }));
    expect(tree.asked).toEqual([]);

    for (const vfs of sessions) expect(vfs.stat("/lib/pkg/b.py").size).toBe(1);

    expect(tree.asked).toEqual(["list ", "list pkg"]);
    expect(Buffer.from(sessions[0]?.readFile("/lib/a.py") ?? []).toString()).toBe("print(1)");
    expect(tree.asked).toEqual(["list ", "list pkg", "read a.py"]);
  });

  it("is listed and read by a guest, with numbers that do not depend on the session", () => {
    const tree = new AskedTree();
    const [first, second] = [1, 2].map(() =>
      newGuest({ vfs: new Vfs({ mounts: { "/lib": { kind: "tree", tree } } }) }),
    );
    if (first === undefined || second === undefined) throw new Error("two guests");

    expect(first.list("lib")).toEqual([".", "..", "a.py", "pkg"]);
    expect(first.list("lib", 40)).toEqual([".", "..", "a.py", "pkg"]);
    second.stat("lib/pkg/sub/c.py");
    expect(first.mustStat("lib/a.py")).toEqual(second.mustStat("lib/a.py"));
    const inodes = ["lib", "lib/a.py", "lib/pkg", "lib/pkg/b.py"].map((path) => first.mustStat(path).inode);
    expect(new Set(inodes).size).toBe(4);
    const fd = first.mustOpen("lib/a.py", { rights: 0x22 });
    expect([first.read(fd, 5), first.read(fd, 50)]).toEqual(["print", "(1)"]);
  });

  it("cannot be changed in any way", () => {
    const guest = newGuest({ vfs: new Vfs({ mounts: { "/lib": { kind: "tree", tree: new AskedTree() } } }) });
    guest.file("file");

    expect(guest.open("lib/a.py")).toBe("EROFS");
    expect(guest.open("lib/new", { flags: O.create, rights: 0 })).toBe("EROFS");
    expect(guest.open("lib/a.py", { flags: O.truncate, rights: 0 })).toBe("EROFS");
    expect(guest.path("path_create_directory", "lib/new")).toBe("EROFS");
    expect(guest.path("path_unlink_file", "lib/a.py")).toBe("EROFS");
    expect(guest.path("path_remove_directory", "lib/pkg")).toBe("EROFS");
    expect(guest.path("path_remove_directory", "lib")).toBe("EBUSY");
    expect(guest.symlink("x", "lib/new")).toBe("EROFS");
    expect(guest.link("lib/a.py", "mine")).toBe("EXDEV");
    expect(guest.link("file", "lib/mine")).toBe("EROFS");
    expect(guest.rename("lib/a.py", "mine")).toBe("EROFS");
    expect(guest.rename("file", "lib/mine")).toBe("EXDEV");
    expect(guest.rename("lib", "mine")).toBe("EBUSY");
    expect(guest.call("path_filestat_set_times", ROOT, 1, ...guest.text("lib/a.py"), 0n, 0n, 5)).toBe("EROFS");
    const fd = guest.mustOpen("lib/a.py", { rights: 0x0140_0002 });
    expect(guest.call("fd_filestat_set_size", fd, 0n)).toBe("ENOTCAPABLE");
    expect(guest.write(fd, "x")).toBe("ENOTCAPABLE");
    expect(guest.open("lib/pkg/../../file")).toBeTypeOf("number");
  });

  it("that fails or lies fails the call, not the guest", () => {
    const broken: ReadOnlyTree = {
      entries: () => [{ name: "a", kind: "file", size: 5 }],
      read: () => {
        throw new Error("the disk is gone, at /home/host/secret");
      },
    };
    const lying: ReadOnlyTree = { ...broken, read: () => new Uint8Array(3) };
    const vfs = new Vfs({
      mounts: { "/broken": { kind: "tree", tree: broken }, "/lying": { kind: "tree", tree: lying } },
    });

    expect(failure(() => vfs.readFile("/broken/a"))).toBe("EIO");
    expect(failure(() => vfs.readFile("/lying/a"))).toBe("EIO");
  });
});

describe("a zip archive as a tree", () => {
  it("gives stored and deflated files", () => {
    const vfs = new Vfs({
      mounts: {
        "/lib": {
          kind: "tree",
          tree: new ZipTree(zip({ "a.txt": "stored", "d/e/b.txt": "b".repeat(5000), "d/": "" })),
        },
      },
    });

    expect(vfs.list("/lib").map(({ name, kind }) => [name, kind])).toEqual([
      ["a.txt", "file"],
      ["d", "directory"],
    ]);
    expect(Buffer.from(vfs.readFile("/lib/a.txt")).toString()).toBe("stored");
    expect(Buffer.from(vfs.readFile("/lib/d/e/b.txt")).toString()).toBe("b".repeat(5000));
  });

  it("refuses what is no archive, is cut, or has names that lead elsewhere", () => {
    const whole = zip({ "a.txt": "text" });

    expect(() => new ZipTree(Buffer.from("nothing"))).toThrow("no zip archive");
    expect(() => new ZipTree(new Uint8Array(100))).toThrow("no zip archive");
    expect(() => new ZipTree(whole.subarray(20))).toThrow("damaged");
    expect(() => new ZipTree(zip({ "../a.txt": "text" }))).toThrow("leads elsewhere");
    expect(() => new ZipTree(zip({ "/etc/a.txt": "text" }))).toThrow("leads elsewhere");
  });

  it("never unpacks more than it says", () => {
    const archive = zip({ bomb: "0".repeat(100_000) });
    const index = archive.lastIndexOf(Buffer.from("PK\x01\x02"));
    archive.writeUInt32LE(10, index + 24);
    const vfs = new Vfs({ mounts: { "/lib": { kind: "tree", tree: new ZipTree(archive) } } });

    expect(failure(() => vfs.readFile("/lib/bomb"))).toBe("EIO");
  });
});

/** Writes an archive; short files are stored, long ones deflated. */
function zip(files: Readonly<Record<string, string>>): Buffer {
  const parts: Buffer[] = [];
  const index: Buffer[] = [];
  let offset = 0;
  for (const [name, content] of Object.entries(files)) {
    const method = content.length > 100 ? 8 : 0;
    const packed = method === 8 ? deflateRawSync(content) : Buffer.from(content);
    const common = Buffer.alloc(26);
    common.writeUInt16LE(20, 0);
    common.writeUInt16LE(method, 4);
    common.writeUInt32LE(crc32(content), 10);
    common.writeUInt32LE(packed.length, 14);
    common.writeUInt32LE(content.length, 18);
    common.writeUInt16LE(Buffer.byteLength(name), 22);
    const head = Buffer.concat([Buffer.from("PK\x03\x04"), common, Buffer.from(name), packed]);
    const rest = Buffer.alloc(14);
    rest.writeUInt32LE(offset, 10);
    index.push(Buffer.concat([Buffer.from("PK\x01\x02\x14\x00"), common, rest, Buffer.from(name)]));
    parts.push(head);
    offset += head.length;
  }
  const end = Buffer.alloc(22);
  end.write("PK\x05\x06", "latin1");
  end.writeUInt16LE(index.length, 8);
  end.writeUInt16LE(index.length, 10);
  end.writeUInt32LE(Buffer.concat(index).length, 12);
  end.writeUInt32LE(offset, 16);
  return Buffer.concat([...parts, ...index, end]);
}

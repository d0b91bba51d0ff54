import { describe, expect, it } from "vitest";
import { FsError } from "../../src/wasi/errno.js";
import { Vfs } from "../../src/wasi/vfs.js";
import { failure } from "./guest.js";

const text = (content: string): Uint8Array => Buffer.from(content);

describe("files from the host's side", () => {
  it("are written, read, listed and described", () => {
    const vfs = new Vfs({ now: () => 1_700_000_000_000 });
    vfs.mkdir("/app/data", { recursive: true });
    vfs.writeFile("/app/data/a.txt", text("content"));
    vfs.writeFile("app/data/b.txt", text(""));
    vfs.symlink("a.txt", "/app/data/link");

    expect(Buffer.from(vfs.readFile("/app/data/link")).toString()).toBe("content");
    expect(vfs.list("/app/data")).toEqual([
      { name: "a.txt", kind: "file", size: 7 },
      { name: "b.txt", kind: "file", size: 0 },
      { name: "link", kind: "symlink", size: 5 },
    ]);
    expect(vfs.stat("/app/data/link")).toEqual({ kind: "file", size: 7, links: 1, modifiedMs: 1_700_000_000_000 });
    expect(vfs.stat("/app/data/link", { follow: false }).kind).toBe("symlink");
    expect(vfs.readlink("/app/data/link")).toBe("a.txt");
    expect([vfs.exists("/app"), vfs.exists("/nothing")]).toEqual([true, false]);
    expect(vfs.list("/")).toEqual([{ name: "app", kind: "directory", size: 1 }]);
  });

  it("are copies, which the reader may change", () => {
    const vfs = new Vfs();
    const mine = text("content");
    vfs.writeFile("/file", mine);
    mine.fill(0);
    vfs.readFile("/file").fill(0);

    expect(Buffer.from(vfs.readFile("/file")).toString()).toBe("content");
  });

  it("are replaced as a whole, or not at all", () => {
    const vfs = new Vfs({ limits: { bytesWritten: 10 } });
    vfs.writeFile("/file", text("content"));

    expect(failure(() => vfs.writeFile("/file", text("too long")))).toBe("ENOSPC");
    expect(Buffer.from(vfs.readFile("/file")).toString()).toBe("content");
    vfs.writeFile("/file", text("abc"));
    expect(vfs.readFile("/file").length).toBe(3);
    expect(vfs.bytesWritten).toBe(10);
  });

  it("move and go", () => {
    const vfs = new Vfs();
    vfs.mkdir("/a/b/c", { recursive: true });
    vfs.writeFile("/a/b/file", text("x"));
    vfs.link("/a/b/file", "/second");

    vfs.rename("/a/b", "/moved");
    expect(failure(() => vfs.remove("/moved"))).toBe("ENOTEMPTY");
    vfs.remove("/moved", { recursive: true });

    expect(vfs.list("/").map(({ name }) => name)).toEqual(["a", "second"]);
    vfs.remove("/second");
    vfs.remove("/a");
    expect(vfs.storage.files).toBe(0);
  });

  it("say what failed and where, with numbers for both worlds", () => {
    const vfs = new Vfs();
    try {
      vfs.readFile("/app/missing.txt");
      expect.unreachable();
    } catch (error) {
      expect(error).toBeInstanceOf(FsError);
      expect(error).toMatchObject({ name: "ENOENT", errno: 2, wasiErrno: 44 });
      expect((error as FsError).message).toBe("ENOENT: no such file or directory: /app/missing.txt");
    }
  });

  it("refuse what does not fit the kind", () => {
    const vfs = new Vfs();
    vfs.mkdir("/dir");
    vfs.writeFile("/file", text("x"));

    expect(failure(() => vfs.readFile("/dir"))).toBe("EISDIR");
    expect(failure(() => vfs.writeFile("/dir", text("")))).toBe("EISDIR");
    expect(failure(() => vfs.list("/file"))).toBe("ENOTDIR");
    expect(failure(() => vfs.mkdir("/dir"))).toBe("EEXIST");
    expect(failure(() => vfs.mkdir("/file/below", { recursive: true }))).toBe("ENOTDIR");
    expect(failure(() => vfs.readFile("/../file"))).toBe("EPERM");
    expect(failure(() => vfs.readFile("\ud800"))).toBe("EILSEQ");
    expect(failure(() => vfs.remove("/"))).toBe("EINVAL");
  });

  it("are removed however deep they lie", () => {
    const vfs = new Vfs();
    let directory = vfs.root;
    for (let depth = 0; depth < 5000; depth++) directory = directory.createDirectory("d");

    vfs.remove("/d", { recursive: true });

    expect(vfs.storage.files).toBe(0);
  });
});

describe("changes since a mark", () => {
  it("tell what was made, written to and removed, by path", () => {
    const vfs = new Vfs();
    for (const path of ["/same", "/written", "/replaced", "/gone", "/moved", "/touched"])
      vfs.writeFile(path, text("old"));
    const mark = vfs.mark();

    vfs.writeFile("/written", text("new"));
    vfs.writeFile("/tmp", text("new"));
    vfs.rename("/tmp", "/replaced");
    vfs.remove("/gone");
    vfs.mkdir("/dir");
    vfs.rename("/moved", "/dir/moved");
    vfs.writeFile("/new", text(""));
    vfs.readFile("/touched");

    expect(vfs.changes(mark)).toEqual({
      created: ["/dir/moved", "/new"],
      modified: ["/replaced", "/written"],
      removed: ["/gone", "/moved"],
    });
    expect(vfs.changes(vfs.mark())).toEqual({ created: [], modified: [], removed: [] });
  });

  it("see a write that leaves the size as it was", () => {
    const vfs = new Vfs();
    vfs.writeFile("/file", text("old"));
    const mark = vfs.mark();

    vfs.writeFile("/file", text("old"));

    expect(vfs.changes(mark).modified).toEqual(["/file"]);
  });

  it("do not choke on a tower of long names", () => {
    const vfs = new Vfs();
    let directory = vfs.root;
    for (let depth = 0; depth < 3000; depth++) {
      directory = directory.createDirectory("d".repeat(255));
      directory.createFile("f");
    }

    expect(vfs.changes(new Vfs().mark()).created).toHaveLength(15);
  });
});

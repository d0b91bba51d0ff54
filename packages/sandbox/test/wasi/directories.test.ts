import { describe, expect, it } from "vitest";
import { Vfs } from "../../src/wasi/vfs.js";
import { type Guest, type GuestEntry, newGuest, O, ROOT } from "./guest.js";

describe("path_create_directory", () => {
  it("makes one, with or without a slash behind it, and not twice", () => {
    const guest = newGuest();

    expect(guest.path("path_create_directory", "a")).toBe("ok");
    expect(guest.path("path_create_directory", "b/")).toBe("ok");
    expect(guest.path("path_create_directory", "a")).toBe("EEXIST");
    expect(guest.path("path_create_directory", ".")).toBe("EEXIST");
    expect(guest.path("path_create_directory", "missing/a")).toBe("ENOENT");
    expect(guest.path("path_create_directory", "")).toBe("ENOENT");
    expect(guest.mustStat("b")).toMatchObject({ type: 3 });
  });

  it("does not go through a link in the last place", () => {
    const guest = newGuest();
    guest.symlink("missing", "link");

    expect(guest.path("path_create_directory", "link")).toBe("EEXIST");
  });
});

describe("path_remove_directory", () => {
  it("removes an empty one, with or without a slash behind it", () => {
    const guest = newGuest();
    guest.path("path_create_directory", "dir");
    guest.path("path_create_directory", "dir/below");

    expect(guest.path("path_remove_directory", "dir")).toBe("ENOTEMPTY");
    expect(guest.path("path_remove_directory", "dir/below/")).toBe("ok");
    expect(guest.path("path_remove_directory", "dir")).toBe("ok");
    expect(guest.path("path_remove_directory", "dir")).toBe("ENOENT");
  });

  it("removes nothing else", () => {
    const guest = newGuest();
    guest.file("file");
    guest.path("path_create_directory", "dir");
    guest.symlink("dir", "link");

    expect(guest.path("path_remove_directory", "file")).toBe("ENOTDIR");
    expect(guest.path("path_remove_directory", "file/")).toBe("ENOTDIR");
    expect(guest.path("path_remove_directory", "link")).toBe("ENOTDIR");
    expect(guest.path("path_remove_directory", "link/")).toBe("ENOTDIR");
    expect(guest.path("path_remove_directory", "dir/.")).toBe("EINVAL");
    expect(guest.path("path_remove_directory", ".")).toBe("EINVAL");
  });

  it("leaves an open directory behind in which nothing can be made", () => {
    const guest = newGuest();
    guest.path("path_create_directory", "dir");
    const fd = guest.mustOpen("dir", { flags: O.directory });
    guest.path("path_remove_directory", "dir");

    expect(guest.mustStat(fd).links).toBe(0n);
    expect(guest.open("file", { fd, flags: O.create })).toBe("ENOENT");
    expect(guest.path("path_create_directory", "below", fd)).toBe("ENOENT");
    expect(guest.symlink("x", "link", fd)).toBe("ENOENT");
    guest.file("file");
    expect(guest.rename("file", "file", ROOT, fd)).toBe("ENOENT");
    expect(guest.link("file", "file", { newFd: fd })).toBe("ENOENT");
    expect(guest.readdir(fd)).toMatchObject({ entries: [{ name: "." }, { name: ".." }] });
  });
});

describe("path_unlink_file", () => {
  it("removes files and links, not directories", () => {
    const guest = newGuest();
    guest.file("file");
    guest.path("path_create_directory", "dir");
    guest.symlink("dir", "link");

    expect(guest.path("path_unlink_file", "file/")).toBe("ENOTDIR");
    expect(guest.path("path_unlink_file", "file")).toBe("ok");
    expect(guest.path("path_unlink_file", "file")).toBe("ENOENT");
    expect(guest.path("path_unlink_file", "dir")).toBe("EISDIR");
    expect(guest.path("path_unlink_file", "dir/")).toBe("EISDIR");
    expect(guest.path("path_unlink_file", "link/")).toBe("ENOTDIR");
    expect(guest.path("path_unlink_file", "link")).toBe("ok");
    expect(guest.mustStat("dir")).toMatchObject({ type: 3 });
  });
});

describe("fd_readdir", () => {
  it("lists the dots, then the names, with their kinds and numbers", () => {
    const guest = newGuest();
    guest.file("file");
    guest.path("path_create_directory", "dir");
    guest.symlink("x", "link");

    const { entries } = pageOf(guest, ROOT);

    expect(entries.map(({ name, type }) => [name, type])).toEqual([
      [".", 3],
      ["..", 3],
      ["file", 4],
      ["dir", 3],
      ["link", 7],
    ]);
    expect(entries[2]?.inode).toBe(guest.mustStat("file").inode);
    expect(entries[0]?.inode).toBe(guest.mustStat(".").inode);
  });

  it("goes on from any cookie", () => {
    const guest = newGuest();
    for (let index = 0; index < 20; index++) guest.file(`file${index}`);
    const { entries } = pageOf(guest, ROOT);

    for (const [index, { next }] of entries.entries()) {
      expect(pageOf(guest, ROOT, next).entries).toEqual(entries.slice(index + 1));
    }
  });

  it("gives every name once, whatever the size of the buffer", () => {
    const guest = newGuest();
    const names = Array.from({ length: 300 }, (_, index) => `name-${index}-${"x".repeat(index % 40)}`);
    for (const name of names) guest.file(name);

    for (const size of [100, 256, 1000, 4096]) expect(guest.list(".", size)).toEqual([".", "..", ...names]);
  });

  it("cuts an entry, even in its head, and fills the buffer then", () => {
    const guest = newGuest();
    guest.file("a-rather-long-name");

    for (const size of [1, 10, 24, 49, 60, 80]) {
      expect(guest.readdir(ROOT, 0n, size)).toMatchObject({ used: size });
    }
    expect(guest.readdir(ROOT, 0n, 0)).toEqual({ entries: [], used: 0 });
  });

  it("ends, also at a cookie that never was", () => {
    const guest = newGuest();
    guest.file("file");

    for (const cookie of [3n, 1000n, 2n ** 63n, -1n]) {
      expect(guest.readdir(ROOT, cookie)).toEqual({ entries: [], used: 0 });
    }
  });

  it("skips nothing while names before the cookie are removed", () => {
    const guest = newGuest();
    const names = Array.from({ length: 50 }, (_, index) => `file${index}`);
    for (const name of names) guest.file(name);
    const seen: string[] = [];
    let cookie = 0n;
    for (let round = 0; round < 100; round++) {
      const [first] = pageOf(guest, ROOT, cookie, 60).entries;
      if (first === undefined) break;
      cookie = first.next;
      if (first.name.startsWith(".")) continue;
      seen.push(first.name);
      guest.path("path_unlink_file", first.name);
    }

    expect(seen).toEqual(names);
  });

  it("keeps the cookie of a name that is replaced, and shows new names last", () => {
    const guest = newGuest();
    for (const name of ["a", "b", "c"]) guest.file(name);
    const before = pageOf(guest, ROOT).entries.find(({ name }) => name === "b");

    guest.file("d");
    guest.rename("d", "b");
    guest.file("e");

    const { entries } = pageOf(guest, ROOT);
    expect(entries.map(({ name }) => name)).toEqual([".", "..", "a", "b", "c", "e"]);
    expect(entries.find(({ name }) => name === "b")?.next).toBe(before?.next);
  });

  it("is for directories", () => {
    const guest = newGuest();
    guest.file("file");

    expect(guest.readdir(guest.mustOpen("file"))).toBe("ENOTDIR");
    expect(guest.readdir(0)).toBe("ENOTDIR");
    expect(guest.readdir(99)).toBe("EBADF");
  });

  it("lists a mount beside the names in memory", () => {
    const vfs = new Vfs({
      mounts: { "/data": { kind: "tree", tree: { entries: () => [], read: () => new Uint8Array() } } },
    });
    const guest = newGuest({ vfs, devices: { "/dev/null": {} } });

    expect(guest.list(".")).toEqual([".", "..", "data", "dev"]);
    expect(pageOf(guest, guest.mustOpen("dev", { flags: O.directory })).entries[2]).toMatchObject({ type: 2 });
  });
});

function pageOf(guest: Guest, fd: number, cookie = 0n, size = 8192): { entries: GuestEntry[]; used: number } {
  const page = guest.readdir(fd, cookie, size);
  if (typeof page === "string") throw new Error(page);
  return page;
}

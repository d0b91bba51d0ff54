import { describe, expect, it } from "vitest";
import * as rights from "../../src/wasi/rights.js";
import { type Guest, newGuest, newJailedGuest, O, ROOT } from "./guest.js";

describe("path_open: how paths are read", () => {
  it("takes dots, double slashes and two dots inside", () => {
    const guest = newGuest();
    guest.path("path_create_directory", "dir");
    guest.path("path_create_directory", "dir/nested");
    guest.file("dir/nested/file");

    const path = "dir/.//nested/../../dir/nested/../nested///./file";

    expect(guest.open(path)).toBeTypeOf("number");
  });

  it("refuses an empty path, a NUL and bytes that are not UTF-8", () => {
    const guest = newGuest();
    guest.file("file");

    expect(guest.open("")).toBe("ENOENT");
    expect(guest.open("file\0")).toBe("EINVAL");
    expect(guest.open(Uint8Array.of(0x66, 0xff, 0x66))).toBe("EILSEQ");
  });

  it("keeps names apart that differ in a byte order mark", () => {
    const guest = newGuest();
    guest.file("\ufeffname", "with mark");

    expect(guest.open("name")).toBe("ENOENT");
    expect(guest.open("\ufeffname")).toBeTypeOf("number");
  });

  it("takes a slash behind a directory, not behind a file", () => {
    const guest = newGuest();
    guest.path("path_create_directory", "dir");
    guest.file("file");

    expect(guest.open("dir/", { rights: rights.FD_READDIR })).toBeTypeOf("number");
    expect(guest.open("dir///", { rights: rights.FD_READDIR })).toBeTypeOf("number");
    expect(guest.open("file/")).toBe("ENOTDIR");
    expect(guest.open("file/.")).toBe("ENOTDIR");
    expect(guest.open("file/..")).toBe("ENOTDIR");
    expect(guest.open("missing/", { flags: O.create })).toBe("EISDIR");
  });

  it("measures names and paths", () => {
    const guest = newGuest();

    expect(guest.open("n".repeat(255), { flags: O.create })).toBeTypeOf("number");
    expect(guest.open("n".repeat(256), { flags: O.create })).toBe("ENAMETOOLONG");
    expect(guest.open("ü".repeat(128), { flags: O.create })).toBe("ENAMETOOLONG");
    expect(guest.open("d/".repeat(2100))).toBe("ENAMETOOLONG");
  });

  it("says which component is missing or no directory", () => {
    const guest = newGuest();
    guest.file("file");

    expect(guest.open("missing")).toBe("ENOENT");
    expect(guest.open("missing/file", { flags: O.create })).toBe("ENOENT");
    expect(guest.open("file/below", { flags: O.create })).toBe("ENOTDIR");
  });
});

describe("path_open: nothing above the directory it starts from", () => {
  it("refuses two dots that lead out, and absolute paths", () => {
    const guest = newJailedGuest();
    guest.path("path_create_directory", "dir");

    for (const path of ["..", "../secret", "dir/../../secret", "/secret", "/", "./../secret", "../jail/dir"]) {
      expect([path, guest.open(path)]).toEqual([path, "EPERM"]);
    }
  });

  it("refuses links that lead out, however they are put together", () => {
    const guest = newJailedGuest();
    guest.symlink(".", "here");
    guest.symlink("here/..", "out");
    guest.symlink("../secret", "direct");
    guest.path("path_create_directory", "deep");
    guest.symlink("../../secret", "deep/up");
    guest.symlink("deep/up", "chain");

    for (const path of ["out", "out/secret", "direct", "here/../secret", "deep/up", "chain", "here/here/out/secret"]) {
      expect([path, guest.open(path)]).toEqual([path, "EPERM"]);
      expect([path, guest.open(path, { flags: O.create })]).toEqual([path, "EPERM"]);
    }
  });

  it("refuses to make a link to an absolute path, and to follow one", () => {
    const guest = newJailedGuest();
    guest.host.vfs.symlink("/secret", "/jail/absolute");

    expect(guest.symlink("/secret", "mine")).toBe("EPERM");
    expect(guest.open("absolute")).toBe("EPERM");
    expect(guest.stat("absolute")).toBe("EPERM");
  });

  it("lets whoever holds the root use absolute links, which stay inside", () => {
    const guest = newGuest();
    guest.path("path_create_directory", "dir");
    guest.file("dir/file", "content");
    guest.symlink("/dir/file", "link");

    expect(guest.read(guest.mustOpen("link"), 20)).toBe("content");
  });

  it("treats a directory that the guest opened as the top for what starts there", () => {
    const guest = newGuest();
    guest.path("path_create_directory", "dir");
    guest.file("file");
    const fd = guest.mustOpen("dir", { flags: O.directory });

    expect(guest.open("../file", { fd })).toBe("EPERM");
    expect(guest.open(".", { fd, flags: O.directory })).toBeTypeOf("number");
  });
});

describe("path_open: flags", () => {
  it("creates, and with exclusive only what is new", () => {
    const guest = newGuest();

    expect(guest.open("file", { flags: O.create | O.exclusive })).toBeTypeOf("number");
    expect(guest.open("file", { flags: O.create | O.exclusive })).toBe("EEXIST");
    expect(guest.open("file", { flags: O.create })).toBeTypeOf("number");
  });

  it("does not create through a link that must be new, and creates its target otherwise", () => {
    const guest = newGuest();
    guest.symlink("target", "link");

    expect(guest.open("link", { flags: O.create | O.exclusive })).toBe("EEXIST");
    expect(guest.open("target")).toBe("ENOENT");
    expect(guest.open("link", { flags: O.create })).toBeTypeOf("number");
    expect(guest.open("target")).toBeTypeOf("number");
  });

  it("empties a file with truncate", () => {
    const guest = newGuest();
    guest.file("file", "content");

    const fd = guest.mustOpen("file", { flags: O.truncate });

    expect(guest.mustStat(fd).size).toBe(0n);
  });

  it("wants a directory where one is asked for, and none where something is written", () => {
    const guest = newGuest();
    guest.path("path_create_directory", "dir");
    guest.file("file");

    expect(guest.open("file", { flags: O.directory })).toBe("ENOTDIR");
    expect(guest.open("missing", { flags: O.directory })).toBe("ENOENT");
    expect(guest.open("dir", { rights: rights.FD_WRITE })).toBe("EISDIR");
    expect(guest.open("dir", { flags: O.truncate, rights: 0 })).toBe("EISDIR");
    expect(guest.open("dir", { flags: O.create, rights: 0 })).toBe("EISDIR");
    expect(guest.open("dir", { flags: O.directory, rights: rights.FD_WRITE })).toBeTypeOf("number");
    expect(guest.open("dir", { flags: O.directory | O.create })).toBe("EINVAL");
  });

  it("refuses bits that mean nothing", () => {
    const guest = newGuest();

    expect(guest.open("file", { flags: 16 })).toBe("EINVAL");
    expect(guest.open("file", { flags: O.create, fdFlags: 32 })).toBe("EINVAL");
    expect(guest.call("path_open", ROOT, 2, ...guest.text("file"), 0, 0n, 0n, 0, 8)).toBe("EINVAL");
    expect(guest.open("file")).toBe("ENOENT");
  });

  it("does not follow a link in the last place unless it is told to", () => {
    const guest = newGuest();
    guest.file("file");
    guest.path("path_create_directory", "dir");
    guest.symlink("file", "to-file");
    guest.symlink("dir", "to-dir");
    guest.symlink("missing", "dangling");

    expect(guest.open("to-file", { follow: false })).toBe("ELOOP");
    expect(guest.open("to-dir", { follow: false, flags: O.directory })).toBe("ENOTDIR");
    expect(guest.open("to-dir/", { follow: false, flags: O.directory })).toBeTypeOf("number");
    expect(guest.open("dangling", { follow: false })).toBe("ELOOP");
    expect(guest.open("dangling")).toBe("ENOENT");
    expect(guest.open("to-file")).toBeTypeOf("number");
  });

  it("gives up on loops, and on chains that are too long", () => {
    const guest = newGuest();
    guest.symlink("b", "a");
    guest.symlink("a", "b");
    guest.symlink("self", "self");
    guest.file("end");
    for (let hop = 0; hop < 41; hop++) guest.symlink(hop === 0 ? "end" : `hop${hop - 1}`, `hop${hop}`);

    expect(guest.open("a")).toBe("ELOOP");
    expect(guest.open("self")).toBe("ELOOP");
    expect(guest.open("self/below")).toBe("ELOOP");
    expect(guest.open("hop39")).toBeTypeOf("number");
    expect(guest.open("hop40")).toBe("ELOOP");
  });

  it("bounds what links can blow a path up to", () => {
    const guest = newGuest();
    guest.symlink("./".repeat(1500), "wide");

    expect(guest.open("wide/wide/wide/wide")).toBe("ELOOP");
  });
});

describe("path_open: rights", () => {
  it("grants what was asked for, as far as it fits the kind", () => {
    const guest = newGuest();

    const fd = guest.mustOpen("file", {
      flags: O.create,
      rights: rights.FD_READ | rights.FD_WRITE | rights.PATH_FILESTAT_GET,
    });

    expect(guest.fdstat(fd)).toMatchObject({ rights: rights.FD_READ | rights.FD_WRITE, inheriting: 0 });
  });

  it("passes on no more than the directory has", () => {
    const guest = newGuest();
    guest.path("path_create_directory", "dir");
    const fd = guest.mustOpen("dir", { flags: O.directory, inheriting: rights.FD_READ | rights.PATH_OPEN });

    expect(guest.open("file", { fd, rights: rights.FD_WRITE, flags: O.create, inheriting: 0 })).toBe("ENOTCAPABLE");
    expect(guest.open(".", { fd, rights: rights.FD_READ, inheriting: 0 })).toBeTypeOf("number");
  });

  it("needs the right to create and to truncate", () => {
    const guest = newGuest();
    guest.file("file", "content");
    const fd = guest.mustOpen(".", { rights: rights.PATH_OPEN, flags: O.directory });

    expect(guest.open("new", { fd, flags: O.create })).toBe("ENOTCAPABLE");
    expect(guest.open("file", { fd, flags: O.truncate })).toBe("ENOTCAPABLE");
    expect(guest.open("file", { fd })).toBeTypeOf("number");
    expect(guest.mustStat("file").size).toBe(7n);
  });

  it("starts from a directory only", () => {
    const guest = newGuest();
    guest.file("file");
    const fd = guest.mustOpen("file");

    expect(guest.open("x", { fd })).toBe("ENOTDIR");
    expect(guest.open("x", { fd: 77 })).toBe("EBADF");
    expect(guest.open("x", { fd: -1 })).toBe("EBADF");
  });

  it("leaves nothing behind when the answer has nowhere to go", () => {
    const guest: Guest = newGuest();
    const before = guest.host.descriptors;
    const rest = [O.create, 0n, 0n, 0, 0xffff_fff0] as const;

    expect(guest.call("path_open", ROOT, 0, ...guest.text("file"), ...rest)).toBe("EFAULT");
    expect(guest.host.descriptors).toBe(before);
    expect(guest.open("file")).toBe("ENOENT");
  });
});

import { describe, expect, it } from "vitest";
import * as rights from "../../src/wasi/rights.js";
import { APPEND, newGuest, O, ROOT } from "./guest.js";

const START = 1_700_000_000_123_456_789n;
const FIXED = { kind: "fixed", startNs: START, stepNs: 1000n } as const;

describe("fd_fdstat", () => {
  it("tells kind, flags and rights", () => {
    const guest = newGuest();
    const fd = guest.mustOpen("file", { flags: O.create, fdFlags: APPEND });

    expect(guest.fdstat(fd)).toEqual({ type: 4, flags: APPEND, rights: rights.FILE_RIGHTS, inheriting: 0 });
    expect(guest.fdstat(ROOT)).toMatchObject({ type: 3, rights: rights.DIRECTORY_RIGHTS });
    expect(guest.fdstat(0)).toMatchObject({ type: 2 });
    expect(guest.fdstat(9)).toBe("EBADF");
  });

  it("lets a directory have no right that is a file's", () => {
    const fdstat = newGuest().fdstat(ROOT);

    expect(typeof fdstat === "object" && fdstat.rights & (rights.FD_SEEK | rights.FD_READ | rights.FD_WRITE)).toBe(0);
  });

  it("sets flags, and none that mean nothing", () => {
    const guest = newGuest();
    const fd = guest.mustOpen("file", { flags: O.create });
    const bare = guest.mustOpen("file", { rights: 0 });

    expect(guest.call("fd_fdstat_set_flags", fd, APPEND)).toBe("ok");
    expect(guest.fdstat(fd)).toMatchObject({ flags: APPEND });
    expect(guest.call("fd_fdstat_set_flags", fd, 64)).toBe("EINVAL");
    expect(guest.call("fd_fdstat_set_flags", bare, 0)).toBe("ENOTCAPABLE");
  });

  it("gives rights up, and never back", () => {
    const guest = newGuest();
    const fd = guest.mustOpen("file", { flags: O.create });
    const both = BigInt(rights.FD_READ | rights.FD_WRITE);

    expect(guest.call("fd_fdstat_set_rights", fd, BigInt(rights.FD_READ), 0n)).toBe("ok");
    expect(guest.write(fd, "x")).toBe("ENOTCAPABLE");
    expect(guest.call("fd_fdstat_set_rights", fd, both, 0n)).toBe("ENOTCAPABLE");
    expect(guest.call("fd_fdstat_set_rights", fd, 0n, 1n)).toBe("ENOTCAPABLE");
    expect(guest.fdstat(fd)).toMatchObject({ rights: rights.FD_READ });
  });

  it("stops a directory from passing on what it gave up", () => {
    const guest = newGuest();
    guest.file("file", "content");
    const kept = BigInt(rights.PATH_OPEN | rights.PATH_FILESTAT_GET);
    guest.call("fd_fdstat_set_rights", ROOT, kept, BigInt(rights.FD_READ));

    expect(guest.open("file", { rights: rights.FD_READ, inheriting: 0 })).toBeTypeOf("number");
    expect(guest.open("file", { rights: rights.FD_WRITE, inheriting: 0 })).toBe("ENOTCAPABLE");
    expect(guest.open("file", { flags: O.truncate, rights: 0, inheriting: 0 })).toBe("ENOTCAPABLE");
    expect(guest.path("path_unlink_file", "file")).toBe("ENOTCAPABLE");
    expect(guest.path("path_create_directory", "dir")).toBe("ENOTCAPABLE");
    expect(guest.path("path_remove_directory", "dir")).toBe("ENOTCAPABLE");
    expect(guest.rename("file", "other")).toBe("ENOTCAPABLE");
    expect(guest.link("file", "other")).toBe("ENOTCAPABLE");
    expect(guest.symlink("file", "other")).toBe("ENOTCAPABLE");
    expect(guest.readlink("file")).toBe("ENOTCAPABLE");
    expect(guest.readdir(ROOT)).toBe("ENOTCAPABLE");
    expect(guest.stat(ROOT)).toBe("ENOTCAPABLE");
    expect(guest.mustStat("file").size).toBe(7n);
  });
});

describe("filestat", () => {
  it("is the same by path and by descriptor", () => {
    const guest = newGuest();
    const fd = guest.mustOpen("file", { flags: O.create });
    guest.write(fd, "content");

    expect(guest.mustStat(fd)).toEqual(guest.mustStat("file"));
    expect(guest.mustStat("file")).toMatchObject({ type: 4, size: 7n, links: 1n });
    expect(guest.mustStat(".").inode).not.toBe(guest.mustStat("file").inode);
  });

  it("looks at a link or at what it leads to", () => {
    const guest = newGuest();
    guest.file("file", "content");
    guest.symlink("file", "link");

    expect(guest.mustStat("link").size).toBe(7n);
    expect(guest.mustStat("link", { follow: false })).toMatchObject({ type: 7, size: 4n });
    expect(guest.stat("missing")).toBe("ENOENT");
    expect(guest.stat("file/")).toBe("ENOTDIR");
    expect(guest.stat("")).toBe("ENOENT");
  });

  it("keeps times to the nanosecond", () => {
    const guest = newGuest({ clock: FIXED });
    guest.file("file", "content");
    const fd = guest.mustOpen("file");
    const { accessed, modified } = guest.mustStat(fd);
    expect(modified).toBe(START);

    expect(guest.call("fd_filestat_set_times", fd, 0n, modified - 100n, 4)).toBe("ok");
    expect(guest.mustStat(fd)).toMatchObject({ accessed, modified: modified - 100n });
    expect(guest.call("path_filestat_set_times", ROOT, 0, ...guest.text("file"), 5n, 0n, 1)).toBe("ok");
    expect(guest.mustStat(fd)).toMatchObject({ accessed: 5n, modified: modified - 100n });
    expect(guest.call("fd_filestat_set_times", fd, 0n, 0n, 2 | 8)).toBe("ok");
    expect(guest.mustStat(fd)).toMatchObject({ accessed: START, modified: START });
    expect(guest.call("fd_filestat_set_times", fd, 0n, 2n ** 64n - 1n, 4)).toBe("ok");
    expect(guest.mustStat(fd).modified).toBe(2n ** 64n - 1n);
  });

  it("refuses a time and now at once, and flags that mean nothing", () => {
    const guest = newGuest();
    guest.file("file");
    const fd = guest.mustOpen("file");

    for (const flags of [1 | 2, 4 | 8, 16]) {
      expect(guest.call("fd_filestat_set_times", fd, 0n, 0n, flags)).toBe("EINVAL");
      expect(guest.call("path_filestat_set_times", ROOT, 1, ...guest.text("file"), 0n, 0n, flags)).toBe("EINVAL");
    }
  });

  it("sets the times of a link itself when it is not followed", () => {
    const guest = newGuest();
    guest.file("file");
    guest.symlink("file", "link");
    const before = guest.mustStat("file").modified;

    expect(guest.call("path_filestat_set_times", ROOT, 0, ...guest.text("link"), 0n, 77n, 4)).toBe("ok");

    expect(guest.mustStat("link", { follow: false }).modified).toBe(77n);
    expect(guest.mustStat("file").modified).toBe(before);
  });

  it("stamps a directory when a name in it comes, goes or moves", () => {
    let now = START;
    const guest = newGuest({ clock: () => now });
    const stamps = [
      () => guest.file("file"),
      () => guest.rename("file", "other"),
      () => guest.path("path_unlink_file", "other"),
    ].map((change) => {
      now += 1_000_000n;
      change();
      return guest.mustStat(".").modified;
    });

    expect(stamps).toEqual([START + 1_000_000n, START + 2_000_000n, START + 3_000_000n]);
  });
});

describe("fd_prestat", () => {
  it("tells the names of what was open from the start, and of nothing else", () => {
    const guest = newGuest({ preopens: { "/": "/", "/ä": "/" } });

    expect(guest.call("fd_prestat_get", 4, 64)).toBe("ok");
    expect([guest.view.getUint32(64, true), guest.view.getUint32(68, true)]).toEqual([0, 3]);
    expect(guest.call("fd_prestat_dir_name", 4, 128, 3)).toBe("ok");
    expect(guest.slice(128, 3)).toBe("/ä");
    expect(guest.call("fd_prestat_dir_name", 4, 128, 2)).toBe("ENAMETOOLONG");
    expect(guest.call("fd_prestat_get", 5, 64)).toBe("EBADF");
    expect(guest.call("fd_prestat_get", 0, 64)).toBe("EBADF");
    expect(guest.call("fd_prestat_dir_name", 1, 128, 3)).toBe("EBADF");
  });
});

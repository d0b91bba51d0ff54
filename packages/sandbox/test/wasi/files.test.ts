import { describe, expect, it } from "vitest";
import * as rights from "../../src/wasi/rights.js";
import { APPEND, newGuest, O, ROOT } from "./guest.js";

describe("fd_read and fd_write", () => {
  it("scatter and gather, and move the position", () => {
    const guest = newGuest();
    const fd = guest.mustOpen("file", { flags: O.create });

    expect(guest.write(fd, "one ", "", "two ", "three")).toBe(13);
    expect(guest.tell(fd)).toBe(13n);
    expect(guest.seek(fd, 4n, "set")).toBe(4n);
    expect(guest.read(fd, 2, 3, 100)).toBe("two three");
    expect(guest.read(fd, 10)).toBe("");
  });

  it("keep two descriptors of a file apart", () => {
    const guest = newGuest();
    const first = guest.mustOpen("file", { flags: O.create });
    const second = guest.mustOpen("file");

    guest.write(first, "content");

    expect(guest.read(second, 3)).toBe("con");
    expect(guest.tell(first)).toBe(7n);
    expect(guest.tell(second)).toBe(3n);
  });

  it("fill a hole with zeros, also where there was something once", () => {
    const guest = newGuest();
    const fd = guest.mustOpen("file", { flags: O.create });
    guest.write(fd, "secret text");
    guest.call("fd_filestat_set_size", fd, 0n);

    guest.seek(fd, 6n, "set");
    guest.write(fd, "x");

    expect(guest.readAt(fd, 0n, 20)).toBe("\0\0\0\0\0\0x");
  });

  it("append at the end, wherever the position is, until the flag is taken off", () => {
    const guest = newGuest();
    guest.file("file", "start ");
    const fd = guest.mustOpen("file", { fdFlags: APPEND });

    guest.write(fd, "more ");
    guest.seek(fd, 0n, "set");
    guest.write(fd, "end");
    guest.call("fd_fdstat_set_flags", fd, 0);
    guest.seek(fd, 0n, "set");
    guest.write(fd, "S");

    expect(guest.readAt(fd, 0n, 40)).toBe("Start more end");
  });

  it("go through files of a megabyte, written in pieces", () => {
    const guest = newGuest();
    const fd = guest.mustOpen("file", { flags: O.create });
    const piece = "0123456789abcdef".repeat(256);
    for (let index = 0; index < 256; index++) guest.write(fd, piece);

    expect(guest.mustStat(fd).size).toBe(1_048_576n);
    expect(guest.readAt(fd, 1_048_560n, 64)).toBe("0123456789abcdef");
    expect(guest.readAt(fd, 4090n, 12)).toBe("abcdef012345");
  });

  it("need the right, a file or a stream, and an open descriptor", () => {
    const guest = newGuest();
    guest.file("file", "content");
    const readable = guest.mustOpen("file", { rights: rights.FD_READ });
    const writable = guest.mustOpen("file", { rights: rights.FD_WRITE });

    expect(guest.write(readable, "x")).toBe("ENOTCAPABLE");
    expect(guest.read(writable, 1)).toBe("ENOTCAPABLE");
    expect(guest.read(ROOT, 1)).toBe("EBADF");
    expect(guest.write(ROOT, "x")).toBe("EBADF");
    expect(guest.read(99, 1)).toBe("EBADF");
    expect(guest.write(99, "x")).toBe("EBADF");
  });
});

describe("fd_pread and fd_pwrite", () => {
  it("leave the position alone", () => {
    const guest = newGuest();
    const fd = guest.mustOpen("file", { flags: O.create });
    guest.write(fd, "0123456789");

    expect(guest.writeAt(fd, 2n, "ab", "cd")).toBe(4);
    expect(guest.readAt(fd, 1n, 3, 3)).toBe("1abcd6");
    expect(guest.tell(fd)).toBe(10n);
    expect(guest.readAt(fd, 50n, 3)).toBe("");
  });

  it("refuse positions beyond what a file can have", () => {
    const guest = newGuest();
    const fd = guest.mustOpen("file", { flags: O.create });

    expect(guest.readAt(fd, -1n, 1)).toBe("EINVAL");
    expect(guest.writeAt(fd, -1n, "x")).toBe("EINVAL");
    expect(guest.writeAt(fd, 2n ** 62n, "x")).toBe("EINVAL");
    expect(guest.writeAt(fd, 2n ** 52n, "x")).toBe("ENOSPC");
  });

  it("need the right to seek, and something with a position", () => {
    const guest = newGuest();
    guest.file("file", "content");
    const fd = guest.mustOpen("file", { rights: rights.FD_READ | rights.FD_WRITE });

    expect(guest.readAt(fd, 0n, 1)).toBe("ENOTCAPABLE");
    expect(guest.writeAt(fd, 0n, "x")).toBe("ENOTCAPABLE");
    expect(guest.readAt(0, 0n, 1)).toBe("ESPIPE");
    expect(guest.writeAt(1, 0n, "x")).toBe("ESPIPE");
    expect(guest.readAt(ROOT, 0n, 1)).toBe("EBADF");
  });
});

describe("fd_seek and fd_tell", () => {
  it("count from the start, from here and from the end, also beyond it", () => {
    const guest = newGuest();
    const fd = guest.mustOpen("file", { flags: O.create });
    guest.write(fd, "0123456789");

    expect(guest.seek(fd, -3n, "end")).toBe(7n);
    expect(guest.seek(fd, -2n, "current")).toBe(5n);
    expect(guest.seek(fd, 100n, "end")).toBe(110n);
    expect(guest.tell(fd)).toBe(110n);
    expect(guest.read(fd, 1)).toBe("");
    expect(guest.mustStat(fd).size).toBe(10n);
  });

  it("stay where they are when the place is impossible", () => {
    const guest = newGuest();
    const fd = guest.mustOpen("file", { flags: O.create });
    guest.write(fd, "0123");

    expect(guest.seek(fd, -5n, "end")).toBe("EINVAL");
    expect(guest.seek(fd, -1n, "set")).toBe("EINVAL");
    expect(guest.seek(fd, 2n ** 63n - 1n, "current")).toBe("EINVAL");
    expect(guest.call("fd_seek", fd, 0n, 3, 64)).toBe("EINVAL");
    expect(guest.tell(fd)).toBe(4n);
  });

  it("write all 53 bits of a position", () => {
    const guest = newGuest();
    const fd = guest.mustOpen("file", { flags: O.create });

    expect(guest.seek(fd, 0x1f_1234_5678_9abcn, "set")).toBe(0x1f_1234_5678_9abcn);
    expect(guest.tell(fd)).toBe(0x1f_1234_5678_9abcn);
  });

  it("need their rights; asking for the position is telling", () => {
    const guest = newGuest();
    guest.file("file", "content");
    const telling = guest.mustOpen("file", { rights: rights.FD_TELL });
    const seeking = guest.mustOpen("file", { rights: rights.FD_SEEK });

    expect(guest.tell(telling)).toBe(0n);
    expect(guest.seek(telling, 0n, "current")).toBe(0n);
    expect(guest.seek(telling, 1n, "current")).toBe("ENOTCAPABLE");
    expect(guest.tell(seeking)).toBe("ENOTCAPABLE");
    expect(guest.seek(seeking, 1n, "set")).toBe(1n);
  });

  it("mean nothing to directories and streams", () => {
    const guest = newGuest();

    expect(guest.seek(ROOT, 0n, "current")).toBe("EBADF");
    expect(guest.tell(ROOT)).toBe("EBADF");
    expect(guest.seek(0, 0n, "current")).toBe("ESPIPE");
    expect(guest.tell(1)).toBe("ESPIPE");
  });
});

describe("the size of a file", () => {
  it("is set, and what is new reads as zeros", () => {
    const guest = newGuest();
    const fd = guest.mustOpen("file", { flags: O.create });
    guest.write(fd, "0123456789");

    expect(guest.call("fd_filestat_set_size", fd, 4n)).toBe("ok");
    expect(guest.call("fd_filestat_set_size", fd, 6n)).toBe("ok");

    expect(guest.readAt(fd, 0n, 20)).toBe("0123\0\0");
    expect(guest.tell(fd)).toBe(10n);
  });

  it("leaves nothing of what was cut off a little", () => {
    const guest = newGuest();
    const fd = guest.mustOpen("file", { flags: O.create });
    guest.write(fd, "x".repeat(1000));

    guest.call("fd_filestat_set_size", fd, 990n);
    guest.call("fd_filestat_set_size", fd, 995n);

    expect(guest.readAt(fd, 988n, 50)).toBe("xx\0\0\0\0\0");
  });

  it("grows by allocation and never shrinks by it", () => {
    const guest = newGuest();
    const fd = guest.mustOpen("file", { flags: O.create });

    expect(guest.call("fd_allocate", fd, 0n, 100n)).toBe("ok");
    expect(guest.call("fd_allocate", fd, 10n, 10n)).toBe("ok");
    expect(guest.mustStat(fd).size).toBe(100n);
    expect(guest.call("fd_allocate", fd, 90n, 20n)).toBe("ok");
    expect(guest.mustStat(fd).size).toBe(110n);
    expect(guest.call("fd_allocate", fd, 0n, 0n)).toBe("EINVAL");
    expect(guest.call("fd_allocate", fd, -1n, 1n)).toBe("EINVAL");
  });

  it("needs the rights, and a file", () => {
    const guest = newGuest();
    guest.file("file");
    const fd = guest.mustOpen("file", { rights: rights.FD_READ | rights.FD_WRITE });

    expect(guest.call("fd_filestat_set_size", fd, 4n)).toBe("ENOTCAPABLE");
    expect(guest.call("fd_allocate", fd, 0n, 4n)).toBe("ENOTCAPABLE");
    expect(guest.call("fd_filestat_set_size", ROOT, 4n)).toBe("EBADF");
    expect(guest.call("fd_allocate", ROOT, 0n, 4n)).toBe("EBADF");
    expect(guest.call("fd_filestat_set_size", fd, -4n)).toBe("ENOTCAPABLE");
  });
});

describe("fd_sync, fd_datasync and fd_advise", () => {
  it("have nothing to do, and check what they are given", () => {
    const guest = newGuest();
    const fd = guest.mustOpen("file", { flags: O.create });
    const bare = guest.mustOpen("file", { rights: 0 });

    expect(guest.call("fd_sync", fd)).toBe("ok");
    expect(guest.call("fd_datasync", fd)).toBe("ok");
    expect(guest.call("fd_sync", bare)).toBe("ENOTCAPABLE");
    expect(guest.call("fd_datasync", bare)).toBe("ENOTCAPABLE");
    expect(guest.call("fd_advise", fd, 0n, 10n, 5)).toBe("ok");
    expect(guest.call("fd_advise", fd, 0n, 10n, 6)).toBe("EINVAL");
    expect(guest.call("fd_advise", fd, -1n, 10n, 0)).toBe("EINVAL");
    expect(guest.call("fd_advise", bare, 0n, 10n, 0)).toBe("ENOTCAPABLE");
    expect(guest.call("fd_advise", ROOT, 0n, 10n, 0)).toBe("EBADF");
  });
});

describe("a file without a name", () => {
  it("lives until it is closed", () => {
    const guest = newGuest();
    guest.file("file", "content");
    const fd = guest.mustOpen("file");

    expect(guest.path("path_unlink_file", "file")).toBe("ok");

    expect(guest.open("file")).toBe("ENOENT");
    expect(guest.read(fd, 20)).toBe("content");
    expect(guest.write(fd, "!")).toBe(1);
    expect(guest.mustStat(fd)).toMatchObject({ links: 0n, size: 8n });
    guest.file("file", "another");
    expect(guest.readAt(fd, 0n, 20)).toBe("content!");
    expect(guest.call("fd_close", fd)).toBe("ok");
    expect(guest.read(fd, 1)).toBe("EBADF");
  });
});

describe("fd_close and fd_renumber", () => {
  it("give the lowest number that is free", () => {
    const guest = newGuest();
    const [first, second] = [guest.mustOpen(".", { flags: O.directory }), guest.mustOpen(".", { flags: O.directory })];
    expect([first, second]).toEqual([4, 5]);

    expect(guest.call("fd_close", first)).toBe("ok");
    expect(guest.call("fd_close", first)).toBe("EBADF");

    expect(guest.mustOpen(".", { flags: O.directory })).toBe(first);
  });

  it("move a descriptor with its position, and close what was there", () => {
    const guest = newGuest();
    guest.file("file", "0123456789");
    const from = guest.mustOpen("file");
    const to = guest.mustOpen(".", { flags: O.directory });
    guest.read(from, 4);

    expect(guest.call("fd_renumber", from, to)).toBe("ok");

    expect(guest.read(to, 2)).toBe("45");
    expect(guest.read(from, 1)).toBe("EBADF");
  });

  it("move to a number that is free, to itself, and nowhere else", () => {
    const guest = newGuest();
    const before = guest.host.descriptors;

    expect(guest.call("fd_renumber", ROOT, ROOT)).toBe("ok");
    expect(guest.call("fd_renumber", ROOT, 103)).toBe("ok");
    expect(guest.fdstat(ROOT)).toBe("EBADF");
    expect(guest.fdstat(103)).toMatchObject({ type: 3 });
    expect(guest.call("fd_renumber", 50, 103)).toBe("EBADF");
    expect(guest.call("fd_renumber", 103, -1)).toBe("EBADF");
    expect(guest.call("fd_renumber", 103, 1_000_000)).toBe("EBADF");
    expect(guest.host.descriptors).toBe(before);
  });

  it("move a directory that was open from the start", () => {
    const guest = newGuest();
    const fd = guest.mustOpen(".", { flags: O.directory });

    expect(guest.call("fd_renumber", fd, ROOT)).toBe("ok");
    expect(guest.call("fd_prestat_get", ROOT, 64)).toBe("EBADF");
    expect(guest.open(".", { fd: ROOT, flags: O.directory })).toBeTypeOf("number");
    expect(guest.call("fd_close", ROOT)).toBe("ok");
    expect(guest.open(".", { fd: ROOT })).toBe("EBADF");
  });
});

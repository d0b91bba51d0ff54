import { describe, expect, it } from "vitest";
import { newGuest, O, ROOT } from "./guest.js";

describe("the limit of bytes written", () => {
  it("holds in every call that makes a file larger, and counts what was overwritten", () => {
    const guest = newGuest({ limits: { bytesWritten: 100 } });
    const fd = guest.mustOpen("file", { flags: O.create });

    expect(guest.write(fd, "x".repeat(60))).toBe(60);
    expect(guest.writeAt(fd, 0n, "x".repeat(20))).toBe(20);
    expect(guest.host.bytesWritten).toBe(80);
    expect(guest.write(fd, "x".repeat(21))).toBe("ENOSPC");
    expect(guest.writeAt(fd, 0n, "x".repeat(21))).toBe("ENOSPC");
    expect(guest.writeAt(fd, 80n, "x")).toBe("ENOSPC");
    expect(guest.call("fd_allocate", fd, 0n, 81n)).toBe("ENOSPC");
    expect(guest.call("fd_filestat_set_size", fd, 81n)).toBe("ENOSPC");
    expect(guest.call("fd_filestat_set_size", fd, 2n ** 50n)).toBe("ENOSPC");
    expect(guest.symlink("x".repeat(21), "link")).toBe("ENOSPC");
    expect(guest.mustStat(fd).size).toBe(60n);
    expect(guest.call("fd_allocate", fd, 0n, 80n)).toBe("ok");
    expect(guest.host.bytesWritten).toBe(100);
    expect(guest.write(fd, "x")).toBe("ENOSPC");
  });

  it("is not got around by truncating and writing again", () => {
    const guest = newGuest({ limits: { bytesWritten: 100 } });
    for (let round = 0; round < 10; round++) guest.file("file", "0123456789");

    expect(guest.host.bytesWritten).toBe(100);
    expect(guest.write(guest.mustOpen("file"), "x")).toBe("ENOSPC");
  });

  it("lets nothing of a write through that does not fit as a whole", () => {
    const guest = newGuest({ limits: { bytesWritten: 10 } });
    const fd = guest.mustOpen("file", { flags: O.create });

    expect(guest.write(fd, "12345", "123456")).toBe("ENOSPC");
    expect(guest.mustStat(fd).size).toBe(0n);
    expect(guest.host.bytesWritten).toBe(0);
  });

  it("can be moved while the guest is running", () => {
    const guest = newGuest({ limits: { bytesWritten: 4 } });
    const fd = guest.mustOpen("file", { flags: O.create });
    guest.write(fd, "1234");

    guest.host.vfs.limit({ bytesWritten: 8 });

    expect(guest.write(fd, "5678")).toBe(4);
    expect(guest.write(fd, "9")).toBe("ENOSPC");
  });
});

describe("the limit of files", () => {
  it("counts every name, and gives it back when the name is gone", () => {
    const guest = newGuest({ limits: { files: 4 } });
    guest.file("file");
    expect(guest.path("path_create_directory", "dir")).toBe("ok");
    expect(guest.symlink("x", "link")).toBe("ok");
    expect(guest.link("file", "second")).toBe("ok");

    expect(guest.open("more", { flags: O.create })).toBe("ENOSPC");
    expect(guest.path("path_create_directory", "more")).toBe("ENOSPC");
    expect(guest.symlink("x", "more")).toBe("ENOSPC");
    expect(guest.link("file", "more")).toBe("ENOSPC");

    expect(guest.rename("file", "link")).toBe("ok");
    expect(guest.open("more", { flags: O.create })).toBeTypeOf("number");
    expect(guest.path("path_unlink_file", "second")).toBe("ok");
    expect(guest.path("path_remove_directory", "dir")).toBe("ok");
    expect(guest.host.vfs.storage.files).toBe(2);
  });

  it("counts an open file without a name until it is closed", () => {
    const guest = newGuest({ limits: { files: 1 } });
    const fd = guest.mustOpen("file", { flags: O.create });
    guest.path("path_unlink_file", "file");

    expect(guest.open("other", { flags: O.create })).toBe("ENOSPC");
    guest.call("fd_close", fd);
    expect(guest.open("other", { flags: O.create })).toBeTypeOf("number");
  });

  it("counts an open file that another was renamed over", () => {
    const guest = newGuest({ limits: { files: 2 } });
    guest.file("a");
    guest.file("b");
    const fd = guest.mustOpen("b");

    expect(guest.rename("a", "b")).toBe("ok");
    expect(guest.open("c", { flags: O.create })).toBe("ENOSPC");
    guest.call("fd_close", fd);
    expect(guest.open("c", { flags: O.create })).toBeTypeOf("number");
  });
});

describe("the limit of descriptors", () => {
  it("holds, creates nothing when it is reached, and is given back", () => {
    const guest = newGuest({ limits: { descriptors: 6 } });
    const first = guest.mustOpen(".", { flags: O.directory });
    guest.mustOpen(".", { flags: O.directory });

    expect(guest.open("file", { flags: O.create })).toBe("EMFILE");
    expect(guest.stat("file")).toBe("ENOENT");
    guest.call("fd_close", first);
    expect(guest.open("file", { flags: O.create })).toBe(first);
  });
});

describe("the limit of output", () => {
  it("keeps the beginning, says so, and does not tell the guest", () => {
    const heard: string[] = [];
    const guest = newGuest({
      limits: { stdoutBytes: 10, stderrBytes: 5 },
      stdout: (chunk) => heard.push(Buffer.from(chunk).toString()),
    });

    expect(guest.write(1, "12345", "67")).toBe(7);
    expect(guest.host.stdout.truncated).toBe(false);
    expect(guest.write(1, "89abcdef")).toBe(8);
    expect(guest.write(1, "more")).toBe(4);
    expect(guest.write(2, "error!")).toBe(6);

    expect(guest.host.stdout.text()).toBe("123456789a");
    expect(guest.host.stdout).toMatchObject({ truncated: true, dropped: 9 });
    expect(guest.host.stderr.text()).toBe("error");
    expect(heard.join("")).toBe("123456789a");
    guest.host.stdout.clear();
    guest.write(1, "anew");
    expect([guest.host.stdout.text(), guest.host.stdout.truncated]).toEqual(["anew", false]);
  });

  it("does not show half a character at the cut", () => {
    for (const [text, limit, kept] of [
      ["aä", 2, "a"],
      ["aä", 3, "aä"],
      ["a€b", 3, "a"],
      ["a😀", 4, "a"],
      ["a😀b", 5, "a😀"],
    ] as const) {
      const guest = newGuest({ limits: { stdoutBytes: limit } });
      guest.write(1, `${text}...`);
      expect(guest.host.stdout.text()).toBe(kept);
    }
  });
});

describe("what a call charges", () => {
  it("is 1,000 and the bytes it moves", () => {
    let units = 0;
    const guest = newGuest({ args: ["abc"], charge: (more) => (units += more) });
    const costOf = (call: () => unknown): number => {
      units = 0;
      call();
      return units;
    };
    guest.file("file", "0123456789");
    const fd = guest.mustOpen("file");

    expect(costOf(() => guest.call("sched_yield"))).toBe(1000);
    expect(costOf(() => guest.call("fd_close", 99))).toBe(1000);
    expect(costOf(() => guest.read(fd, 4))).toBe(1004);
    expect(costOf(() => guest.read(fd, 100))).toBe(1006);
    expect(costOf(() => guest.read(fd, 100))).toBe(1000);
    expect(costOf(() => guest.write(fd, "abc", "de"))).toBe(1005);
    expect(costOf(() => guest.write(1, "abc"))).toBe(1003);
    expect(costOf(() => guest.writeAt(fd, 0n, "abc"))).toBe(1003);
    expect(costOf(() => guest.readAt(fd, 0n, 3))).toBe(1003);
    expect(costOf(() => guest.call("random_get", 0, 500))).toBe(1500);
    expect(costOf(() => guest.call("args_get", 128, 256))).toBe(1004);
    expect(costOf(() => guest.stat("file"))).toBe(1004);
    expect(costOf(() => guest.seek(fd, 0n, "set"))).toBe(1000);
    expect(costOf(() => guest.rename("file", "other"))).toBe(1009);
  });

  it("stops the guest before anything was done, when nothing is left", () => {
    let left = 0;
    const guest = newGuest({
      charge: (units) => {
        left -= units;
        if (left < 0) throw new Error("out of fuel");
      },
    });

    left = 10_000;
    const fd = guest.mustOpen("file", { flags: O.create });
    left = 1002;
    expect(() => guest.write(fd, "12345")).toThrow("out of fuel");
    left = 999;
    expect(() => guest.path("path_unlink_file", "file")).toThrow("out of fuel");
    left = 1_000_000;
    expect(guest.mustStat("file", { fd: ROOT }).size).toBe(0n);
  });
});

describe("devices", () => {
  it("read and write through their callbacks, at their place", () => {
    const written: string[] = [];
    const device = {
      read: (into: Uint8Array) => into.length && Buffer.from("reply").copy(into),
      write: (chunk: Uint8Array) => void written.push(Buffer.from(chunk).toString()),
    };
    const guest = newGuest({ devices: { "/dev/control": device } });
    const fd = guest.mustOpen("dev/control");

    expect(guest.write(fd, "one", "two")).toBe(6);
    expect(guest.read(fd, 20)).toBe("reply");
    expect(written).toEqual(["one", "two"]);
    expect(guest.mustStat("dev/control")).toMatchObject({ type: 2, size: 0n });
    expect(guest.seek(fd, 0n, "current")).toBe("ESPIPE");
  });

  it("cannot be removed, renamed or replaced, nor can the way to them", () => {
    const guest = newGuest({ devices: { "/dev/control": {} } });
    guest.file("file");
    guest.path("path_create_directory", "dir");

    expect(guest.path("path_unlink_file", "dev/control")).toBe("EBUSY");
    expect(guest.path("path_remove_directory", "dev")).toBe("EBUSY");
    expect(guest.rename("dev/control", "mine")).toBe("EBUSY");
    expect(guest.rename("dev", "mine")).toBe("EBUSY");
    expect(guest.rename("file", "dev/control")).toBe("EBUSY");
    expect(guest.rename("dir", "dev")).toBe("EBUSY");
    expect(guest.link("dev/control", "mine")).toBe("EXDEV");
    expect(guest.open("dev/control", { flags: O.truncate })).toBeTypeOf("number");
  });

  it("grant only what they can do, and do not miscount", () => {
    const guest = newGuest({
      devices: { "/dev/in": { read: () => 1000 }, "/dev/out": { write: () => undefined } },
    });
    const [input, output] = [guest.mustOpen("dev/in"), guest.mustOpen("dev/out")];

    expect(guest.read(input, 10)).toBe("EIO");
    expect(guest.write(input, "x")).toBe("ENOTCAPABLE");
    expect(guest.read(output, 10)).toBe("ENOTCAPABLE");
    expect(guest.write(output, "x")).toBe(1);
  });

  it("suspend the guest by throwing", () => {
    class Suspended extends Error {}
    const guest = newGuest({
      devices: {
        "/dev/control": {
          write: () => {
            throw new Suspended();
          },
        },
      },
    });

    expect(() => guest.write(guest.mustOpen("dev/control"), "x")).toThrow(Suspended);
  });

  it("look like a terminal to a C library only when they are said to be one", () => {
    const SEEK_OR_TELL = (1 << 2) | (1 << 5);
    for (const terminal of [false, true]) {
      const fdstat = newGuest({ terminal }).fdstat(1);
      if (typeof fdstat === "string") throw new Error(fdstat);
      expect((fdstat.rights & SEEK_OR_TELL) === 0).toBe(terminal);
    }
  });
});

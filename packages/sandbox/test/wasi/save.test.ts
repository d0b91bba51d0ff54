import { deserialize, serialize } from "node:v8";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { SavedHost } from "../../src/wasi/saved-host.js";
import { Vfs } from "../../src/wasi/vfs.js";
import { APPEND, type Guest, newGuest, O, ROOT, restoredGuest } from "./guest.js";

/** As it would travel to a disk and back. */
function stored(saved: SavedHost): SavedHost {
  return deserialize(serialize(saved));
}

describe("a saved host", () => {
  it("comes back with open files, positions, flags and rights", () => {
    const guest = newGuest();
    const fd = guest.mustOpen("file", { flags: O.create, fdFlags: APPEND });
    guest.write(fd, "0123456789");
    guest.seek(fd, 4n, "set");
    const narrow = guest.mustOpen("file", { rights: 2 });
    guest.call("fd_renumber", narrow, 40);

    const again = restoredGuest(stored(guest.host.save()));

    expect(again.fdstat(fd)).toEqual(guest.fdstat(fd));
    expect(again.fdstat(40)).toEqual(guest.fdstat(40));
    expect(again.read(fd, 3)).toBe("456");
    expect(again.write(fd, "end")).toBe(3);
    expect(again.readAt(fd, 0n, 50)).toBe("0123456789end");
    expect(again.host.descriptors).toBe(guest.host.descriptors);
    expect(again.call("fd_prestat_get", ROOT, 64)).toBe("ok");
  });

  it("comes back with files that have lost their name, and with two names of one file", () => {
    const guest = newGuest();
    guest.file("lost", "lost content");
    const fd = guest.mustOpen("lost");
    guest.path("path_unlink_file", "lost");
    guest.file("one", "shared");
    guest.link("one", "two");

    const again = restoredGuest(stored(guest.host.save()));

    expect(again.read(fd, 50)).toBe("lost content");
    expect(again.mustStat(fd).links).toBe(0n);
    const one = again.mustOpen("one");
    again.write(one, "SHARED");
    expect(again.read(again.mustOpen("two"), 50)).toBe("SHARED");
    expect(again.mustStat("two").links).toBe(2n);
    const before = again.host.vfs.storage.files;
    again.call("fd_close", fd);
    expect(again.host.vfs.storage.files).toBe(before - 1);
  });

  it("comes back in the middle of a listing", () => {
    const guest = newGuest();
    for (let index = 0; index < 30; index++) guest.file(`file${index}`);
    guest.path("path_unlink_file", "file3");
    const fd = guest.mustOpen(".", { flags: O.directory });
    const first = guest.readdir(fd, 0n, 300);
    if (typeof first === "string") throw new Error(first);
    const cookie = first.entries.at(-1)?.next ?? 0n;

    const again = restoredGuest(stored(guest.host.save()));

    expect(again.readdir(fd, cookie)).toEqual(guest.readdir(fd, cookie));
  });

  it("comes back with its clock, its randomness, its input and its output", () => {
    const options = {
      clock: { kind: "fixed", startNs: 10n ** 18n, stepNs: 7n },
      random: { kind: "seeded", seed: "s" },
      limits: { stdoutBytes: 8 },
    } as const;
    const guest = newGuest({ ...options, stdin: Buffer.from("0123456789"), args: ["a"], env: { B: "c" } });
    guest.read(0, 4);
    guest.write(1, "0123456789");
    guest.call("clock_time_get", 0, 0n, 64);
    guest.call("random_get", 0, 13);

    const again = restoredGuest(stored(guest.host.save()), options);

    for (const each of [guest, again]) {
      for (const [name, ...args] of [
        ["clock_time_get", 0, 0n, 1000],
        ["clock_time_get", 1, 0n, 1008],
        ["random_get", 1016, 100],
        ["args_get", 1200, 1300],
        ["environ_get", 1400, 1500],
      ] as const) {
        expect(each.call(name, ...args)).toBe("ok");
      }
    }
    expect(again.slice(1000, 600)).toBe(guest.slice(1000, 600));
    expect(again.read(0, 50)).toBe("456789");
    expect(again.host.stdout.text()).toBe("01234567");
    expect(again.host.stdout.dropped).toBe(2);
  });

  it("lets running time go on, and never back, on another machine's clock", () => {
    const guest = newGuest({ clock: () => 5_000_000n });
    const early = newGuest({ clock: () => 0n });
    const saved = { ...early.host.save(), clock: { realtimeNs: 0n, monotonicNs: 999n } };
    const again = restoredGuest(saved, { clock: () => 77n });

    again.call("clock_time_get", 1, 0n, 64);

    expect(again.view.getBigUint64(64, true)).toBe(999n);
    expect(guest.host.save().clock.monotonicNs).toBe(0n);
  });

  it("is not reached by what the guest does later, and can be restored more than once", () => {
    const guest = newGuest();
    guest.file("file", "before");
    const open = guest.mustOpen("file");
    const saved = guest.host.save();

    guest.writeAt(open, 0n, "after!");
    const [first, second] = [restoredGuest(saved), restoredGuest(saved)];
    first.write(first.mustOpen("file"), "FIRST");

    expect(second.read(second.mustOpen("file"), 50)).toBe("before");
    expect(first.read(first.mustOpen("file"), 50)).toBe("FIRSTe");
    expect(guest.read(guest.mustOpen("file"), 50)).toBe("after!");
  });

  it("names its mounts and devices, which are given again", () => {
    const tree = { entries: () => [{ name: "a", kind: "file", size: 3 } as const], read: () => Buffer.from("abc") };
    const mounts = { "/lib/tree": { kind: "tree", tree } } as const;
    const written: string[] = [];
    const devices = {
      "/dev/control": { write: (chunk: Uint8Array) => void written.push(Buffer.from(chunk).toString()) },
    };
    const guest = newGuest({ vfs: new Vfs({ mounts }), devices });
    const [file, device] = [guest.mustOpen("lib/tree/a", { rights: 0x22 }), guest.mustOpen("dev/control")];
    guest.read(file, 1);

    const again = restoredGuest(stored(guest.host.save()), { mounts, devices });

    expect(again.read(file, 9)).toBe("bc");
    again.write(device, "hello");
    expect(written).toEqual(["hello"]);
    expect(again.mustStat("lib/tree/a")).toEqual(guest.mustStat("lib/tree/a"));
    expect(again.mustStat("dev/control")).toEqual(guest.mustStat("dev/control"));
    expect(again.path("path_unlink_file", "dev/control")).toBe("EBUSY");
    expect(again.rename("lib", "mine")).toBe("EBUSY");
    expect(() => restoredGuest(guest.host.save(), { mounts })).toThrow("/dev/control");
  });

  it("that is damaged or of another version is refused", () => {
    const saved = newGuest().host.save();

    expect(() => restoredGuest({ ...saved, version: 2 } as unknown as SavedHost)).toThrow("version 2");
    expect(() => restoredGuest({ ...saved, vfs: { ...saved.vfs, inodes: [] } })).toThrow("damaged");
    const [first] = saved.descriptors;
    if (first === undefined) throw new Error("no descriptors");
    const astray = { ...first, target: { kind: "inode", at: 99 } } as const;
    expect(() => restoredGuest({ ...saved, descriptors: [astray] })).toThrow("damaged");
  });
});

type Call = (guest: Guest) => unknown;

const fd = fc.integer({ min: 3, max: 9 });
const name = fc.constantFrom("a", "b", "c", "a/a", "a/b", "b/a", "link", "link/a", "a/", "..", "a/../b");
const call: fc.Arbitrary<Call> = fc.oneof(
  fc.tuple(fd, name, fc.nat(15), fc.nat(1), fc.boolean()).map(
    ([fd, path, flags, fdFlags, follow]): Call =>
      (guest) =>
        guest.open(path, { fd, flags, fdFlags, follow }),
  ),
  fc.tuple(fd, fc.string({ maxLength: 30 })).map(
    ([fd, text]): Call =>
      (guest) =>
        guest.write(fd, text),
  ),
  fc.tuple(fd, fc.nat(20)).map(
    ([fd, length]): Call =>
      (guest) =>
        guest.read(fd, length),
  ),
  fc.tuple(fd, fc.nat(60)).map(
    ([fd, at]): Call =>
      (guest) =>
        guest.seek(fd, BigInt(at) - 10n, "current"),
  ),
  fc.tuple(fd, fc.nat(60)).map(
    ([fd, size]): Call =>
      (guest) =>
        guest.call("fd_filestat_set_size", fd, BigInt(size)),
  ),
  fc.tuple(fd, fc.nat(8), fc.nat(120)).map(
    ([fd, cookie, size]): Call =>
      (guest) =>
        guest.readdir(fd, BigInt(cookie), size),
  ),
  fd.map(
    (fd): Call =>
      (guest) =>
        guest.call("fd_close", fd),
  ),
  fc.tuple(fd, fd).map(
    ([from, to]): Call =>
      (guest) =>
        guest.call("fd_renumber", from, to),
  ),
  fc.tuple(fd, name, name).map(
    ([fd, from, to]): Call =>
      (guest) =>
        guest.rename(from, to, fd, ROOT),
  ),
  fc.tuple(name, name).map(
    ([from, to]): Call =>
      (guest) =>
        guest.link(from, to),
  ),
  fc.tuple(name, name).map(
    ([target, path]): Call =>
      (guest) =>
        guest.symlink(target, path),
  ),
  fc.tuple(name, fd).map(
    ([path, fd]): Call =>
      (guest) =>
        guest.path("path_create_directory", path, fd),
  ),
  name.map(
    (path): Call =>
      (guest) =>
        guest.path("path_unlink_file", path),
  ),
  name.map(
    (path): Call =>
      (guest) =>
        guest.path("path_remove_directory", path),
  ),
  fc.tuple(name, fc.boolean()).map(
    ([path, follow]): Call =>
      (guest) =>
        guest.stat(path, { follow }),
  ),
  fd.map(
    (fd): Call =>
      (guest) =>
        guest.stat(fd),
  ),
  fd.map(
    (fd): Call =>
      (guest) =>
        guest.fdstat(fd),
  ),
  fc.constant<Call>((guest) => guest.call("random_get", 0, 8) && guest.slice(0, 8)),
);

it("whatever a guest has done, saving and restoring it in between changes nothing", () => {
  const options = {
    clock: { kind: "fixed", startNs: 10n ** 18n, stepNs: 1n },
    random: { kind: "seeded", seed: "property" },
    limits: { bytesWritten: 600, files: 12, descriptors: 10 },
  } as const;
  fc.assert(
    fc.property(fc.array(call, { maxLength: 60 }), fc.array(call, { maxLength: 60 }), (before, after) => {
      const plain = newGuest({ ...options, vfs: new Vfs({ now: () => 0 }) });
      for (const each of before) each(plain);
      const mark = plain.host.vfs.mark();
      const again = restoredGuest(stored(plain.host.save()), options);
      for (const each of after) expect(each(again)).toEqual(each(plain));
      expect(stored(again.host.save())).toEqual(stored(plain.host.save()));
      expect(again.host.vfs.changes(mark)).toEqual(plain.host.vfs.changes(mark));
    }),
    { numRuns: 600 },
  );
});

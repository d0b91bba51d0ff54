import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { ProcExit } from "../../src/wasi/proc-exit.js";
import { type Guest, newGuest, O } from "./guest.js";

/** The parameters of every call: i for 32 bits, I for 64. */
const SIGNATURES: Readonly<Record<string, string>> = {
  args_get: "ii",
  args_sizes_get: "ii",
  clock_res_get: "ii",
  clock_time_get: "iIi",
  environ_get: "ii",
  environ_sizes_get: "ii",
  fd_advise: "iIIi",
  fd_allocate: "iII",
  fd_close: "i",
  fd_datasync: "i",
  fd_fdstat_get: "ii",
  fd_fdstat_set_flags: "ii",
  fd_fdstat_set_rights: "iII",
  fd_filestat_get: "ii",
  fd_filestat_set_size: "iI",
  fd_filestat_set_times: "iIIi",
  fd_pread: "iiiIi",
  fd_prestat_dir_name: "iii",
  fd_prestat_get: "ii",
  fd_pwrite: "iiiIi",
  fd_read: "iiii",
  fd_readdir: "iiiIi",
  fd_renumber: "ii",
  fd_seek: "iIii",
  fd_sync: "i",
  fd_tell: "ii",
  fd_write: "iiii",
  path_create_directory: "iii",
  path_filestat_get: "iiiii",
  path_filestat_set_times: "iiiiIIi",
  path_link: "iiiiiii",
  path_open: "iiiiiIIii",
  path_readlink: "iiiiii",
  path_remove_directory: "iii",
  path_rename: "iiiiii",
  path_symlink: "iiiii",
  path_unlink_file: "iii",
  poll_oneoff: "iiii",
  proc_exit: "i",
  proc_raise: "i",
  random_get: "ii",
  sched_yield: "",
  sock_accept: "iii",
  sock_recv: "iiiiii",
  sock_send: "iiiii",
  sock_shutdown: "ii",
};

const MEMORY = 4 * 65_536;
const number = fc.oneof(
  fc.constantFrom(0, 1, 2, 3, 4, 8, 24, 48, 64, 255, 1024, 1025, 4096, 4097, 65_536),
  fc.constantFrom(-1, -2, -8, 0x7fff_ffff, -0x8000_0000, MEMORY, MEMORY - 1, MEMORY - 4, MEMORY - 8, MEMORY + 1),
  fc.integer({ min: -0x8000_0000, max: 0x7fff_ffff }),
);
const long = fc.oneof(
  fc.constantFrom(0n, 1n, -1n, 2n ** 31n, 2n ** 53n, 2n ** 62n, 2n ** 63n - 1n, -(2n ** 63n)),
  fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }),
);
const call = fc
  .constantFrom(...Object.entries(SIGNATURES))
  .chain(([name, kinds]) =>
    fc.tuple(fc.constant(name), fc.tuple(...[...kinds].map((kind) => (kind === "I" ? long : number)))),
  );

describe("a hostile guest", () => {
  it("finds all calls of preview 1, and no others", () => {
    expect(Object.keys(newGuest().host.imports).sort()).toEqual(Object.keys(SIGNATURES).sort());
  });

  it("gets an errno for whatever it passes, and the host stays within its limits", () => {
    const memory = fc.array(fc.oneof(number, fc.constantFrom(0x2e2f_2e2e, 0x6161_6161)), { maxLength: 64 });
    fc.assert(
      fc.property(memory, fc.array(call, { minLength: 1, maxLength: 60 }), (words, calls) => {
        const limits = { bytesWritten: 100_000, files: 20, descriptors: 16, stdoutBytes: 1000, stderrBytes: 1000 };
        const guest = newGuest({ limits, sleep: () => undefined });
        guest.mustOpen("file", { flags: O.create });
        for (const [index, word] of words.entries()) guest.view.setInt32(index * 4, word, true);

        for (const [name, args] of calls) expect(attempt(guest, name, args)).toBeTypeOf("string");

        expect(guest.host.bytesWritten).toBeLessThanOrEqual(limits.bytesWritten);
        expect(guest.host.descriptors).toBeLessThanOrEqual(limits.descriptors);
        expect(guest.host.vfs.storage.files).toBeLessThanOrEqual(limits.files);
        expect(guest.host.stdout.bytes().length).toBeLessThanOrEqual(limits.stdoutBytes);
        guest.host.vfs.list("/");
        guest.host.save();
      }),
      { numRuns: 1500 },
    );
  });

  it("cannot make one call read or write more than 1,024 ranges, or more than 4 GiB", () => {
    const guest = newGuest({ limits: { bytesWritten: 1_000_000 } });
    const fd = guest.mustOpen("file", { flags: O.create });
    for (let index = 0; index < 1024; index++) {
      guest.view.setUint32(32_768 + index * 8, 0, true);
      guest.view.setUint32(32_768 + index * 8 + 4, MEMORY, true);
    }

    expect(guest.call("fd_write", fd, 32_768, 1025, 64)).toBe("EINVAL");
    expect(guest.call("fd_write", fd, 32_768, 0xffff_ffff, 64)).toBe("EINVAL");
    expect(guest.call("fd_write", fd, 32_768, -1, 64)).toBe("EINVAL");
    expect(guest.call("fd_write", fd, 32_768, 1024, 64)).toBe("ENOSPC");
    guest.memory.grow(600);
    for (let index = 0; index < 1024; index++) guest.view.setUint32(32_768 + index * 8 + 4, 8 * 1024 * 1024, true);
    expect(guest.call("fd_write", fd, 32_768, 1024, 64)).toBe("EINVAL");
    expect(guest.mustStat(fd).size).toBe(0n);
  });

  it("cannot change the list of ranges while it is being filled", () => {
    // The first range lies on the second one, which then claims to be elsewhere, or to be long.
    for (const [address, length] of [
      [0xf0f0_f0f0, 0xf0f0_f0f0],
      [4096, 100_000],
      [4096, 0],
    ] as const) {
      let units = 0;
      const content = new Uint8Array(200).fill(0x2e);
      const view = new DataView(content.buffer);
      view.setUint32(0, address, true);
      view.setUint32(4, length, true);
      const guest = newGuest({ stdin: content, charge: (more) => (units += more) });
      const fd = guest.mustOpen("file", { flags: O.create });
      guest.write(fd, content);
      guest.seek(fd, 0n, "set");

      for (const source of [fd, 0]) {
        for (const [index, word] of [1032, 8, 4096, 64].entries()) guest.view.setUint32(1024 + index * 4, word, true);
        units = 0;
        expect(guest.call("fd_read", source, 1024, 2, 64)).toBe(length > 100_000 ? "EFAULT" : "ok");
        expect(units).toBeLessThanOrEqual(1000 + 72);
        expect(guest.bytes[4096 + 64]).toBe(0);
      }
    }
  });

  it("changes nothing when the answer would not fit into its memory", () => {
    const guest = newGuest();
    const fd = guest.mustOpen("file", { flags: O.create });
    guest.view.setUint32(1024, 2048, true);
    guest.view.setUint32(1028, 4, true);

    expect(guest.call("fd_write", fd, 1024, 1, MEMORY - 3)).toBe("EFAULT");
    expect(guest.call("fd_write", 1, 1024, 1, MEMORY)).toBe("EFAULT");
    expect(guest.call("fd_seek", fd, 5n, 0, MEMORY - 7)).toBe("EFAULT");
    expect(guest.call("fd_read", fd, MEMORY - 4, 1, 64)).toBe("EFAULT");

    expect(guest.mustStat(fd).size).toBe(0n);
    expect(guest.tell(fd)).toBe(0n);
    expect(guest.host.stdout.text()).toBe("");
  });

  it("can use addresses above 2 GiB only where there is memory", () => {
    const guest = newGuest();

    expect(guest.call("random_get", -16, 16)).toBe("EFAULT");
    expect(guest.call("random_get", 0, -1)).toBe("EFAULT");
    expect(guest.call("args_sizes_get", 0xffff_fffc, 0)).toBe("EFAULT");
  });

  it("is seen with all its memory after it has grown", () => {
    const guest = newGuest();
    expect(guest.call("random_get", MEMORY, 16)).toBe("EFAULT");

    guest.memory.grow(1);

    expect(guest.call("random_get", MEMORY, 16)).toBe("ok");
  });
});

function attempt(guest: Guest, name: string, args: readonly (number | bigint)[]): string {
  try {
    return guest.call(name, ...args);
  } catch (error) {
    if (error instanceof ProcExit) return "exit";
    throw error;
  }
}

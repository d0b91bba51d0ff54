import { describe, expect, it } from "vitest";
import { ProcExit } from "../../src/wasi/proc-exit.js";
import { type Guest, newGuest, O, ROOT } from "./guest.js";

const START = 1_700_000_000_000_000_000n;
const FIXED = { kind: "fixed", startNs: START, stepNs: 1000n } as const;

describe("arguments and environment", () => {
  it("are laid out as C wants them", () => {
    const guest = newGuest({ args: ["python", "-c", "ä"], env: { HOME: "/app", LANG: "C" } });

    expect(guest.call("args_sizes_get", 64, 68)).toBe("ok");
    expect([guest.view.getUint32(64, true), guest.view.getUint32(68, true)]).toEqual([3, 13]);
    expect(guest.call("args_get", 128, 256)).toBe("ok");
    expect(guest.slice(256, 13)).toBe("python\0-c\0ä\0");
    expect([128, 132, 136].map((at) => guest.view.getUint32(at, true))).toEqual([256, 263, 266]);
    expect(guest.call("environ_sizes_get", 64, 68)).toBe("ok");
    expect([guest.view.getUint32(64, true), guest.view.getUint32(68, true)]).toEqual([2, 17]);
    expect(guest.call("environ_get", 128, 256)).toBe("ok");
    expect(guest.slice(256, 17)).toBe("HOME=/app\0LANG=C\0");
  });

  it("take no NUL", () => {
    expect(() => newGuest({ args: ["a\0b"] })).toThrow("NUL");
  });
});

describe("clocks", () => {
  it("are told by a fixed clock to the nanosecond, a step for each reading", () => {
    const guest = newGuest({ clock: FIXED });

    expect([time(guest, 0), time(guest, 0), time(guest, 1), time(guest, 2)]).toEqual([
      START + 1000n,
      START + 2000n,
      3000n,
      4000n,
    ]);
    expect(resolution(guest, 0)).toBe(1000n);
  });

  it("never let running time go back", () => {
    let now = START;
    const guest = newGuest({ clock: () => now });
    now += 5n;
    const before = time(guest, 1);
    now -= 1_000_000n;

    expect(before).toBe(5n);
    expect(time(guest, 1)).toBe(5n);
    expect(time(guest, 0)).toBe(START + 5n - 1_000_000n);
  });

  it("have four numbers, and a resolution", () => {
    const guest = newGuest();

    for (const id of [0, 1, 2, 3]) expect(resolution(guest, id)).toBeGreaterThan(0n);
    expect(guest.call("clock_res_get", 4, 64)).toBe("EINVAL");
    expect(guest.call("clock_time_get", 4, 0n, 64)).toBe("EINVAL");
    expect(guest.call("clock_time_get", -1, 0n, 64)).toBe("EINVAL");
  });
});

describe("random_get", () => {
  it("repeats itself for a seed, and differs between seeds", () => {
    const [first, again, other] = ["one", "one", "two"].map((seed) => {
      const guest = newGuest({ random: { kind: "seeded", seed } });
      guest.call("random_get", 1024, 3);
      guest.call("random_get", 1027, 1000);
      return guest.slice(1024, 1003);
    });

    expect(again).toBe(first);
    expect(other).not.toBe(first);
  });

  it("fills exactly what it is told to, all over the range of a byte", () => {
    for (const random of ["real", { kind: "seeded", seed: "x" }] as const) {
      const guest = newGuest({ random });
      guest.call("random_get", 1024, 100_000);
      const bytes = guest.bytes;
      expect(new Set(bytes.slice(1024, 101_024)).size).toBe(256);
      expect(bytes.slice(0, 1024).every((byte) => byte === 0)).toBe(true);
      expect(bytes.slice(101_024).every((byte) => byte === 0)).toBe(true);
    }
  });

  it("is another one after a new seed", () => {
    const [a, b] = [
      newGuest({ random: { kind: "seeded", seed: "a" } }),
      newGuest({ random: { kind: "seeded", seed: "b" } }),
    ];

    a.host.reseed({ kind: "seeded", seed: "c" });
    b.host.reseed({ kind: "seeded", seed: "c" });

    for (const guest of [a, b]) guest.call("random_get", 0, 64);
    expect(a.slice(0, 64)).toBe(b.slice(0, 64));
  });
});

describe("the end, signals and sockets", () => {
  it("leaves the guest with its code", () => {
    const guest = newGuest();

    expect(() => guest.call("proc_exit", 7)).toThrow(ProcExit);
    expect(() => guest.call("proc_exit", -1)).toThrow("4294967295");
  });

  it("has no signals and no sockets", () => {
    const guest = newGuest();

    expect(guest.call("proc_raise", 9)).toBe("ENOSYS");
    expect(guest.call("sched_yield")).toBe("ok");
    for (const name of ["sock_accept", "sock_recv", "sock_send", "sock_shutdown"]) {
      expect(guest.call(name, ROOT, 0, 0, 0, 0, 0)).toBe("ENOTSOCK");
      expect(guest.call(name, 99, 0, 0, 0, 0, 0)).toBe("EBADF");
    }
  });
});

describe("poll_oneoff", () => {
  it("lets a fixed clock go by instead of waiting", () => {
    const guest = newGuest({ clock: FIXED, sleep: () => expect.unreachable() });

    expect(poll(guest, [{ type: 0, userdata: 7n, timeout: 5_000_000_000n }])).toEqual([
      { userdata: 7n, type: 0, errno: 0, bytes: 0n },
    ]);
    expect(time(guest, 1)).toBe(5_000_001_000n);
  });

  it("waits for the first of several clocks, as the host says", () => {
    const waited: bigint[] = [];
    const guest = newGuest({ clock: () => START, sleep: (ns) => waited.push(ns) });

    const events = poll(guest, [
      { type: 0, userdata: 1n, timeout: 900n },
      { type: 0, userdata: 2n, timeout: 300n },
      { type: 0, userdata: 3n, timeout: START + 300n, clock: 0, absolute: true },
      { type: 0, userdata: 4n, timeout: START + 301n, clock: 0, absolute: true },
    ]);

    expect(waited).toEqual([300n]);
    expect(events).toMatchObject([{ userdata: 2n }, { userdata: 3n }]);
  });

  it("does not wait for a moment that is past", () => {
    const guest = newGuest({ clock: () => START, sleep: () => expect.unreachable() });

    expect(poll(guest, [{ type: 0, userdata: 1n, timeout: 5n, clock: 0, absolute: true }])).toHaveLength(1);
    expect(poll(guest, [{ type: 0, userdata: 1n, timeout: 0n }])).toHaveLength(1);
  });

  it("finds descriptors ready, with what they hold, before any clock", () => {
    const guest = newGuest({ stdin: Buffer.from("input"), sleep: () => expect.unreachable() });
    const fd = guest.mustOpen("file", { flags: O.create });
    guest.write(fd, "0123456789");
    guest.seek(fd, 4n, "set");

    const events = poll(guest, [
      { type: 0, userdata: 1n, timeout: 10n ** 18n },
      { type: 1, userdata: 2n, fd: 0 },
      { type: 2, userdata: 3n, fd: 1 },
      { type: 1, userdata: 4n, fd },
    ]);

    expect(events).toEqual([
      { userdata: 2n, type: 1, errno: 0, bytes: 5n },
      { userdata: 3n, type: 2, errno: 0, bytes: 0n },
      { userdata: 4n, type: 1, errno: 0, bytes: 6n },
    ]);
  });

  it("tells about bad descriptors and clocks in the event", () => {
    const guest = newGuest();

    expect(poll(guest, [{ type: 1, userdata: 5n, fd: 99 }])).toEqual([{ userdata: 5n, type: 1, errno: 8, bytes: 0n }]);
    expect(poll(guest, [{ type: 2, userdata: 5n, fd: ROOT }])).toMatchObject([{ errno: 8 }]);
    expect(poll(guest, [{ type: 0, userdata: 5n, clock: 9, timeout: 1n }])).toMatchObject([{ errno: 28 }]);
  });

  it("refuses lists that are empty, endless or of an unknown kind", () => {
    const guest = newGuest();

    expect(guest.call("poll_oneoff", 1024, 8192, 0, 64)).toBe("EINVAL");
    expect(guest.call("poll_oneoff", 1024, 8192, 0xffff_ffff, 64)).toBe("EINVAL");
    expect(guest.call("poll_oneoff", 1024, 8192, 1025, 64)).toBe("EINVAL");
    expect(poll(guest, [{ type: 3, userdata: 1n }])).toBe("EINVAL");
  });

  it("stops the guest with what the host's wait throws", () => {
    const guest = newGuest({
      sleep: () => {
        throw new Error("deadline");
      },
    });

    expect(() => poll(guest, [{ type: 0, userdata: 1n, timeout: 1n }])).toThrow("deadline");
  });
});

interface Subscription {
  readonly type: number;
  readonly userdata: bigint;
  readonly timeout?: bigint;
  readonly clock?: number;
  readonly absolute?: boolean;
  readonly fd?: number;
}

function poll(
  guest: Guest,
  subscriptions: readonly Subscription[],
): { userdata: bigint; type: number; errno: number; bytes: bigint }[] | string {
  const { view } = guest;
  for (const [index, each] of subscriptions.entries()) {
    const at = 1024 + index * 48;
    view.setBigUint64(at, each.userdata, true);
    view.setUint8(at + 8, each.type);
    view.setUint32(at + 16, each.fd ?? each.clock ?? 1, true);
    view.setBigUint64(at + 24, each.timeout ?? 0n, true);
    view.setUint16(at + 40, each.absolute === true ? 1 : 0, true);
  }
  const answer = guest.call("poll_oneoff", 1024, 8192, subscriptions.length, 64);
  if (answer !== "ok") return answer;
  return Array.from({ length: view.getUint32(64, true) }, (_, index) => {
    const at = 8192 + index * 32;
    const [userdata, bytes] = [view.getBigUint64(at, true), view.getBigUint64(at + 16, true)];
    return { userdata, type: view.getUint8(at + 10), errno: view.getUint16(at + 8, true), bytes };
  });
}

function time(guest: Guest, id: number): bigint {
  expect(guest.call("clock_time_get", id, 0n, 64)).toBe("ok");
  return guest.view.getBigUint64(64, true);
}

function resolution(guest: Guest, id: number): bigint {
  expect(guest.call("clock_res_get", id, 64)).toBe("ok");
  return guest.view.getBigUint64(64, true);
}

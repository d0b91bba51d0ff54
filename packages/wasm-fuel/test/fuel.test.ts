import { describe, expect, test } from "vitest";
import { engine, type WasmGlobal, type WasmInstance, type WasmTable } from "../src/engine.js";
import { Fuel } from "../src/fuel.js";
import { DepthExceeded, OutOfFuel } from "../src/fuel-errors.js";
import { type MeterOptions, meter } from "../src/meter.js";
import { PRIVATE } from "../src/rewriter/layout.js";
import { body, functionType, list, moduleOf, name, section, unsigned } from "./generator/encode.js";

const I32 = 0x7f;

/**
 * `spin(n)` goes round n times at 7 units each; `dive(n)` calls itself n times; `ask()` calls the host; `bulk(n)` fills n bytes;
 * the start function sets a global to 1.
 */
const GUEST = moduleOf(
  section(1, list([functionType([I32], []), functionType([], [])])),
  section(2, list([[...name("env"), ...name("host"), 0, 1]])),
  section(3, list([[0], [0], [1], [0], [1]])),
  section(5, list([[1, 16, 16]])),
  section(6, list([[I32, 1, 0x41, 0, 0x0b]])),
  section(
    7,
    list([
      [...name("spin"), 0, 1],
      [...name("dive"), 0, 2],
      [...name("ask"), 0, 3],
      [...name("bulk"), 0, 4],
      [...name("started"), 3, 0],
    ]),
  ),
  section(8, unsigned(5)),
  section(
    10,
    list([
      body([], [0x03, 0x40, 0x20, 0, 0x41, 1, 0x6b, 0x22, 0, 0x41, 0, 0x4a, 0x0d, 0, 0x0b]),
      body([], [0x20, 0, 0x45, 0x0d, 0, 0x20, 0, 0x41, 1, 0x6b, 0x10, 2]),
      body([], [0x10, 0]),
      body([], [0x41, 0, 0x41, 0, 0x20, 0, 0xfc, 11, 0]),
      body([], [0x41, 1, 0x24, 0]),
    ]),
  ),
);

interface Guest {
  readonly fuel: Fuel;
  readonly instance: WasmInstance;
  readonly call: (name: string, ...args: number[]) => unknown;
}

function guest(options: MeterOptions = {}, host: () => void = () => {}): Guest {
  const instance = new engine.Instance(new engine.Module(meter(GUEST, options)), { env: { host: () => host() } });
  const call = (name: string, ...args: number[]) => (instance.exports[name] as (...args: number[]) => unknown)(...args);
  return { fuel: new Fuel(instance), instance, call };
}

describe("a budget", () => {
  test("that is enough", () => {
    const { fuel, call } = guest();
    fuel.begin({ budget: 701 });

    call("spin", 100);

    expect(fuel.end()).toBe(701);
    expect(fuel.consumed).toBe(701);
  });

  test("that is not enough ends the guest, and is then what was consumed", () => {
    const { fuel, call } = guest();
    fuel.begin({ budget: 5_000 });

    expect(() => call("spin", 1_000_000)).toThrow(OutOfFuel);

    expect(fuel.consumed).toBe(5_000);
    expect(fuel.counted).toBeGreaterThan(5_000);
    expect(fuel.counted).toBeLessThan(5_050);
  });

  test("is given anew by each beginning, also after the fuel ran out", () => {
    const { fuel, call } = guest();
    fuel.begin({ budget: 10 });
    expect(() => call("spin", 100)).toThrow(OutOfFuel);

    fuel.begin({ budget: 1000 });
    call("spin", 100);

    expect(fuel.end()).toBe(701);
  });

  test("goes on over several calls", () => {
    const { fuel, call } = guest();
    fuel.begin({ budget: 2000 });
    call("spin", 100);
    call("spin", 100);

    expect(fuel.consumed).toBe(1402);
    expect(() => call("spin", 100)).toThrow(OutOfFuel);
  });

  test("bounds what a single operator may do before it does it", () => {
    const { fuel, call } = guest();
    fuel.begin({ budget: 1000 });

    expect(() => call("bulk", 1_000_000)).toThrow(OutOfFuel);
  });

  test.for([-1, 0.5, Number.NaN, 2 ** 53, Number.POSITIVE_INFINITY])("of %s is refused", (budget) => {
    expect(() => guest().fuel.begin({ budget })).toThrow(RangeError);
  });

  test("a slice of 0 is refused", () => {
    expect(() => guest().fuel.begin({ budget: 1, slice: 0 })).toThrow(RangeError);
  });
});

describe("after each slice", () => {
  test("the host is told what was consumed, always the same", () => {
    const seen = [1, 2].map(() => {
      const reports: number[] = [];
      const { fuel, call } = guest();
      fuel.begin({ budget: 10_000, slice: 1000, onSlice: (consumed) => reports.push(consumed) });
      call("spin", 1000);
      return reports;
    });

    expect(seen[0]).toHaveLength(6);
    expect(seen[0]).toEqual(seen[1]);
    for (const [index, consumed] of (seen[0] ?? []).entries())
      expect(Math.abs(consumed - 1000 * (index + 1))).toBeLessThan(20);
  });

  test("the host may stop the guest with an error of its own", () => {
    const { fuel, call } = guest();
    const deadline = new Error("too late");
    fuel.begin({
      budget: 2 ** 50,
      slice: 1000,
      onSlice: (consumed) => {
        if (consumed > 50_000) throw deadline;
      },
    });

    expect(() => call("spin", 2 ** 30)).toThrow(deadline);
    expect(fuel.consumed).toBeLessThan(52_000);
  });

  test("the host may extend the budget, and the total does not change", () => {
    const { fuel, call } = guest();
    fuel.begin({
      budget: 1000,
      slice: 500,
      onSlice: () => {
        if (fuel.limit < 8000) fuel.extend(1000);
      },
    });
    call("spin", 1000);

    expect(fuel.end()).toBe(7001);
    expect(fuel.limit).toBe(8000);
  });
});

describe("the host", () => {
  test("charges for what it does", () => {
    const { fuel, call } = guest({}, () => fuel.charge(500));
    fuel.begin({ budget: 1200 });
    call("ask");

    expect(fuel.consumed).toBe(502);
    call("ask");
    expect(() => call("ask")).toThrow(OutOfFuel);
    expect(fuel.consumed).toBe(1200);
  });

  test("has to bind and begin before the guest can run", () => {
    const instance = new engine.Instance(new engine.Module(meter(GUEST)), { env: { host: () => {} } });
    expect(() => (instance.exports.spin as (n: number) => void)(1)).toThrow(engine.RuntimeError);

    const fuel = new Fuel(instance);
    expect(() => (instance.exports.spin as (n: number) => void)(1)).toThrow(OutOfFuel);
    fuel.begin({ budget: 100 });
    (instance.exports.spin as (n: number) => void)(1);
  });

  test("cannot bind to a module that is not metered", () => {
    const instance = new engine.Instance(new engine.Module(GUEST), { env: { host: () => {} } });
    expect(() => new Fuel(instance)).toThrow(TypeError);
  });

  test("runs the start function, which is metered too", () => {
    const { fuel, instance } = guest();
    const started = instance.exports.started as WasmGlobal;
    expect(started.value).toBe(0);

    fuel.begin({ budget: 2 });
    fuel.start();

    expect(started.value).toBe(1);
    expect(() => fuel.end()).toThrow(OutOfFuel);
  });
});

describe("a bound of depth", () => {
  test("ends what goes deeper, at the same place every time, and leaves the rest alone", () => {
    const { fuel, call } = guest({ depth: 100 });
    fuel.begin({ budget: 1_000_000 });
    call("dive", 99);
    const consumed = [1, 2].map(() => {
      fuel.begin({ budget: 1_000_000 });
      expect(() => call("dive", 100)).toThrow(DepthExceeded);
      return fuel.consumed;
    });

    expect(consumed[0]).toBe(consumed[1]);
    fuel.begin({ budget: 1_000_000 });
    call("dive", 99);
    call("dive", 99);
  });

  test("comes before the end of the host's own stack", () => {
    const { fuel, call } = guest({ depth: 3000 });
    fuel.begin({ budget: 2 ** 50 });

    expect(() => call("dive", 2 ** 30)).toThrow(DepthExceeded);
  });

  test("counts through the host, and is right again when a nested call has thrown", () => {
    const depths: number[] = [];
    const { fuel, call, instance } = guest({ depth: 50 }, () => {
      try {
        fuel.reenter(() => call("dive", 60));
      } catch (error) {
        expect(error).toBeInstanceOf(DepthExceeded);
      }
      depths.push((instance.exports[PRIVATE.depth] as WasmGlobal<number>).value);
    });
    fuel.begin({ budget: 1_000_000 });

    call("ask");

    expect(depths).toEqual([49]);
    expect((instance.exports[PRIVATE.depth] as WasmGlobal<number>).value).toBe(50);
  });
});

test("the hook is in a table of its own", () => {
  const { instance } = guest();
  expect((instance.exports[PRIVATE.hooks] as WasmTable).length).toBe(1);
});

import { describe, expect, test } from "vitest";
import { Fuel } from "../src/fuel.js";
import { meter } from "../src/meter.js";
import { COSTS } from "../src/rewriter/costs.js";
import { type Bytes, body, functionType, list, moduleOf, name, section } from "./generator/encode.js";
import { exportedFunction, instantiate } from "./running.js";

/** A module with a memory of up to three pages, a table of four, and functions of type [] → [], of which the first is `run`. */
function moduleWith(...codes: readonly Bytes[]): Uint8Array {
  return moduleOf(
    section(1, list([functionType([], [])])),
    section(3, list(codes.map(() => [0]))),
    section(4, list([[0x70, 1, 4, 9]])),
    section(5, list([[1, 1, 3]])),
    section(7, list([[...name("run"), 0, 0]])),
    section(10, list(codes.map((code) => body([0x7f], code)))),
  );
}

function fuelOf(...codes: readonly Bytes[]): number {
  const instance = instantiate(meter(moduleWith(...codes)), (value) => value);
  const fuel = new Fuel(instance);
  fuel.begin({ budget: 10_000_000 });
  exportedFunction(instance, "run")();
  return fuel.end();
}

describe("fuel of", () => {
  const big = [0x80, 0x08];
  test.for<readonly [string, number, readonly Bytes[]]>([
    ["an empty function: its entry", 1, [[]]],
    ["nop: nothing", 1, [[0x01, 0x01]]],
    ["a constant that is dropped", 2, [[0x41, 0, 0x1a]]],
    ["a block: nothing", 1, [[0x02, 0x40, 0x0b]]],
    ["a loop that is run once: nothing", 1, [[0x03, 0x40, 0x0b]]],
    ["a return: nothing", 1, [[0x0f, 0x41, 0, 0x1a]]],
    ["an if that is not entered", 3, [[0x41, 0, 0x04, 0x40, 0x41, 0, 0x1a, 0x0b]]],
    ["an if that is entered", 4, [[0x41, 1, 0x04, 0x40, 0x41, 0, 0x1a, 0x0b]]],
    ["an else that is taken", 5, [[0x41, 0, 0x04, 0x40, 0x41, 0, 0x1a, 0x05, 0x41, 0, 0x1a, 0x41, 0, 0x1a, 0x0b]]],
    ["a branch", 2, [[0x02, 0x40, 0x0c, 0, 0x41, 0, 0x1a, 0x0b]]],
    ["a branch that is not taken", 4, [[0x02, 0x40, 0x41, 0, 0x0d, 0, 0x41, 0, 0x1a, 0x0b]]],
    ["a table of branches", 3, [[0x02, 0x40, 0x41, 0, 0x0e, 1, 0, 0, 0x0b]]],
    ["a call: itself and the entry", 3, [[0x10, 1], []]],
    ["a loop of five rounds", 1 + 5 * 7, [[0x03, 0x40, 0x20, 0, 0x41, 1, 0x6a, 0x22, 0, 0x41, 5, 0x47, 0x0d, 0, 0x0b]]],
    ["memory.fill of 1024 bytes", 5 + 256, [[0x41, 0, 0x41, 0, 0x41, ...big, 0xfc, 11, 0]]],
    ["memory.fill of 7 bytes, rounded down", 5 + 1, [[0x41, 0, 0x41, 0, 0x41, 7, 0xfc, 11, 0]]],
    ["memory.copy of 1024 bytes", 5 + 256, [[0x41, 0, 0x41, 0, 0x41, ...big, 0xfc, 10, 0, 0]]],
    ["memory.grow by two pages", 3 + 2 * COSTS.page, [[0x41, 2, 0x40, 0, 0x1a]]],
    ["memory.grow that fails", 3, [[0x41, 5, 0x40, 0, 0x1a]]],
    ["memory.size", 2, [[0x3f, 0, 0x1a]]],
    ["table.fill of three elements", 5 + 3, [[0x41, 0, 0xd0, 0x70, 0x41, 3, 0xfc, 17, 0]]],
    ["table.copy of two elements", 5 + 2, [[0x41, 0, 0x41, 1, 0x41, 2, 0xfc, 14, 0, 0]]],
    ["table.grow by five elements", 4 + 5, [[0xd0, 0x70, 0x41, 5, 0xfc, 15, 0, 0x1a]]],
  ])("%s", ([, expected, codes]) => {
    expect(fuelOf(...codes)).toBe(expected);
  });
});

test("functions that each call the next one twice cost what they cost, though none of them is exported", () => {
  const count = 14;
  const codes = Array.from({ length: count }, (_, index) =>
    index + 1 < count ? [0x10, index + 1, 0x10, index + 1] : [],
  );

  expect(fuelOf(...codes)).toBe(2 ** count - 1 + (2 ** count - 2));
});

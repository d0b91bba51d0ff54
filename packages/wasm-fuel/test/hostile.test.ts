import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { engine } from "../src/engine.js";
import { type MeterOptions, meter } from "../src/meter.js";
import { ModuleError } from "../src/rewriter/module-error.js";
import {
  type Bytes,
  body,
  constant,
  functionType,
  list,
  moduleOf,
  name,
  section,
  sized,
  unsigned,
} from "./generator/encode.js";
import { generateModule } from "./generator/module.js";
import { Random } from "./generator/random.js";

const OPTIONS: readonly MeterOptions[] = [
  {},
  { strip: false },
  { dropData: true, depth: 100 },
  { depth: 50, optimise: { fold: false } },
];

/** Changes a few bytes of a module in one of the ways that accidents and enemies have. */
function damaged(wasm: Uint8Array, random: Random): Uint8Array {
  const bytes = [...wasm];
  for (let count = 1 + random.below(3); count > 0; count -= 1) {
    const at = random.below(bytes.length);
    const byte = bytes[at] ?? 0;
    switch (random.below(6)) {
      case 0:
        bytes[at] = byte ^ (1 << random.below(8));
        break;
      case 1:
        bytes[at] = random.pick([0, 1, 0x7f, 0x80, 0xff, 0x0b, 0x40, 0x70]);
        break;
      case 2:
        bytes[at] = byte + random.pick([1, -1]);
        break;
      case 3:
        bytes.splice(at, 1);
        break;
      case 4:
        bytes.splice(at, 0, random.below(256));
        break;
      default:
        bytes[at] = bytes[random.below(bytes.length)] ?? 0;
    }
  }
  return Uint8Array.from(random.chance(10) ? bytes.slice(0, random.below(bytes.length)) : bytes);
}

/** Either a clean refusal, or a module that the engine takes exactly when it takes the original. Gives whether it was refused. */
function check(wasm: Uint8Array, options: MeterOptions): boolean {
  try {
    expect(engine.validate(meter(wasm, options))).toBe(engine.validate(wasm));
    return false;
  } catch (error) {
    if (!(error instanceof ModuleError)) throw error;
    return true;
  }
}

describe("a damaged module is refused, or stays as valid as it was:", () => {
  test("generated ones", () => {
    let refused = 0;
    fc.assert(
      fc.property(fc.integer(), fc.constantFrom(...OPTIONS), (seed, options) => {
        const wasm = damaged(generateModule(seed % 1000), new Random(seed));
        if (check(wasm, options)) refused += 1;
      }),
      { numRuns: 1500 },
    );

    expect(refused).toBeGreaterThan(100);
    expect(refused).toBeLessThan(1400);
  });

  test("QuickJS", () => {
    const wasm = readFileSync(fileURLToPath(import.meta.resolve("quickjs-wasi/quickjs.wasm")));
    fc.assert(
      fc.property(fc.integer(), fc.constantFrom(...OPTIONS), (seed, options) => {
        check(damaged(wasm, new Random(seed)), options);
      }),
      { numRuns: 40 },
    );
  });

  test("every beginning of a module", () => {
    const wasm = generateModule(7);
    for (let length = 0; length < wasm.length; length += 1) check(wasm.subarray(0, length), {});
  });

  test("bytes that are nothing", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300 }), (bytes) => {
        expect(() => meter(bytes)).toThrow(ModuleError);
        check(Uint8Array.from([...moduleOf(), ...bytes]), {});
      }),
    );
  });
});

/** A module with one function of type [] → [] and some code. */
function withCode(code: Bytes, ...more: readonly Bytes[]): Uint8Array {
  return moduleOf(
    section(1, list([functionType([], [])])),
    section(3, list([[0]])),
    ...more,
    section(10, list([body([], code)])),
  );
}

describe("a feature is refused by its name:", () => {
  test.for<readonly [string, Uint8Array]>([
    ["threads", withCode([0xfe, 0x03, 0x00])],
    ["threads", moduleOf(section(5, list([[3, 1, 2]])))],
    ["exceptions", withCode([0x06, 0x40, 0x0b])],
    ["exceptions", withCode([0x08, 0x00])],
    ["exceptions", moduleOf(section(13, list([[0, 0]])))],
    ["garbage collection", withCode([0xfb, 0x00, 0x00])],
    ["garbage collection", moduleOf(section(1, list([[0x5f, 0x00]])))],
    ["tail calls", withCode([0x12, 0x00])],
    ["tail calls", withCode([0x13, 0x00, 0x00])],
    ["typed function references", withCode([0x14, 0x00])],
    ["memory64", moduleOf(section(5, list([[4, 1]])))],
    [
      "multi-memory",
      moduleOf(
        section(
          5,
          list([
            [0, 1],
            [0, 1],
          ]),
        ),
      ),
    ],
    ["multi-memory", withCode([0x41, 0, 0x28, 0x42, 0, 0, 0x1a], section(5, list([[0, 1]])))],
    ["relaxed SIMD", withCode([0xfd, ...unsigned(0x100)])],
  ])("%s", ([feature, wasm]) => {
    expect(() => meter(wasm)).toThrow(expect.objectContaining({ name: "ModuleError", code: "unsupported", feature }));
  });
});

describe("nothing that is ours can be reached by an index that was out of range:", () => {
  const [i32, fuelGlobal] = [0x7f, 0];
  test.for<readonly [string, Uint8Array]>([
    ["the counter", withCode([...constant(0x7e, 9), 0x24, fuelGlobal])],
    ["a helper", withCode([0x42, 0, 0x10, 1])],
    ["the table of hooks", withCode([0x41, 0, 0x25, 0, 0x1a])],
    ["an indirect call through it", withCode([0x42, 0, 0x41, 0, 0x11, 0, 0])],
    ["a type of ours", withCode([0x42, 0, 0x02, 1, 0x1a, 0x0b])],
    ["a local of ours", withCode([0x03, 0x40, 0x20, 0, 0x1a, 0x0b])],
    ["the label of a block of ours", withCode([0x0c, 1])],
    ["an export of the counter", moduleOf(section(7, list([[...name("x"), 3, 0]])))],
    ["an export of a helper", moduleOf(section(7, list([[...name("x"), 0, 0]])))],
    ["a start function of ours", moduleOf(section(8, [0]))],
    [
      "an element that is a helper",
      moduleOf(section(4, list([[0x70, 0, 1]])), section(9, list([[0, 0x41, 0, 0x0b, 1, 0]]))),
    ],
    ["a reference to a function that the start makes an export", withCode([0xd2, 0, 0x1a], section(8, [0]))],
    ["a constant from the counter", moduleOf(section(6, list([[i32, 0, 0x23, 1, 0x0b]])))],
  ])("%s", ([, wasm]) => {
    expect(engine.validate(wasm)).toBe(false);
    expect(() => meter(wasm, { depth: 10 })).toThrow(
      expect.objectContaining({ name: "ModuleError", code: "malformed" }),
    );
  });
});

test("a small module cannot ask for much work", () => {
  const huge = unsigned(0xffff_ffff);
  for (const wasm of [
    moduleOf(section(1, huge)),
    moduleOf(section(3, huge)),
    moduleOf(section(10, huge)),
    moduleOf([1, ...huge]),
    withCode([0x41, 0, 0x0e, ...huge]),
    moduleOf(
      section(1, list([functionType([], [])])),
      section(3, list([[0]])),
      section(10, list([sized([1, ...huge, 0x7f, 0x0b])])),
    ),
  ]) {
    expect(() => meter(wasm)).toThrow(ModuleError);
  }
});

test("functions that each call the next one twice cost what they cost", () => {
  const count = 60;
  const bodies = Array.from({ length: count }, (_, index) =>
    body([], index + 1 < count ? [0x10, index + 1, 0x10, index + 1] : []),
  );
  const wasm = moduleOf(
    section(1, list([functionType([], [])])),
    section(3, list(bodies.map(() => [0]))),
    section(10, list(bodies)),
  );

  expect(engine.validate(meter(wasm))).toBe(true);
});

test("blocks and loops may be nested as deeply as the engine takes them", () => {
  const depth = 20_000;
  for (const opening of [0x02, 0x03]) {
    const code = [
      ...Array.from({ length: depth }, () => [opening, 0x40]).flat(),
      ...Array.from({ length: depth }, () => 0x0b),
    ];
    const wasm = withCode(code);
    expect(engine.validate(meter(wasm, { depth: 5 }))).toBe(engine.validate(wasm));
  }
});

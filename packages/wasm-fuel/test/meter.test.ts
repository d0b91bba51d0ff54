import { describe, expect, test } from "vitest";
import { Ceiling } from "../src/ceiling.js";
import { engine, type WasmInstance, type WasmMemory } from "../src/engine.js";
import { Fuel } from "../src/fuel.js";
import { METER_VERSION, meter } from "../src/meter.js";
import { ModuleError } from "../src/rewriter/module-error.js";
import { type Bytes, body, functionType, list, moduleOf, name, section, sized } from "./generator/encode.js";
import { generateModule } from "./generator/module.js";

const I32 = 0x7f;
const HELLO = [...new TextEncoder().encode("hello")];

/** A memory of one page with "hello" at 16, a table, a stack pointer, and `grow`. */
function guestWith(memory: Bytes, ...custom: readonly Bytes[]): Uint8Array {
  return moduleOf(
    section(1, list([functionType([I32], [I32])])),
    section(3, list([[0]])),
    section(4, list([[0x70, 0, 2]])),
    section(5, list([memory])),
    section(6, list([[I32, 1, 0x41, 0xff, 0x01, 0x0b]])),
    section(
      7,
      list([
        [...name("memory"), 2, 0],
        [...name("grow"), 0, 0],
      ]),
    ),
    section(9, list([[0, 0x41, 0, 0x0b, 1, 0]])),
    section(10, list([body([], [0x20, 0, 0x40, 0])])),
    section(
      11,
      list([
        [0, 0x41, 16, 0x0b, ...sized(HELLO)],
        [1, ...sized(HELLO)],
      ]),
    ),
    ...custom,
  );
}

const GUEST = guestWith([0, 1]);

function instantiate(wasm: Uint8Array): WasmInstance {
  const instance = new engine.Instance(new engine.Module(wasm), {});
  new Fuel(instance).begin({ budget: 2 ** 40 });
  return instance;
}

function memoryOf(instance: WasmInstance): WasmMemory {
  return instance.exports.memory as WasmMemory;
}

function grow(instance: WasmInstance, pages: number): number {
  return (instance.exports.grow as (pages: number) => number)(pages);
}

describe("a ceiling", () => {
  test("holds beside the bound of the module, can be moved, and notes what was wanted beyond it", () => {
    const instance = instantiate(meter(GUEST, { maximumPages: 5 }));
    const ceiling = new Ceiling(instance);
    ceiling.set(3 * 65_536 - 1);
    expect([grow(instance, 1), grow(instance, 1), ceiling.refused]).toEqual([1, -1, 3 * 65_536]);
    // As many as 32 bits can say, and no overflow.
    expect([grow(instance, -1), grow(instance, 2)]).toEqual([-1, -1]);
    expect(ceiling.refused).toBe((2 + 0xffff_ffff) * 65_536);
    ceiling.set(4 * 65_536);
    expect([grow(instance, 2), ceiling.refused]).toEqual([2, 0]);
    ceiling.set(null);
    expect([grow(instance, 1), grow(instance, 1), ceiling.refused]).toEqual([4, -1, 0]);
  });
});

describe("maximumPages", () => {
  test("bounds a memory that has no bound", () => {
    const instance = instantiate(meter(GUEST, { maximumPages: 3 }));

    expect(grow(instance, 2)).toBe(1);
    expect(grow(instance, 1)).toBe(-1);
  });

  test("leaves a lower bound as it is", () => {
    const instance = instantiate(meter(guestWith([1, 1, 2]), { maximumPages: 5 }));

    expect(grow(instance, 1)).toBe(1);
    expect(grow(instance, 1)).toBe(-1);
  });

  test("below what the module begins with is refused", () => {
    expect(() => meter(guestWith([0, 9]), { maximumPages: 8 })).toThrow(ModuleError);
  });

  test("bounds an imported memory too", () => {
    const wasm = moduleOf(section(2, list([[...name("env"), ...name("memory"), 2, 0, 1]])));
    const module = new engine.Module(meter(wasm, { maximumPages: 4 }));

    new engine.Instance(module, { env: { memory: new engine.Memory({ initial: 1, maximum: 4 }) } });
    expect(() => new engine.Instance(module, { env: { memory: new engine.Memory({ initial: 1 }) } })).toThrow();
  });

  test.for([-1, 1.5, 65_537, Number.NaN])("of %s is refused", (maximumPages) => {
    expect(() => meter(GUEST, { maximumPages })).toThrow(RangeError);
  });
});

test("dropData leaves the memory empty, and keeps segments that the code copies itself", () => {
  const [full, dropped] = [meter(GUEST), meter(GUEST, { dropData: true })];

  expect([...new Uint8Array(memoryOf(instantiate(full)).buffer, 16, 5)]).toEqual(HELLO);
  expect([...new Uint8Array(memoryOf(instantiate(dropped)).buffer, 16, 5)]).toEqual([0, 0, 0, 0, 0]);
  expect(full.length - dropped.length).toBe(HELLO.length);
});

describe("expose", () => {
  const expose = [
    { kind: "table", index: 0, name: "__indirect_function_table" },
    { kind: "global", index: 0, name: "__stack_pointer" },
  ] as const;

  test("exports the table and the stack pointer", () => {
    const { exports } = instantiate(meter(GUEST, { expose }));

    expect(exports.__indirect_function_table).toMatchObject({ length: 2 });
    expect(exports.__stack_pointer).toMatchObject({ value: 255 });
  });

  test("leaves out what is exported under that name already", () => {
    const twice = { kind: "memory", index: 0, name: "memory" } as const;
    expect(Object.keys(instantiate(meter(GUEST, { expose: [twice, ...expose, ...expose] })).exports)).toHaveLength(8);
  });

  test("refuses a name that means something else, and an index that means nothing", () => {
    expect(() => meter(GUEST, { expose: [{ kind: "table", index: 0, name: "grow" }] })).toThrow(RangeError);
    expect(() => meter(GUEST, { expose: [{ kind: "global", index: 1, name: "fuel" }] })).toThrow(RangeError);
    expect(() => meter(GUEST, { expose: [{ kind: "function", index: 0, name: "f" }] })).toThrow(RangeError);
  });
});

describe("custom sections", () => {
  const custom = ["name", "producers", ".debug_info", "metadata.code.branch_hint"].map((title) =>
    section(0, [...name(title), 0]),
  );
  const count = (wasm: Uint8Array, title: string) => Buffer.from(wasm).toString("latin1").split(title).length - 1;

  test("are stripped", () => {
    const wasm = meter(guestWith([0, 1], ...custom), { optimise: { hints: false } });
    for (const title of ["producers", ".debug_info", "metadata.code"]) expect(count(wasm, title)).toBe(0);
  });

  test("are kept on request, but for those that speak of places in the code", () => {
    const wasm = meter(guestWith([0, 1], ...custom), { strip: false });
    expect(count(wasm, "producers")).toBe(1);
    expect(count(wasm, ".debug_info")).toBe(0);
    expect(count(wasm, "metadata.code.branch_hint")).toBe(1);
  });
});

test("the result is the same every time, and the source is left alone", () => {
  const wasm = generateModule(3);
  const before = [...wasm];

  expect(meter(wasm)).toEqual(meter(wasm));
  expect([...wasm]).toEqual(before);
});

test("a metered module is not metered again", () => {
  expect(() => meter(meter(GUEST))).toThrow(expect.objectContaining({ code: "unsupported" }));
});

test("a module without anything gets what it needs", () => {
  expect(() => instantiate(meter(moduleOf()))).not.toThrow();
});

test("imports are those of the original", () => {
  const wasm = generateModule(1);
  const module = new engine.Module(meter(wasm));
  expect(engine.Module.imports(module)).toEqual(engine.Module.imports(new engine.Module(wasm)));
});

test("the version names the cost table and the rewriter", () => {
  expect(METER_VERSION).toMatch(/^\d+\.\d+$/);
});

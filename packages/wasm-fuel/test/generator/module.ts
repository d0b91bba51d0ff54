import { type Bytes, body, constant, functionType, list, moduleOf, name, section, sized, unsigned } from "./encode.js";
import { FunctionGenerator } from "./function.js";
import { Random } from "./random.js";
import { F32, F64, FUNCREF, I32, I64, MEMORY_PAGES, MOST_PAGES, STEPS, type Type, type World } from "./world.js";

const HOST = 0;
const MAIN = 1;

/**
 * A random valid module: nested blocks, loops and ifs, branches of all kinds, direct, indirect and recursive calls, several
 * results, memory, tables, references, numbers of all types. It exports `main` (no arguments, an i32), the memory, and imports
 * `env.host`, which takes and gives an i32.
 */
export function generateModule(seed: number): Uint8Array {
  const random = new Random(seed);
  const types: Type[] = [
    { params: [I32], results: [I32] },
    { params: [], results: [I32] },
    { params: [], results: [] },
    ...Array.from({ length: 4 }, () => ({ params: someTypes(random, 3), results: someTypes(random, 3) })),
  ];
  const count = 4 + random.below(5);
  const functions = [HOST, MAIN, ...Array.from({ length: count - 1 }, () => random.below(types.length))];
  const callable = [...functions.keys()].filter((index) => index !== MAIN);
  const table = Array.from({ length: 8 }, () => random.pick(callable));
  const world: World = {
    random,
    types,
    functions,
    callable,
    table,
    globals: [I32, I32, I64, F64],
    declared: table,
  };
  const codes = functions.slice(2).map((type) => new FunctionGenerator(world, types[type] as Type).generate());
  return moduleOf(...sectionsOf(world, [mainOf(world), ...codes]));
}

function someTypes(random: Random, most: number): Bytes {
  return Array.from({ length: random.below(most + 1) }, () => random.pick([I32, I32, I64, F32, F64]));
}

/** Calls every function a few times, each with steps of its own, so that one that ends soon does not end all. */
function mainOf({ random, types, functions }: World): { readonly locals: Bytes; readonly code: Bytes } {
  const calls = functions.flatMap((type, index) => {
    if (index <= MAIN) return [];
    const { params, results } = types[type] as Type;
    const steps = [...constant(I32, random.below(120)), 0x24, STEPS];
    const args = params.flatMap((param) => constant(param, random.below(2000) - 500));
    return [...steps, ...args, 0x10, ...unsigned(index), ...results.map(() => 0x1a)];
  });
  const round = [0x03, 0x40, ...calls, 0x20, 0, 0x41, 1, 0x6a, 0x22, 0, 0x41, 3, 0x48, 0x0d, 0, 0x0b];
  return { locals: [I32], code: [...round, 0x23, 1] };
}

function sectionsOf(
  world: World,
  codes: readonly { readonly locals: Bytes; readonly code: Bytes }[],
): readonly Bytes[] {
  const { random, types, functions, table, globals } = world;
  const zero = [0x41, 0, 0x0b];
  const values = globals.map((type) => [type, 1, ...constant(type, random.below(99)), 0x0b]);
  const data = Array.from({ length: 64 }, () => random.below(256));
  return [
    section(1, list(types.map(({ params, results }) => functionType(params, results)))),
    section(2, list([[...name("env"), ...name("host"), 0, HOST]])),
    section(3, list(functions.slice(1).map(unsigned))),
    section(
      4,
      list([
        [FUNCREF, 0, table.length],
        [FUNCREF, 1, 10, 20],
      ]),
    ),
    section(5, list([[1, MEMORY_PAGES, MOST_PAGES]])),
    section(6, list(values)),
    section(
      7,
      list([
        [...name("main"), 0, MAIN],
        [...name("memory"), 2, 0],
      ]),
    ),
    section(
      9,
      list([
        [0, ...zero, ...list(table.map(unsigned))],
        [1, 0, ...list(table.map(unsigned))],
      ]),
    ),
    section(12, [2]),
    section(10, list(codes.map(({ locals, code }) => body(locals, code)))),
    section(
      11,
      list([
        [0, ...zero, ...sized(data)],
        [1, ...sized(data)],
      ]),
    ),
  ];
}

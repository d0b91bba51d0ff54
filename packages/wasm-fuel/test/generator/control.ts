import { type Bytes, unsigned } from "./encode.js";
import type { FunctionGenerator } from "./function.js";
import { value } from "./values.js";
import { type Flow, I32, NUMBERS, type Type } from "./world.js";

/** What a target takes that is not to be branched to. */
const HIDDEN: Bytes = [-1];
const EMPTY: Type = { params: [], results: [] };

/** Chooses the type of a block, with the bytes that name it. */
function blockType(code: FunctionGenerator): { readonly type: Type; readonly bytes: Bytes } {
  const { random, types } = code.world;
  if (random.chance(40)) return { type: EMPTY, bytes: [0x40] };
  if (random.chance(40)) {
    const result = random.pick(NUMBERS);
    return { type: { params: [], results: [result] }, bytes: [result] };
  }
  const index = random.below(types.length);
  return { type: types[index] ?? EMPTY, bytes: unsigned(index) };
}

export function block(code: FunctionGenerator): Flow {
  if (!code.canNest) return value(code);
  const { type, bytes } = blockType(code);
  code.ensure(type.params);
  code.nest([0x02, ...bytes], type, type.results, () => code.fill(type.results));
  return "on";
}

/** A loop that is repeated by whatever branches to it, until the steps are used up. */
export function loop(code: FunctionGenerator): Flow {
  if (!code.canNest) return value(code);
  const { type, bytes } = blockType(code);
  code.ensure(type.params);
  code.nest([0x03, ...bytes], type, type.params, () => {
    code.stopWhenOver();
    code.fill(type.results);
  });
  return "on";
}

/** A loop that counts down, as compilers write them: nothing in it need call or return. */
export function countedLoop(code: FunctionGenerator): Flow {
  return countDown(code, () => code.fill([]));
}

/** A switch in a loop, as an interpreter has it: one table goes on within the loop, and out of it. */
export function switchInLoop(code: FunctionGenerator): Flow {
  return countDown(code, (counter) => {
    const { random } = code.world;
    const outside = [...code.targets.keys()].filter((index) => code.targets[index]?.takes.length === 0);
    code.nest([0x02, 0x40], EMPTY, [], () => {
      code.nest([0x02, 0x40], EMPTY, [], () => {
        const label = outside.length === 0 ? 1 : code.targets.length - 1 - random.pick(outside);
        code.emit(0x20, ...unsigned(counter), 0x0e, 3, 0, ...unsigned(label), 1, 0);
      });
      code.fill([]);
    });
    code.fill([]);
  });
}

function countDown(code: FunctionGenerator, work: (counter: number) => void): Flow {
  if (!code.canNest) return value(code);
  const outer = code.stack;
  code.stack = [];
  const counter = code.addCounter();
  code.emit(0x41, 1 + code.world.random.below(6), 0x21, ...unsigned(counter));
  // The loop itself is not offered as a target, or a branch to it could go round for ever.
  code.nest([0x03, 0x40], EMPTY, HIDDEN, () => {
    work(counter);
    code.emit(0x20, ...unsigned(counter), 0x41, 1, 0x6b, 0x22, ...unsigned(counter), 0x0d, 0);
  });
  code.stack = outer;
  return "on";
}

export function ifElse(code: FunctionGenerator): Flow {
  if (!code.canNest) return value(code);
  const { random } = code.world;
  const { type, bytes } = blockType(code);
  code.ensure(type.params);
  code.push(I32);
  code.pop(I32);
  const hasElse = type.params.join() !== type.results.join() || random.chance(50);
  code.nest([0x04, ...bytes], type, type.results, () => {
    code.fill(type.results);
    if (!hasElse) return;
    code.emit(0x05);
    code.stack = [...type.params];
    code.fill(type.results);
  });
  return "on";
}

/** A label that may be branched to, and what it takes. */
function someTarget(code: FunctionGenerator): { readonly label: number; readonly takes: Bytes } {
  const open = [...code.targets.keys()].filter((index) => code.targets[index]?.takes !== HIDDEN);
  const index = code.world.random.pick(open);
  return { label: code.targets.length - 1 - index, takes: code.targets[index]?.takes ?? [] };
}

export function branchIf(code: FunctionGenerator): Flow {
  const { label, takes } = someTarget(code);
  code.ensure(takes);
  code.push(I32);
  code.emit(0x0d, ...unsigned(label));
  code.pop(I32);
  return "on";
}

/** What leaves a function at its top level would make most functions short. */
function isTooEarly({ targets, world }: FunctionGenerator): boolean {
  return targets.length === 1 || world.random.chance(40);
}

export function branch(code: FunctionGenerator): Flow {
  if (isTooEarly(code)) return branchIf(code);
  const { label, takes } = someTarget(code);
  code.ensure(takes);
  code.emit(0x0c, ...unsigned(label));
  return "left";
}

export function branchTable(code: FunctionGenerator): Flow {
  if (isTooEarly(code)) return branchIf(code);
  const { label, takes } = someTarget(code);
  const labels = [...code.targets.keys()].filter((index) => code.targets[index]?.takes.join() === takes.join());
  const chosen = Array.from(
    { length: 1 + code.world.random.below(4) },
    () => code.targets.length - 1 - code.world.random.pick(labels),
  );
  code.ensure(takes);
  code.push(I32);
  code.emit(0x41, 7, 0x71, 0x0e, ...unsigned(chosen.length), ...chosen.flatMap(unsigned), ...unsigned(label));
  return "left";
}

export function returnEarly(code: FunctionGenerator): Flow {
  if (isTooEarly(code)) return branchIf(code);
  code.ensure(code.type.results);
  code.emit(0x0f);
  return "left";
}

export function call(code: FunctionGenerator): Flow {
  const { random, functions, callable, types } = code.world;
  const index = random.pick(callable);
  const type = types[functions[index] ?? 0] ?? EMPTY;
  code.ensure(type.params);
  code.emit(0x10, ...unsigned(index));
  code.pop(...type.params);
  code.stack.push(...type.results);
  return "on";
}

export function callIndirect(code: FunctionGenerator): Flow {
  const { random, functions, table, types } = code.world;
  const slot = random.below(table.length);
  const index = functions[table[slot] ?? 0] ?? 0;
  const type = types[index] ?? EMPTY;
  code.ensure(type.params);
  code.emit(0x41, slot, 0x11, ...unsigned(index), 0);
  code.pop(...type.params);
  code.stack.push(...type.results);
  return "on";
}

export function callHost(code: FunctionGenerator): Flow {
  code.ensure([I32]);
  code.emit(0x10, 0);
  return "on";
}

/** A trap that is hardly ever reached: the code around it is then taken to be cold. */
export function trapInColdCode(code: FunctionGenerator): Flow {
  code.push(I32);
  code.emit(0x41, 0xd3, 0xed, 0x7e, 0x46, 0x04, 0x40, 0x00, 0x0b);
  code.pop(I32);
  return "on";
}

import { type Bytes, unsigned } from "./encode.js";
import type { FunctionGenerator } from "./function.js";
import {
  F32,
  F64,
  type Flow,
  FUNCREF,
  I32,
  I64,
  MEMORY_PAGES,
  NUMBERS,
  PASSIVE_DATA,
  PASSIVE_ELEMENTS,
  SCRATCH_TABLE,
  STEPS,
} from "./world.js";

export function value(code: FunctionGenerator): Flow {
  code.push(code.world.random.pick(NUMBERS));
  return "on";
}

/** Operators of one argument by its type: the code and the type of the result. */
const UNARY: Readonly<Record<number, readonly (readonly [number, number])[]>> = {
  [I32]: [
    [0x45, I32],
    [0x67, I32],
    [0x68, I32],
    [0x69, I32],
    [0xac, I64],
    [0xad, I64],
    [0xb7, F64],
    [0xc0, I32],
    [0xc1, I32],
  ],
  [I64]: [
    [0x50, I32],
    [0x79, I64],
    [0x7a, I64],
    [0x7b, I64],
    [0xa7, I32],
    [0xc2, I64],
    [0xc3, I64],
    [0xc4, I64],
    [0xb9, F64],
  ],
  [F32]: [
    [0x8b, F32],
    [0x8c, F32],
    [0x8d, F32],
    [0xbb, F64],
  ],
  [F64]: [
    [0x99, F64],
    [0x9c, F64],
    [0x9d, F64],
    [0xb6, F32],
  ],
};

export function unaryOperator(code: FunctionGenerator): Flow {
  const { random } = code.world;
  const type = random.pick(NUMBERS);
  code.ensure([type]);
  if (type === F64 && random.chance(30)) {
    code.emit(0xfc, random.pick([2, 3]));
    code.pop(F64);
    code.stack.push(I32);
    return "on";
  }
  const [operator, result] = random.pick(UNARY[type] ?? []);
  code.emit(operator);
  code.pop(type);
  code.stack.push(result);
  return "on";
}

/** Operators of two arguments of a type: the codes of those that give the same type, and of comparisons. */
const BINARY: Readonly<Record<number, readonly [Bytes, Bytes]>> = {
  [I32]: [
    [0x6a, 0x6b, 0x6c, 0x71, 0x72, 0x73, 0x74, 0x75, 0x76, 0x77, 0x78],
    [0x46, 0x47, 0x48, 0x49, 0x4a, 0x4f],
  ],
  [I64]: [
    [0x7c, 0x7d, 0x7e, 0x83, 0x84, 0x85, 0x86, 0x87, 0x88, 0x89, 0x8a],
    [0x51, 0x52, 0x53, 0x54, 0x5a],
  ],
  [F32]: [
    [0x92, 0x93, 0x94],
    [0x5b, 0x5d, 0x60],
  ],
  [F64]: [
    [0xa0, 0xa1, 0xa2],
    [0x61, 0x63, 0x66],
  ],
};

export function binaryOperator(code: FunctionGenerator): Flow {
  const { random } = code.world;
  const type = random.pick(NUMBERS);
  code.ensure([type, type]);
  const [same, comparing] = BINARY[type] ?? [[], []];
  const isComparing = random.chance(30);
  code.emit(random.pick(isComparing ? comparing : same));
  code.pop(type, type);
  code.stack.push(isComparing ? I32 : type);
  return "on";
}

export function select(code: FunctionGenerator): Flow {
  const type = code.world.random.pick([...NUMBERS, FUNCREF]);
  code.push(type, type, I32);
  if (type === FUNCREF) code.emit(0x1c, 1, FUNCREF);
  else code.emit(0x1b);
  code.pop(type, I32);
  return "on";
}

export function setVariable(code: FunctionGenerator): Flow {
  const { random, globals } = code.world;
  const type = random.pick(NUMBERS);
  code.ensure([type]);
  const [locals, inGlobals] = [
    code.localsOf(type),
    [...globals.keys()].filter((index) => globals[index] === type && index !== STEPS),
  ];
  if (inGlobals.length > 0 && random.chance(30)) code.emit(0x24, ...unsigned(random.pick(inGlobals)));
  else if (random.chance(30)) {
    code.emit(0x22, ...unsigned(random.pick(locals)));
    return "on";
  } else code.emit(0x21, ...unsigned(random.pick(locals)));
  code.pop(type);
  return "on";
}

/** Puts an address on the stack that is inside of the memory. */
function address(code: FunctionGenerator): void {
  code.push(I32);
  code.emit(0x41, 0xff, 0x1f, 0x71);
}

const LOADS: readonly (readonly [number, number])[] = [
  [0x28, I32],
  [0x29, I64],
  [0x2b, F64],
  [0x2c, I32],
  [0x2f, I32],
  [0x34, I64],
];
/** No floats: the bits of what is not a number differ between machines, and memory is compared. */
const STORES: readonly (readonly [number, number])[] = [
  [0x36, I32],
  [0x37, I64],
  [0x3a, I32],
  [0x3b, I32],
  [0x3e, I64],
];

export function load(code: FunctionGenerator): Flow {
  const [operator, type] = code.world.random.pick(LOADS);
  address(code);
  code.emit(operator, 0, ...unsigned(code.world.random.below(200)));
  code.pop(I32);
  code.stack.push(type);
  return "on";
}

export function store(code: FunctionGenerator): Flow {
  const [operator, type] = code.world.random.pick(STORES);
  address(code);
  code.push(type);
  code.emit(operator, 0, ...unsigned(code.world.random.below(200)));
  code.pop(I32, type);
  return "on";
}

export function memoryBulk(code: FunctionGenerator): Flow {
  const { random } = code.world;
  address(code);
  const kind = random.pick(["fill", "copy", "init"]);
  if (kind === "fill") code.push(I32);
  else if (kind === "copy") address(code);
  else code.emit(0x41, random.below(20));
  if (kind === "init") code.emit(0x41, random.below(40), 0xfc, 8, PASSIVE_DATA, 0);
  else {
    code.push(I32);
    code.emit(0x41, 0xff, 0x01, 0x71, ...(kind === "fill" ? [0xfc, 11, 0] : [0xfc, 10, 0, 0]));
    code.pop(I32);
  }
  code.pop(...(kind === "init" ? [I32] : [I32, I32]));
  return "on";
}

/** Operators on the second table, which only these touch. */
export function tableBulk(code: FunctionGenerator): Flow {
  const { random } = code.world;
  const small = () => code.emit(0x41, random.below(5));
  switch (random.below(5)) {
    case 0:
      small();
      code.push(FUNCREF);
      small();
      code.emit(0xfc, 17, SCRATCH_TABLE);
      code.pop(FUNCREF);
      break;
    case 1:
      small();
      small();
      small();
      code.emit(0xfc, 14, SCRATCH_TABLE, SCRATCH_TABLE);
      break;
    case 2:
      small();
      small();
      code.emit(0x41, random.below(4), 0xfc, 12, PASSIVE_ELEMENTS, SCRATCH_TABLE);
      break;
    case 3:
      code.push(FUNCREF);
      small();
      code.emit(0xfc, 15, SCRATCH_TABLE);
      code.pop(FUNCREF);
      code.stack.push(I32);
      break;
    default:
      code.emit(0xfc, 16, SCRATCH_TABLE);
      code.stack.push(I32);
  }
  return "on";
}

export function reference(code: FunctionGenerator): Flow {
  const { random } = code.world;
  if (random.chance(50)) {
    code.emit(0x41, random.below(10), 0x25, SCRATCH_TABLE, 0xd1);
    code.stack.push(I32);
  } else {
    code.emit(0x41, random.below(10));
    code.push(FUNCREF);
    code.emit(0x26, SCRATCH_TABLE);
    code.pop(FUNCREF);
  }
  return "on";
}

/** Mostly asks for the size; sometimes grows, until that fails. */
export function growMemory(code: FunctionGenerator): Flow {
  if (code.world.random.chance(70)) code.emit(0x3f, 0);
  else code.emit(0x41, code.world.random.below(MEMORY_PAGES + 1), 0x40, 0);
  code.stack.push(I32);
  return "on";
}

import { Cursor } from "./cursor.js";

export interface FunctionType {
  readonly params: readonly number[];
  readonly results: readonly number[];
}

/** One operator with all that belongs to it. */
export interface Instruction {
  readonly code: number;
  /** The second part of the code behind a prefix. */
  readonly sub: number;
  /** Indices, labels and offsets. */
  readonly indices: readonly number[];
  readonly value: number | bigint;
  readonly type: FunctionType;
  /** For block, loop, if and else: where the matching `end` is, and for an if where its `else` is, or the `end`. */
  end: number;
  otherwise: number;
}

export interface DefinedFunction {
  readonly type: FunctionType;
  readonly locals: readonly number[];
  readonly code: readonly Instruction[];
}

interface Segment {
  readonly mode: "active" | "passive" | "declared";
  readonly target: number;
  readonly offset: readonly Instruction[];
}

interface ElementSegment extends Segment {
  readonly items: readonly (readonly Instruction[])[];
}

interface DataSegment extends Segment {
  readonly bytes: Uint8Array;
}

interface ImportedFunction {
  readonly module: string;
  readonly name: string;
  readonly type: FunctionType;
}

export interface DecodedModule {
  readonly types: FunctionType[];
  readonly imports: ImportedFunction[];
  readonly functions: DefinedFunction[];
  readonly tables: { minimum: number; maximum: number }[];
  readonly memories: { minimum: number; maximum: number }[];
  readonly globals: { init: readonly Instruction[] }[];
  readonly exports: Map<string, { kind: number; index: number }>;
  readonly elements: ElementSegment[];
  readonly data: DataSegment[];
}

const NOTHING: FunctionType = { params: [], results: [] };
const EMPTY_BLOCK = -64;

/** Decodes a valid module that imports functions only. */
export function decode(bytes: Uint8Array): DecodedModule {
  const module: DecodedModule = {
    types: [],
    imports: [],
    functions: [],
    tables: [],
    memories: [],
    globals: [],
    exports: new Map(),
    elements: [],
    data: [],
  };
  const declared: number[] = [];
  const cursor = new Cursor(bytes, 8);
  while (cursor.at < bytes.length) {
    const id = cursor.byte();
    const size = cursor.unsigned();
    const end = cursor.at + size;
    decodeSection(id, cursor, module, declared);
    cursor.at = end;
  }
  return module;
}

function decodeSection(id: number, cursor: Cursor, module: DecodedModule, declared: number[]): void {
  const limits = () => {
    const hasMaximum = cursor.byte() === 1;
    const minimum = cursor.unsigned();
    return { minimum, maximum: hasMaximum ? cursor.unsigned() : 65_536 };
  };
  const typeAt = (index: number) => module.types[index] ?? NOTHING;
  const sections: Record<number, () => void> = {
    1: () => module.types.push(...cursor.list(() => functionType(cursor))),
    2: () => {
      const imports = cursor.list(() => ({
        module: cursor.name(),
        name: cursor.name(),
        kind: cursor.byte(),
        type: typeAt(cursor.unsigned()),
      }));
      if (imports.some(({ kind }) => kind !== 0)) throw new Error("the interpreter imports functions only");
      module.imports.push(...imports);
    },
    3: () => declared.push(...cursor.list(() => cursor.unsigned())),
    4: () => module.tables.push(...cursor.list(() => ({ type: cursor.byte(), ...limits() }))),
    5: () => module.memories.push(...cursor.list(limits)),
    6: () => module.globals.push(...cursor.list(() => ({ type: cursor.take(2), init: expression(cursor, module) }))),
    7: () => {
      for (const [name, kind, index] of cursor.list(() => [cursor.name(), cursor.byte(), cursor.unsigned()] as const)) {
        module.exports.set(name, { kind, index });
      }
    },
    9: () => module.elements.push(...cursor.list(() => elementSegment(cursor, module))),
    10: () => {
      cursor.unsigned();
      module.functions.push(...declared.map((type) => definedFunction(cursor, module, typeAt(type))));
    },
    11: () => module.data.push(...cursor.list(() => dataSegment(cursor, module))),
  };
  sections[id]?.();
}

function functionType(cursor: Cursor): FunctionType {
  cursor.byte();
  return { params: cursor.list(() => cursor.byte()), results: cursor.list(() => cursor.byte()) };
}

function elementSegment(cursor: Cursor, module: DecodedModule): ElementSegment {
  const flags = cursor.unsigned();
  const mode = (flags & 1) === 0 ? "active" : (flags & 2) === 0 ? "passive" : "declared";
  const target = mode === "active" && (flags & 2) !== 0 ? cursor.unsigned() : 0;
  const offset = mode === "active" ? expression(cursor, module) : [];
  if ((flags & 3) !== 0) cursor.byte();
  const reference = () => [{ ...plain(0xd2), indices: [cursor.unsigned()] }];
  return { mode, target, offset, items: cursor.list((flags & 4) === 0 ? reference : () => expression(cursor, module)) };
}

function dataSegment(cursor: Cursor, module: DecodedModule): DataSegment {
  const flags = cursor.unsigned();
  if (flags === 2) cursor.unsigned();
  const offset = flags === 1 ? [] : expression(cursor, module);
  return { mode: flags === 1 ? "passive" : "active", target: 0, offset, bytes: cursor.take(cursor.unsigned()) };
}

function definedFunction(cursor: Cursor, module: DecodedModule, type: FunctionType): DefinedFunction {
  cursor.unsigned();
  const groups = cursor.list(() => ({ count: cursor.unsigned(), type: cursor.byte() }));
  const locals = groups.flatMap((group) => Array.from({ length: group.count }, () => group.type));
  return { type, locals, code: expression(cursor, module) };
}

/** Reads operators up to the `end` that closes none of them, and finds out which belong together. */
function expression(cursor: Cursor, module: DecodedModule): Instruction[] {
  const code: Instruction[] = [];
  const open: number[] = [];
  for (;;) {
    const instruction = decodeInstruction(cursor, module);
    const index = code.push(instruction) - 1;
    if (instruction.code >= 0x02 && instruction.code <= 0x04) open.push(index);
    else if (instruction.code === 0x05) (code[open.at(-1) ?? 0] ?? instruction).otherwise = index;
    else if (instruction.code === 0x0b) {
      const start = code[open.pop() ?? -1];
      if (start === undefined) return code;
      start.end = index;
      const otherwise = code[start.otherwise];
      if (otherwise === undefined) start.otherwise = index;
      else otherwise.end = index;
    }
  }
}

function plain(code: number): Instruction {
  return { code, sub: 0, indices: [], value: 0, type: NOTHING, end: -1, otherwise: -1 };
}

function decodeInstruction(cursor: Cursor, module: DecodedModule): Instruction {
  const code = cursor.byte();
  const numbers = (count: number) => Array.from({ length: count }, () => cursor.unsigned());
  if (code >= 0x02 && code <= 0x04) return { ...plain(code), type: blockType(cursor, module) };
  if (code === 0x0e) return { ...plain(code), indices: [...cursor.list(() => cursor.unsigned()), cursor.unsigned()] };
  if (code === 0x1c) return { ...plain(code), indices: cursor.list(() => cursor.byte()) };
  if (code === 0x41) return { ...plain(code), value: Number(cursor.signed()) };
  if (code === 0x42) return { ...plain(code), value: cursor.signed() };
  if (code === 0x43) return { ...plain(code), value: cursor.f32() };
  if (code === 0x44) return { ...plain(code), value: cursor.f64() };
  if (code === 0xfc) {
    const sub = cursor.unsigned();
    return { ...plain(code), sub, indices: numbers(sub < 8 ? 0 : [8, 10, 12, 14].includes(sub) ? 2 : 1) };
  }
  if (code === 0x11 || (code >= 0x28 && code <= 0x3e)) return { ...plain(code), indices: numbers(2) };
  const hasIndex = [0x0c, 0x0d, 0x10, 0x3f, 0x40, 0xd0, 0xd2].includes(code) || (code >= 0x20 && code <= 0x26);
  return { ...plain(code), indices: numbers(hasIndex ? 1 : 0) };
}

function blockType(cursor: Cursor, module: DecodedModule): FunctionType {
  const type = Number(cursor.signed());
  if (type === EMPTY_BLOCK) return NOTHING;
  if (type < 0) return { params: [], results: [type + 128] };
  return module.types[type] ?? NOTHING;
}

import { OP } from "./operators.js";
import type { Reader } from "./reader.js";
import { readHeapType } from "./types.js";

/** What a constant expression can refer to. */
export interface ConstantScope {
  readonly functions: readonly number[];
  readonly globals: number;
  readonly taken: Uint8Array;
}

const V128_CONST = 12;
const V128_BYTES = 16;

/** Additions, subtractions and multiplications of whole numbers may stand in constant expressions too. */
const ARITHMETIC: ReadonlySet<number> = new Set([0x6a, 0x6b, 0x6c, 0x7c, 0x7d, 0x7e]);

/** Steps over a constant expression. Types are the engine's affair; that nothing of ours can be reached is ours. */
export function readConstant(reader: Reader, scope: ConstantScope): void {
  for (;;) {
    const code = reader.byte();
    if (code === OP.end) return;
    if (!ARITHMETIC.has(code)) readOperand(reader, code, scope);
  }
}

function readOperand(reader: Reader, code: number, { functions, globals, taken }: ConstantScope): void {
  if (code === OP.i32Const) reader.skipNumber(5);
  else if (code === OP.i64Const) reader.skipNumber(10);
  else if (code === 0x43) reader.skip(4);
  else if (code === 0x44) reader.skip(8);
  else if (code === OP.refNull) readHeapType(reader);
  else if (code === OP.globalGet) {
    if (reader.u32() >= globals) throw reader.fault("a constant refers to a global that does not exist");
  } else if (code === OP.refFunc) {
    const index = reader.u32();
    if (index >= functions.length) throw reader.fault("a constant refers to a function that does not exist");
    taken[index] = 1;
  } else if (code === OP.simdPrefix && reader.u32() === V128_CONST) reader.skip(V128_BYTES);
  else throw reader.fault(`operator 0x${code.toString(16)} cannot stand in a constant`);
}

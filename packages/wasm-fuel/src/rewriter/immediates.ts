import type { Declarations } from "./declarations.js";
import { ModuleError } from "./module-error.js";
import { BULK, IMMEDIATE, TYPE } from "./operators.js";
import type { Reader } from "./reader.js";
import { isValueType, readHeapType, readValueType, unknownType } from "./types.js";

/** What the operators of a function can refer to. */
export interface CodeScope {
  readonly declarations: Declarations;
  readonly locals: number;
}

export interface Locals {
  readonly localsStart: number;
  readonly localGroups: number;
  readonly locals: number;
}

/** V8 takes up to 50,000 locals, and we need a few of them. */
const MOST_LOCALS = 49_990;

/** From here on the alignment of an access also names a memory. */
const MEMORY_INDEX_FLAG = 64;

export function readLocals(reader: Reader, params: number): Locals {
  const localGroups = reader.count("groups of locals");
  const localsStart = reader.position;
  let locals = params;
  for (let group = 0; group < localGroups; group += 1) {
    locals += reader.u32();
    readValueType(reader);
  }
  if (locals > MOST_LOCALS)
    throw ModuleError.unsupported(`a function with more than ${MOST_LOCALS} locals`, reader.position);
  return { localsStart, localGroups, locals };
}

/** How many values a branch to a block carries: its results, or for a loop its parameters. */
export function readBlockType(reader: Reader, { signatures }: Declarations, isLoop: boolean): number {
  const first = reader.peek();
  if (first === TYPE.empty) {
    reader.skip(1);
    return 0;
  }
  if (isValueType(first)) {
    reader.skip(1);
    return isLoop ? 0 : 1;
  }
  if (first >= 0x40 && first < 0x80) throw unknownType(first, reader.position);
  const start = reader.position;
  const signature = signatures[reader.u32()];
  // The index is a signed number, so the last byte of a positive one has its sixth bit clear.
  const isNegative = reader.position - start < 5 && ((reader.bytes[reader.position - 1] as number) & 0x40) !== 0;
  if (signature === undefined || isNegative) throw reader.fault("a block has no such type");
  return isLoop ? signature.params : signature.results.length;
}

/** Steps over the immediate of an operator that only reads or writes values. */
export function readImmediate(reader: Reader, kind: number, { declarations, locals }: CodeScope): void {
  switch (kind) {
    case IMMEDIATE.local:
      if (reader.u32() >= locals) throw reader.fault("there is no such local");
      return;
    case IMMEDIATE.memoryAccess:
      if (reader.u32() >= MEMORY_INDEX_FLAG) throw ModuleError.unsupported("multi-memory", reader.position);
      reader.skipNumber(5);
      return;
    case IMMEDIATE.i32:
      reader.skipNumber(5);
      return;
    case IMMEDIATE.i64:
      reader.skipNumber(10);
      return;
    case IMMEDIATE.global:
      if (reader.u32() >= declarations.globals) throw reader.fault("there is no such global");
      return;
    case IMMEDIATE.table:
      checkTable(reader, declarations);
      return;
    case IMMEDIATE.memory:
      checkMemory(reader);
      return;
    case IMMEDIATE.f32:
      reader.skip(4);
      return;
    case IMMEDIATE.f64:
      reader.skip(8);
      return;
    case IMMEDIATE.selectTypes:
      for (let count = reader.count("types"); count > 0; count -= 1) readValueType(reader);
      return;
    case IMMEDIATE.heapType:
      readHeapType(reader);
      return;
    default:
      // A function becomes an export of ours only if it could be referred to before.
      if (declarations.taken[reader.u32()] !== 1) throw reader.fault("ref.func names a function that is not declared");
  }
}

/** Steps over the immediates of an operator behind the prefix `0xfc`. */
export function checkBulkIndices(reader: Reader, code: number, declarations: Declarations): void {
  switch (code) {
    case BULK.memoryInit:
      reader.u32();
      checkMemory(reader);
      return;
    case BULK.dataDrop:
    case BULK.elemDrop:
      reader.u32();
      return;
    case BULK.memoryCopy:
      checkMemory(reader);
      checkMemory(reader);
      return;
    case BULK.memoryFill:
      checkMemory(reader);
      return;
    case BULK.tableInit:
      reader.u32();
      checkTable(reader, declarations);
      return;
    case BULK.tableCopy:
      checkTable(reader, declarations);
      checkTable(reader, declarations);
      return;
    case BULK.tableGrow:
    case BULK.tableSize:
    case BULK.tableFill:
      checkTable(reader, declarations);
      return;
    default:
      throw reader.fault(`there is no operator 0xfc ${code}`);
  }
}

function checkTable(reader: Reader, { tables }: Declarations): void {
  if (reader.u32() >= tables) throw reader.fault("there is no such table");
}

function checkMemory(reader: Reader): void {
  if (reader.byte() !== 0) throw ModuleError.unsupported("multi-memory", reader.position);
}

/** The last operator of SIMD proper; what comes after it may give other results on other machines. */
const LAST_SIMD = 0xff;

export function skipSimd(reader: Reader): void {
  const code = reader.u32();
  if (code > LAST_SIMD) throw ModuleError.unsupported("relaxed SIMD", reader.position);
  const [isAccess, isLaneAccess] = [code <= 11 || code === 92 || code === 93, code >= 84 && code <= 91];
  if (isAccess || isLaneAccess) {
    if (reader.u32() >= MEMORY_INDEX_FLAG) throw ModuleError.unsupported("multi-memory", reader.position);
    reader.skipNumber(5);
    if (isLaneAccess) reader.skip(1);
  } else if (code === 12 || code === 13) reader.skip(16);
  else if (code >= 21 && code <= 34) reader.skip(1);
}

import { ModuleError } from "./module-error.js";
import { TYPE } from "./operators.js";
import type { Reader } from "./reader.js";

/** The type of a function: how many values it takes, and the types of those it gives. */
export interface Signature {
  readonly params: number;
  readonly results: Uint8Array;
}

export interface Limits {
  readonly minimum: number;
  readonly maximum: number | null;
}

const VALUE_TYPES: ReadonlySet<number> = new Set([
  TYPE.i32,
  TYPE.i64,
  TYPE.f32,
  TYPE.f64,
  TYPE.v128,
  TYPE.funcref,
  TYPE.externref,
]);

/** Forms of types that came with garbage collection, from `noexn` to `rec`. */
const FIRST_GC_FORM = 0x4e;
const EXCEPTION_REFERENCE = 0x69;

export function isValueType(code: number): boolean {
  return VALUE_TYPES.has(code);
}

/** Says why a byte is no type that we know. */
export function unknownType(code: number, position: number): ModuleError {
  if (code === EXCEPTION_REFERENCE) return ModuleError.unsupported("exceptions", position);
  if (code >= FIRST_GC_FORM && code < 0x7b) return ModuleError.unsupported("garbage collection", position);
  return ModuleError.malformed(`there is no type 0x${code.toString(16)}`, position);
}

export function readValueType(reader: Reader): number {
  const code = reader.byte();
  if (!VALUE_TYPES.has(code)) throw unknownType(code, reader.position);
  return code;
}

export function readReferenceType(reader: Reader): number {
  const code = reader.byte();
  if (code !== TYPE.funcref && code !== TYPE.externref) throw unknownType(code, reader.position);
  return code;
}

/** The operand of `ref.null`, which is written like a type of references as long as there are only two of them. */
export function readHeapType(reader: Reader): void {
  readReferenceType(reader);
}

export function readSignature(reader: Reader): Signature {
  const form = reader.byte();
  if (form !== TYPE.func) throw unknownType(form, reader.position);
  const params = readValueTypes(reader).length;
  return { params, results: readValueTypes(reader) };
}

function readValueTypes(reader: Reader): Uint8Array {
  const types = new Uint8Array(reader.count("types of values"));
  for (let index = 0; index < types.length; index += 1) types[index] = readValueType(reader);
  return types;
}

export function readGlobalType(reader: Reader): void {
  readValueType(reader);
  if (reader.byte() > 1) throw reader.fault("a global is neither constant nor mutable");
}

export function readTableType(reader: Reader): void {
  readReferenceType(reader);
  const flags = reader.byte();
  if (flags > 1) throw tooNew(flags, reader);
  readLimits(reader, flags);
}

export function readMemoryType(reader: Reader): Limits {
  const flags = reader.byte();
  if (flags > 1) throw tooNew(flags, reader);
  const limits = readLimits(reader, flags);
  if (limits.minimum > MOST_PAGES || (limits.maximum ?? 0) > MOST_PAGES)
    throw reader.fault("a memory is larger than 4 GiB");
  return limits;
}

/** A memory of 32 bits cannot have more pages than this. */
export const MOST_PAGES = 65_536;

function readLimits(reader: Reader, flags: number): Limits {
  const minimum = reader.u32();
  const maximum = (flags & 1) === 1 ? reader.u32() : null;
  if (maximum !== null && maximum < minimum) throw reader.fault("the maximum is below the minimum");
  return { minimum, maximum };
}

function tooNew(flags: number, reader: Reader): ModuleError {
  if ((flags & 4) !== 0 && flags < 8) return ModuleError.unsupported("memory64", reader.position);
  if (flags < 4) return ModuleError.unsupported("threads", reader.position);
  return reader.fault(`there are no limits of kind ${flags}`);
}

import type { Bytes } from "./encode.js";
import type { Random } from "./random.js";

export const I32 = 0x7f;
export const I64 = 0x7e;
export const F32 = 0x7d;
export const F64 = 0x7c;
export const FUNCREF = 0x70;

export interface Type {
  readonly params: Bytes;
  readonly results: Bytes;
}

/** What functions of a generated module can use. */
export interface World {
  readonly random: Random;
  readonly types: readonly Type[];
  /** The index of the type of every function; the first is imported. */
  readonly functions: readonly number[];
  /** The functions that generated code may call: not `main`, which would give them new steps. */
  readonly callable: readonly number[];
  /** The functions in the first table, which is only read, so that indirect calls mostly find what they want. */
  readonly table: readonly number[];
  readonly globals: Bytes;
  /** Functions that `ref.func` may name. */
  readonly declared: readonly number[];
}

/** This global counts down with every round of a loop and every call, and ends all of them: no program runs for long. */
export const STEPS = 0;
export const SCRATCH_TABLE = 1;
export const PASSIVE_DATA = 1;
export const PASSIVE_ELEMENTS = 1;
export const MEMORY_PAGES = 1;
export const MOST_PAGES = 3;

export const NUMBERS: Bytes = [I32, I64, F32, F64];

/** Whether code after a statement can be reached. */
export type Flow = "on" | "left";

/** The operators that the rewriter looks at or writes, by their codes in the binary format. */
export const OP = {
  unreachable: 0x00,
  nop: 0x01,
  block: 0x02,
  loop: 0x03,
  if: 0x04,
  else: 0x05,
  end: 0x0b,
  br: 0x0c,
  brIf: 0x0d,
  brTable: 0x0e,
  return: 0x0f,
  call: 0x10,
  callIndirect: 0x11,
  drop: 0x1a,
  localGet: 0x20,
  localSet: 0x21,
  localTee: 0x22,
  globalGet: 0x23,
  globalSet: 0x24,
  memorySize: 0x3f,
  memoryGrow: 0x40,
  i32Const: 0x41,
  i64Const: 0x42,
  i32LtS: 0x48,
  i32Ne: 0x47,
  i64LtS: 0x53,
  i64GtS: 0x55,
  i64GtU: 0x56,
  i32Add: 0x6a,
  i32Sub: 0x6b,
  i64Add: 0x7c,
  i64Sub: 0x7d,
  i64Mul: 0x7e,
  i64ShrU: 0x88,
  i64ExtendI32U: 0xad,
  refNull: 0xd0,
  refFunc: 0xd2,
  bulkPrefix: 0xfc,
  simdPrefix: 0xfd,
} as const;

/** Operators behind the prefix `0xfc`. Those below 8 are conversions without an immediate. */
export const BULK = {
  memoryInit: 8,
  dataDrop: 9,
  memoryCopy: 10,
  memoryFill: 11,
  tableInit: 12,
  elemDrop: 13,
  tableCopy: 14,
  tableGrow: 15,
  tableSize: 16,
  tableFill: 17,
} as const;

/** The types of values, and the marks of a block and of a function without and with types. */
export const TYPE = {
  i32: 0x7f,
  i64: 0x7e,
  f32: 0x7d,
  f64: 0x7c,
  v128: 0x7b,
  funcref: 0x70,
  externref: 0x6f,
  func: 0x60,
  empty: 0x40,
} as const;

/** What follows an operator in the code. */
export const IMMEDIATE = {
  none: 0,
  local: 1,
  global: 2,
  table: 3,
  memory: 4,
  memoryAccess: 5,
  i32: 6,
  i64: 7,
  f32: 8,
  f64: 9,
  selectTypes: 10,
  heapType: 11,
  function: 12,
  /** Control flow, calls and prefixes, which have rules of their own. */
  special: 13,
  refused: 14,
} as const;

/** The kind of immediate for each of the 256 first bytes. */
export const IMMEDIATES: Uint8Array = immediates();

function immediates(): Uint8Array {
  const kinds = new Uint8Array(256).fill(IMMEDIATE.refused);
  const plain = (first: number, last: number, kind: number) => kinds.fill(kind, first, last + 1);
  plain(0x00, 0x05, IMMEDIATE.special);
  kinds[OP.nop] = IMMEDIATE.none;
  plain(0x0b, 0x11, IMMEDIATE.special);
  plain(0x1a, 0x1b, IMMEDIATE.none);
  kinds[0x1c] = IMMEDIATE.selectTypes;
  plain(0x20, 0x22, IMMEDIATE.local);
  plain(0x23, 0x24, IMMEDIATE.global);
  plain(0x25, 0x26, IMMEDIATE.table);
  plain(0x28, 0x3e, IMMEDIATE.memoryAccess);
  kinds[0x3f] = IMMEDIATE.memory;
  kinds[OP.memoryGrow] = IMMEDIATE.special;
  kinds[OP.i32Const] = IMMEDIATE.i32;
  kinds[OP.i64Const] = IMMEDIATE.i64;
  kinds[0x43] = IMMEDIATE.f32;
  kinds[0x44] = IMMEDIATE.f64;
  plain(0x45, 0xc4, IMMEDIATE.none);
  kinds[OP.refNull] = IMMEDIATE.heapType;
  kinds[0xd1] = IMMEDIATE.none;
  kinds[OP.refFunc] = IMMEDIATE.function;
  plain(OP.bulkPrefix, OP.simdPrefix, IMMEDIATE.special);
  return kinds;
}

/** The name of the feature that an operator outside of our set belongs to, or null when no feature has it. */
export function featureOf(code: number): string | null {
  if ((code >= 0x06 && code <= 0x0a) || code === 0x18 || code === 0x19 || code === 0x1f) return "exceptions";
  if (code === 0x12 || code === 0x13) return "tail calls";
  if (code === 0x14 || code === 0x15 || (code >= 0xd4 && code <= 0xd6)) return "typed function references";
  if (code === 0xd3 || code === 0xfb) return "garbage collection";
  if (code === 0xfe) return "threads";
  return null;
}

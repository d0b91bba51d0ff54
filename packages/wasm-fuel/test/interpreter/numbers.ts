/** A value on the stack: 32-bit and floating numbers, 64-bit integers, or a reference to a function by its index. */
export type Value = number | bigint | null;

export class Trap extends Error {}

const bits = new DataView(new ArrayBuffer(8));
const i64 = (value: bigint) => BigInt.asIntN(64, value);
const u64 = (value: bigint) => BigInt.asUintN(64, value);

type Unary<T> = (a: T) => number | bigint;
type Binary<T> = (a: T, b: T) => number | bigint;

function nonZero<T extends number | bigint>(divisor: T): T {
  if (Number(divisor) === 0) throw new Trap("divide by zero");
  return divisor;
}

const comparisons = <T>(signed: (a: T) => T, unsigned: (a: T) => T): Binary<T>[] => [
  (a, b) => Number(a === b),
  (a, b) => Number(a !== b),
  (a, b) => Number(signed(a) < signed(b)),
  (a, b) => Number(unsigned(a) < unsigned(b)),
  (a, b) => Number(signed(a) > signed(b)),
  (a, b) => Number(unsigned(a) > unsigned(b)),
  (a, b) => Number(signed(a) <= signed(b)),
  (a, b) => Number(unsigned(a) <= unsigned(b)),
  (a, b) => Number(signed(a) >= signed(b)),
  (a, b) => Number(unsigned(a) >= unsigned(b)),
];

const floatComparisons: Binary<number>[] = [
  (a, b) => Number(a === b),
  (a, b) => Number(a !== b),
  (a, b) => Number(a < b),
  (a, b) => Number(a > b),
  (a, b) => Number(a <= b),
  (a, b) => Number(a >= b),
];

function divide32(a: number, b: number): number {
  if (a === -0x80000000 && b === -1) throw new Trap("integer overflow");
  return (a / nonZero(b)) | 0;
}

function divide64(a: bigint, b: bigint): bigint {
  if (a === -(1n << 63n) && b === -1n) throw new Trap("integer overflow");
  return a / nonZero(b);
}

const arithmetic32: Binary<number>[] = [
  (a, b) => (a + b) | 0,
  (a, b) => (a - b) | 0,
  (a, b) => Math.imul(a, b),
  divide32,
  (a, b) => ((a >>> 0) / (nonZero(b) >>> 0)) | 0,
  (a, b) => (a % nonZero(b)) | 0,
  (a, b) => ((a >>> 0) % (nonZero(b) >>> 0)) | 0,
  (a, b) => a & b,
  (a, b) => a | b,
  (a, b) => a ^ b,
  (a, b) => a << b,
  (a, b) => a >> b,
  (a, b) => (a >>> b) | 0,
  (a, b) => (a << b) | (a >>> (32 - (b & 31))),
  (a, b) => (a >>> b) | (a << (32 - (b & 31))),
];

const arithmetic64: Binary<bigint>[] = [
  (a, b) => i64(a + b),
  (a, b) => i64(a - b),
  (a, b) => i64(a * b),
  divide64,
  (a, b) => i64(u64(a) / u64(nonZero(b))),
  (a, b) => i64(a % nonZero(b)),
  (a, b) => i64(u64(a) % u64(nonZero(b))),
  (a, b) => a & b,
  (a, b) => a | b,
  (a, b) => a ^ b,
  (a, b) => i64(a << (b & 63n)),
  (a, b) => i64(a >> (b & 63n)),
  (a, b) => i64(u64(a) >> (b & 63n)),
  (a, b) => i64((a << (b & 63n)) | (u64(a) >> ((64n - (b & 63n)) & 63n))),
  (a, b) => i64((u64(a) >> (b & 63n)) | (a << ((64n - (b & 63n)) & 63n))),
];

function nearest(a: number): number {
  if (Number.isNaN(a) || Math.abs(a) >= 2 ** 52 || a === 0) return a;
  const rounded = 2 * Math.round(a / 2);
  const result = Math.abs(a - Math.trunc(a)) === 0.5 ? rounded : Math.round(a);
  return result === 0 && a < 0 ? -0 : result;
}

const floatUnary: Unary<number>[] = [Math.abs, (a) => -a, Math.ceil, Math.floor, Math.trunc, nearest, Math.sqrt];
const sign = (a: number) => (a < 0 || Object.is(a, -0) ? -1 : 1);
const floatBinary: Binary<number>[] = [
  (a, b) => a + b,
  (a, b) => a - b,
  (a, b) => a * b,
  (a, b) => a / b,
  Math.min,
  Math.max,
  (a, b) => Math.abs(a) * sign(b),
];

const ones = (value: bigint) => value.toString(2).replaceAll("0", "").length;
const leading = (value: bigint, width: number) => (value === 0n ? width : width - value.toString(2).length);
const trailing = (value: bigint, width: number) =>
  value === 0n ? width : (/0*$/.exec(value.toString(2))?.[0].length ?? 0);

/** Converts to an integer between two bounds: outside of them it traps, or takes the nearest. */
function truncate(least: bigint, most: bigint, isSaturating: boolean): (a: number) => bigint {
  return (a) => {
    const isBelow = a <= Number(least) - 1;
    const isInside = !isBelow && a < Number(most) + 1;
    if (isInside) return BigInt(Math.trunc(a));
    if (!isSaturating) throw new Trap("not an integer of that size");
    if (Number.isNaN(a)) return 0n;
    return isBelow ? least : most;
  };
}

const RANGES = [
  [-(1n << 31n), (1n << 31n) - 1n],
  [0n, (1n << 32n) - 1n],
  [-(1n << 63n), (1n << 63n) - 1n],
  [0n, (1n << 64n) - 1n],
] as const;

/** The four conversions from a float: to signed and unsigned integers of 32 and of 64 bits. */
const truncations = (isSaturating: boolean): Unary<number>[] =>
  RANGES.map(([least, most], index) => {
    const convert = truncate(least, most, isSaturating);
    return index < 2 ? (a) => Number(BigInt.asIntN(32, convert(a))) : (a) => i64(convert(a));
  });

function reinterpret(write: (view: DataView) => void, read: (view: DataView) => number | bigint): number | bigint {
  write(bits);
  return read(bits);
}

export const unary = new Map<number, Unary<never>>();
export const binary = new Map<number, Binary<never>>();
/** The conversions behind the prefix `0xfc`: from the two kinds of floats to 32 bits, and then to 64. */
export const saturating: readonly Unary<number>[] = [0, 1, 0, 1, 2, 3, 2, 3].flatMap(
  (index) => truncations(true)[index] ?? [],
);

const fill = <T>(map: Map<number, unknown>, first: number, operations: readonly T[]) => {
  for (const [index, operation] of operations.entries()) map.set(first + index, operation);
};
const rounded =
  (operation: (...args: number[]) => number | bigint) =>
  (...args: number[]) =>
    Math.fround(Number(operation(...args)));
const [trapping32s, trapping32u, trapping64s, trapping64u] = truncations(false);

fill(unary, 0x45, [(a: number) => Number(a === 0)]);
fill(
  binary,
  0x46,
  comparisons<number>(
    (a) => a,
    (a) => a >>> 0,
  ),
);
fill(unary, 0x50, [(a: bigint) => Number(a === 0n)]);
fill(
  binary,
  0x51,
  comparisons<bigint>((a) => a, u64),
);
fill(binary, 0x5b, floatComparisons);
fill(binary, 0x61, floatComparisons);
fill(unary, 0x67, [Math.clz32, (a: number) => trailing(BigInt(a >>> 0), 32), (a: number) => ones(BigInt(a >>> 0))]);
fill(binary, 0x6a, arithmetic32);
fill(unary, 0x79, [
  (a: bigint) => BigInt(leading(u64(a), 64)),
  (a: bigint) => BigInt(trailing(u64(a), 64)),
  (a: bigint) => BigInt(ones(u64(a))),
]);
fill(binary, 0x7c, arithmetic64);
fill(
  unary,
  0x8b,
  floatUnary.map((each) => rounded(each as (...args: number[]) => number)),
);
fill(
  binary,
  0x92,
  floatBinary.map((each) => rounded(each as (...args: number[]) => number)),
);
fill(unary, 0x99, floatUnary);
fill(binary, 0xa0, floatBinary);
fill(unary, 0xa7, [(a: bigint) => Number(BigInt.asIntN(32, a)), trapping32s, trapping32u, trapping32s, trapping32u]);
fill(unary, 0xac, [
  (a: number) => BigInt(a),
  (a: number) => BigInt(a >>> 0),
  trapping64s,
  trapping64u,
  trapping64s,
  trapping64u,
]);
fill(unary, 0xb2, [
  Math.fround,
  (a: number) => Math.fround(a >>> 0),
  (a: bigint) => f32From(a),
  (a: bigint) => f32From(u64(a)),
  Math.fround,
]);
fill(unary, 0xb7, [
  (a: number) => a,
  (a: number) => a >>> 0,
  (a: bigint) => Number(a),
  (a: bigint) => Number(u64(a)),
  (a: number) => a,
]);
fill(unary, 0xbc, [
  (a: number) =>
    reinterpret(
      (view) => view.setFloat32(0, a),
      (view) => view.getInt32(0),
    ),
  (a: number) =>
    reinterpret(
      (view) => view.setFloat64(0, a),
      (view) => view.getBigInt64(0),
    ),
  (a: number) =>
    reinterpret(
      (view) => view.setInt32(0, a),
      (view) => view.getFloat32(0),
    ),
  (a: bigint) =>
    reinterpret(
      (view) => view.setBigInt64(0, a),
      (view) => view.getFloat64(0),
    ),
]);
fill(unary, 0xc0, [(a: number) => (a << 24) >> 24, (a: number) => (a << 16) >> 16]);
fill(
  unary,
  0xc2,
  [8, 16, 32].map((width) => (a: bigint) => BigInt.asIntN(width, a)),
);

/** Rounds once: by way of a double the last bit could be wrong, so the tail is made sticky first. */
function f32From(value: bigint): number {
  const magnitude = value < 0n ? -value : value;
  const extra = BigInt(Math.max(0, magnitude.toString(2).length - 50));
  const tail = magnitude & ((1n << extra) - 1n);
  const sticky = ((magnitude >> extra) << extra) | (tail === 0n ? 0n : 1n << extra);
  return Math.fround(Number(value < 0n ? -sticky : sticky));
}

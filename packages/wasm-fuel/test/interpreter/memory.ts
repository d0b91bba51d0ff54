import type { Value } from "./numbers.js";

export interface Memory {
  readonly bytes: Uint8Array;
  readonly view: DataView;
}

export function memoryOf(bytes: Uint8Array<ArrayBuffer>): Memory {
  return { bytes, view: new DataView(bytes.buffer) };
}

/** How many bytes each load and store moves. */
export const WIDTHS: Readonly<Record<number, number>> = Object.fromEntries(
  [4, 8, 4, 8, 1, 1, 2, 2, 1, 1, 2, 2, 4, 4, 4, 8, 4, 8, 1, 2, 1, 2, 4].map((width, index) => [0x28 + index, width]),
);

export function loadFrom({ view }: Memory, code: number, at: number): Value {
  switch (code) {
    case 0x28:
      return view.getInt32(at, true);
    case 0x29:
      return view.getBigInt64(at, true);
    case 0x2a:
      return view.getFloat32(at, true);
    case 0x2b:
      return view.getFloat64(at, true);
    case 0x2c:
      return view.getInt8(at);
    case 0x2d:
      return view.getUint8(at);
    case 0x2e:
      return view.getInt16(at, true);
    case 0x2f:
      return view.getUint16(at, true);
    case 0x30:
      return BigInt(view.getInt8(at));
    case 0x31:
      return BigInt(view.getUint8(at));
    case 0x32:
      return BigInt(view.getInt16(at, true));
    case 0x33:
      return BigInt(view.getUint16(at, true));
    case 0x34:
      return BigInt(view.getInt32(at, true));
    default:
      return BigInt(view.getUint32(at, true));
  }
}

export function storeTo({ view }: Memory, code: number, at: number, value: Value): void {
  if (code === 0x38) view.setFloat32(at, Number(value), true);
  else if (code === 0x39) view.setFloat64(at, Number(value), true);
  else {
    const whole = BigInt(value ?? 0);
    for (let byte = 0; byte < (WIDTHS[code] ?? 1); byte += 1) {
      view.setUint8(at + byte, Number((whole >> BigInt(8 * byte)) & 255n));
    }
  }
}

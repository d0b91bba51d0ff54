/** Pieces of a module in the binary format, as plain lists of bytes. */
export type Bytes = readonly number[];

export function unsigned(value: number): Bytes {
  const bytes: number[] = [];
  let rest = value;
  for (;;) {
    const low = rest % 128;
    rest = Math.floor(rest / 128);
    if (rest === 0) return [...bytes, low];
    bytes.push(low + 128);
  }
}

export function signed(value: number | bigint): Bytes {
  const bytes: number[] = [];
  let rest = BigInt(value);
  for (;;) {
    const low = Number(rest & 127n);
    rest >>= 7n;
    if ((rest === 0n && low < 64) || (rest === -1n && low >= 64)) return [...bytes, low];
    bytes.push(low + 128);
  }
}

export function list(items: readonly Bytes[]): Bytes {
  return [...unsigned(items.length), ...items.flat()];
}

export function sized(bytes: Bytes): Bytes {
  return [...unsigned(bytes.length), ...bytes];
}

export function name(text: string): Bytes {
  return sized([...new TextEncoder().encode(text)]);
}

export function functionType(params: Bytes, results: Bytes): Bytes {
  return [0x60, ...sized(params), ...sized(results)];
}

export function section(id: number, content: Bytes): Bytes {
  return [id, ...sized(content)];
}

export function moduleOf(...sections: readonly Bytes[]): Uint8Array {
  return Uint8Array.from([0, 0x61, 0x73, 0x6d, 1, 0, 0, 0, ...sections.flat()]);
}

/** A function's code, with its locals. */
export function body(locals: Bytes, code: Bytes): Bytes {
  return sized([...list([...locals].map((type) => [1, type])), ...code, 0x0b]);
}

export function constant(type: number, value: number): Bytes {
  switch (type) {
    case 0x7f:
      return [0x41, ...signed(value | 0)];
    case 0x7e:
      return [0x42, ...signed(BigInt(value) * 0x1_0001n)];
    case 0x7d:
      return [0x43, ...new Uint8Array(Float32Array.of(value / 8).buffer)];
    case 0x7c:
      return [0x44, ...new Uint8Array(Float64Array.of(value / 8).buffer)];
    default:
      return [0xd0, type];
  }
}

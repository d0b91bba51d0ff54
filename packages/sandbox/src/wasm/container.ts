/** Some data and some bytes, as they are kept on the disk and sent to other machines. */
export interface Contents<Data> {
  readonly data: Data;
  readonly parts: readonly Uint8Array[];
}

const HEADER = 4;

/** Puts data and bytes into one piece. It does not protect them: whoever keeps it adds a hash or a signature. */
export function wrap(data: object, parts: readonly Uint8Array[]): Uint8Array {
  const text = Buffer.from(JSON.stringify({ data, lengths: parts.map(({ length }) => length) }));
  const header = Buffer.alloc(HEADER);
  header.writeUInt32LE(text.length);
  return Buffer.concat([header, text, ...parts]);
}

/** What was wrapped. The parts are views, not copies. */
export function unwrap<Data>(bytes: Uint8Array): Contents<Data> {
  const file = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const end = HEADER + (file.length < HEADER ? 0 : file.readUInt32LE());
  if (end > file.length) throw new RangeError("the piece is cut off");
  const { data, lengths } = JSON.parse(file.toString("utf8", HEADER, end)) as { data: Data; lengths: number[] };
  const total = lengths.reduce((sum, length) => sum + length, end);
  if (total !== file.length) throw new RangeError("the piece does not have the bytes it should");
  let at = end;
  const parts = lengths.map((length) => {
    at += length;
    // Plain arrays: what a Buffer calls a slice is no copy.
    return new Uint8Array(bytes.buffer, bytes.byteOffset + at - length, length);
  });
  return { data, parts };
}

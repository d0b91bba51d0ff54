const END = [0x50, 0x4b, 0x05, 0x06];
const BEGIN = [0x50, 0x4b, 0x03, 0x04];
const END_SIZE = 22;

/** The zip archive that lies in a memory as a whole, and where; null when there is none. */
export function findZip(memory: Uint8Array): { readonly at: number; readonly bytes: Uint8Array } | null {
  const all = Buffer.from(memory.buffer, memory.byteOffset, memory.byteLength);
  for (let end = all.indexOf(Buffer.from(END)); end >= 0; end = all.indexOf(Buffer.from(END), end + 1)) {
    if (end + END_SIZE > all.length) return null;
    const at = end - all.readUInt32LE(end + 12) - all.readUInt32LE(end + 16);
    const begins = at >= 0 && all.subarray(at, at + BEGIN.length).equals(Buffer.from(BEGIN));
    if (begins) return { at, bytes: all.subarray(at, end + END_SIZE) };
  }
  return null;
}

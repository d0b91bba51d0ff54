import { inflateRawSync } from "node:zlib";

const END_SIGNATURE = 0x06054b50;
const END_BYTES = 22;

/** The files of an archive that we have written ourselves: no comment, no encryption, less than 4 GB. */
export function* unzip(archive) {
  const end = archive.length - END_BYTES;
  if (end < 0 || archive.readUInt32LE(end) !== END_SIGNATURE) throw new Error("the archive is cut off");
  let entry = archive.readUInt32LE(end + 16);
  for (let left = archive.readUInt16LE(end + 10); left > 0; left--) {
    const [nameBytes, extraBytes, commentBytes] = [28, 30, 32].map((offset) => archive.readUInt16LE(entry + offset));
    const name = archive.toString("utf8", entry + 46, entry + 46 + nameBytes);
    const header = archive.readUInt32LE(entry + 42);
    const start = header + 30 + archive.readUInt16LE(header + 26) + archive.readUInt16LE(header + 28);
    const packed = archive.subarray(start, start + archive.readUInt32LE(entry + 20));
    yield { name, bytes: archive.readUInt16LE(entry + 10) === 0 ? packed : inflateRawSync(packed) };
    entry += 46 + nameBytes + extraBytes + commentBytes;
  }
}

// biome-ignore-all lint/style/useTemplate: the engine makes a call of String.prototype.concat of every template
import {
  bufferByteLength,
  define,
  host,
  RangeErrorOf,
  StringOf,
  TypeErrorOf,
  typedArrayBuffer,
  typedArrayByteOffset,
  typedArrayLength,
  typedArrayTag,
  Uint8ArrayOf,
} from "./primordials.js";

/** The bytes behind a buffer or a view of one, not copied. */
export function bytesOf(source) {
  if (typedArrayTag(source) === "Uint8Array") return source;
  if (typedArrayTag(source) !== undefined) {
    const width = source.BYTES_PER_ELEMENT;
    return new Uint8ArrayOf(typedArrayBuffer(source), typedArrayByteOffset(source), typedArrayLength(source) * width);
  }
  if (host.kindOf(source) === "arraybuffer") return new Uint8ArrayOf(source, 0, bufferByteLength(source));
  throw new TypeErrorOf("a buffer or a typed array is needed");
}

class TextEncoder {
  get encoding() {
    return "utf-8";
  }

  encode(text = "") {
    return host.encode(StringOf(text));
  }
}

class TextDecoder {
  constructor(label = "utf-8") {
    if (label !== "utf-8" && label !== "utf8" && label !== "UTF-8") {
      throw new RangeErrorOf("the encoding " + StringOf(label) + " is not supported; only utf-8 is");
    }
  }

  get encoding() {
    return "utf-8";
  }

  decode(source) {
    return source === undefined ? "" : host.decode(bytesOf(source));
  }
}

export function installEncoding() {
  define(globalThis, "TextEncoder", TextEncoder);
  define(globalThis, "TextDecoder", TextDecoder);
}

// biome-ignore-all lint/style/useTemplate: the engine makes a call of String.prototype.concat of every template
import { bytesOf } from "./encoding.js";
import { absolute, ask, isFailure } from "./paths.js";
import {
  append,
  apply,
  BigIntOf,
  host,
  mathMin,
  mathTrunc,
  NumberOf,
  newList,
  RangeErrorOf,
  StringOf,
  stringIncludes,
  TypeErrorOf,
  typedArrayBuffer,
  typedArrayFill,
  typedArrayLength,
  typedArraySubarray,
  Uint8ArrayOf,
} from "./primordials.js";
import { sprintf } from "./printf.js";

const CHUNK = 16_384;
const LARGEST_READ = 64 * 1024 * 1024;
const NEWLINE = 10;
const EBADF = 9;
const EINVAL = 22;
const END = 2;
const WRITES = 1;
const TRUNCATES = 2;
const NOTHING = new Uint8ArrayOf(0);

/**
 * An open file. All there is to it lies in the guest's memory, and each call names the file to the host by its path: so it
 * stays open across a snapshot, and a file that is renamed while it is open is no longer found.
 */
export class File {
  #path;
  #stream;
  #canRead;
  #canWrite;
  #appends;
  #position = 0;
  #isOpen = true;
  #atEnd = false;
  #failed = false;
  #chunk = NOTHING;
  #chunkAt = 0;
  /** What a file without a path reads from. */
  #input = NOTHING;

  constructor({ path, stream, canRead, canWrite, appends }) {
    this.#path = path;
    this.#stream = stream;
    this.#canRead = canRead;
    this.#canWrite = canWrite;
    this.#appends = appends;
  }

  /** Gives a file without a path something to read, from its start. */
  static feed(file, bytes) {
    file.#input = bytes;
    file.#position = 0;
    file.#chunk = NOTHING;
    file.#atEnd = false;
  }

  close() {
    if (!this.#isOpen) return -EBADF;
    // The three streams stay open: the next program needs them again.
    if (this.#path !== "") this.#isOpen = false;
    return 0;
  }

  flush() {}

  fileno() {
    return this.#path === "" ? this.#stream : -1;
  }

  eof() {
    return this.#atEnd;
  }

  error() {
    return this.#failed;
  }

  clearerr() {
    this.#atEnd = false;
    this.#failed = false;
  }

  tell() {
    return this.#position;
  }

  tello() {
    return BigIntOf(this.#position);
  }

  seek(offset, whence = 0) {
    const base = whence === 1 ? this.#position : whence === END ? this.#size() : 0;
    const target = base + mathTrunc(NumberOf(offset));
    if (!(target >= 0) || this.#path === "") return -EINVAL;
    this.#position = target;
    this.#atEnd = false;
    return 0;
  }

  puts(...values) {
    for (let index = 0; index < values.length; index++) this.#writeText(StringOf(values[index]));
  }

  printf(...args) {
    const text = apply(sprintf, undefined, args);
    this.#writeText(text);
    return text.length;
  }

  putByte(byte) {
    const one = new Uint8ArrayOf(1);
    one[0] = NumberOf(byte);
    this.#write(one);
  }

  write(source, start = 0, length = undefined) {
    if (typeof source === "string") {
      const bytes = host.encode(source);
      this.#write(bytes);
      return typedArrayLength(bytes);
    }
    const range = rangeOf(bytesOf(source), start, length);
    return this.#write(range);
  }

  read(target, start = 0, length = undefined) {
    const range = rangeOf(bytesOf(target), start, length);
    const bytes = this.#read(typedArrayLength(range));
    typedArrayFill(range, bytes);
    return typedArrayLength(bytes);
  }

  getByte() {
    const bytes = this.#buffered();
    if (typedArrayLength(bytes) === 0) return -1;
    this.#position++;
    return bytes[0];
  }

  /** The next line without its end; null at the end of the file. */
  getline() {
    const pieces = newList();
    let total = 0;
    for (;;) {
      const bytes = this.#buffered();
      const length = typedArrayLength(bytes);
      if (length === 0) break;
      let at = 0;
      while (at < length && bytes[at] !== NEWLINE) at++;
      append(pieces, typedArraySubarray(bytes, 0, at));
      total += at;
      this.#position += at < length ? at + 1 : at;
      if (at < length) return host.decode(joined(pieces, total));
    }
    return total === 0 ? null : host.decode(joined(pieces, total));
  }

  readAsString(most = LARGEST_READ) {
    return host.decode(this.#readAll(most));
  }

  readAsArrayBuffer(most = LARGEST_READ) {
    return typedArrayBuffer(this.#readAll(most));
  }

  #size() {
    if (this.#path === "") return typedArrayLength(this.#input);
    const answer = ask("size", this.#path);
    return isFailure(answer) ? 0 : answer;
  }

  #readAll(most) {
    const left = mathMin(this.#size() - this.#position, NumberOf(most));
    if (left > LARGEST_READ) throw new RangeErrorOf("more than " + LARGEST_READ + " bytes cannot be read at once");
    return left > 0 ? this.#read(left) : NOTHING;
  }

  #buffered() {
    const ahead = this.#position - this.#chunkAt;
    if (ahead >= 0 && ahead < typedArrayLength(this.#chunk)) return typedArraySubarray(this.#chunk, ahead);
    const start = this.#position;
    const chunk = this.#read(CHUNK);
    this.#position = start;
    this.#chunk = chunk;
    this.#chunkAt = start;
    return chunk;
  }

  #read(length) {
    this.#check(this.#canRead, "reading");
    const from = this.#position;
    const bytes =
      this.#path === "" ? typedArraySubarray(this.#input, from, from + length) : ask("read", this.#path, from, length);
    if (isFailure(bytes)) {
      this.#failed = true;
      return NOTHING;
    }
    if (typedArrayLength(bytes) < length) this.#atEnd = true;
    this.#position += typedArrayLength(bytes);
    return bytes;
  }

  #writeText(text) {
    if (this.#stream !== 0) host.write(this.#stream, text);
    else this.#write(host.encode(text));
  }

  #write(bytes) {
    this.#check(this.#canWrite, "writing");
    if (this.#stream !== 0) {
      host.write(this.#stream, bytes);
      return typedArrayLength(bytes);
    }
    if (this.#appends) this.#position = this.#size();
    this.#chunk = NOTHING;
    const answer = ask("write", this.#path, this.#position, bytes);
    if (isFailure(answer)) {
      this.#failed = true;
      return 0;
    }
    this.#position += typedArrayLength(bytes);
    return typedArrayLength(bytes);
  }

  #check(allowed, purpose) {
    if (!this.#isOpen) throw new TypeErrorOf("the file is closed");
    if (!allowed) throw new TypeErrorOf("the file is not open for " + purpose);
  }
}

/** How a file is opened by the letters of C's `fopen`. */
export function accessOf(mode) {
  const text = StringOf(mode);
  const letter = text[0];
  if (letter !== "r" && letter !== "w" && letter !== "a") throw new TypeErrorOf("invalid file mode: " + text);
  const both = stringIncludes(text, "+");
  return {
    how: letter === "r" ? "existing" : stringIncludes(text, "x") ? "new" : "any",
    truncates: letter === "w",
    canRead: letter === "r" || both,
    canWrite: letter !== "r" || both,
    appends: letter === "a",
  };
}

/** Opens a file, or gives a number below zero, which says why not. */
export function openFile(path, { how, truncates, canRead, canWrite, appends }) {
  const full = absolute(path);
  const answer = ask("open", full, how, (canWrite ? WRITES : 0) | (truncates ? TRUNCATES : 0));
  return isFailure(answer) ? answer : new File({ path: full, stream: 0, canRead, canWrite, appends });
}

function rangeOf(bytes, start, length) {
  const from = mathTrunc(NumberOf(start));
  const whole = typedArrayLength(bytes);
  const count = length === undefined ? whole - from : mathTrunc(NumberOf(length));
  if (!(from >= 0) || !(count >= 0) || from + count > whole)
    throw new RangeErrorOf("the range is outside of the buffer");
  return typedArraySubarray(bytes, from, from + count);
}

function joined(pieces, total) {
  if (pieces.length === 1) return pieces[0];
  const whole = new Uint8ArrayOf(total);
  let at = 0;
  for (let index = 0; index < pieces.length; index++) {
    typedArrayFill(whole, pieces[index], at);
    at += typedArrayLength(pieces[index]);
  }
  return whole;
}

import { EscapedKey } from "./escaped-key.js";

const MASK = 0x2a;
/** Shorter keys are placeholders, such as `none` or `EMPTY`, whose letters stand in any answer. */
const LEAST_KEY = 7;

/** So many bytes of a form are looked for first. */
const MOST_WINDOW = 32;

/**
 * Masks an upstream's key in what the upstream answers: as it is, and as base64, hex, percent-encoded or JSON-escaped text has it, also
 * where only some of its characters are escaped.
 * A mask has as many bytes as what it replaces, so that lengths and framing stay as they are. All forms are looked for at once, as
 * Wu and Manber do: most of a text is skipped without a look at it.
 */
export class KeyScrubber {
  private readonly forms: readonly Buffer[];
  /** The same key with some of its characters escaped, and what base64 has of it where that holds a sign that is escaped. */
  private readonly escaped: readonly EscapedKey[];
  /** As many bytes as the shortest form has. */
  private readonly window: number;
  /** By the last two bytes of a window: how far the next window that may be the beginning of a form is. */
  private readonly shifts: Uint8Array;
  /** By byte: whether any form has it. */
  private readonly known = new Uint8Array(256);

  constructor(key: string | null) {
    const looked = key === null || key.length < LEAST_KEY ? null : key;
    const forms = looked === null ? [] : formsOf(looked).map((form) => Buffer.from(form, "latin1"));
    this.forms = forms;
    this.escaped = looked === null ? [] : [looked, ...escapableBase64(looked)].map((text) => new EscapedKey(text));
    this.window = Math.min(MOST_WINDOW, ...forms.map(({ length }) => length));
    this.shifts = new Uint8Array(forms.length === 0 ? 0 : 65_536).fill(this.window - 1);
    for (const form of [...forms, EscapedKey.bytes]) for (const byte of form) this.known[byte] = 1;
    for (const form of forms) {
      for (let at = 0; at + 2 <= this.window; at++) {
        const pair = form.readUInt16BE(at);
        this.shifts[pair] = Math.min(this.shifts[pair] as number, this.window - 2 - at);
      }
    }
  }

  /** Whether there is anything to look for. */
  get isIdle(): boolean {
    return this.forms.length === 0;
  }

  /** The text of an answer, without the key. */
  answer(text: string): string {
    if (this.isIdle) return text;
    const bytes = Buffer.from(text);
    const masked = this.mask(bytes);
    return masked === bytes ? text : masked.toString();
  }

  /** The text of a header without the key; the same one where it does not have it. */
  text(text: string): string {
    if (text.length < this.window) return text;
    const bytes = Buffer.from(text, "latin1");
    const masked = this.mask(bytes);
    return masked === bytes ? text : masked.toString("latin1");
  }

  /** The bytes without the key; the same ones where they do not have it. */
  mask(bytes: Buffer): Buffer {
    if (this.isIdle) return bytes;
    const { window, shifts } = this;
    const { length } = bytes;
    let masked: Buffer | null = null;
    for (let end = window - 1; end < length; ) {
      const shift = shifts[((bytes[end - 1] as number) << 8) | (bytes[end] as number)] as number;
      if (shift > 0) {
        end += shift;
        continue;
      }
      const at = end - window + 1;
      const form = this.forms.find((each) => isAt(each, bytes, at));
      if (form !== undefined) {
        masked ??= Buffer.from(bytes);
        masked.fill(MASK, at, at + form.length);
      }
      end += form?.length ?? 1;
    }
    return this.maskEscaped(masked ?? bytes, bytes);
  }

  private maskEscaped(masked: Buffer, bytes: Buffer): Buffer {
    let after = masked;
    for (const escaped of this.escaped) {
      for (const { start, end } of escaped.wholeIn(bytes)) {
        if (after === bytes) after = Buffer.from(bytes);
        after.fill(MASK, start, end);
      }
    }
    return after;
  }

  /** How many bytes at the end may be the beginning of a key that goes on in the next piece. */
  openBytes(bytes: Buffer): number {
    // Pieces of streams end with an empty line, which no form has.
    if (bytes.length === 0 || this.known[bytes[bytes.length - 1] as number] === 0) return 0;
    let open = 0;
    for (const escaped of this.escaped)
      open = Math.max(open, bytes.length - (escaped.openIn(bytes)?.start ?? bytes.length));
    for (const form of this.forms) open = Math.max(open, openBytesOf(form, bytes));
    return open;
  }

  /** The end of an answer without what is more than half of a key. */
  maskTail(bytes: Buffer): Buffer {
    const { length = 0 } = this.forms.at(-1) ?? {};
    const isMostEscaped = this.escaped.some((escaped) => (escaped.openIn(bytes)?.characters ?? 0) * 2 > length);
    const isMost = isMostEscaped || this.forms.some((form) => openBytesOf(form, bytes) * 2 > form.length);
    return isMost ? Buffer.alloc(bytes.length, MASK) : bytes;
  }
}

function isAt(form: Buffer, bytes: Buffer, at: number): boolean {
  return at + form.length <= bytes.length && form.compare(bytes, at, at + form.length) === 0;
}

/** A body that comes piece by piece, without the key. Only what may be the beginning of a key waits for the next piece. */
export class ScrubbedBody {
  /** Whether the key was in it. */
  isMasked = false;
  private readonly scrubber: KeyScrubber;
  private held: Buffer | null = null;

  constructor(scrubber: KeyScrubber) {
    this.scrubber = scrubber;
  }

  push(piece: Buffer): Buffer {
    const bytes = this.held === null ? piece : Buffer.concat([this.held, piece]);
    const masked = this.masked(bytes);
    const open = this.scrubber.openBytes(masked);
    this.held = open === 0 ? null : Buffer.from(masked.subarray(masked.length - open));
    return open === 0 ? masked : masked.subarray(0, masked.length - open);
  }

  /** What was held back, now that nothing more comes. */
  end(): Buffer | null {
    const { held } = this;
    if (held === null) return null;
    this.held = null;
    const masked = this.scrubber.maskTail(held);
    this.isMasked ||= masked !== held;
    return masked;
  }

  whole(bytes: Buffer): Buffer {
    return this.masked(bytes);
  }

  private masked(bytes: Buffer): Buffer {
    const masked = this.scrubber.mask(bytes);
    this.isMasked ||= masked !== bytes;
    return masked;
  }
}

/** The longest end of the bytes that a form begins with, without being whole. */
function openBytesOf(form: Buffer, bytes: Buffer): number {
  const first = form[0] as number;
  const from = Math.max(0, bytes.length - form.length + 1);
  for (let at = bytes.indexOf(first, from); at !== -1; at = bytes.indexOf(first, at + 1)) {
    const open = bytes.length - at;
    if (form.compare(bytes, at, bytes.length, 0, open) === 0) return open;
  }
  return 0;
}

/** How a key may be written, the longest first: a shorter one may stand in it. */
function formsOf(key: string): readonly string[] {
  const hex = Buffer.from(key, "latin1").toString("hex");
  const pairs = hex.match(/../g) ?? [];
  const forms = [
    key,
    key.toLowerCase(),
    key.toUpperCase(),
    encodeURIComponent(key),
    key.replaceAll("/", "\\/"),
    JSON.stringify(key).slice(1, -1),
    hex,
    hex.toUpperCase(),
    pairs.map((pair) => `%${pair}`).join(""),
    pairs.map((pair) => `\\u00${pair}`).join(""),
    ...[0, 1, 2].flatMap((offset) => base64Of(key, offset)),
  ];
  return [...new Set(forms)].sort((a, b) => b.length - a.length);
}

/** What base64 has of a key, where it holds a sign that JSON or percent-encoding may escape. */
function escapableBase64(key: string): readonly string[] {
  return [0, 1, 2].flatMap((offset) => base64Of(key, offset).filter((text) => /[+/]/.test(text)));
}

/** What base64 has of a key that begins so many bytes after a group of three: the characters that hold nothing but the key. */
function base64Of(key: string, offset: number): readonly string[] {
  const bits = (offset + key.length) * 8;
  const text = Buffer.from(`${"\0".repeat(offset)}${key}`, "latin1").toString("base64");
  const whole = text.slice(Math.ceil((offset * 8) / 6), Math.floor(bits / 6));
  return [whole, whole.replaceAll("+", "-").replaceAll("/", "_")];
}

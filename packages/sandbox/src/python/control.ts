import type { Device } from "../wasi/device.js";

/** More than any sensible reply; a program that writes more to the device itself is cut off here. */
const LONGEST_REPLY = 8 * 1024 * 1024;
const LONGEST_WORD = 64;

type Listening = "word" | "reply";

/**
 * The device through which the guest's boot code and the host talk. A program can open it, too, so nothing that comes out
 * of it is believed: it is text of a bounded length, and whoever reads it checks it.
 */
export class Control implements Device {
  private readonly fuel: () => number;
  private waiting: Uint8Array = new Uint8Array();
  private request: Uint8Array = new Uint8Array();
  private listening: Listening = "word";
  private pieces: Uint8Array[] = [];
  private length = 0;
  private where: readonly [serve: number, type: number] | null = null;

  constructor(fuel: () => number) {
    this.fuel = fuel;
  }

  /** Where the boot code has its function, and the function's type; null before it said so. */
  get entry(): readonly [serve: number, type: number] | null {
    return this.where;
  }

  /** Lays out a request, for when the guest asks for it. */
  ask(request: object): void {
    this.request = new TextEncoder().encode(JSON.stringify(request));
    this.waiting = new Uint8Array();
    this.listening = "word";
    this.pieces = [];
    this.length = 0;
  }

  /** What was replied to it; null when nothing was, or nothing that could be one. */
  reply(): unknown {
    if (this.listening !== "reply" || this.length > LONGEST_REPLY) return null;
    try {
      return JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(Buffer.concat(this.pieces)));
    } catch {
      return null;
    }
  }

  read(into: Uint8Array): number {
    const count = Math.min(into.length, this.waiting.length);
    into.set(this.waiting.subarray(0, count));
    this.waiting = this.waiting.subarray(count);
    return count;
  }

  write(chunk: Uint8Array): void {
    if (this.listening === "reply") {
      this.length += chunk.length;
      if (this.length <= LONGEST_REPLY) this.pieces.push(chunk.slice());
      return;
    }
    if (chunk.length > LONGEST_WORD) return;
    const word = new TextDecoder().decode(chunk.slice());
    if (word === "next") this.waiting = this.request;
    else if (word === "fuel") this.waiting = new TextEncoder().encode(String(this.fuel()));
    else if (word === "reply") this.listening = "reply";
    else if (word.startsWith("entry ") && this.where === null) this.where = entryOf(word);
  }
}

function entryOf(word: string): readonly [number, number] {
  const [, serve = "0", type = "0"] = word.split(" ");
  return [Number(serve), Number(type)];
}

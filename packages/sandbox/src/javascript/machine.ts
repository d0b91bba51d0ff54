import { Ceiling, Fuel } from "@bursar/wasm-fuel";
import { MemoryExhausted } from "../wasm/memory-exhausted.js";
import { differing, lay, type Pages } from "../wasm/pages.js";
import type { Box } from "./exports.js";
import type { HostSide } from "./host-side.js";
import type { JavaScriptImage } from "./image.js";
import { type Plain, Quickjs, Thrown } from "./quickjs.js";

/** More than any of the guest's own small functions needs. */
const HOUSEKEEPING_FUEL = 1_000_000_000;
const HOUSEKEEPING_BYTES = 1024 * 1024;

/** One instance of the engine with an image in it: alive from a restore to a trap. */
export class Machine {
  readonly quickjs: Quickjs;
  readonly fuel: Fuel;
  readonly ceiling: Ceiling;
  private readonly image: JavaScriptImage;
  private readonly memoryLimit: number;

  /** Restores the image, and what has changed since if that is given. */
  constructor(image: JavaScriptImage, host: HostSide, changed: Pages | null, memoryLimit: number) {
    this.image = image;
    this.memoryLimit = memoryLimit;
    this.quickjs = new Quickjs(image.engine.module, host);
    this.fuel = new Fuel(this.quickjs.instance);
    this.ceiling = new Ceiling(this.quickjs.instance);
    this.fuel.begin({ budget: HOUSEKEEPING_FUEL });
    this.quickjs.grow(Math.max(image.memory.length / 65_536, changed?.size ?? 0));
    this.quickjs.memory.set(image.memory);
    if (changed !== null) lay(changed, this.quickjs.memory);
    this.quickjs.limitMemory(memoryLimit);
    host.attach(this.quickjs, this.fuel);
  }

  /** What has changed since the image. */
  changes(): Pages {
    return differing(this.quickjs.memory, this.image.memory);
  }

  /** Starts `Math.random` over. */
  reseed(seed: bigint): void {
    const at = this.image.places.seed;
    // The engine's generator would give nothing but zeros for a seed of zero.
    const state = BigInt.asUintN(64, seed) || 1n;
    new DataView(this.quickjs.memory.buffer).setBigUint64(at, state, true);
  }

  /** Leaves out the reactions to promises that are still to be run, as the end of a process would. */
  dropReactions(): void {
    const at = this.image.places.reactions;
    const words = new DataView(this.quickjs.memory.buffer);
    words.setUint32(at, at, true);
    words.setUint32(at + 4, at, true);
  }

  /** Calls one of the functions that the guest's own code has set up. */
  ask(name: keyof JavaScriptImage["functions"], args: readonly (Plain | { readonly box: Box })[]): Box {
    return this.quickjs.call(this.image.functions[name], args);
  }

  /** The same for a function that answers with a number. */
  askNumber(name: keyof JavaScriptImage["functions"], args: readonly Plain[]): number {
    const box = this.ask(name, args);
    const number = this.quickjs.number(box) ?? Number.NaN;
    this.quickjs.free(box);
    return number;
  }

  askBoolean(name: keyof JavaScriptImage["functions"], args: readonly (Plain | { readonly box: Box })[]): boolean {
    const box = this.ask(name, args);
    const boolean = this.quickjs.boolean(box) ?? false;
    this.quickjs.free(box);
    return boolean;
  }

  /** Gives the next program its arguments and its input. */
  prepare(argv: readonly string[], stdin: Uint8Array): void {
    this.onTheHouse(() => {
      this.quickjs.free(this.ask("prepare", [JSON.stringify(argv)]));
      this.quickjs.free(this.ask("feed", [stdin]));
    });
  }

  /** Tidies up after a program. */
  finish(): void {
    this.onTheHouse(() => {
      if (this.quickjs.hasReaction) this.dropReactions();
      this.quickjs.free(this.ask("finish", []));
    });
  }

  /** Does what a program does not pay for, and what works even where it has left no memory. */
  private onTheHouse(work: () => void): void {
    this.fuel.begin({ budget: HOUSEKEEPING_FUEL });
    this.quickjs.limitMemory(this.memoryLimit + HOUSEKEEPING_BYTES);
    try {
      work();
    } catch (error) {
      throw error instanceof Thrown ? new MemoryExhausted() : error;
    }
    this.quickjs.limitMemory(this.memoryLimit);
  }
}

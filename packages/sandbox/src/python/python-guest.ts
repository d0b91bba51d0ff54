import {
  Ceiling,
  engine,
  Fuel,
  OutOfFuel,
  type WasmGlobal,
  type WasmInstance,
  type WasmMemory,
  type WasmModule,
} from "@bursar/wasm-fuel";
import { WRITABLE_FOLDERS } from "../guests/guest-folders.js";
import { NULL_DEVICE } from "../wasi/device.js";
import type { RestoreOptions } from "../wasi/host-options.js";
import { ProcExit } from "../wasi/proc-exit.js";
import type { SavedHost } from "../wasi/saved-host.js";
import type { Mounts } from "../wasi/vfs.js";
import { WasiHost } from "../wasi/wasi-host.js";
import type { ZipTree } from "../wasi/zip-tree.js";
import type { Memories } from "../wasm/memories.js";
import type { Allotted, Answer, Execution, Outcome } from "../wasm/outcome.js";
import { checkPages, differing, lay, layFrom, type Pages } from "../wasm/pages.js";
import { tooLarge } from "../wasm/too-large.js";
import { trapOf } from "../wasm/trap.js";
import { Control } from "./control.js";
import { entryOf, MEMORY, type PythonImage, stdlibPath } from "./python-image.js";
import type { PythonManifest } from "./python-manifest.js";
import { type Reply, readReply } from "./reply.js";

/** What all guests of one build share. */
export interface PythonParts {
  readonly manifest: PythonManifest;
  /** Metered, and without data: the image brings it. */
  readonly module: WasmModule;
  readonly image: PythonImage;
  /** The image as a whole memory. */
  readonly base: Uint8Array;
  readonly stdlib: ZipTree;
  /** Where guests get their memory from, when the module does not have its own. */
  readonly memories?: Memories;
}

/** A guest between two requests, as far as it differs from the image. */
export interface PythonState {
  /** The image it differs from. */
  readonly image: string;
  readonly pages: Pages | null;
  readonly stackPointer: number;
  readonly host: SavedHost;
}

export interface PythonOptions extends Omit<RestoreOptions, "devices" | "charge" | "mounts"> {
  /** Beside the standard library: packages and folders, by their paths. */
  readonly mounts?: Mounts;
  readonly memoryPages: number;
}

export interface Program {
  readonly code: string;
  readonly argv?: readonly string[];
  readonly interactive?: boolean;
}

const WASM_PAGE = 65_536;
/** More than a program can need that only sets a path or a seed. */
const SETTING_FUEL = 1_000_000_000;
/**
 * In the middle of a program its functions may have counted a little that they take back at their end, and it must not be
 * stopped for that: so it is let go on by so much, and whether it has burnt too much is looked at when it has come back.
 */
const LEEWAY = 10_000;

/** One interpreter. After a trap it must not be used any more: make another from the image, or from a saved state. */
export class PythonGuest {
  readonly host: WasiHost;
  private readonly parts: PythonParts;
  private readonly control: Control;
  private readonly memory: WasmMemory;
  private readonly stackPointer: WasmGlobal<number>;
  private readonly fuel: Fuel;
  private readonly ceiling: Ceiling;
  /** What its session may have. */
  private readonly mostBytes: number;
  private readonly serve: () => boolean;
  private left = false;
  /** Whether what is running is a statement of a dialogue. */
  private isDialogue = false;
  /** How much the request that is being served may burn. */
  private allowed = 0;

  /** Makes a guest from the image, or one that goes on from a saved state. */
  constructor(parts: PythonParts, options: PythonOptions, state?: PythonState) {
    const { manifest, module, image, stdlib } = parts;
    if (state !== undefined && state.image !== image.name) {
      throw new Error("the session was saved with another build of the interpreter; start it anew");
    }
    this.parts = parts;
    this.control = new Control(() => this.fuel.consumed);
    const own: Mounts = {
      [stdlibPath(manifest)]: { kind: "tree", tree: stdlib },
      "/dev/null": { kind: "device", device: NULL_DEVICE },
    };
    const mounts: Mounts = { ...own, ...options.mounts };
    this.host = WasiHost.restore(state?.host ?? image.host, {
      ...options,
      mounts,
      devices: { "/dev/control": this.control },
      charge: (units) => this.fuel.charge(units),
    });
    for (const [path, mount] of Object.entries(mounts)) this.host.vfs.mount(path, mount);
    this.host.vfs.confineWrites(WRITABLE_FOLDERS);
    const given = parts.memories?.take() ?? null;
    const instance: WasmInstance = new engine.Instance(module, {
      wasi_snapshot_preview1: this.host.imports,
      ...(given !== null && { [MEMORY.module]: { [MEMORY.name]: given } }),
    });
    this.memory = given ?? (instance.exports.memory as WasmMemory);
    this.stackPointer = instance.exports.__stack_pointer as WasmGlobal<number>;
    this.fill(state ?? null, options.memoryPages);
    this.host.bind(this.memory);
    this.fuel = new Fuel(instance);
    this.ceiling = new Ceiling(instance);
    this.mostBytes = options.memoryPages * WASM_PAGE;
    this.serve = entryOf(instance, manifest, image);
  }

  begin(program: Program, allotted: Allotted): Execution {
    this.isDialogue = program.interactive === true;
    return this.ask({ op: "begin", ...program }, allotted);
  }

  resume(answer: Answer, allotted: Allotted): Execution {
    return this.ask({ op: "resume", ...answer }, allotted);
  }

  /** Lets the fuel of what is running grow. */
  extend(fuel: number): void {
    this.fuel.extend(fuel);
    this.allowed += fuel;
  }

  /** Other randomness than that of the image, folders to look for modules in, and variables. */
  prepare(settings: { readonly paths: readonly string[]; readonly env: Readonly<Record<string, string>> }): void {
    this.ask({ op: "prepare", ...settings }, { fuel: SETTING_FUEL, onSlice: () => {} });
  }

  /** Whether its program has left the interpreter in the middle. Its memory must not be used any more then. */
  get isOver(): boolean {
    return this.left;
  }

  /** Closes what it has open, and leaves its memory to others. It must not be used any more. */
  close(): void {
    this.left = true;
    this.host.close();
    this.parts.memories?.give(this.memory);
  }

  /**
   * Everything that another guest of the same build needs in order to go on. Without its memory nobody would close what it has
   * open, so that is done here, and this guest must not be used any more.
   */
  save({ memory }: { readonly memory: boolean }): PythonState {
    const stackPointer = this.stackPointer.value;
    const { name: image } = this.parts.image;
    if (memory && !this.left) {
      const pages = differing(new Uint8Array(this.memory.buffer), this.parts.base);
      return { image, pages, stackPointer, host: this.host.save() };
    }
    this.host.close();
    // A guest that starts from the image has open what the image has open.
    const { descriptors, clock } = this.parts.image.host;
    return { image, pages: null, stackPointer, host: { ...this.host.save(), descriptors, clock } };
  }

  private fill(state: PythonState | null, most: number): void {
    const { image, base, memories } = this.parts;
    const size = Math.max(image.pages.size, state?.pages?.size ?? 0);
    if (state?.pages) checkPages(state.pages, most);
    const missing = size - this.memory.buffer.byteLength / WASM_PAGE;
    if (missing > 0) this.memory.grow(missing);
    const bytes = new Uint8Array(this.memory.buffer);
    if (memories === undefined) layFrom(base, image.pages, bytes);
    if (state?.pages) lay(state.pages, bytes);
    this.stackPointer.value = state?.pages ? state.stackPointer : image.stackPointer;
  }

  private ask(request: object, { fuel, memory = Number.POSITIVE_INFINITY, ...slices }: Allotted): Execution {
    // What the session's own limit refuses is nobody else's doing.
    this.ceiling.set(memory < this.mostBytes ? memory : null);
    const { byteLength } = this.memory.buffer;
    if (byteLength > memory) return tooLarge(byteLength);
    this.control.ask(request);
    this.allowed = fuel;
    this.fuel.begin({ budget: Math.min(fuel + LEEWAY, Number.MAX_SAFE_INTEGER), ...slices });
    const { outcome, imports } = this.answered();
    const trapped = outcome.kind === "trapped" && outcome.reason === "out_of_fuel";
    return {
      outcome,
      imports,
      fuel_consumed: trapped ? this.allowed : Math.min(this.fuel.consumed, this.allowed),
      memory_bytes: this.memory.buffer.byteLength,
      memory_refused: this.ceiling.refused,
    };
  }

  private answered(): Reply {
    try {
      const served = this.serve();
      this.fuel.end();
      if (this.isOverdrawn) return { outcome: this.outOfFuel(), imports: [] };
      // A reply without the boot code's return was written by the program.
      return readReply(served ? this.control.reply() : null);
    } catch (error) {
      if (!(error instanceof ProcExit)) return { outcome: this.trapped(error), imports: [] };
      if (this.isOverdrawn) return { outcome: this.outOfFuel(), imports: [] };
      // It has ended as it wished, but its frames are still there: of its memory nothing lives on.
      this.left = true;
      const exited = this.isDialogue && ({ exited: true } as const);
      return { outcome: { kind: "ended", exit_code: error.code & 0xff, ...exited }, imports: [] };
    }
  }

  private get isOverdrawn(): boolean {
    return this.fuel.counted > this.allowed;
  }

  private outOfFuel(): Outcome {
    return trapOf(new OutOfFuel(this.allowed, this.fuel.counted));
  }

  private trapped(error: unknown): Outcome {
    if (error instanceof OutOfFuel) return this.outOfFuel();
    const outcome = trapOf(error);
    // The interpreter's own stack grows down to address 0; below, whatever touches it traps.
    if (outcome.kind !== "trapped" || outcome.reason !== "trap" || this.stackPointer.value >= 0) return outcome;
    return {
      ...outcome,
      reason: "stack_overflow",
      message: "calls are nested too deeply: the interpreter's stack is full",
    };
  }
}

import { engine, type WasmImports, type WasmInstance, type WasmModule } from "@bursar/wasm-fuel";
import type { Box, QuickjsExports } from "./exports.js";
import { kindOfObject } from "./kinds.js";

/** What can go from the host into the guest by itself. */
export type Plain = undefined | null | boolean | number | string | Uint8Array;

/** What a host function gives back to the guest that called it. */
export type Reply =
  | { readonly kind: "plain"; readonly value: Plain }
  /** A value that is in the guest already; the box goes over to the engine. */
  | { readonly kind: "boxed"; readonly box: Box }
  /** An `Error` with this message. */
  | { readonly kind: "error"; readonly message: string }
  /** The engine has an exception pending. */
  | { readonly kind: "thrown" }
  /** An exception that no `catch` and no `finally` of the guest sees. */
  | { readonly kind: "stop" };

/** What the engine asks its host. An exception out of one of these abandons the guest's frames: the guest is gone then. */
export interface Hooks {
  call(name: string, args: readonly Box[]): Reply;
  rejected(promise: Box, reason: Box, handled: boolean): void;
  resolve(importer: string, specifier: string): ModuleReply;
  load(name: string): ModuleReply;
  /** Nanoseconds since 1970, or, of the other clock, since the guest began. */
  nanoseconds(isWall: boolean): bigint;
}

export type ModuleReply =
  | { readonly kind: "found"; readonly text: string }
  | { readonly kind: "error"; readonly message: string };

/** How source code is evaluated. */
export const EVALUATE = { script: 0, module: 1, compileOnly: 32, asyncScript: 128 } as const;

const CONFIGURABLE_WRITABLE = 3;
const LONGEST_NAME = 4096;
const NO_SUCH_DESCRIPTOR = 8;
const WALL_CLOCK = 0;

/** Says that the engine could not do what was asked and has an exception pending. */
export class Thrown extends Error {
  override readonly name = "Thrown";
}

/**
 * QuickJS in WebAssembly, driven by its exports. The library's own binding is not used: it has no way to give a metered
 * module its refill import, turns every exception of the host, also the one that stops a guest, into one that the guest can
 * catch, and copies the host's stack traces, with the host's file names, into the guest.
 */
export class Quickjs {
  readonly instance: WasmInstance;
  private readonly exports: QuickjsExports;
  private readonly hooks: Hooks;
  private readonly encoder = new TextEncoder();
  private readonly decoder = new TextDecoder();
  private bytes = new Uint8Array();
  private view = new DataView(new ArrayBuffer(0));

  constructor(module: WasmModule, hooks: Hooks) {
    this.hooks = hooks;
    this.instance = new engine.Instance(module, this.imports());
    this.exports = this.instance.exports as unknown as QuickjsExports;
  }

  /** Starts an engine from nothing. Beyond so many bytes of its stack it throws a RangeError in the guest. */
  initialize(stackBytes: number): void {
    this.exports._initialize();
    if (this.exports.qjs_init() !== 0) throw new Error("QuickJS could not be initialised; is the wasm file intact?");
    this.exports.qjs_set_max_stack_size(stackBytes);
    this.exports.qjs_set_module_loader(1);
    this.exports.qjs_set_promise_rejection_handler(1);
  }

  get memory(): Uint8Array {
    if (this.bytes.buffer !== this.exports.memory.buffer) {
      this.bytes = new Uint8Array(this.exports.memory.buffer);
      this.view = new DataView(this.exports.memory.buffer);
    }
    return this.bytes;
  }

  private get words(): DataView {
    return this.memory.buffer === this.view.buffer ? this.view : new DataView(this.exports.memory.buffer);
  }

  /** Where the engine keeps its two structures; both stay where they are for its whole life. */
  get places(): { readonly runtime: number; readonly context: number } {
    return { runtime: this.exports.qjs_get_runtime_ptr(), context: this.exports.qjs_get_context_ptr() };
  }

  grow(pages: number): void {
    const missing = pages - this.memory.length / 65_536;
    if (missing > 0) this.exports.memory.grow(missing);
  }

  limitMemory(bytes: number): void {
    this.exports.qjs_set_memory_limit(bytes);
  }

  collectGarbage(): void {
    this.exports.qjs_run_gc();
  }

  /** Evaluates source code; throws `Thrown` when it does not compile or throws. */
  evaluate(code: string, name: string, flags: number): Box {
    const source = this.put(this.encoder.encode(code));
    const title = this.put(this.encoder.encode(name));
    const result = this.exports.qjs_eval(source.at, source.length, title.at, flags);
    this.exports.wasm_free(source.at);
    this.exports.wasm_free(title.at);
    return this.checked(result);
  }

  /** Calls a function of the guest with `undefined` as `this`; frees what it was given unless that was a box. */
  call(callee: Box, args: readonly (Plain | { readonly box: Box })[]): Box {
    const boxes = args.map((arg) => (isBoxed(arg) ? arg.box : this.box(arg)));
    const list = this.allocate(4 * Math.max(1, boxes.length));
    for (const [index, box] of boxes.entries()) this.words.setUint32(list + 4 * index, box, true);
    const self = this.exports.qjs_get_undefined();
    const result = this.exports.qjs_call(callee, self, boxes.length, list);
    this.exports.wasm_free(list);
    this.free(self);
    for (const [index, box] of boxes.entries()) if (!isBoxed(args[index])) this.free(box);
    return this.checked(result);
  }

  get hasReaction(): boolean {
    return this.exports.qjs_is_job_pending() !== 0;
  }

  /** Runs the next reaction to a promise; throws `Thrown` when it was stopped. */
  runReaction(): void {
    if (this.exports.qjs_execute_pending_job() < 0) throw new Thrown();
  }

  /** The pending exception, which is pending no more. */
  takeException(): Box {
    return this.exports.qjs_get_exception();
  }

  free(box: Box): void {
    this.exports.qjs_free_value(box);
  }

  keep(box: Box): Box {
    return this.exports.qjs_dup_value(box);
  }

  /** The same for two boxes that hold the same object. */
  identity(box: Box): number {
    return this.exports.qjs_get_value_ptr(box);
  }

  promise(box: Box): { readonly state: "pending" | "fulfilled" | "rejected" | "none" } {
    if (this.exports.qjs_is_promise(box) === 0) return { state: "none" };
    const state = this.exports.qjs_promise_state(box);
    return { state: state === 0 ? "pending" : state === 1 ? "fulfilled" : "rejected" };
  }

  promiseResult(box: Box): Box {
    return this.exports.qjs_promise_result(box);
  }

  markHandled(box: Box): void {
    this.exports.qjs_promise_mark_as_handled(box);
  }

  /** What a value is by the engine's own mark, which no program can forge; runs no code of the guest. */
  kindOf(box: Box): string {
    return this.exports.qjs_is_object(box) === 0 ? "primitive" : kindOfObject(this.exports, box);
  }

  proxyTarget(box: Box): Box {
    return this.checked(this.exports.qjs_get_proxy_target(box));
  }

  property(box: Box, name: string): Box {
    const key = this.put(this.encoder.encode(name));
    const value = this.exports.qjs_get_prop_string(box, key.at);
    this.exports.wasm_free(key.at);
    return this.checked(value);
  }

  number(box: Box): number | null {
    return this.exports.qjs_is_number(box) === 0 ? null : this.exports.qjs_get_float64(box);
  }

  boolean(box: Box): boolean | null {
    return this.exports.qjs_is_bool(box) === 0 ? null : this.exports.qjs_get_bool(box) !== 0;
  }

  isUndefined(box: Box): boolean {
    return this.exports.qjs_is_undefined(box) !== 0;
  }

  /** The first bytes of a string's UTF-8, copied, and how many there are in all; null when it is no string. */
  utf8(box: Box, most: number): { readonly bytes: Uint8Array; readonly length: number } | null {
    if (this.exports.qjs_is_string(box) === 0) return null;
    const slot = this.allocate(4);
    const at = this.exports.qjs_get_string_len(box, slot);
    const length = this.words.getUint32(slot, true);
    this.exports.wasm_free(slot);
    if (at === 0) throw new Thrown();
    const bytes = this.memory.slice(at, at + Math.min(length, most));
    this.exports.qjs_free_cstring(at);
    return { bytes, length };
  }

  /** A string of at most so many bytes of UTF-8; null when it is none, or longer. */
  text(box: Box, most: number): string | null {
    const utf8 = this.utf8(box, most);
    return utf8 === null || utf8.length > most ? null : this.decoder.decode(utf8.bytes);
  }

  /** The bytes of a typed array, copied; null when it is none, or longer. */
  array(box: Box, most: number): Uint8Array | null {
    const slots = this.allocate(16);
    const buffer = this.exports.qjs_get_typed_array_buffer(box, slots, slots + 4, slots + 8);
    if (this.exports.qjs_is_exception(buffer) !== 0) {
      this.free(buffer);
      this.free(this.takeException());
      this.exports.wasm_free(slots);
      return null;
    }
    const at = this.exports.qjs_get_array_buffer(buffer, slots + 12);
    const [offset, length] = [this.words.getUint32(slots, true), this.words.getUint32(slots + 4, true)];
    const whole = this.words.getUint32(slots + 12, true);
    this.exports.wasm_free(slots);
    this.free(buffer);
    if (length > most || offset + length > whole || (at === 0 && length > 0)) return null;
    return this.memory.slice(at + offset, at + offset + length);
  }

  /** A new box with a copy of the value; throws `Thrown` when the guest has no memory for it. */
  box(value: Plain): Box {
    const exports = this.exports;
    if (value === undefined) return exports.qjs_get_undefined();
    if (value === null) return exports.qjs_get_null();
    if (value === true) return exports.qjs_get_true();
    if (value === false) return exports.qjs_get_false();
    if (typeof value === "number") return exports.qjs_new_number(value);
    const { at, length } = this.put(typeof value === "string" ? this.encoder.encode(value) : value);
    const box =
      typeof value === "string" ? exports.qjs_new_string(at, length) : exports.qjs_new_uint8_array(at, length);
    exports.wasm_free(at);
    return this.checked(box);
  }

  /** Makes a function of the host reachable as a property of the guest's global object. */
  expose(name: string): void {
    const { at, length } = this.put(this.encoder.encode(name));
    const made = this.checked(this.exports.qjs_new_host_function(at, length, 0));
    const global = this.exports.qjs_get_global();
    this.exports.qjs_define_prop_string(global, at, made, CONFIGURABLE_WRITABLE);
    this.exports.wasm_free(at);
    this.free(global);
    this.free(made);
  }

  private imports(): WasmImports {
    return {
      env: {
        host_call: (at: number, length: number, _self: Box, count: number, args: number) =>
          this.reply(at, length, count, args),
        host_interrupt: () => 0,
        host_promise_rejection: (promise: Box, reason: Box, handled: number) =>
          this.hooks.rejected(promise, reason, handled !== 0),
        host_module_normalize: (importer: number, specifier: number) =>
          this.replyModule(() => this.hooks.resolve(this.name(importer), this.name(specifier)))?.at ?? 0,
        host_module_load: (name: number, lengthAt: number) => {
          const source = this.replyModule(() => this.hooks.load(this.name(name)));
          if (source !== null) this.words.setUint32(lengthAt, source.length, true);
          return source?.at ?? 0;
        },
        host_get_timezone_offset: () => 0,
      },
      wasi_snapshot_preview1: {
        clock_time_get: (clock: number, _precision: bigint, at: number) => {
          this.words.setBigUint64(at, BigInt.asUintN(64, this.hooks.nanoseconds(clock === WALL_CLOCK)), true);
          return 0;
        },
        // Only the engine's own diagnostics would go this way; the guest's output has host functions of its own.
        fd_close: () => NO_SUCH_DESCRIPTOR,
        fd_fdstat_get: () => NO_SUCH_DESCRIPTOR,
        fd_seek: () => NO_SUCH_DESCRIPTOR,
        fd_write: () => NO_SUCH_DESCRIPTOR,
        random_get: (at: number, length: number) => {
          this.memory.fill(0, at, at + length);
          return 0;
        },
      },
    };
  }

  private reply(nameAt: number, nameLength: number, count: number, args: number): Box {
    const name = this.decoder.decode(this.memory.subarray(nameAt, nameAt + Math.min(nameLength, LONGEST_NAME)));
    const boxes = Array.from({ length: count }, (_, index) => this.words.getUint32(args + 4 * index, true));
    try {
      const reply = this.hooks.call(name, boxes);
      switch (reply.kind) {
        case "plain":
          return this.box(reply.value);
        case "boxed":
          return reply.box;
        case "error":
          this.throwError(reply.message);
          return 0;
        case "stop":
          this.throwUncatchable();
          return 0;
        case "thrown":
          return 0;
      }
    } catch (error) {
      if (error instanceof Thrown) return 0;
      throw error;
    }
  }

  private replyModule(ask: () => ModuleReply): { readonly at: number; readonly length: number } | null {
    try {
      const reply = ask();
      if (reply.kind === "found") return this.put(this.encoder.encode(reply.text));
      this.throwError(reply.message);
      return null;
    } catch (error) {
      if (error instanceof Thrown) return null;
      throw error;
    }
  }

  private throwError(message: string): void {
    const error = this.checked(this.exports.qjs_new_error());
    const text = this.box(message);
    const key = this.put(this.encoder.encode("message"));
    this.exports.qjs_define_prop_string(error, key.at, text, CONFIGURABLE_WRITABLE);
    this.exports.wasm_free(key.at);
    this.free(text);
    this.exports.qjs_throw(error);
    this.free(error);
  }

  private throwUncatchable(): void {
    const error = this.checked(this.exports.qjs_new_error());
    this.exports.JS_SetUncatchableError(this.places.context, this.words.getBigUint64(error, true));
    this.exports.qjs_throw(error);
    this.free(error);
  }

  private checked(box: Box): Box {
    if (box === 0) throw new Thrown();
    if (this.exports.qjs_is_exception(box) === 0) return box;
    this.free(box);
    throw new Thrown();
  }

  /** Copies bytes into the guest's memory, with a zero behind them. */
  private put(bytes: Uint8Array): { readonly at: number; readonly length: number } {
    const at = this.allocate(bytes.length + 1);
    this.memory.set(bytes, at);
    this.memory[at + bytes.length] = 0;
    return { at, length: bytes.length };
  }

  private allocate(length: number): number {
    const at = this.exports.wasm_malloc(length);
    if (at !== 0) return at;
    this.exports.JS_ThrowOutOfMemory(this.places.context);
    throw new Thrown();
  }

  private name(at: number): string {
    const end = this.memory.indexOf(0, at);
    return this.decoder.decode(this.memory.subarray(at, Math.min(end < 0 ? at : end, at + LONGEST_NAME)));
  }
}

function isBoxed(value: Plain | { readonly box: Box } | undefined): value is { readonly box: Box } {
  return typeof value === "object" && value !== null && "box" in value;
}

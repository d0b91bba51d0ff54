import type { Fuel } from "@bursar/wasm-fuel";
import type { HostClock } from "../wasi/host-clock.js";
import type { Output } from "../wasi/output.js";
import { type HostCall, type Import, Stopped } from "../wasm/outcome.js";
import type { Box } from "./exports.js";
import type { FileArgument, GuestFiles } from "./guest-files.js";
import { readArguments } from "./host-arguments.js";
import type { Modules } from "./modules.js";
import { EVALUATE, type Hooks, type ModuleReply, type Plain, type Quickjs, type Reply } from "./quickjs.js";

/** What a call of the host costs the guest, beside a unit for each byte that goes in or out. */
const CALL_COST = 1000;
const LONGEST_PATH = 16_384;
const LONGEST_TEXT = 64 * 1024 * 1024;
const LONGEST_ARGUMENTS = 4 * 1024 * 1024;
const LONGEST_NAME = 1024;
const MOST_REJECTIONS = 1000;
const MOST_IMPORTS = 10_000;
const NS_PER_MS = 1e6;
/** How long a sleep lasts before somebody is asked whether it may go on. */
const NAP_MS = 20;

/** What a guest can reach of the world. */
export interface Surroundings {
  readonly files: GuestFiles;
  readonly modules: Modules;
  readonly clock: HostClock;
  readonly environment: Readonly<Record<string, string>>;
  /** How the guest waits on the real clock; what it throws stops the guest. In short naps when left out. */
  readonly sleep?: (ms: number) => void;
}

/** Where one program's doings go. */
export interface Stage {
  readonly stdout: Output;
  readonly stderr: Output;
  /** Called while the guest sleeps; it ends the sleep, and the guest, by throwing. */
  readonly onNap: () => void;
}

export interface Rejection {
  readonly promise: Box;
  readonly reason: Box;
}

/** Answers everything the guest asks, and remembers what has to be known when its program stands still. */
export class HostSide implements Hooks {
  /** The number that the program has left with; null while it has not. */
  exitCode: number | null = null;
  /** The calls without an answer, by id. */
  readonly open: Map<number, HostCall> = new Map();
  /** Those of them that nobody was told of yet. */
  asked: HostCall[] = [];
  imports: Import[] = [];
  /** Promises that were rejected and that nobody has looked at, by identity. */
  readonly rejections: Map<number, Rejection> = new Map();
  stage: Stage | null = null;
  private readonly surroundings: Surroundings;
  private machine: { readonly quickjs: Quickjs; readonly fuel: Fuel } | null = null;

  constructor(surroundings: Surroundings) {
    this.surroundings = surroundings;
  }

  attach(quickjs: Quickjs, fuel: Fuel): void {
    this.machine = { quickjs, fuel };
  }

  /** Forgets what the last program did. */
  reset(): void {
    this.exitCode = null;
    this.open.clear();
    this.asked = [];
    this.imports = [];
    this.rejections.clear();
  }

  get milliseconds(): number {
    return Math.floor(Number(this.surroundings.clock.realtime()) / NS_PER_MS);
  }

  nanoseconds(isWall: boolean): bigint {
    return isWall ? this.surroundings.clock.realtime() : this.surroundings.clock.monotonic();
  }

  call(name: string, args: readonly Box[]): Reply {
    this.fuel.charge(CALL_COST);
    if (this.exitCode !== null) return { kind: "stop" };
    switch (name) {
      case "bursar_write":
        return this.write(args);
      case "bursar_files":
        return this.askFiles(args);
      case "bursar_call":
        return plain(this.ask(args));
      case "bursar_exit":
        this.exitCode = (this.quickjs.number(argument(args, 0)) ?? 0) & 0xff;
        return { kind: "stop" };
      case "bursar_milliseconds":
        return plain(this.milliseconds);
      case "bursar_sleep":
        this.sleep(this.quickjs.number(argument(args, 0)) ?? 0);
        return plain(undefined);
      case "bursar_environment":
        return plain(this.environment(args));
      case "bursar_collect_garbage":
        this.quickjs.collectGarbage();
        return plain(undefined);
      default:
        return this.look(name, args);
    }
  }

  /** Lets time go by: on a fixed clock at once, on the real one by waiting. */
  sleep(milliseconds: number): void {
    const ms = Math.min(Math.max(0, milliseconds), Number.MAX_SAFE_INTEGER / NS_PER_MS);
    const { clock, sleep } = this.surroundings;
    if (clock.pass(BigInt(Math.round(ms * NS_PER_MS)))) return;
    if (sleep === undefined) this.nap(ms);
    else sleep(ms);
  }

  private nap(ms: number): void {
    const cell = new Int32Array(new SharedArrayBuffer(4));
    const end = performance.now() + ms;
    for (let left = ms; left > 0; left = end - performance.now()) {
      Atomics.wait(cell, 0, 0, Math.min(left, NAP_MS));
      this.stage?.onNap();
    }
  }

  rejected(promise: Box, reason: Box, handled: boolean): void {
    const identity = this.quickjs.identity(promise);
    const known = this.rejections.get(identity);
    const isNew = !handled && known === undefined && this.rejections.size < MOST_REJECTIONS;
    if (isNew) this.rejections.set(identity, { promise, reason });
    if (handled && known !== undefined) {
      this.rejections.delete(identity);
      this.dropRejection(known);
    }
    if (!isNew) this.dropRejection({ promise, reason });
  }

  dropRejection({ promise, reason }: Rejection): void {
    this.quickjs.free(promise);
    this.quickjs.free(reason);
  }

  resolve(importer: string, specifier: string): ModuleReply {
    this.fuel.charge(CALL_COST);
    return this.surroundings.modules.resolve(importer, specifier);
  }

  load(name: string): ModuleReply {
    const before = this.fuel.counted;
    const reply = this.surroundings.modules.load(name);
    this.fuel.charge(CALL_COST + (reply.kind === "found" ? reply.text.length : 0));
    if (this.imports.length < MOST_IMPORTS) {
      this.imports.push({ name, fuel: this.fuel.counted - before, loaded: reply.kind === "found" });
    }
    return reply;
  }

  private get quickjs(): Quickjs {
    if (this.machine === null) throw new Error("the host side was not attached to an engine");
    return this.machine.quickjs;
  }

  private get fuel(): Fuel {
    if (this.machine === null) throw new Error("the host side was not attached to an engine");
    return this.machine.fuel;
  }

  private write(args: readonly Box[]): Reply {
    const stage = this.stage;
    if (stage === null) throw new Stopped("cancelled", "the guest wrote while no program was running");
    const output = this.quickjs.number(argument(args, 0)) === 2 ? stage.stderr : stage.stdout;
    const room = output.limitBytes + 1;
    const text = this.quickjs.utf8(argument(args, 1), room);
    const bytes = text?.bytes ?? this.quickjs.array(argument(args, 1), LONGEST_TEXT) ?? new Uint8Array();
    this.fuel.charge(text?.length ?? bytes.length);
    output.write(bytes, 0, bytes.length);
    // What lies beyond the copied part is only counted.
    output.dropped += (text?.length ?? bytes.length) - bytes.length;
    return plain(undefined);
  }

  private askFiles(args: readonly Box[]): Reply {
    const operation = this.quickjs.text(argument(args, 0), LONGEST_NAME);
    const path = this.quickjs.text(argument(args, 1), LONGEST_PATH);
    if (operation === null || path === null) return { kind: "error", message: "the path is not valid" };
    const [first, second] = [this.fileArgument(args[2]), this.fileArgument(args[3])];
    const answer = this.surroundings.files.answer(operation, path, first, second);
    this.fuel.charge(path.length + sizeOf(first) + sizeOf(second) + sizeOf(answer));
    return plain(answer);
  }

  private fileArgument(box: Box | undefined): FileArgument {
    if (box === undefined || this.quickjs.isUndefined(box)) return null;
    return (
      this.quickjs.number(box) ?? this.quickjs.text(box, LONGEST_PATH) ?? this.quickjs.array(box, LONGEST_TEXT) ?? null
    );
  }

  /** Takes a call down; gives back why it cannot be taken, or nothing. */
  private ask(args: readonly Box[]): string {
    const id = this.quickjs.number(argument(args, 0));
    const name = this.quickjs.text(argument(args, 1), LONGEST_NAME);
    const text = this.quickjs.text(argument(args, 2), LONGEST_ARGUMENTS);
    if (id === null || !Number.isSafeInteger(id) || id < 1 || this.open.has(id)) return "the call has no id of its own";
    if (name === null || text === null) return "the arguments of host.call are too long";
    this.fuel.charge(text.length);
    const taken = readArguments(text);
    if (taken.kind === "refused") return taken.message;
    const call: HostCall = { id, name, args: taken.value };
    this.open.set(id, call);
    this.asked.push(call);
    return "";
  }

  private environment(args: readonly Box[]): Plain {
    const { environment } = this.surroundings;
    const [box] = args;
    if (box === undefined || this.quickjs.isUndefined(box)) return JSON.stringify(environment);
    const name = this.quickjs.text(box, LONGEST_NAME);
    return name !== null && Object.hasOwn(environment, name) ? environment[name] : undefined;
  }

  /** What needs the engine's own knowledge of a value, or turns one into another. */
  private look(name: string, args: readonly Box[]): Reply {
    const quickjs = this.quickjs;
    const box = argument(args, 0);
    switch (name) {
      case "bursar_kind_of":
        return plain(quickjs.kindOf(box));
      case "bursar_proxy_target":
        return { kind: "boxed", box: quickjs.proxyTarget(box) };
      case "bursar_promise_state":
        return plain(quickjs.promise(box).state);
      case "bursar_promise_result":
        return { kind: "boxed", box: quickjs.promiseResult(box) };
      case "bursar_encode":
        return this.charged(quickjs.utf8(box, LONGEST_TEXT)?.bytes ?? new Uint8Array());
      case "bursar_decode":
        return this.charged(new TextDecoder().decode(quickjs.array(box, LONGEST_TEXT) ?? new Uint8Array()));
      case "bursar_evaluate":
        return this.evaluate(args);
      default:
        return { kind: "error", message: `there is no host function ${name}` };
    }
  }

  private evaluate(args: readonly Box[]): Reply {
    const code = this.quickjs.text(argument(args, 0), LONGEST_TEXT);
    const name = this.quickjs.text(argument(args, 1), LONGEST_PATH);
    if (code === null || name === null) return { kind: "error", message: "the source is too long" };
    this.fuel.charge(code.length);
    return { kind: "boxed", box: this.quickjs.evaluate(code, name, EVALUATE.script) };
  }

  private charged(value: string | Uint8Array): Reply {
    this.fuel.charge(value.length);
    return plain(value);
  }
}

function plain(value: Plain): Reply {
  return { kind: "plain", value };
}

/** Our own code in the guest leaves no argument out, and no other code gets here; address 0 reads as the number 0. */
function argument(args: readonly Box[], index: number): Box {
  return args[index] ?? 0;
}

function sizeOf(value: FileArgument): number {
  return value === null || typeof value === "number" ? 0 : value.length;
}

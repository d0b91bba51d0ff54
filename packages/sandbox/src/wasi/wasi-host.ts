import type { WasmMemory } from "@bursar/wasm-fuel";
import type { CallContext, WasiCall, WasiCalls } from "./call-context.js";
import { Descriptor } from "./descriptor.js";
import { DescriptorTable } from "./descriptor-table.js";
import { type Device, DeviceNode } from "./device.js";
import { directoryCalls } from "./directory-calls.js";
import { FsError } from "./errno.js";
import { fileCalls } from "./file-calls.js";
import { GuestMemory } from "./guest-memory.js";
import { HostClock } from "./host-clock.js";
import { DEFAULT_HOST_LIMITS, type RestoreOptions, type WasiHostOptions } from "./host-options.js";
import { HostRandom, type RandomOption } from "./host-random.js";
import { Input } from "./input.js";
import { Output } from "./output.js";
import { pathCalls } from "./path-calls.js";
import { pollCalls } from "./poll-call.js";
import { processCalls } from "./process-calls.js";
import * as rights from "./rights.js";
import { restoreDescriptors, type SavedHost, saveDescriptors } from "./saved-host.js";
import { restoreVfs, saveVfs } from "./saved-vfs.js";
import { block } from "./sleep.js";
import { statCalls } from "./stat-calls.js";
import type { Mounts, Vfs } from "./vfs.js";

/** What each call costs before any byte is moved. */
const CALL_UNITS = 1000;

/**
 * A host for a WASI preview 1 guest that has nothing but what it is given here: files of its own, a clock, randomness and
 * three streams. Whatever a guest passes in, a call answers with an errno; only `ProcExit`, and what `charge`, `sleep` and
 * devices throw, leave it as exceptions.
 *
 * ```ts
 * const vfs = new Vfs();
 * vfs.mkdir("/app");
 * const host = new WasiHost({ args: ["guest"], vfs, preopens: { "/": "/" } });
 * const instance = new engine.Instance(module, { wasi_snapshot_preview1: host.imports });
 * host.bind(instance.exports.memory as WasmMemory);
 * ```
 */
export class WasiHost {
  readonly vfs: Vfs;
  readonly stdin: Input;
  readonly stdout: Output;
  readonly stderr: Output;
  /** All calls of `wasi_snapshot_preview1`. */
  readonly imports: Readonly<Record<string, (...args: never[]) => number>>;
  private readonly args: readonly string[];
  private readonly env: Readonly<Record<string, string>>;
  private readonly memory = new GuestMemory();
  private readonly table: DescriptorTable;
  private readonly clock: HostClock;
  private readonly random: HostRandom;
  private readonly streams: ReadonlyMap<string, DeviceNode>;

  constructor(options: WasiHostOptions, saved?: SavedHost) {
    const limits = { ...DEFAULT_HOST_LIMITS, ...options.limits };
    this.vfs = options.vfs;
    this.args = options.args ?? [];
    this.env = options.env ?? {};
    this.stdin = new Input(options.stdin ?? new Uint8Array());
    this.stdout = new Output(limits.stdoutBytes, options.stdout ?? null, saved?.stdout);
    this.stderr = new Output(limits.stderrBytes, options.stderr ?? null, saved?.stderr);
    this.table = new DescriptorTable(limits.descriptors);
    this.clock = new HostClock(options.clock ?? "real", saved?.clock);
    this.random = new HostRandom(options.random ?? "real", saved?.random);
    this.vfs.storage.now = () => this.clock.stamp();
    if (options.limits !== undefined) this.vfs.limit(pickStorage(options.limits));
    for (const [path, device] of Object.entries(options.devices ?? {}))
      this.vfs.mount(path, { kind: "device", device });
    this.streams = new Map([
      ["stdin", new DeviceNode(this.stdin, "stdin", -1)],
      ["stdout", new DeviceNode(this.stdout, "stdout", -2)],
      ["stderr", new DeviceNode(this.stderr, "stderr", -3)],
    ]);
    if (saved === undefined) this.openFirst(options);
    const charge = options.charge ?? noCharge;
    this.imports = guardAll(this.calls(charge, options.sleep ?? block), this.memory, charge);
  }

  /** Makes a host that goes on where another one was saved: its files, what it had open, its clock and its randomness. */
  static restore(saved: SavedHost, options: RestoreOptions = {}): WasiHost {
    if (saved.version !== 1) throw new Error(`a state of version ${String(saved.version)} is not known here`);
    const mounts: Mounts = { ...options.mounts, ...deviceMounts(options.devices ?? {}) };
    const { vfs, inodes } = restoreVfs(saved.vfs, { limits: pickStorage(options.limits ?? {}), mounts });
    const { args, env, stdin } = saved;
    const host = new WasiHost({ ...options, args, env, stdin, vfs, preopens: {} }, saved);
    restoreDescriptors(saved.descriptors, host.table, { vfs, inodes, streams: host.streams });
    return host;
  }

  /** All bytes the guest has written to files so far. */
  get bytesWritten(): number {
    return this.vfs.bytesWritten;
  }

  /** How many descriptors are open. */
  get descriptors(): number {
    return this.table.size;
  }

  /** Says where the guest's memory is; needed before its first call. */
  bind(memory: WasmMemory): void {
    this.memory.bind(memory);
  }

  /** Gives the guest other randomness from here on, so that copies of one guest differ. */
  reseed(random: RandomOption): void {
    this.random.reseed(random);
  }

  /** Everything that the guest's memory does not hold; later changes do not reach it. */
  save(): SavedHost {
    const open = [...this.table.entries()].map(([, { inode }]) => inode);
    const { saved: vfs, places } = saveVfs(this.vfs, open);
    return {
      version: 1,
      args: this.args,
      env: this.env,
      vfs,
      descriptors: saveDescriptors(this.table, places),
      stdin: this.stdin.save(),
      stdout: this.stdout.save(),
      stderr: this.stderr.save(),
      clock: this.clock.save(),
      random: this.random.save(),
    };
  }

  /** Closes what the guest has left open; files of the host's need it. */
  close(): void {
    for (const [fd] of [...this.table.entries()]) this.table.close(fd);
  }

  private openFirst({ preopens, terminal = false }: WasiHostOptions): void {
    const common = terminal ? rights.TERMINAL_RIGHTS : rights.DEVICE_RIGHTS;
    for (const [name, inode] of this.streams) {
      const other = name === "stdin" ? rights.FD_WRITE : rights.FD_READ;
      this.table.add(new Descriptor(inode, { rights: common & ~other }));
    }
    for (const [preopen, path] of Object.entries(preopens)) {
      const granted = { rights: rights.DIRECTORY_RIGHTS, inheriting: rights.ALL_RIGHTS };
      this.table.add(new Descriptor(this.vfs.directory(path), { ...granted, preopen }));
    }
  }

  private calls(charge: (units: number) => void, sleep: (ns: bigint) => void): WasiCalls {
    const context: CallContext = {
      memory: this.memory,
      table: this.table,
      vfs: this.vfs,
      clock: this.clock,
      random: this.random,
      args: this.args.map(terminated),
      env: Object.entries(this.env).map(([name, value]) => terminated(`${name}=${value}`)),
      charge,
      sleep,
      available: ({ inode }) => (inode === this.streams.get("stdin") ? this.stdin.available : 1),
    };
    return {
      ...processCalls(context),
      ...fileCalls(context),
      ...statCalls(context),
      ...directoryCalls(context),
      ...pathCalls(context),
      ...pollCalls(context),
    };
  }
}

type Parameter = number | bigint;
type AnyCall = (...args: (Parameter | undefined)[]) => number;

function guardAll(calls: WasiCalls, memory: GuestMemory, charge: (units: number) => void): WasiCalls {
  return Object.fromEntries(Object.entries(calls).map(([name, call]) => [name, guard(call, memory, charge)]));
}

/** Every call pays first, and what it refuses becomes an errno. Nine parameters are the most that a call has. */
function guard(call: WasiCall, memory: GuestMemory, charge: (units: number) => void): WasiCall {
  const run = call as unknown as AnyCall;
  const guarded: AnyCall = (a, b, c, d, e, f, g, h, i) => {
    charge(CALL_UNITS);
    try {
      memory.refresh();
      return run(a, b, c, d, e, f, g, h, i);
    } catch (error) {
      if (error instanceof FsError) return error.wasiErrno;
      throw error;
    }
  };
  return guarded as unknown as WasiCall;
}

function noCharge(): void {}

function pickStorage({ bytesWritten, files }: { readonly bytesWritten?: number; readonly files?: number }): object {
  return { ...(bytesWritten === undefined ? {} : { bytesWritten }), ...(files === undefined ? {} : { files }) };
}

function deviceMounts(devices: Readonly<Record<string, Device>>): Mounts {
  return Object.fromEntries(Object.entries(devices).map(([path, device]) => [path, { kind: "device", device }]));
}

/** A text as C wants it; a NUL inside would end it early. */
function terminated(text: string): Uint8Array {
  if (text.includes("\0")) throw new FsError("EINVAL", "an argument or a variable holds a NUL");
  return Buffer.from(`${text}\0`);
}

import type { Descriptor } from "./descriptor.js";
import type { DescriptorTable } from "./descriptor-table.js";
import type { GuestMemory } from "./guest-memory.js";
import type { HostClock } from "./host-clock.js";
import type { HostRandom } from "./host-random.js";
import type { Vfs } from "./vfs.js";

/** What every call of a guest works on. */
export interface CallContext {
  readonly memory: GuestMemory;
  readonly table: DescriptorTable;
  readonly vfs: Vfs;
  readonly clock: HostClock;
  readonly random: HostRandom;
  /** Each with the NUL at its end. */
  readonly args: readonly Uint8Array[];
  readonly env: readonly Uint8Array[];
  /** Takes fuel for bytes that are moved; it may throw, and then nothing has been moved. */
  charge(units: number): void;
  /** Waits that long for real. */
  sleep(ns: bigint): void;
  /** How many bytes a stream has ready. */
  available(descriptor: Descriptor): number;
}

/** A call as the guest imports it: numbers and bigints in, an errno out; each has parameters of its own. */
export type WasiCall = (...args: never[]) => number;

export type WasiCalls = Readonly<Record<string, WasiCall>>;

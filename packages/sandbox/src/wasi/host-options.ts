import type { Device } from "./device.js";
import type { ClockOption } from "./host-clock.js";
import type { RandomOption } from "./host-random.js";
import { DEFAULT_STORAGE_LIMITS, type StorageLimits } from "./storage.js";
import type { Mounts, Vfs } from "./vfs.js";

/** How much a guest may take of the host; what is left out is limited by default. */
export interface HostLimits extends StorageLimits {
  /** Descriptors open at one time. */
  readonly descriptors: number;
  /** What is kept of the output; the rest is dropped, and the output says so. */
  readonly stdoutBytes: number;
  readonly stderrBytes: number;
}

export const DEFAULT_HOST_LIMITS: HostLimits = {
  ...DEFAULT_STORAGE_LIMITS,
  descriptors: 256,
  stdoutBytes: 1024 * 1024,
  stderrBytes: 1024 * 1024,
};

/** What both a new host and a restored one are told. */
interface Surroundings {
  readonly limits?: Partial<HostLimits>;
  /** Told what the guest prints, as far as it is kept. */
  readonly stdout?: (chunk: Uint8Array) => void;
  readonly stderr?: (chunk: Uint8Array) => void;
  /** Whether the three streams look like a terminal to the guest; they do not by default. */
  readonly terminal?: boolean;
  readonly clock?: ClockOption;
  readonly random?: RandomOption;
  /** Takes fuel: 1,000 for each call and 1 for each byte it moves. What it throws stops the guest. */
  readonly charge?: (units: number) => void;
  /** How the guest waits when it sleeps, in nanoseconds; the thread blocks by default. What it throws stops the guest. */
  readonly sleep?: (ns: bigint) => void;
  /** Devices by their path, such as `/dev/control`. */
  readonly devices?: Readonly<Record<string, Device>>;
}

export interface WasiHostOptions extends Surroundings {
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  readonly vfs: Vfs;
  /** The directories that the guest starts with: what it calls them, and their path in the files. */
  readonly preopens: Readonly<Record<string, string>>;
  readonly stdin?: Uint8Array;
}

export interface RestoreOptions extends Surroundings {
  /** The mounts of the saved files, under the same paths. */
  readonly mounts?: Mounts;
}

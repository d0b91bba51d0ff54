import type { PackageFigure } from "../analysis/package-figure.js";
import type { FuelBasis } from "../analysis/result.js";
import type { PythonState } from "../python/python-guest.js";
import type { SavedVfs } from "../wasi/saved-vfs.js";
import type { Answer, Execution } from "../wasm/outcome.js";
import type { FuelWarning, Setup } from "./options.js";
import type { GuestParts } from "./parts.js";
import type { WarnedOf } from "./thresholds.js";

/** What is left of a session between two executions, as far as it differs from the image. It fits into a message. */
export interface Parked {
  /** Counts executions, so that a worker knows whether what it remembers is the latest. */
  readonly version: number;
  /** Null before the first execution. */
  readonly guest: ParkedGuest | null;
  /** What a session starts with; with its first execution they are among the guest's own files. */
  readonly files?: Setup["files"];
}

export type ParkedGuest =
  | { readonly language: "python"; readonly state: PythonState }
  | { readonly language: "javascript"; readonly state: Uint8Array | null; readonly files: SavedVfs };

export type Request =
  | {
      readonly op: "begin";
      readonly code: string;
      readonly argv: readonly string[];
      readonly stdin: Uint8Array | null;
      readonly interactive: boolean;
    }
  | { readonly op: "resume"; readonly answer: Answer }
  | { readonly op: "files"; readonly work: FileWork }
  /** Gives back what the thread holds of a program that waits, and lets it wait on. */
  | { readonly op: "park" };

/** Something to be done with a session's files from outside. */
export type FileWork =
  | { readonly kind: "list"; readonly path: string }
  | { readonly kind: "read"; readonly path: string }
  | { readonly kind: "write"; readonly path: string; readonly bytes: Uint8Array }
  | { readonly kind: "remove"; readonly path: string };

export interface FileEntry {
  /** Below the folder that was asked for, with slashes. */
  readonly path: string;
  readonly kind: "file" | "directory" | "symlink" | "device";
  readonly size: number;
}

/** One execution, with everything a worker needs for it. */
export interface Errand {
  readonly session: string;
  readonly setup: Setup;
  /** Null when the worker remembers the session as it is. */
  readonly parked: Parked | null;
  readonly version: number;
  readonly request: Request;
  readonly fuel: number;
  /** How many bytes it may write; absent where the limit of its session stands. */
  readonly storage_bytes?: number;
  /** How large its memory may be; absent where the limit of its session stands. */
  readonly memory_bytes?: number;
  readonly timeout_ms: number;
  readonly controls: SharedArrayBuffer;
  /** Whether somebody wants to see the output as it comes. */
  readonly streams?: boolean;
  /** Who wants to be warned of the fuel that is used up, and what the program had burnt before. */
  readonly warned?: WarnedOf & { readonly burnt: number };
}

export interface Output {
  readonly bytes: Uint8Array;
  readonly truncated: boolean;
}

/** A part of the output, on its way while the program runs. */
export interface OutputBytes {
  readonly stream: "stdout" | "stderr";
  readonly bytes: Uint8Array;
}

/** Where a session is after an execution. */
export type Left =
  | { readonly kind: "parked"; readonly parked: Parked }
  /** Its program waits in the thread, which holds all there is of it. */
  | { readonly kind: "held"; readonly version: number }
  /** It stays as it was before, because its guest was stopped in the middle. */
  | { readonly kind: "undone" };

/** What a worker tells of an execution. */
export interface Report {
  readonly execution: Execution;
  readonly stdout: Output;
  readonly stderr: Output;
  readonly duration_ms: number;
  readonly files_created: readonly string[];
  readonly files_modified: readonly string[];
  readonly bytes_written: number;
  /** The largest write that did not fit; 0 when all of them did. */
  readonly bytes_refused: number;
  /** The last path that could not be opened for writing; absent when all could. */
  readonly path_refused?: string;
  readonly left: Left;
  /** What the fuel was counted by; absent when nothing was executed. */
  readonly basis?: FuelBasis;
  /** Mounted packages that are not compiled for this guest; absent when all of them are. */
  readonly uncompiled?: readonly string[];
  /** The table of packages of the guest that it was. The pool knows it, so no thread has to tell. */
  readonly packages?: readonly PackageFigure[];
  /** Whether the thread could go on with the guest as it is, without what is parked. */
  readonly remembered: boolean;
  /** What was found among the files, if that was asked for. */
  readonly found?: readonly FileEntry[] | Uint8Array;
  /** Why something could not be done with the files. */
  readonly failure?: string;
}

/** What happens while a program runs: it prints, or crosses a threshold of its fuel. */
export type News =
  | { readonly kind: "output"; readonly pieces: readonly OutputBytes[] }
  | { readonly kind: "warning"; readonly warning: FuelWarning };

export type ToWorker =
  | { readonly kind: "parts"; readonly key: string; readonly parts: GuestParts }
  | { readonly kind: "errand"; readonly errand: Errand; readonly parts: string }
  /** Nobody will ask for this session again. */
  | { readonly kind: "forget"; readonly session: string };

export type FromWorker =
  | { readonly kind: "ready" }
  | { readonly kind: "started" }
  /** The time of the program is over, and what it leaves is being put together. */
  | { readonly kind: "stopping" }
  | News
  /** A session whose program waits makes room for another. */
  | { readonly kind: "parked"; readonly session: string; readonly parked: Parked }
  | { readonly kind: "lost"; readonly session: string; readonly version: number; readonly message: string }
  | { readonly kind: "report"; readonly report: Report }
  | { readonly kind: "failed"; readonly message: string };

/** What both sides of a running execution see: whether it shall end, how much more it may burn, how much it has burnt. */
export class Controls {
  readonly shared: SharedArrayBuffer;
  private readonly flags: Int32Array;
  private readonly figures: Float64Array;
  private readonly waiting: Int32Array;

  constructor(shared: SharedArrayBuffer = new SharedArrayBuffer(32)) {
    this.shared = shared;
    this.flags = new Int32Array(shared, 0, 2);
    this.figures = new Float64Array(shared, 8, 2);
    this.waiting = new Int32Array(shared, 24, 1);
  }

  cancel(): void {
    Atomics.store(this.flags, 0, 1);
    Atomics.notify(this.flags, 0);
  }

  /** Blocks the thread for so long, or until it is cancelled. */
  wait(ms: number): void {
    Atomics.wait(this.flags, 0, 0, ms);
  }

  /** Says whether the guest sleeps. Then it will look at the clock when it wakes up, and need not be ended with its thread. */
  set asleep(asleep: boolean) {
    Atomics.store(this.waiting, 0, asleep ? 1 : 0);
  }

  get asleep(): boolean {
    return Atomics.load(this.waiting, 0) === 1;
  }

  get cancelled(): boolean {
    return Atomics.load(this.flags, 0) === 1;
  }

  /** Lets the guest burn more. */
  extend(fuel: number): void {
    this.figures[0] = (this.figures[0] ?? 0) + fuel;
    Atomics.store(this.flags, 1, 1);
  }

  /** By how much more since the start. */
  get extended(): number {
    return Atomics.load(this.flags, 1) === 0 ? 0 : (this.figures[0] ?? 0);
  }

  set consumed(fuel: number) {
    this.figures[1] = fuel;
  }

  get consumed(): number {
    return this.figures[1] ?? 0;
  }
}

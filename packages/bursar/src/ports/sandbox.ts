/** What a run needs of a sandbox. `@bursar/sandbox` is one. */
export interface Sandbox {
  createSession(options: GuestOptions): Promise<GuestSession>;
  /** A session that was saved, here or elsewhere. It rejects with an error whose `reason` says why it cannot be restored. */
  restoreSession(saved: Uint8Array): Promise<GuestSession>;
  /** Makes ready what the first session of a language would have to wait for. */
  warm?(language: GuestOptions["language"]): Promise<void>;
  /** Names the key that saved sessions are signed with, without telling it; null when there is none yet. */
  keyFingerprint?(): Promise<string | null>;
  /** Why these packages cannot be mounted in it, each in a sentence for people; nothing when all can. */
  packageProblems?(packages: readonly string[]): Promise<readonly string[]>;
}

export interface GuestOptions {
  readonly language: "python" | "javascript";
  readonly fuelBudget?: number;
  readonly memoryLimit?: number;
  readonly timeout?: number;
  readonly files?: Readonly<Record<string, string | Uint8Array>>;
  readonly packages?: readonly string[];
  readonly autoPath?: boolean;
  readonly limits?: { readonly storage_bytes?: number };
  readonly deterministic?: boolean | GuestMoment;
}

/** What a guest takes for the present and for chance, so that it does the same whenever it is run again. */
export interface GuestMoment {
  /** Milliseconds since 1970. */
  readonly instant: number;
  readonly seed: string;
}

/** One guest. */
export interface GuestSession {
  /** `onOutput` is told what it prints, as it comes; all of it is in the turn too. */
  begin(
    code: string,
    settings?: { readonly fuelBudget?: number; readonly timeout?: number; readonly memoryLimit?: number },
    onOutput?: (piece: GuestPiece) => void,
  ): Promise<GuestTurn>;
  resume(answer: GuestAnswer, onOutput?: (piece: GuestPiece) => void): Promise<GuestTurn>;
  /** Says how much a program that waits for an answer may burn, write and have from now on. */
  allow(fuel: number, storage_bytes?: number, memory_bytes?: number): Promise<void>;
  save(): Promise<Uint8Array>;
  cancel(): Promise<void>;
  destroy(): Promise<void>;
}

/** How far a guest has come: to its end, or to questions that somebody has to answer first. */
export type GuestTurn =
  | { readonly kind: "ended"; readonly result: GuestResult; readonly usage: GuestUsage }
  | {
      readonly kind: "pending";
      readonly calls: readonly { readonly id: number; readonly name: string; readonly args: unknown }[];
      readonly open: readonly number[];
      readonly usage: GuestUsage;
      readonly output: GuestOutput;
    };

export interface GuestOutput {
  readonly stdout: string;
  readonly stderr: string;
}

/** What a guest has printed by and by. */
export interface GuestPiece {
  readonly stream: "stdout" | "stderr";
  readonly text: string;
}

export interface GuestResult extends GuestOutput {
  readonly success: boolean;
  readonly exit_code: number;
  readonly metadata: GuestMetadata;
}

interface GuestMetadata {
  readonly trap_reason: string | null;
  readonly trap_message?: string | null;
  /** How its fuel was used, for people. */
  readonly fuel_analysis?: object | null;
  /** What to do about an error, for people. */
  readonly error_guidance?: object | null;
  /** Whether more was printed than is kept. */
  readonly stdout_truncated?: boolean;
  readonly stderr_truncated?: boolean;
}

/** What a guest has used since its program began. */
export interface GuestUsage {
  readonly fuel: number;
  readonly memory_bytes: number;
  readonly bytes_written: number;
  /** The largest write since its last question that did not fit any more; 0 when all of them did. */
  readonly bytes_refused: number;
  /** How large its memory would have become since its last question, had it been allowed to; 0 when it wanted no more. */
  readonly memory_refused: number;
}

export type GuestAnswer =
  | { readonly id: number; readonly value: unknown }
  | { readonly id: number; readonly error: string; readonly data?: Readonly<Record<string, unknown>> };

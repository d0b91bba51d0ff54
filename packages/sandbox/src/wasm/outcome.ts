/** A question of the guest to the host, at which its program stands still. Name and arguments are the guest's own words. */
export interface HostCall {
  readonly id: number;
  readonly name: string;
  readonly args: unknown;
}

/** Why a guest was stopped in the middle. Its memory is of no use after that. */
export type Trap = "out_of_fuel" | "memory_limit" | "unreachable" | "stack_overflow" | "timeout" | "cancelled" | "trap";

/** What came of a request to a guest. */
export type Outcome =
  /** `exited` when a statement of a dialogue has asked to leave it. */
  | { readonly kind: "ended"; readonly exit_code: number; readonly exited?: true }
  /** `calls` are the questions asked since the last answer, `open` the ids of all that have none yet. */
  | { readonly kind: "pending"; readonly calls: readonly HostCall[]; readonly open: readonly number[] }
  /** More lines have to follow before a statement of a dialogue can be carried out. */
  | { readonly kind: "incomplete" }
  | { readonly kind: "trapped"; readonly reason: Trap; readonly message: string };

/** A package that was loaded while a program ran, and the fuel its loading has burnt. */
export interface Import {
  readonly name: string;
  readonly fuel: number;
  /** False when it could not be loaded. */
  readonly loaded: boolean;
}

/** Everything a guest tells about one request. */
export interface Execution {
  readonly outcome: Outcome;
  readonly imports: readonly Import[];
  readonly fuel_consumed: number;
  readonly memory_bytes: number;
  /** How large its memory would have become, had `Allotted.memory` let it; 0 when it wanted no more. */
  readonly memory_refused: number;
}

/** How much a request may burn, and have, and who is asked now and then whether it may go on. */
export interface Allotted {
  readonly fuel: number;
  /** Called after every few million units; it stops the guest by throwing. */
  readonly onSlice: (consumed: number) => void;
  /** After how many units, if it is to be asked more often. */
  readonly slice?: number;
  /** How large its memory may be, in bytes; absent, that of its session stands. */
  readonly memory?: number;
}

/** An answer to a question of the guest. */
export type Answer =
  | { readonly id: number; readonly value: unknown }
  /** With `data` it is a refusal, which the guest can tell from a failure: `data.code` and `data.dimension` say what of. */
  | { readonly id: number; readonly error: string; readonly data?: Readonly<Record<string, unknown>> };

/** Thrown from `onSlice` when somebody has had enough. */
export class Stopped extends Error {
  override readonly name = "Stopped";
  readonly reason: "timeout" | "cancelled";

  constructor(reason: "timeout" | "cancelled", message: string) {
    super(message);
    this.reason = reason;
  }
}

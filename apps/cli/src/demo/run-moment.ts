import type { JsonObject, RunStatus } from "bursar";
import type { Moment } from "./moment.js";
import type { ProgramLine } from "./program-line.js";

/** Something to show of a real run. Amounts are in edge units. */
export type RunMoment =
  | RunOpened
  | Extract<Moment, { readonly kind: "promise" | "link" | "verified" | "tampered" }>
  /** What the program has printed since the last time. */
  | { readonly kind: "printed"; readonly text: string }
  /** The program stands still: where, and how much its checkpoint takes. */
  | { readonly kind: "stands"; readonly line: ProgramLine | null; readonly checkpoint_bytes: number }
  | { readonly kind: "goes_on"; readonly line: ProgramLine | null }
  | RunSummary;

/** The first thing said: what is to come, and what of it is real, which is everything but the model. */
export interface RunOpened {
  readonly kind: "opened";
  readonly scripted: true;
  readonly model: { readonly name: string; readonly url: string };
  readonly store: string;
  readonly program: { readonly name: string; readonly code: string };
  readonly limits: JsonObject;
}

/** The last thing said: what the run came to. */
export interface RunSummary {
  readonly kind: "summary";
  readonly scripted: true;
  readonly run_id: string;
  readonly status: RunStatus;
  readonly result: unknown;
  readonly usage: JsonObject;
  readonly limits: JsonObject;
  readonly within_limits: boolean;
  /** What the run was charged for, and what the model was asked: the same, when nothing was done twice. */
  readonly model_calls: number;
  readonly model_requests: number;
  readonly chain: {
    readonly links: number;
    readonly head: string | null;
    readonly verified: boolean;
    readonly tampering_detected: boolean;
  };
}

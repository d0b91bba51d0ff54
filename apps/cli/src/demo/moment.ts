import type { JsonObject, Link, Verification } from "bursar";

/**
 * Something to show. Most of it is what the chain has just recorded; the rest is what a chain has no link for. Amounts
 * are in edge units: dollars, whole tokens, milliseconds.
 */
export type Moment =
  | {
      readonly kind: "started";
      readonly simulated: true;
      readonly question: string;
      readonly seed: number;
      readonly chain: string;
    }
  | { readonly kind: "promise"; readonly number: number; readonly text: string }
  | { readonly kind: "link"; readonly link: Link }
  | ({ readonly kind: "waiting"; readonly step_id: string; readonly held: number } & Shortage)
  | {
      readonly kind: "raced";
      readonly calls: number;
      readonly passed: number;
      readonly dimension: string;
      readonly asked: number;
      readonly left: number;
      readonly spent: number;
    }
  | { readonly kind: "verified"; readonly verification: Verification }
  | { readonly kind: "tampered"; readonly forged: Forged; readonly verification: Verification }
  | Summary;

/** A dimension that has less than a call asks for. */
interface Shortage {
  readonly budget: string;
  readonly dimension: string;
  readonly asked: number;
  readonly left: number;
}

/** What was changed in the copy of a chain. */
export interface Forged {
  readonly seq: number;
  readonly step_id: string;
  readonly dimension: string;
  readonly from: number;
  readonly to: number;
}

export type RunStatus = "Completed" | "Failed" | "Cancelled";

export interface Refused extends Shortage {
  readonly step_id: string;
  readonly decision: string;
  readonly policy: string;
}

/** The last thing said: what the whole run came to. */
export interface Summary {
  readonly kind: "summary";
  readonly simulated: true;
  readonly status: RunStatus;
  /** Whether every budget on the run's path has used at most its limit. */
  readonly within_limits: boolean;
  readonly calls_made: number;
  readonly refused: readonly Refused[];
  readonly waited: readonly string[];
  readonly consumption: JsonObject;
  readonly chain: {
    readonly id: string;
    readonly links: number;
    readonly head: string | null;
    readonly verified: boolean;
    readonly tampering_detected: boolean;
  };
}

/** Takes what is to be shown; whoever tells waits until it has been shown. */
export type Tell = (moment: Moment) => Promise<void>;

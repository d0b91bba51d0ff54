import type { Link } from "bursar";
import type { ApprovalView, RunRow, RunView, StepView } from "bursar/views";

/** What is known of a chain: how far it was verified, or where it is broken. */
export type Mark =
  | { readonly kind: "verifying"; readonly links: number }
  | { readonly kind: "verified"; readonly links: number }
  | { readonly kind: "broken"; readonly message: string }
  /** It was archived, and is in a file by now. */
  | { readonly kind: "elsewhere"; readonly message: string };

/** One run, looked at closely. */
export interface RunSight {
  readonly run: RunView;
  /** The last of its steps. */
  readonly steps: readonly StepView[];
  /** The last links of its chain. */
  readonly links: readonly Link[];
  readonly mark: Mark;
}

/** What the screen shows of a store, read at one moment. */
export interface Sight {
  readonly now: number;
  /** What waits for an answer, the oldest first. */
  readonly requests: readonly ApprovalView[];
  /** The latest first. */
  readonly runs: readonly RunRow[];
  /** Whether there are more than were read: a screen of all of them helps nobody. */
  readonly more: { readonly requests: boolean; readonly runs: boolean };
  readonly page: RunSight | null;
  /** Why the store could not be read just now; what is shown is then older. */
  readonly problem: string | null;
}

/** Before anything was read. */
export const NOTHING: Sight = {
  now: 0,
  requests: [],
  runs: [],
  more: { requests: false, runs: false },
  page: null,
  problem: null,
};

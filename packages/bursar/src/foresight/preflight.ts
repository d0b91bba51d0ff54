import type { ExhaustionPolicy } from "../core/policy.js";
import type { Estimate, Source } from "./estimate.js";

/** What becomes of a run whose 95 % does not fit: it goes on, a person is asked, or it does not begin. From lenient to strict. */
export const PREFLIGHT_POLICIES = ["warn", "ask", "refuse"] as const;
export type PreflightPolicy = (typeof PREFLIGHT_POLICIES)[number];

/** What is expected of one dimension beside what it may use, in edge units. */
export interface PreflightDimension {
  readonly dimension: string;
  readonly unit: string;
  readonly median: number;
  /** What 95 of 100 runs do not pass. */
  readonly upper: number;
  readonly source: Source;
  /** What the run could use in the end: its own limit without what is set aside, cut to what its session has left. Null without a limit. */
  readonly limit: number | null;
  /** What happens when the limit is reached; null without a limit. */
  readonly policy: ExhaustionPolicy | null;
  /** By how much the 95 % is above the limit; 0 when it fits. */
  readonly missing: number;
}

/** What a run is expected to take before it begins, and whether that fits into what it may use. */
export interface Preflight {
  readonly program: string;
  /** In ledger units; null when nobody can say anything. */
  readonly estimate: Estimate | null;
  /** The same in edge units beside the limits, in the order of the table of dimensions. */
  readonly dimensions: readonly PreflightDimension[];
  /** Whether every dimension fits whose limit does more than warn. */
  readonly fits: boolean;
  /** What went wrong while it was estimated, for people. */
  readonly notes: readonly string[];
}

import { type Channel, channel } from "node:diagnostics_channel";
import type { BudgetId } from "../../core/budget.js";
import type { BudgetAmounts } from "../../core/input.js";
import type { TokenCounts } from "../wire/token-counts.js";
import type { RefusalReport } from "./refusal.js";

/** What is told of every metered call, to whoever listens: when it begins, and how it ended. */
export type CallRecord = CallStarted | CallEnded;

interface CallAbout {
  /** The same in both records of one call. */
  readonly id: string;
  readonly budget: BudgetId;
  readonly model: string;
  readonly protocol: string;
  /** Where the request goes; null when only the model is known. */
  readonly url: string | null;
  readonly stream: boolean;
}

export interface CallStarted extends CallAbout {
  readonly kind: "started";
}

export interface CallEnded extends CallAbout {
  readonly kind: "ended";
  readonly outcome: "done" | "failed" | "refused";
  readonly duration_ms: number;
  /** What the provider reported. */
  readonly counts: TokenCounts | null;
  /** What was charged, in edge units; nothing for a refusal. */
  readonly charged: BudgetAmounts;
  readonly estimated: boolean;
  /** Whether somebody further down has metered it: then it is told of again, request by request, and nothing was charged here. */
  readonly handed_down: boolean;
  /** The limits of the budget minus what is used, in edge units. */
  readonly remaining: BudgetAmounts;
  readonly refusal: RefusalReport | null;
  readonly error: unknown;
}

/** The name under which calls are told: `diagnostics_channel.subscribe(CALLS, (record) => …)`. */
export const CALLS = "bursar:call";

export const calls: Channel = channel(CALLS);

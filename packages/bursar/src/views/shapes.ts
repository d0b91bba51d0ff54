import type { Json, JsonObject } from "../core/chain/canonical.js";
import type { Source } from "../foresight/estimate.js";
import type { PreflightDimension } from "../foresight/preflight.js";
import type { Execution } from "../ports/program.js";
import type { ApprovalKind, ApprovalStatus, Decided, WaitingCalls } from "../runs/approval.js";
import type { Failure, Pause, RunCancellation, RunStatus } from "../runs/record.js";
import type { Denial } from "../runs/result.js";
import type { TermOrigins } from "../runs/terms.js";

// What people and programs are shown, in edge units: dollars, whole tokens, milliseconds. Instants are milliseconds since 1970.

/** Where one dimension of a budget stands. */
export interface DimensionView {
  readonly dimension: string;
  readonly unit: string;
  readonly used: number;
  /** Reserved for calls under way: neither spent nor free. */
  readonly held: number;
  readonly limit: number;
  /** What happens when it does not suffice. */
  readonly policy: string;
  /** The shares of the limit, in percent, at which it is warned. */
  readonly thresholds: readonly number[];
  /** When it is used up at the rate so far; null when that is not in sight. */
  readonly exhausted_at: number | null;
}

/** What a run was expected to take of one dimension before it began, and whose word that is. */
export interface ExpectedView {
  readonly dimension: string;
  readonly unit: string;
  /** As many runs take more as take less. */
  readonly median: number;
  /** What 95 of 100 runs do not pass. */
  readonly upper: number;
  readonly source: Source;
}

/** What a run would be expected to take, and whether that fits into what it may use. */
export interface EstimateView {
  readonly program: string;
  /** Whether every dimension fits whose limit does more than warn. */
  readonly fits: boolean;
  /** In the order of the table; empty when nobody can say anything. */
  readonly dimensions: readonly PreflightDimension[];
  /** What each source says by itself. */
  readonly opinions: readonly OpinionView[];
  /** What went wrong while it was estimated. */
  readonly notes: readonly string[];
}

/** What one source says about a run before it begins. */
export interface OpinionView {
  readonly source: Source;
  /** How many past runs it rests on. */
  readonly samples: number;
  /** Where the figures come from, for people. */
  readonly about: string;
  readonly dimensions: Readonly<Record<string, { readonly median: number; readonly upper: number }>>;
}

/** What is expected of one dimension, beside what may be used of it. */
export interface PredictedView extends ExpectedView {
  /** Null without a limit. */
  readonly limit: number | null;
  /** By how much the 95 % is above the limit. */
  readonly missing: number;
}

/** Why a human is asked before a run begins: what it is predicted to take, and where that comes from. */
export interface PredictionView {
  readonly dimensions: readonly PredictedView[];
  readonly sources: readonly Omit<OpinionView, "dimensions">[];
  readonly notes: readonly string[];
}

/** A budget on the way from the outermost one to a run, and what it is to that run. */
export interface BudgetView {
  readonly budget: string;
  readonly owner: "run" | "session" | "tenant" | "shared" | "parent";
  readonly dimensions: readonly DimensionView[];
}

/** A run in a list. */
export interface RunRow {
  readonly id: string;
  readonly status: RunStatus;
  /** Whether it runs by name only, because its worker is gone; the next one goes on with it. */
  readonly interrupted: boolean;
  readonly program: { readonly kind: string; readonly name: string };
  readonly session: string | null;
  readonly parent: string | null;
  readonly started_by: string;
  readonly created: number;
  readonly ended: number | null;
  readonly usage: JsonObject;
  /** What is held for calls under way, by dimension: neither used nor free. */
  readonly held: JsonObject;
  /** The dimension that is used up first, anywhere on its path; null when nothing is limited. */
  readonly tightest: DimensionView | null;
  /** Requests of its own that wait for an answer. */
  readonly waiting: readonly string[];
  /** By whom and why more budget was denied to it; null when that is not why it has ended. */
  readonly denied: Denial | null;
}

/** Everything there is to see of a run, beside its steps, its burn-down and its chain, which may be long. */
export interface RunView extends RunRow {
  readonly digest: string;
  readonly budget: string;
  /** Who set its limits and policies, by dimension; what is absent is as in the table of dimensions. */
  readonly terms: TermOrigins;
  readonly depth: number;
  readonly input: Json;
  readonly result: Json;
  readonly failure: Failure | null;
  readonly cancel: RunCancellation | null;
  readonly pause: Pause | null;
  readonly output: { readonly stdout: string; readonly stderr: string };
  /** What the sandbox says of its program, once that has come to an end there. */
  readonly execution: Execution | null;
  /** Outermost first; the last is the run's own, or the one it shares. */
  readonly budgets: readonly BudgetView[];
  readonly children: readonly RunRow[];
  /** Requests to be answered before it goes on, its children's too. */
  readonly requests: readonly ApprovalView[];
  /** How many steps it has made or is making, how many more were refused or given back, and how many links its chain has. */
  readonly steps: number;
  readonly refused: number;
  readonly links: number;
  /** What it was expected to take before it began; empty when nobody could say. */
  readonly expected: readonly ExpectedView[];
  /** What lies before it, in a sentence; null unless it is under way. */
  readonly outlook: string | null;
  /** What its calls did not cost, because they were answered otherwise or could wait; with all that is below it. */
  readonly saved_usd: number;
  /** Who drives it, and until when he may say nothing. */
  readonly worker: { readonly name: string; readonly expires: number } | null;
  /** What the process that was asked lacks to go on with it, in words for people; nothing where it was not looked for. */
  readonly missing: readonly string[];
}

/** What a human is asked. */
export interface ApprovalView {
  readonly id: string;
  readonly status: ApprovalStatus;
  readonly kind: ApprovalKind;
  readonly run: string | null;
  readonly program: string | null;
  readonly budget: string | null;
  readonly checkpoint_id: string | null;
  readonly exhausted_dimension: string | null;
  /** Everything that waits for the answer, in the order in which it came. */
  readonly waiting: readonly WaitingCalls[];
  /** What the largest of the waiting calls may need, and all of them together, by dimension. */
  readonly needs: JsonObject;
  readonly needs_together: JsonObject;
  /** What is left of the dimension. */
  readonly left: JsonObject;
  /** The smallest extension that lets a waiting call go on; less is refused. */
  readonly least_extension: JsonObject;
  /** The same in a sentence, as "The next model call may need up to 518 tokens; 485 are left."; empty where no dimension is asked for. */
  readonly message: string;
  /** As it stands while the request is open, and as it stood when it was answered. */
  readonly consumed: JsonObject;
  /** What is reserved in the budget at that moment: neither used nor free. Empty in requests from before it was kept. */
  readonly held: JsonObject;
  readonly limits: JsonObject;
  readonly suggested_extension: JsonObject;
  readonly action: JsonObject;
  /** What the run is predicted to take, when it is asked about before it begins; null otherwise. */
  readonly prediction: PredictionView | null;
  readonly requested: number;
  readonly expires: number;
  readonly decision: Decided | null;
  /** What the process that was asked lacks to go on with the run, in words for people; nothing where it was not looked for. */
  readonly missing: readonly string[];
}

/** What became of one thing that a run asked for. */
export interface StepView {
  /** Its number within the run. */
  readonly number: number;
  readonly capability: string;
  /** Interrupted is what was paid for, and whose outcome its program was not told before the run ended. */
  readonly state: "in flight" | "done" | "failed" | "interrupted" | "refused" | "released";
  readonly at: number;
  readonly duration_ms: number | null;
  readonly used: JsonObject;
  /** Whether a part of it is charged as reserved, because nobody has said what was used. */
  readonly estimated: boolean;
  /** Why it was not made, or how it failed. */
  readonly problem: string | null;
  /** What the sandbox said of an execution, when this was one. */
  readonly execution: Execution | null;
}

/** How one dimension of a run's own budget was used up over time. */
export interface BurnDown extends DimensionView {
  readonly points: readonly BurnPoint[];
}

/** What was used, and what was allowed, from this instant on. */
export interface BurnPoint {
  readonly at: number;
  readonly used: number;
  readonly limit: number;
}

/** What is running, spending and waiting. */
export interface Overview {
  readonly runs: Readonly<Record<RunStatus, number>>;
  /** Of runs that have not ended, summed up: cost_usd, llm_tokens and the like. */
  readonly spending: JsonObject;
  /** What is held for calls of the same runs: neither used nor free. */
  readonly held: JsonObject;
  /** What the runs that are shown here have saved, and the keys of the gateway. */
  readonly saved_usd: number;
  /** Of many, the latest. */
  readonly waiting: readonly ApprovalView[];
  /** How many wait in all. */
  readonly waiting_count: number;
  /** Runs that have not ended, without those below others; of many, the latest of each status. */
  readonly active: readonly RunRow[];
  /** How many there are of these in all; at least so many when there are more than are counted. */
  readonly active_count: number;
  readonly active_more: boolean;
  readonly recent: readonly RunRow[];
}

/** A budget that runs share, and the runs in it. */
export interface SessionView {
  readonly session: string;
  readonly budget: BudgetView;
  /** How many runs were found in it, among the latest ones, and how many of them have not ended. */
  readonly runs: number;
  readonly active: number;
}

/** How a budget stands that pays for somebody: what it has used, what it holds, what it has saved, and where its limits are. */
export interface PaidView {
  readonly usage: JsonObject;
  /** What is held for calls under way, by dimension: neither used nor free. */
  readonly held: JsonObject;
  /** What its calls did not cost, because they were answered otherwise or could wait; with those of the budgets below it. */
  readonly saved_usd: number;
  readonly dimensions: readonly DimensionView[];
}

/** Some of a longer list, and where the rest begins. */
export interface Page<Item> {
  readonly items: readonly Item[];
  /** To be given as `before` or `from` for what follows; null at the end. */
  readonly next: string | null;
}

import type { Json, JsonObject } from "../core/chain/canonical.js";
import type { ApprovalKind, ApprovalStatus, Decided } from "../runs/approval.js";
import type { Failure, Pause, RunStatus } from "../runs/record.js";

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
  readonly program: { readonly kind: string; readonly name: string };
  readonly session: string | null;
  readonly parent: string | null;
  readonly started_by: string;
  readonly created: number;
  readonly ended: number | null;
  readonly usage: JsonObject;
  /** The dimension that is used up first, anywhere on its path; null when nothing is limited. */
  readonly tightest: DimensionView | null;
  /** Requests of its own that wait for an answer. */
  readonly waiting: readonly string[];
}

/** Everything there is to see of a run, beside its steps, its burn-down and its chain, which may be long. */
export interface RunView extends RunRow {
  readonly digest: string;
  readonly budget: string;
  readonly depth: number;
  readonly input: Json;
  readonly result: Json;
  readonly failure: Failure | null;
  readonly cancel: { readonly by: string; readonly reason: string | null } | null;
  readonly pause: Pause | null;
  readonly output: { readonly stdout: string; readonly stderr: string };
  /** Outermost first; the last is the run's own, or the one it shares. */
  readonly budgets: readonly BudgetView[];
  readonly children: readonly RunRow[];
  /** Requests to be answered before it goes on, its children's too. */
  readonly requests: readonly ApprovalView[];
  /** How many steps it has made, and how many links its chain has. */
  readonly steps: number;
  readonly links: number;
  /** Who drives it, and until when he may say nothing. */
  readonly worker: { readonly name: string; readonly expires: number } | null;
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
  /** As it stood when it was asked. */
  readonly consumed: JsonObject;
  readonly limits: JsonObject;
  readonly suggested_extension: JsonObject;
  readonly action: JsonObject;
  readonly requested: number;
  readonly expires: number;
  readonly decision: Decided | null;
}

/** What became of one thing that a run asked for. */
export interface StepView {
  /** Its number within the run. */
  readonly number: number;
  readonly capability: string;
  readonly state: "in flight" | "done" | "failed" | "refused" | "released";
  readonly at: number;
  readonly duration_ms: number | null;
  readonly used: JsonObject;
  /** Whether a part of it is charged as reserved, because nobody has said what was used. */
  readonly estimated: boolean;
  /** Why it was not made, or how it failed. */
  readonly problem: string | null;
  /** What the sandbox said of an execution, when this was one. */
  readonly execution: { readonly fuel_analysis: JsonObject | null; readonly error_guidance: JsonObject | null } | null;
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
  readonly waiting: readonly ApprovalView[];
  readonly active: readonly RunRow[];
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

/** Some of a longer list, and where the rest begins. */
export interface Page<Item> {
  readonly items: readonly Item[];
  /** To be given as `before` or `from` for what follows; null at the end. */
  readonly next: string | null;
}

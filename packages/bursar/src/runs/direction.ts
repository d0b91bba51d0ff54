import type { Json, JsonObject } from "../core/chain/canonical.js";
import type { Finding } from "../core/decision.js";
import type { ChildRequest } from "./deed.js";
import type { AskEntry } from "./journal.js";
import type { RunRecord } from "./record.js";

/** Why an effect cannot go on at present. */
export type Block =
  | { readonly kind: "budget"; readonly finding: Finding }
  | { readonly kind: "capability"; readonly action: JsonObject }
  | { readonly kind: "batch"; readonly item: string }
  | { readonly kind: "child"; readonly run: string };

/** What the performer needs of the one that drives the run. */
export interface Direction {
  readonly run: RunRecord;
  readonly part: number;
  readonly signal: AbortSignal;
  /** Something is no longer under way, or waits: it is looked whether the run has to stand still. */
  look(): void;
  /** A limit has been hit for good. */
  stop(finding: Finding): void;
  /** An effect cannot go on before somebody has decided, or a child has come further. */
  block(ask: AskEntry, block: Block): void;
  unblock(ask: AskEntry): void;
  /** Whether somebody has said yes or no to this very action. */
  decided(ask: AskEntry): Promise<"approved" | "denied" | null>;
  /** The run's time is over. */
  outOfTime(): void;
  hasChild(ask: AskEntry): Promise<boolean>;
  startChild(ask: AskEntry, request: ChildRequest, signal: AbortSignal): Promise<void>;
  /** Waits for what a child gives back. */
  child(ask: AskEntry): Promise<Json>;
  /** Nothing more can be written, or something went wrong that is not the program's fault. */
  broken(error: unknown): void;
}

import { checkKeys, checkWait, checkWhole } from "../../core/fields.js";
import { readAnswer, type ScriptedStatus } from "./answer.js";
import type { ScriptedRequest } from "./request.js";

/** What can be asked of a provider about its batches. */
export type BatchQuestion = "file" | "create" | "look" | "list" | "results" | "cancel";

/** A failure of the interface itself. It may have done what was asked for all the same. */
export type BatchFault =
  | (ScriptedStatus & { readonly done?: boolean })
  /** The connection is lost before there is an answer. */
  | { readonly kind: "cut"; readonly done?: boolean };

/** How a scripted model goes about batches. What their items are answered is the script's to say: one that hangs there expires. */
export interface ScriptedBatching {
  /** How often it has to be looked at until a batch is over: once. */
  readonly polls?: number;
  /** How long a batch takes at least, on the scripted model's own clock: 0. */
  readonly takes_ms?: number;
  /** What becomes of an item in place of an answer: it `expires` with its batch, or nothing is ever said of it (`missing`). */
  readonly fate?: (request: ScriptedRequest, custom_id: string) => "answer" | "expired" | "missing";
  /** What goes wrong with the interface; null when nothing does. The first question of its kind is number 1. */
  readonly fault?: (question: BatchQuestion, number: number) => BatchFault | null;
}

const KEYS = ["polls", "takes_ms", "fate", "fault"];
const MOST_POLLS = 1_000_000;

export function checkBatching(batching: ScriptedBatching): void {
  checkKeys(batching, "batches", KEYS);
  checkWhole(batching.polls ?? 1, "batches.polls", 1, MOST_POLLS);
  checkWait(batching.takes_ms ?? 0, "batches.takes_ms");
}

/** A fault, looked at as the answers of a script are. */
export function readFault(fault: BatchFault | null | undefined): BatchFault | null {
  if (fault === null || fault === undefined) return null;
  const { done: _, ...answer } = fault;
  if (fault.kind === "cut") checkKeys(fault, "fault", ["kind", "done"]);
  else readAnswer(answer);
  return fault;
}

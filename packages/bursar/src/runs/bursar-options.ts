import { checkKeys } from "../core/fields.js";
import type { Model } from "../ports/model.js";
import type { Program } from "../ports/program.js";
import type { Store } from "../ports/store.js";
import type { Timer } from "../ports/timer.js";
import type { Handlers } from "./deed.js";
import type { DefaultTerms } from "./default-terms.js";
import type { ProgramRef, RunRecord } from "./record.js";
import type { Tool } from "./tool.js";
import type { Webhook } from "./webhook.js";

export interface BursarOptions {
  readonly store: Store;
  /** The programs that runs may execute, by their names. */
  readonly programs?: readonly Program[];
  /** Makes programs out of what the store keeps of them, for those that bring their source along. */
  readonly revive?: (program: ProgramRef) => Program | null;
  readonly tools?: readonly Tool[];
  readonly model?: Model;
  /** Further things for programs to ask for. */
  readonly handlers?: Handlers;
  /**
   * What the runs of a program get unless whoever starts them says otherwise, and what nobody but an operator may widen: the say
   * of a configuration. Without it, the table of dimensions has the say.
   */
  readonly governance?: (program: string) => DefaultTerms;
  readonly timer?: Timer;
  /** What this worker is called in claims. */
  readonly worker?: string;
  /** How long a run stays with a worker that says nothing: 30,000. */
  readonly claim_ms?: number;
  /** How long a request waits for an answer: a day. */
  readonly approval_ms?: number;
  /** Told when a run that is driven here stands still or has ended. */
  readonly changed?: (run: RunRecord) => void;
  /** Told about requests and decisions. */
  readonly webhook?: Webhook;
}

const KEYS = [
  "store",
  "programs",
  "revive",
  "tools",
  "model",
  "handlers",
  "governance",
  "timer",
  "worker",
  "claim_ms",
  "approval_ms",
  "changed",
  "webhook",
];

export const CLAIM_MS = 30_000;
export const APPROVAL_MS: number = 24 * 60 * 60_000;

export function checkOptions(options: BursarOptions): void {
  checkKeys(options, "options", KEYS);
}

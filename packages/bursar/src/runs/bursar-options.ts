import { InputError, show } from "../core/errors.js";
import { checkKeys } from "../core/fields.js";
import { PREFLIGHT_POLICIES, type PreflightPolicy } from "../foresight/preflight.js";
import type { Batches } from "../ports/batches.js";
import type { Predictor } from "../ports/foresight.js";
import type { Model } from "../ports/model.js";
import type { Output, Program } from "../ports/program.js";
import type { Store } from "../ports/store.js";
import type { Timer } from "../ports/timer.js";
import type { Handlers } from "./deed.js";
import type { DefaultTerms } from "./default-terms.js";
import type { ProgramRef, RunRecord } from "./record.js";
import type { Tool } from "./tool.js";
import type { Webhook } from "./webhook.js";

/** How runs are estimated before they begin. */
export interface ForesightOptions {
  /** What becomes of a run whose 95 % does not fit: `warn` unless it says `ask` or `refuse`. */
  readonly preflight?: PreflightPolicy;
  /** Asked when a program has too short a past to go by; without it nobody is. */
  readonly predictor?: Predictor;
  /**
   * What the model calls of runs hold: `learned`, which is what calls like them have used where others hold something too, unless it
   * says `full`, the most they may use. Only models learn that can, such as `chatModel`.
   */
  readonly reservations?: "learned" | "full";
}

export interface BursarOptions {
  readonly store: Store;
  /** The programs that runs may execute, by their names. */
  readonly programs?: readonly Program[];
  /** Makes programs out of what the store keeps of them, for those that bring their source along. */
  readonly revive?: (program: ProgramRef) => Program | null;
  readonly tools?: readonly Tool[];
  readonly model?: Model;
  /** What takes model calls that can wait, as `openBatches` does; without it they are made at once. */
  readonly batches?: Batches;
  /** Further things for programs to ask for. */
  readonly handlers?: Handlers;
  /**
   * What the runs of a program get unless whoever starts them says otherwise, and what nobody but an operator may widen: the say
   * of a configuration. A program that an agent brings along has the name "", because it is the agent who has named it. Without
   * this, the table of dimensions has the say.
   */
  readonly governance?: (program: string) => DefaultTerms;
  /** Estimates what runs will take, from what others took before; `false` neither looks nor learns. */
  readonly foresight?: false | ForesightOptions;
  readonly timer?: Timer;
  /** What this worker is called in claims. */
  readonly worker?: string;
  /** How long a run stays with a worker that says nothing: 30,000. */
  readonly claim_ms?: number;
  /** How long a request waits for an answer: a day. */
  readonly approval_ms?: number;
  /** Told when a run that is driven here stands still or has ended. */
  readonly changed?: (run: RunRecord) => void;
  /** Told what the program of a run that is driven here has written so far, whenever it has written more. */
  readonly printed?: (run: string, output: Output) => void;
  /**
   * What a program is told of an error that a tool has thrown: its message, word for word, unless this says otherwise. Messages may name
   * paths and addresses of this machine; `(_, tool) => \`${tool} failed\`` tells nothing of them.
   */
  readonly describeError?: (error: unknown, tool: string) => string;
  /** Told about requests and decisions. */
  readonly webhook?: Webhook;
}

const KEYS = [
  "store",
  "programs",
  "revive",
  "tools",
  "model",
  "batches",
  "handlers",
  "governance",
  "foresight",
  "timer",
  "worker",
  "claim_ms",
  "approval_ms",
  "changed",
  "printed",
  "describeError",
  "webhook",
];

export const CLAIM_MS = 30_000;
export const APPROVAL_MS: number = 24 * 60 * 60_000;

export function checkOptions(options: BursarOptions): void {
  checkKeys(options, "options", KEYS);
  const { foresight, store } = options;
  if (typeof store?.apply !== "function") throw new InputError("store", `is ${show(store)}; allowed: a store`);
  if (foresight === undefined || foresight === false) return;
  checkKeys(foresight, "foresight", ["preflight", "predictor", "reservations"]);
  const { reservations = "learned" } = foresight;
  if (reservations !== "learned" && reservations !== "full") {
    throw new InputError("foresight.reservations", `is ${show(reservations)}; allowed: "learned" or "full"`);
  }
  if (foresight.preflight !== undefined) checkPreflight(foresight.preflight, "foresight.preflight");
}

/** Who is told what programs write; what he does with it must not concern the run. */
export function printedTo({ printed }: Pick<BursarOptions, "printed">): ((run: string, output: Output) => void) | null {
  if (printed === undefined) return null;
  return (run, output) => {
    try {
      printed(run, output);
    } catch {
      // He may look again.
    }
  };
}

/** Whether model calls may hold less than the most they may use. */
export function learnsFrom({ foresight = {} }: Pick<BursarOptions, "foresight">): boolean {
  return foresight !== false && foresight.reservations !== "full";
}

export function checkPreflight(policy: unknown, field: string): void {
  if (PREFLIGHT_POLICIES.some((known) => known === policy)) return;
  throw new InputError(field, `is ${show(policy)}; allowed: ${PREFLIGHT_POLICIES.join(", ")}`);
}

import type { Decision } from "../core/decision.js";
import type { Operation } from "../core/operation.js";
import type { Timer } from "../ports/timer.js";
import type { GatedCall } from "../runtime/gate.js";
import { untilAborted } from "../runtime/until-aborted.js";
import {
  BATCH_HOLD_MS,
  type BatchItem,
  batchCallId,
  findItem,
  giveUpItem,
  itemOfRun,
  itemOver,
  newItem,
  putItem,
  recordBatched,
} from "./batch-item.js";
import type { BatchDeed } from "./deed.js";
import type { Desk } from "./desk.js";
import type { Direction } from "./direction.js";
import { RunError, writeError } from "./error.js";
import type { Answered, AskEntry } from "./journal.js";

interface HandedOverOptions {
  readonly desk: Desk;
  readonly timer: Timer;
  readonly direct: Direction;
  /** Reserves what a call may use. Tells whether it may be made; if not, the program was told, or the run has to stand still. */
  readonly admit: (ask: AskEntry, admission: Admission) => Promise<boolean>;
  readonly answer: (ask: AskEntry, answered: Answered, alongside: readonly Operation[]) => Promise<void>;
}

/** What is to be let in, and what a decision that does not let it in means. */
export interface Admission {
  readonly call: GatedCall & { readonly call_id: string };
  readonly judge: (decision: Decision) => Decision;
}

/** How often it is looked for an answer while the run has other things to do. */
const LOOK_MS = 500;

const LOST: Answered = {
  error: writeError(new RunError("batch_lost", "nobody knows any more what became of this call")),
};

/** The model calls of a run that can wait. What is handed over is the store's: whoever drives the run finds it there. */
export class HandedOver {
  private readonly options: HandedOverOptions;
  private readonly followed = new Map<number, AskEntry>();

  constructor(options: HandedOverOptions) {
    this.options = options;
  }

  find({ number }: AskEntry): Promise<BatchItem | null> {
    const { desk, direct } = this.options;
    return findItem(desk, itemOfRun(direct.run.id, number));
  }

  /** Hands a call over. From then on the run need not be driven for it. */
  async handOver(ask: AskEntry, deed: BatchDeed): Promise<void> {
    const { desk, direct } = this.options;
    const { terms, final, record } = deed;
    const { run, signal } = direct;
    const budget = final ? (run.wrap_up ?? run.budget) : run.budget;
    const call_id = batchCallId(run.id, ask.number, desk.epoch);
    const call = {
      ...({ budget, call_id, capability_id: `llm:${terms.model}`, kind: "model", asked: terms.asked } as const),
      step_id: `${run.id}/${ask.number}`,
      input: ask.args,
      signal,
      expires_ms: BATCH_HOLD_MS,
    };
    if (record !== undefined) desk.later([{ op: "record", budget: run.budget, action: record }], deed.unwritten);
    if (!(await this.isAdmitted(ask, call, deed))) return;
    const at = desk.clock.now().instant;
    const about = { status: "waiting", call: call_id, budget, run: run.id, at } as const;
    const item = newItem(terms, { id: itemOfRun(run.id, ask.number), ...about });
    await desk.apply([putItem(item), recordBatched(item)]);
    await this.follow(ask, { ...item, version: 1 });
  }

  private async isAdmitted(ask: AskEntry, call: Admission["call"], deed: BatchDeed): Promise<boolean> {
    let admitted = false;
    try {
      admitted = await this.options.admit(ask, { call, judge: deed.judge ?? ((decision) => decision) });
      return admitted;
    } finally {
      deed.over?.(admitted);
    }
  }

  /** Waits for the answer, as long as the run is driven for other reasons. */
  async follow(ask: AskEntry, item: BatchItem): Promise<void> {
    const { direct, answer } = this.options;
    const { signal } = direct;
    this.followed.set(ask.number, ask);
    let now: BatchItem | null = item;
    if (now.status !== "answered") direct.block(ask, { kind: "batch", item: item.id });
    while (now !== null && now.status !== "answered" && now.status !== "over") {
      if (!(await this.rest(signal))) return;
      now = await this.find(ask);
    }
    direct.unblock(ask);
    const answered = now?.answered ?? LOST;
    await answer(ask, answered, now?.status === "answered" ? [itemOver(now)] : []);
    this.followed.delete(ask.number);
  }

  /** The run has ended, so nobody waits for these any more. Tells which of them had been handed over. */
  async giveUp(asks: readonly AskEntry[]): Promise<ReadonlySet<number>> {
    const { desk, direct } = this.options;
    const found = new Set<number>();
    for (const number of new Set([...asks, ...this.followed.values()].map((ask) => ask.number))) {
      if (await giveUpItem(desk, itemOfRun(direct.run.id, number))) found.add(number);
    }
    return found;
  }

  /** Tells whether the run is still driven. */
  private async rest(signal: AbortSignal): Promise<boolean> {
    let alarm: Disposable | null = null;
    const over = new Promise<void>((resolve) => {
      alarm = this.options.timer.after(LOOK_MS, resolve);
    });
    try {
      await untilAborted(over, signal);
      return true;
    } catch {
      return false;
    } finally {
      (alarm as Disposable | null)?.[Symbol.dispose]();
    }
  }
}

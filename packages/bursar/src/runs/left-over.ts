import { LedgerError } from "../core/errors.js";
import type { CommitOperation, ReleaseOperation } from "../core/operation.js";
import { canWait } from "./batch-deed.js";
import { batchCallId } from "./batch-item.js";
import { callId } from "./call-id.js";
import type { Desk } from "./desk.js";
import { innerCallsOf } from "./inner-calls.js";
import type { AskEntry } from "./journal.js";

/** Settles what workers that died have left of the effects of a run. */
export class LeftOver {
  private readonly desk: Desk;
  private readonly run: string;
  private readonly settled = new Set<number>();

  constructor(desk: Desk, run: string) {
    this.desk = desk;
    this.run = run;
  }

  /** Whether nothing is left of this effect any more. */
  isSettled({ number }: AskEntry): boolean {
    return this.settled.has(number);
  }

  /** Tells whether there was anything of this effect; what has happened is paid for as it was reserved. */
  async settle(ask: AskEntry, { happened }: { readonly happened: boolean }): Promise<boolean> {
    const { run } = this;
    const { number, epochs } = ask;
    let found = false;
    for (const epoch of epochs.filter((each) => each !== this.desk.epoch)) {
      // Admitted, and never handed over.
      if (canWait(ask)) await this.carryOut({ op: "release", call: batchCallId(run, number, epoch) });
      if (!(await this.settleCall(callId(run, number, epoch), happened))) continue;
      found = true;
      for (const inner of await innerCallsOf(this.desk, { run, number, epoch })) await this.settleInner(inner);
    }
    this.settled.add(number);
    return found;
  }

  /** What a tool has asked a model may have been answered; what else it did inside of itself is made again. */
  private settleInner(call: string): Promise<boolean> {
    return this.carryOut({ op: "release", call, dead: true });
  }

  private settleCall(call: string, happened: boolean): Promise<boolean> {
    return this.carryOut(happened ? { op: "commit", call, used: {} } : { op: "release", call });
  }

  /** Tells whether there was such a call; settled before, it stays as it is. */
  private async carryOut(operation: CommitOperation | ReleaseOperation): Promise<boolean> {
    try {
      await this.desk.apply([operation]);
      return true;
    } catch (error) {
      // It had not been admitted.
      if (error instanceof LedgerError) return false;
      throw error;
    }
  }
}

import { AsyncLocalStorage } from "node:async_hooks";
import { subscribe } from "node:diagnostics_channel";
import type { BudgetAmounts } from "../../core/input.js";
import { CALLS, type CallRecord } from "../meter/call-record.js";

const MOST_REASONS = 5;

/** What this process has used, for the summary at its end. */
export class Tally {
  private readonly requests = new AsyncLocalStorage<{ told: boolean }>();
  private made = 0;
  private failed = 0;
  private refused = 0;
  private readonly used = new Map<string, number>();
  private readonly reasons = new Map<string, number>();
  private remaining: BudgetAmounts = {};

  constructor() {
    subscribe(CALLS, (record) => this.hear(record as CallRecord));
  }

  /** Sends a request. What is refused before it is a call at all is seen only in its answer. */
  async follow(send: () => Promise<Response>): Promise<Response> {
    const request = { told: false };
    const response = await this.requests.run(request, send);
    const code = response.headers.get("x-bursar-refused");
    if (code !== null && !request.told) this.refuse(code);
    return response;
  }

  get isEmpty(): boolean {
    return this.made + this.refused === 0;
  }

  /** The summary, in lines. */
  lines(budget: string): readonly string[] {
    if (this.isEmpty) return [`no model was called; budget ${budget} is as it was`];
    const failed = this.failed === 0 ? "" : `, ${this.failed} of them failed`;
    const calls = `${counted(this.made, "model call")}${failed}, ${counted(this.refused, "refusal")}`;
    const reasons = [...this.reasons].map(([reason, times]) => `refused ${times} ×: ${reason}`);
    return [
      `${calls}; budget ${budget}`,
      `used here: ${written(Object.fromEntries(this.used))}; left: ${written(this.remaining)}`,
      ...reasons,
    ];
  }

  private hear(record: CallRecord): void {
    if (record.kind !== "ended" || record.handed_down) return;
    this.remaining = record.remaining;
    if (record.outcome === "refused") {
      const request = this.requests.getStore();
      if (request !== undefined) request.told = true;
      const { dimension, code = "refused", policy } = record.refusal ?? {};
      this.refuse(dimension === undefined ? code : `${dimension} (${code}, ${policy})`);
      return;
    }
    this.made++;
    if (record.outcome === "failed") this.failed++;
    for (const [id, amount] of Object.entries(record.charged)) this.used.set(id, (this.used.get(id) ?? 0) + amount);
  }

  private refuse(reason: string): void {
    this.refused++;
    // Reasons hold names of dimensions and codes, so there are few; the bound is for those that a caller has defined.
    if (this.reasons.has(reason) || this.reasons.size < MOST_REASONS) {
      this.reasons.set(reason, (this.reasons.get(reason) ?? 0) + 1);
    }
  }
}

function counted(count: number, what: string): string {
  return `${count} ${what}${count === 1 ? "" : "s"}`;
}

/** Sums of decimals are shown without what floating point leaves behind. */
function written(amounts: BudgetAmounts): string {
  const shown = Object.entries(amounts).map(([id, amount]) => `${id} ${Number(Number(amount).toFixed(9))}`);
  return shown.length === 0 ? "nothing" : shown.join(", ");
}

import { Events } from "../../core/events.js";
import type { BudgetAmounts } from "../../core/input.js";
import type { Gated } from "../../runtime/gate.js";
import type { Purse } from "../../runtime/purse.js";
import type { TokenCounts } from "../wire/token-counts.js";
import { type CallEnded, type CallStarted, calls } from "./call-record.js";
import type { RefusalReport } from "./refusal.js";

type How = "outcome" | "charged" | "estimated" | "handed_down" | "refusal" | "error";

/** One call as it is told to whoever listens. Nobody who listens can make a call fail. */
export class ToldCall {
  private readonly purse: Purse;
  private readonly about: Omit<CallStarted, "kind">;
  private readonly began: number;
  private readonly events: Events;
  private counts: TokenCounts | null = null;

  constructor(purse: Purse, about: Omit<CallStarted, "kind">, began: number) {
    this.purse = purse;
    this.about = about;
    this.began = began;
    this.events = new Events(purse.store.dimensions);
    calls.publish({ ...about, kind: "started" } satisfies CallStarted);
  }

  /** What the provider has reported. */
  count(counts: TokenCounts): void {
    this.counts = counts;
  }

  async end(gated: Exclude<Gated<unknown>, { kind: "refused" }>, handed_down: boolean): Promise<void> {
    const { charged, estimated } = gated.settled;
    const error = gated.kind === "failed" ? gated.error : null;
    const charges = { charged: this.edge(charged), estimated, handed_down };
    await this.tell({ outcome: gated.kind, ...charges, refusal: null, error });
  }

  /** It could not be settled, or not even begun: what it is charged in the end is not known now. */
  async fail(error: unknown): Promise<void> {
    await this.tell({ outcome: "failed", charged: {}, estimated: true, handed_down: false, refusal: null, error });
  }

  async refuse(refusal: RefusalReport): Promise<void> {
    await this.tell({ outcome: "refused", charged: {}, estimated: false, handed_down: false, refusal, error: null });
  }

  private async tell(how: Pick<CallEnded, How>): Promise<void> {
    const { store, budget } = this.purse;
    const time = store.clock.now();
    const state = await store.budget(budget).catch(() => null);
    const remaining = state === null ? {} : (this.events.remaining(state, time) as BudgetAmounts);
    const duration_ms = Math.max(0, time.monotonic - this.began);
    const { about, counts } = this;
    calls.publish({ ...about, kind: "ended", counts, duration_ms, remaining, ...how } satisfies CallEnded);
  }

  private edge(amounts: Parameters<Events["amounts"]>[0]): BudgetAmounts {
    return this.events.amounts(amounts) as BudgetAmounts;
  }
}

import { type Hold, type Purse, withPurse } from "../../runtime/purse.js";
import type { AnswerClaims } from "../wire/answer-claims.js";
import type { TokenCounts } from "../wire/token-counts.js";
import { isFree, isFreeEachTime, isUnsent } from "./answer-status.js";
import { BudgetExceededError } from "./budget-exceeded-error.js";
import type { Held, Meter, Metered, MeteredRequest } from "./meter.js";
import { NOTHING_AT_ALL, NOTHING_USED } from "./nothing-used.js";
import { reported } from "./reported.js";

/** What a call gave, and what it is said to have used. */
export interface ModelAnswered<Value> {
  readonly value: Value;
  readonly counts: TokenCounts | null;
  /** What it says of its price, where it came in one piece. */
  readonly claims?: AnswerClaims;
}

/** Whether each attempt is a call of its own, or the client may try again by itself, unseen. */
type Attempts = "seen" | "unseen";

/**
 * Makes a call of which the wire is not seen. Where what it sends is governed too, that one meters it: what is held here is handed
 * down to it, so that no call is paid for twice and every request that is sent again counts.
 */
export async function callRead<Value>(
  meter: Meter,
  purse: Purse,
  call: Pick<MeteredRequest, "protocol" | "wire" | "signal" | "wait_ms" | "open"> &
    Partial<Pick<MeteredRequest, "url">>,
  attempts: Attempts,
  effect: (held: Held, request: MeteredRequest) => Promise<ModelAnswered<Value>>,
): Promise<Metered<Value>> {
  const metered = await meter.call<Came<Value>>(
    purse,
    { url: null, egress_bytes: 0, ...call },
    async (held, request) => {
      const hold = new CallHold(purse, held);
      try {
        const { value, ...report } = await withPurse({ ...purse, hold }, () => effect(held, request));
        if (hold.gone) return { value: { value }, usage: NOTHING_AT_ALL };
        return reported(held, { value }, report);
      } catch (error) {
        if (hold.gone) return { value: { error }, usage: NOTHING_AT_ALL };
        if (BudgetExceededError.from(error) !== null) {
          // It was refused further down, before anything was sent: that was no attempt.
          await hold.handDown();
          return { value: { error }, usage: NOTHING_AT_ALL };
        }
        const status = statusOf(error);
        const isNothing = attempts === "seen" ? isUnsent(error, request.url) || isFree(status) : isFreeEachTime(status);
        if (isNothing) return { value: { error }, usage: NOTHING_USED };
        throw error;
      }
    },
  );
  if (metered.kind !== "done") return metered;
  const { value: came, settled } = metered;
  return "error" in came
    ? { kind: "failed", error: came.error, settled }
    : { kind: "done", value: came.value, settled };
}

/** A failure that costs nothing is an outcome like any other. */
type Came<Value> = { readonly value: Value } | { readonly error: unknown };

/** The status of HTTP that an SDK keeps in its errors; 0 where there is none. */
function statusOf(error: unknown): number {
  const { status, statusCode } = (error ?? {}) as { readonly status?: unknown; readonly statusCode?: unknown };
  return typeof status === "number" ? status : typeof statusCode === "number" ? statusCode : 0;
}

class CallHold implements Hold {
  gone = false;
  private readonly purse: Purse;
  private readonly held: Held;

  constructor(purse: Purse, held: Held) {
    this.purse = purse;
    this.held = held;
  }

  async handDown(): Promise<void> {
    if (this.gone) return;
    this.gone = true;
    this.held.handedDown();
    await this.purse.store.apply([{ op: "release", call: this.held.id }]);
  }
}

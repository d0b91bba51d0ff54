import type { Path } from "../core/budget.js";
import type { Events } from "../core/events.js";
import type { BudgetAmounts } from "../core/input.js";
import type { Metered, MeteredRequest } from "../models/meter/meter.js";
import type { Purse } from "../runtime/purse.js";
import type { ClientReply } from "./client-reply.js";
import type { ClientRequest } from "./client-request.js";
import type { GatewayKey } from "./keys.js";
import type { Served } from "./served.js";

/** One request on its way through the gateway, with what is known of it so far. */
export class Visit {
  readonly asked: ClientRequest;
  readonly reply: ClientReply;
  readonly method: string;
  path = "";
  key: GatewayKey | null = null;
  purse: Purse | null = null;
  /** The path of the budget that pays, and when it was read. */
  seen: { readonly path: Path; readonly at: number } | null = null;
  upstream: string | null = null;
  request: MeteredRequest | null = null;
  metered: Metered<unknown> | null = null;
  /** The code of what went wrong outside of the budget. */
  failed: string | null = null;
  private readonly began: number;

  constructor(asked: ClientRequest, began: number) {
    this.asked = asked;
    this.reply = asked.reply;
    this.method = asked.method;
    this.began = began;
  }

  /** How it was served, now that it is over. */
  served(now: number, events: Events): Served {
    const { method, path, reply, key, purse, upstream, request, metered, failed } = this;
    const settled = metered === null || metered.kind === "refused" ? null : metered.settled;
    return {
      method,
      path,
      upstream,
      failed,
      status: reply.status,
      key_id: key?.id ?? null,
      label: key?.label ?? null,
      budget: purse?.budget ?? null,
      model: request?.wire.model ?? null,
      stream: request?.wire.stream ?? false,
      refused: reply.refused,
      charged: settled === null ? {} : (events.amounts(settled.charged) as BudgetAmounts),
      estimated: settled?.estimated ?? false,
      duration_ms: Math.max(0, Math.round(now - this.began)),
    };
  }
}

import { createHmac } from "node:crypto";
import { canonicalize, type JsonObject } from "../core/chain/canonical.js";
import { InputError, show } from "../core/errors.js";
import type { Clock } from "../ports/clock.js";
import type { Timer } from "../ports/timer.js";
import { systemClock, systemTimer } from "../runtime/system-clock.js";
import type { ApprovalRequest } from "./approval.js";

export interface WebhookOptions {
  readonly url: string;
  /** Signs what is sent, so that whoever gets it can tell that it comes from here. */
  readonly secret: string;
  readonly clock?: Clock;
  readonly timer?: Timer;
  /** How often it is tried, in all: 5. */
  readonly tries?: number;
  /** Told when it could not be delivered at all. */
  readonly failed?: (error: unknown, request: ApprovalRequest) => void;
  readonly fetch?: typeof fetch;
}

const FIRST_WAIT_MS = 1000;
const TIMEOUT_MS = 10_000;
const TRIES = 5;

/**
 * Tells somebody outside about requests and decisions. The body is JSON; the header `bursar-signature` is
 * `t=<instant>,v1=<HMAC-SHA256 of "<instant>.<body>" in hex>`, and `bursar-delivery` is the same for every try.
 */
export class Webhook {
  private readonly options: WebhookOptions;

  constructor(options: WebhookOptions) {
    const { url, secret } = options;
    const { protocol } = new URL(url);
    if (protocol !== "https:" && protocol !== "http:") {
      throw new InputError("webhook.url", `is ${show(url)}; allowed: an address with https or http`);
    }
    if (secret.length < 16) throw new InputError("webhook.secret", "is too short; allowed: 16 characters or more");
    this.options = options;
  }

  /** Delivers as well as can be; nobody waits for it. */
  async tell(event: "approval.requested" | "approval.decided", request: ApprovalRequest): Promise<boolean> {
    const { clock = systemClock, timer = systemTimer, tries = TRIES, failed = () => {} } = this.options;
    // What the program wanted to do may hold secrets; who wants to see it looks it up.
    const { action: _, version: __, ...about } = request;
    const body = canonicalize({ event, approval: about as unknown as JsonObject });
    for (let turn = 1, wait = FIRST_WAIT_MS; ; turn++, wait *= 2) {
      try {
        await this.post(body, clock.now().instant, `${request.id}.${request.status}`);
        return true;
      } catch (error) {
        if (turn >= tries) {
          failed(error, request);
          return false;
        }
        await new Promise<void>((resolve) => void timer.after(wait, resolve));
      }
    }
  }

  private async post(body: string, instant: number, delivery: string): Promise<void> {
    const { url, secret, fetch: send = fetch } = this.options;
    const response = await send(url, {
      method: "POST",
      headers: {
        "content-type": "application/json",
        "bursar-delivery": delivery,
        "bursar-signature": signature(body, instant, secret),
      },
      body,
      redirect: "error",
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    await response.body?.cancel();
    if (!response.ok) throw new Error(`${url} answered ${response.status}`);
  }
}

function signature(body: string, instant: number, secret: string): string {
  return `t=${instant},v1=${createHmac("sha256", secret).update(`${instant}.${body}`).digest("hex")}`;
}

import { createHmac } from "node:crypto";
import { canonicalize, type JsonObject } from "../core/chain/canonical.js";
import { InputError, show } from "../core/errors.js";
import type { Clock } from "../ports/clock.js";
import type { Timer } from "../ports/timer.js";
import { systemClock, systemTimer } from "../runtime/system-clock.js";
import type { ApprovalRequest } from "./approval.js";
import { sleep } from "./sleep.js";

export interface WebhookOptions {
  readonly url: string;
  /** Signs what is sent, so that whoever gets it can tell that it comes from here. */
  readonly secret: string;
  readonly clock?: Clock;
  readonly timer?: Timer;
  /** How often it is tried, in all: 5, and 100 at most. */
  readonly tries?: number;
  /** Told when it could not be delivered at all. */
  readonly failed?: (error: unknown, request: ApprovalRequest) => void;
  readonly fetch?: typeof fetch;
}

const FIRST_WAIT_MS = 1000;
const LONGEST_WAIT_MS = 60 * 60_000;
const TIMEOUT_MS = 10_000;
const TRIES = 5;
const MOST_TRIES = 100;

/**
 * Tells somebody outside about requests and decisions. The body is JSON; the header `bursar-signature` is
 * `t=<instant>,v1=<HMAC-SHA256 of "<instant>.<body>" in hex>`, and `bursar-delivery` is the same for every try.
 */
export class Webhook {
  private readonly options: WebhookOptions;
  /** What is being delivered. */
  private readonly deliveries = new Set<Promise<boolean>>();

  constructor(options: WebhookOptions) {
    const { url, secret, tries = TRIES } = options;
    if (!URL.canParse(url) || !["https:", "http:"].includes(new URL(url).protocol)) {
      throw new InputError("webhook.url", `is ${show(url)}; allowed: an address with https or http`);
    }
    if (typeof secret !== "string" || secret.length < 16) {
      throw new InputError("webhook.secret", "is too short; allowed: 16 characters or more");
    }
    if (!Number.isSafeInteger(tries) || tries < 1 || tries > MOST_TRIES) {
      throw new InputError("webhook.tries", `is ${show(tries)}; allowed: a whole number from 1 to ${MOST_TRIES}`);
    }
    this.options = options;
  }

  /** Delivers as well as can be. Nobody waits for it, so it never throws. */
  tell(event: "approval.requested" | "approval.decided", request: ApprovalRequest): Promise<boolean> {
    const delivery = this.attempt(event, request).finally(() => this.deliveries.delete(delivery));
    this.deliveries.add(delivery);
    return delivery;
  }

  /** Waits until everything is delivered or given up, but no longer than this. */
  async settled({ within_ms }: { readonly within_ms: number }): Promise<void> {
    if (this.deliveries.size === 0) return;
    const { timer = systemTimer } = this.options;
    const late = new Promise<void>((resolve) => {
      const waiting = timer.after(within_ms, resolve);
      void Promise.all(this.deliveries).then(() => {
        waiting[Symbol.dispose]();
        resolve();
      });
    });
    await late;
  }

  private async attempt(event: string, request: ApprovalRequest): Promise<boolean> {
    try {
      await this.deliver(event, request);
      return true;
    } catch (error) {
      this.giveUp(error, request);
      return false;
    }
  }

  private async deliver(event: string, request: ApprovalRequest): Promise<void> {
    const { clock = systemClock, timer = systemTimer, tries = TRIES } = this.options;
    // What the program wanted to do may hold secrets; who wants to see it looks it up.
    const { action: _, version: __, ...about } = request;
    const body = canonicalize({ event, approval: about as unknown as JsonObject });
    for (let turn = 1, wait = FIRST_WAIT_MS; ; turn++, wait = Math.min(2 * wait, LONGEST_WAIT_MS)) {
      try {
        return await this.post(body, clock.now().instant, `${request.id}.${request.status}`);
      } catch (error) {
        if (turn >= tries) throw error;
        await sleep(timer, wait);
      }
    }
  }

  /** A callback that fails, at once or later, has nobody else to tell. */
  private giveUp(error: unknown, request: ApprovalRequest): void {
    const { failed = () => {} } = this.options;
    new Promise((resolve) => resolve(failed(error, request))).catch(() => {});
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

import { createHash } from "node:crypto";
import type { Purse, Round } from "../../runtime/purse.js";
import type { Held, Meter, Metered, MeteredRequest } from "../meter/meter.js";
import { callRead, type ModelAnswered } from "../meter/model-call.js";
import { type PaidBy, purseFor } from "../meter/paid-by.js";
import { inRound } from "../meter/round.js";
import { jsonOf } from "./prompt-parts.js";
import type { Sketch } from "./sketch.js";

/** How the calls of a model are governed. */
export interface Governing {
  readonly meter: Meter;
  readonly paid: PaidBy;
  /** The most an answer may have where nobody says so, beside what is thought. */
  readonly output_tokens: number;
  readonly wait_ms?: number;
}

/** What is told about a call beside its sketch. */
interface Calling {
  readonly abortSignal?: AbortSignal | undefined;
  /** Only calls of a loop have one. */
  readonly prompt?: unknown;
}

/** So many steps that have failed are remembered, in case that they come again. */
const MOST_FAILED = 1000;

/** The calls of one model. */
export class GovernedCalls {
  private readonly how: Governing;
  private readonly failed = new Map<string, Round>();

  constructor(how: Governing) {
    this.how = how;
  }

  async make<Value>(
    { protocol, wire, url, open }: Sketch,
    { abortSignal: signal, prompt }: Calling,
    effect: (held: Held, request: MeteredRequest) => Promise<ModelAnswered<Value>>,
  ): Promise<Metered<Value>> {
    const { meter, paid, wait_ms } = this.how;
    const request = {
      protocol,
      wire,
      url,
      ...(open !== undefined && { open }),
      ...(signal !== undefined && { signal }),
      ...(wait_ms !== undefined && { wait_ms }),
    };
    const purse = purseFor(paid);
    // Whoever makes this call further out has said already which round it belongs to.
    const inside = prompt === undefined || purse.hold !== undefined ? purse : await inRound(purse);
    if (inside === purse || inside.round === undefined) return callRead(meter, purse, request, "seen", effect);
    const key = createHash("sha256").update(jsonOf(prompt)).digest("base64");
    const round = this.again(key) ?? inside.round;
    const metered = await callRead<Value>(meter, { ...inside, round } satisfies Purse, request, "seen", effect);
    if (metered.kind === "failed") this.remember(key, round);
    return metered;
  }

  /** A step of a loop is a round. One that has failed and comes again as it was is the same round. */
  private again(key: string): Round | undefined {
    const round = this.failed.get(key);
    this.failed.delete(key);
    return round;
  }

  private remember(key: string, round: Round): void {
    this.failed.set(key, round);
    const [oldest] = this.failed.keys();
    if (this.failed.size > MOST_FAILED && oldest !== undefined) this.failed.delete(oldest);
  }
}

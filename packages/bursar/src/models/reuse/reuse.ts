import { writeAmount } from "../../core/dimension.js";
import { type BudgetAmounts, readAmounts } from "../../core/input.js";
import { sha256Hex } from "../../runtime/crypto.js";
import type { Effected } from "../../runtime/gate.js";
import type { Purse } from "../../runtime/purse.js";
import { untilAborted } from "../../runtime/until-aborted.js";
import type { Held, Meter, Metered, MeteredEffect, MeteredRequest } from "../meter/meter.js";
import { NOTHING_AT_ALL, NOTHING_SENT } from "../meter/nothing-used.js";
import { parsedObject } from "../wire/json-object.js";
import { AnswerCache } from "./answer-cache.js";
import { readInputs } from "./embedding-body.js";
import type { SendWhole } from "./embedding-group.js";
import { EmbeddingGroups } from "./embedding-groups.js";
import { type Addressed, addressKey, identityOf, parametersKey } from "./identity.js";
import { Claim, type Given, InFlight, type Turn } from "./in-flight.js";
import { isWhole } from "./is-whole.js";
import { type ReuseOptions, type ReuseSettings, reuseSettings } from "./options.js";
import { type SavedKind, saved } from "./saved.js";
import { stepOnly } from "./step-only.js";
import { type AnswerHeaders, passedOn, type WholeAnswer } from "./whole-answer.js";

/** A call that may be answered otherwise than by a request of its own. */
export interface ReusableCall<Value> {
  readonly meter: Meter;
  readonly purse: Purse;
  readonly request: MeteredRequest;
  readonly headers: AnswerHeaders;
  /** Whose call it is: nobody else gets what it is answered, unless all share. */
  readonly tenant: string;
  /** Makes the call by itself. */
  readonly make: MeteredEffect<Value>;
  readonly send: SendWhole;
  /** An answer as the caller gets it, to the request as it was made; null for `reused` when it is his own. */
  readonly give: (answer: WholeAnswer, reused: SavedKind | null, made: MeteredRequest) => Value;
  /** What the caller gets where nothing came of it. */
  readonly fail: (error: unknown) => Value;
  /** The answer that others may have too; null for all that is none in one piece. */
  readonly whole: (value: Value) => WholeAnswer | null;
}

/** What is asked, where and by whom. */
export interface Question extends Omit<Addressed, "tenant"> {
  readonly body: string;
  readonly tenant: () => Promise<string>;
}

/** What an identical call was answered. */
interface Reused {
  readonly kind: "in_flight" | "cache";
  readonly answer: WholeAnswer;
  readonly cost_usd: number;
}

/** Nothing came of it yet: the call is made again, as if it had not been. */
const AGAIN: unique symbol = Symbol("again");
type Again = typeof AGAIN;

/** Who has waited for so many others in vain goes by himself, so that a provider that fails does not fail all of them in a row. */
const MOST_TURNS = 3;

/** The same question gets the same of these, whoever asks it: nobody has to try for himself. */
const SAME_FOR_ALL: ReadonlySet<number> = new Set([400, 401, 403, 404, 405, 410, 413, 415, 422]);

/**
 * What was asked before, or is being asked now, is not asked again, and what can be asked together is. Every caller passes the meter
 * with a reservation of his own all the same: one that is answered by somebody else's call counts as a step and costs nothing.
 */
export class Reuse {
  private readonly settings: ReuseSettings;
  private readonly inFlight: InFlight | null;
  private readonly cache: AnswerCache | null;
  private readonly groups: EmbeddingGroups | null;

  constructor(options: ReuseOptions) {
    const settings = reuseSettings(options);
    const { in_flight, cache, embeddings, clock, timer } = settings;
    this.settings = settings;
    this.inFlight = in_flight ? new InFlight() : null;
    this.cache = cache === null ? null : new AnswerCache(cache, clock);
    this.groups = embeddings === null ? null : new EmbeddingGroups(embeddings, timer);
  }

  /** Makes a call, or takes part in one that is made already. */
  async call<Value>(call: ReusableCall<Value>): Promise<Metered<Value>> {
    const address = this.addressOf(call);
    const key = this.keyOf(call.request, address);
    if (key === null) return this.lead(call, address, null);
    for (let turns = 0; turns < MOST_TURNS; turns++) {
      const kept = (await this.cache?.find(key)) ?? null;
      const turn = kept === null ? (this.inFlight?.find(key) ?? null) : null;
      if (kept === null && turn === null) break;
      const metered = await this.follow(call, kept ?? (turn as Turn));
      if (metered !== null) return metered;
    }
    return this.lead(call, address, key);
  }

  /**
   * The same for whoever holds a reservation of his own already, as runs do: gives what an identical call was answered, else what
   * came of his own, which others may have then if it is whole.
   */
  async answer<Made extends { readonly given: Given | null }>(
    question: Question,
    signal: AbortSignal,
    make: () => Promise<Made>,
  ): Promise<Reused | Made> {
    if (this.inFlight === null && this.cache === null) return make();
    const { body, tenant, ...where } = question;
    const address = addressKey({ ...where, tenant: this.settings.shared ? null : await tenant() });
    const key = sha256Hex(`${address}\n${body}`);
    const kept = (await this.cache?.find(key)) ?? null;
    if (kept !== null) return { kind: "cache", ...kept };
    const claim = this.claimOf(key);
    try {
      for (let turns = 0; turns < MOST_TURNS; turns++) {
        const other = claim?.takeUp() ?? null;
        if (other === null) break;
        const given = await untilAborted(other.over, signal);
        if (given !== null) return { kind: "in_flight", ...given, cost_usd: given.cost_usd ?? 0 };
      }
      const made = await make();
      claim?.end(made.given);
      const { answer, cost_usd = null } = made.given ?? {};
      if (answer !== undefined && cost_usd !== null) this.cache?.keep(key, { answer, cost_usd });
      return made;
    } finally {
      claim?.end(null);
    }
  }

  /** Waits until everything is written that outlives the process. */
  async settled(): Promise<void> {
    await this.cache?.settled();
  }

  /** Takes what is there, or what somebody else is being answered; null when it comes to nothing. It costs a step. */
  private async follow<Value>(call: ReusableCall<Value>, from: Given | Turn): Promise<Metered<Value> | null> {
    const { meter, purse, request } = call;
    const metered = await meter.call<Value | Again>(purse, stepOnly(request), async (held) => {
      if ("answer" in from) return this.given(call, held, "cache", from);
      const given = await untilAborted(from.over, held.signal);
      return given === null ? passed(call, held) : this.given(call, held, "in_flight", given);
    });
    return unlessAgain(metered);
  }

  /** Makes the call, and lets others have what it is answered. */
  private async lead<Value>(call: ReusableCall<Value>, address: string, key: string | null): Promise<Metered<Value>> {
    const leading: Leading = { address, key, claim: this.claimOf(key), grouped: true };
    leading.claim?.takeUp();
    const resign = () => leading.claim?.resign();
    const purse = resigning(call.purse, resign);
    const request = { ...call.request, onWait: resign };
    const attempt = () =>
      call.meter.call(purse, request, (held, made) => this.make({ ...call, request: made }, held, leading));
    try {
      const first = unlessAgain<Value>(await attempt());
      if (first !== null) return first;
      leading.grouped = false;
      return (await attempt()) as Metered<Value>;
    } finally {
      leading.claim?.end(null);
    }
  }

  private async make<Value>(call: ReusableCall<Value>, held: Held, leading: Leading): Promise<Effected<Value | Again>> {
    const other = await this.meanwhile(call, held, leading);
    if (other !== null) return other;
    const { claim, key, address, grouped } = leading;
    const made = grouped ? await this.together(call, held, address) : await call.make(held, call.request);
    if (made.value === AGAIN) return made;
    const given = givenBy(call, held, made as Effected<Value>);
    claim?.end(given);
    if (key !== null && given !== null && given.cost_usd !== null && isCounted(made)) {
      this.cache?.keep(key, { answer: given.answer, cost_usd: given.cost_usd });
    }
    return made;
  }

  /** What somebody else was answered until the call was let in; null when it has to be made. */
  private async meanwhile<Value>(
    call: ReusableCall<Value>,
    held: Held,
    leading: Leading,
  ): Promise<Effected<Value> | null> {
    if (call.request.chosen !== undefined) {
      // Only now it is known which model is asked, and so whether somebody has asked the same.
      leading.key = this.keyOf(call.request, leading.address);
      leading.claim ??= this.claimOf(leading.key);
      const kept = leading.key === null ? null : ((await this.cache?.find(leading.key)) ?? null);
      if (kept !== null) return this.given(call, held, "cache", kept);
    }
    // Whoever had to wait for his budget may find that another has asked meanwhile.
    for (let turns = 0; turns < MOST_TURNS; turns++) {
      const other = leading.claim?.takeUp() ?? null;
      if (other === null) return null;
      const given = await untilAborted(other.over, held.signal);
      if (given !== null) return this.given(call, held, "in_flight", given);
    }
    return null;
  }

  private claimOf(key: string | null): Claim | null {
    return key === null || this.inFlight === null ? null : new Claim(this.inFlight, key);
  }

  /** What a call is known by; null where none is like it, or where its model is still open. */
  private keyOf(request: MeteredRequest, address: string): string | null {
    if ((this.inFlight === null && this.cache === null) || request.open !== undefined) return null;
    return identityOf(request, address);
  }

  /** Makes the call, along with others where that is possible. */
  private async together<Value>(
    call: ReusableCall<Value>,
    held: Held,
    address: string,
  ): Promise<Effected<Value | Again>> {
    const { purse, request, send } = call;
    const inputs = this.groups === null || request.wire.protocol !== "openai-embeddings" ? null : readInputs(held.body);
    if (this.groups === null || inputs === null) return call.make(held, request);
    const joined = await this.groups.join(`${inputs.kind} ${parametersKey(inputs.rest, address)}`, {
      held,
      inputs,
      send,
      url: request.url,
      egress_bytes: request.egress_bytes,
      late: (usage) => void correct(purse, held.id, usage),
    });
    switch (joined.kind) {
      case "solo":
        return call.make(held, request);
      case "alone":
        return passed(call, held, joined.egress_bytes);
      case "failed":
        return { value: call.fail(joined.error), usage: joined.usage };
      case "answer": {
        const { answer, usage, first } = joined;
        const made = { value: call.give(answer, null, request), ...(usage && { usage }) };
        if (first || answer.status !== 200) return made;
        // A request was spared, and no money: the tokens are the same.
        return { ...made, alongside: [this.record(call, held, "embeddings", 0)] };
      }
    }
  }

  private given<Value>(call: ReusableCall<Value>, held: Held, kind: SavedKind, given: Given): Effected<Value> {
    const value = call.give(given.answer, kind, call.request);
    const { cost_usd } = given;
    if (cost_usd === null) return { value, usage: NOTHING_SENT };
    return { value, usage: NOTHING_SENT, alongside: [this.record(call, held, kind, cost_usd)] };
  }

  private record<Value>({ purse, request }: ReusableCall<Value>, held: Held, kind: SavedKind, saved_usd: number) {
    return saved(purse.budget, { kind, saved_usd, call_id: held.id, model: request.wire.model });
  }

  private addressOf({
    request,
    headers,
    tenant,
  }: Pick<ReusableCall<unknown>, "request" | "headers" | "tenant">): string {
    return addressKey({ url: request.url ?? "", headers, tenant: this.settings.shared ? null : tenant });
  }
}

/** A call that others may wait for, on its way. */
interface Leading {
  readonly address: string;
  key: string | null;
  claim: Claim | null;
  grouped: boolean;
}

/**
 * Opens what keeps answers and brings calls together, for one wire or for several that share it.
 *
 * @example
 * ```ts
 * const reuse = openReuse({ in_flight: true, cache: { ttl_ms: 600_000 } });
 * const client = new OpenAI({ fetch: governedFetch({ reuse }) });
 * ```
 */
export function openReuse(options: ReuseOptions): Reuse {
  return new Reuse(options);
}

/** What was opened already, or is opened here; null for nothing. */
export function reuseOf(given: Reuse | ReuseOptions | undefined): Reuse | null {
  if (given === undefined) return null;
  return given instanceof Reuse ? given : new Reuse(given);
}

/** What pays for a call. */
type Paid = Pick<ReusableCall<unknown>, "purse">;

/** Gives the reservation back: whoever makes the call again has one of his own. What was sent meanwhile counts. */
async function passed({ purse }: Paid, held: Held, egress_bytes = 0): Promise<Effected<Again>> {
  held.handedDown();
  await purse.store.apply([{ op: "release", call: held.id }]);
  return { value: AGAIN, usage: { ...NOTHING_AT_ALL, network_egress_bytes: egress_bytes } };
}

function unlessAgain<Value>(metered: Metered<Value | Again>): Metered<Value> | null {
  return metered.kind === "done" && metered.value === AGAIN ? null : (metered as Metered<Value>);
}

/** Who is refused, or asks a person for more, is nobody to wait for. */
function resigning(purse: Purse, resign: () => void): Purse {
  return {
    ...purse,
    refused: (decision, message) => {
      resign();
      purse.refused?.(decision, message);
    },
  };
}

/** What of an outcome others may have. */
function givenBy<Value>(call: ReusableCall<Value>, held: Held, made: Effected<Value>): Given | null {
  const answer = call.whole(made.value);
  if (answer === null) return null;
  const given = { ...answer, headers: passedOn(answer.headers) };
  if (SAME_FOR_ALL.has(answer.status)) return { answer: given, cost_usd: null };
  if (answer.status !== 200) return null;
  const { wire } = call.request;
  const most = (wire.output_tokens ?? Number.POSITIVE_INFINITY) * Math.max(1, wire.answers);
  const parsed = parsedObject(answer.body.toString("utf8"));
  if (parsed === null || !isWhole(wire.protocol, parsed, held.output_tokens < most)) return null;
  return { answer: given, cost_usd: costOf(call, held, made) };
}

/** What the call is charged: what it is said to have cost, else all that was held for it. */
function costOf({ purse }: Paid, { granted }: Held, { usage }: Effected<unknown>): number {
  const { cost_usd } = (usage ?? {}) as BudgetAmounts;
  const { dimensions } = purse.store;
  if (typeof cost_usd === "number" || !dimensions.has("cost_usd")) return cost_usd ?? 0;
  return writeAmount(dimensions.get("cost_usd"), granted.cost_usd ?? 0);
}

/** An answer that does not say what it used may not be whole. */
function isCounted({ usage }: Effected<unknown>): boolean {
  return usage !== undefined;
}

/** Replaces the most that somebody who has left could have used by what it was. What cannot be corrected stays as it is. */
async function correct({ store }: Purse, call: string, usage: BudgetAmounts): Promise<void> {
  try {
    const known = Object.entries(usage).filter(([id]) => store.dimensions.has(id));
    await store.apply([{ op: "commit", call, used: readAmounts(Object.fromEntries(known), store.dimensions) }]);
  } catch {
    // Its budget may have ended; then what was charged in place of it stands.
  }
}

import type { Json } from "../../core/chain/canonical.js";
import { currentPurse, type Purse, withPurse } from "../../runtime/purse.js";
import { BudgetExceededError } from "../meter/budget-exceeded-error.js";
import { whenDropped } from "../meter/dropped.js";
import type { Held, Meter, Metered, MeteredRequest } from "../meter/meter.js";
import { callRead, type ModelAnswered } from "../meter/model-call.js";
import type { OpenModel } from "../meter/open-model.js";
import { type PaidBy, purseFor } from "../meter/paid-by.js";
import { ReaderLeft, Relay } from "../meter/relay.js";
import { inRound } from "../meter/round.js";
import { toldError } from "../meter/told-error.js";
import { withinPurse } from "../meter/within-purse.js";
import type { Tier } from "../tiers/tier-list.js";
import { claimsIn, NO_CLAIMS } from "../wire/answer-claims.js";
import { ANTHROPIC_MESSAGES } from "../wire/anthropic-messages.js";
import { objectOf } from "../wire/json-object.js";
import { OPENAI_RESPONSES } from "../wire/openai-responses.js";
import type { Protocol, WireRequest } from "../wire/protocol.js";
import type { TokenCounts } from "../wire/token-counts.js";
import {
  type AgentsModel,
  type AgentsRequest,
  type AgentsResponse,
  agentsAddress,
  heldRequest,
  needsOfAgents,
  readAgentsRequest,
  takeAgentsWish,
} from "./agents-request.js";
import { type AgentsUsage, countsOf } from "./agents-usage.js";

/** How a model is governed. */
export interface Governing extends PaidBy {
  readonly meter: Meter;
  /** Whether the wire below is known to meter every request, so that nothing has to be held here. */
  readonly wired: boolean;
}

type AgentsEvent = ReturnType<AgentsModel["getStreamedResponse"]> extends AsyncIterable<infer Event> ? Event : never;

/** A call, as it is metered. */
interface Calling extends Pick<MeteredRequest, "protocol" | "wire" | "url" | "open"> {
  readonly request: AgentsRequest;
}

/** What was on its way when a stream was broken off is paid for too; so much is added to what was seen. */
const SLACK_TOKENS = 256;

/** The calls of one model of the SDK's, each of them inside its budget. */
export class GovernedModel {
  private readonly target: AgentsModel;
  private readonly name: string;
  private readonly governing: Governing;
  /** Gives the model of a tier, where it is left open which one is asked; null where it is not. */
  private readonly tier: ((model: string) => Promise<AgentsModel>) | null;

  constructor(
    target: AgentsModel,
    name: string,
    governing: Governing,
    tier: ((model: string) => Promise<AgentsModel>) | null = null,
  ) {
    this.target = target;
    this.name = name;
    this.governing = governing;
    this.tier = tier;
  }

  async getResponse(request: AgentsRequest): Promise<AgentsResponse> {
    const { target, governing } = this;
    // Somebody further out meters this call.
    if (currentPurse()?.metered === true) return target.getResponse(request);
    const purse = await inRound(purseFor(governing));
    if (governing.wired) return withPurse(purse, () => target.getResponse(request)).catch(rethrow);
    const called = this.calling(request, false);
    const metered = await this.call(purse, request, called, async (held, made) => {
      const { model, held: sent } = await this.made(called, held, made);
      const value = await model.getResponse(sent);
      return { value, counts: countsOf(value.usage), claims: claimsIn(objectOf(value.providerData as Json)) };
    });
    return answerOf(metered);
  }

  getStreamedResponse(request: AgentsRequest): AsyncGenerator<AgentsEvent, void, undefined> {
    const relay = new Relay<AgentsEvent>();
    const events = this.streamed(request, relay);
    // Who drops it in the middle never says that he has stopped reading.
    whenDropped(events, () => relay.stop());
    return events;
  }

  /** Nothing is done before the first event is asked for. */
  private async *streamed(
    request: AgentsRequest,
    relay: Relay<AgentsEvent>,
  ): AsyncGenerator<AgentsEvent, void, undefined> {
    const { target, governing } = this;
    if (currentPurse()?.metered === true) return yield* target.getStreamedResponse(request);
    const purse = await inRound(purseFor(governing));
    if (governing.wired) return yield* refusalsOf(withinPurse(purse, () => target.getStreamedResponse(request)));
    const called = this.calling(request, true);
    const metered = this.call(purse, request, called, async (held, made) => {
      const { model, held: sent } = await this.made(called, held, made);
      return { value: null, counts: await passOn(model.getStreamedResponse(sent), relay, made.wire, held) };
    });
    metered.then(
      (outcome) => relay.end(errorOf(outcome)),
      (error: unknown) => relay.end(error),
    );
    try {
      yield* relay.read();
    } finally {
      // Who leaves early waits until the call is settled, as who reads to the end does.
      await metered.catch(() => {});
    }
  }

  /** A call as it is metered, without what is meant for us alone. */
  private calling(given: AgentsRequest, stream: boolean): Calling {
    const { wish, request } = takeAgentsWish(given);
    const { meter } = this.governing;
    const url = agentsAddress(this.target);
    const about = { stream, url, deployments: meter.deployments, allow: meter.allowedAt(url) };
    const wire = readAgentsRequest(this.name, request, about);
    if ("code" in wire) throw new BudgetExceededError(wire);
    if (this.tier === null) return { request, url, ...pricedAs(wire) };
    const as = (tier: Tier): MeteredRequest | null => {
      const each = readAgentsRequest(tier.model, request, about);
      return "code" in each ? null : { ...pricedAs(each), url, egress_bytes: 0 };
    };
    const open: OpenModel = { model: this.name, ...wish, shown: needsOfAgents(request), as };
    return { request, url, ...pricedAs(wire), open };
  }

  /** The model that a call is made to, and the request as it gets it. */
  private async made({ request }: Calling, { output_tokens, signal, body }: Held, { chosen, url }: MeteredRequest) {
    const name = chosen?.model ?? this.name;
    const model = chosen === undefined || this.tier === null ? this.target : await this.tier(name);
    // Where no address shows, it may be a server that does not know the field.
    const service_tier = url === null ? null : (body.service_tier ?? null);
    return { model, held: heldRequest(request, model, name, { output_tokens, signal, service_tier }) };
  }

  private call<Value>(
    purse: Purse,
    { signal }: AgentsRequest,
    { request: _, ...priced }: Calling,
    effect: (held: Held, request: MeteredRequest) => Promise<ModelAnswered<Value>>,
  ): Promise<Metered<Value>> {
    const call = { ...priced, ...(signal !== undefined && { signal }) };
    return callRead(this.governing.meter, purse, call, "unseen", effect);
  }
}

/** Whoever serves it, a model has the prices of its maker. */
function pricedAs(wire: WireRequest): { readonly protocol: Protocol; readonly wire: WireRequest } {
  if (!/claude/i.test(wire.model)) return { protocol: OPENAI_RESPONSES, wire };
  return { protocol: ANTHROPIC_MESSAGES, wire: { ...wire, protocol: ANTHROPIC_MESSAGES.name } };
}

/** Passes events on as they are read; the one that ends the answer, and what follows it, are kept until the call is settled. */
async function passOn(
  events: AsyncIterable<AgentsEvent>,
  relay: Relay<AgentsEvent>,
  { hidden }: WireRequest,
  held: Held,
): Promise<TokenCounts | null> {
  let bytes = 0;
  let counts: TokenCounts | null = null;
  let claims = NO_CLAIMS;
  let over = false;
  const { output_tokens } = held;
  held.follow(
    () => ({ reported: null, output: hidden ? output_tokens : Math.min(output_tokens, bytes + SLACK_TOKENS) }),
    () => counts,
    () => claims,
  );
  try {
    for await (const event of events) {
      bytes += Buffer.byteLength(JSON.stringify(event) ?? "");
      if (event.type === "response_done") {
        counts = countsOf(event.response.usage as AgentsUsage | undefined);
        claims = claimsIn(objectOf(event.response.providerData as Json));
        over = true;
      }
      if (over) relay.keep(event);
      else await relay.send(event);
    }
  } catch (error) {
    // To stop reading is no failure, and what was not reported is charged as it was seen.
    if (!(error instanceof ReaderLeft)) throw error;
  }
  return counts;
}

/** Errors of the wire below, said in our own words where they are refusals. */
async function* refusalsOf(events: AsyncIterable<AgentsEvent>): AsyncGenerator<AgentsEvent, void, undefined> {
  try {
    yield* events;
  } catch (error) {
    rethrow(error);
  }
}

function rethrow(error: unknown): never {
  throw toldError(error);
}

function errorOf(metered: Metered<unknown>): unknown {
  if (metered.kind === "done") return null;
  return metered.kind === "refused"
    ? new BudgetExceededError(metered.report)
    : (toldError(metered.error) ?? new Error("the call has failed"));
}

function answerOf<Value>(metered: Metered<Value>): Value {
  if (metered.kind === "done") return metered.value;
  throw errorOf(metered);
}

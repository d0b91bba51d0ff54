import type { Amount, Amounts } from "../../core/amount.js";
import type { JsonObject } from "../../core/chain/canonical.js";
import { InputError, show } from "../../core/errors.js";
import type { Timer } from "../../ports/timer.js";
import { offAbort, onAbort } from "../../runtime/abort-listeners.js";
import type { Purse } from "../../runtime/purse.js";
import { systemTimer } from "../../runtime/system-clock.js";
import { untilAborted } from "../../runtime/until-aborted.js";
import { parsedObject } from "../wire/json-object.js";
import type { ProtocolName, WireRequest } from "../wire/protocol.js";
import { fits } from "./fits.js";

/** Sends a body to an address of a provider, with whatever the provider wants to see beside it. */
export type Post = (
  url: URL,
  body: string,
  signal: AbortSignal,
) => Promise<{ readonly status: number; readonly body: string }>;

/** Lets a provider say how many tokens a request has that would not fit otherwise. */
export interface InputCount {
  /** A bound of its input, no higher than the strict one; `needs` tells what a request needs that has so much input. */
  bound(purse: Purse, request: Counted, strict: number, needs: (input: number) => Amounts): Promise<number>;
}

interface Counted {
  readonly wire: WireRequest;
  readonly url: string | null;
  readonly signal?: AbortSignal;
}

/** How a protocol asks for a count. */
interface Endpoint {
  /** What its path has beyond that of the request. */
  readonly ending: string;
  /** What it takes of a request. */
  readonly counted: ReadonlySet<string>;
  /** What adds nothing to the input, and what it does not take. */
  readonly ignored: ReadonlySet<string>;
}

const ENDPOINTS: Readonly<Partial<Record<ProtocolName, Endpoint>>> = {
  "anthropic-messages": {
    ending: "count_tokens",
    counted: new Set([
      "messages",
      "model",
      "system",
      "tools",
      "tool_choice",
      "thinking",
      "output_config",
      "cache_control",
    ]),
    ignored: new Set([
      "max_tokens",
      "stream",
      "temperature",
      "top_p",
      "top_k",
      "stop_sequences",
      "metadata",
      "service_tier",
    ]),
  },
  "openai-responses": {
    ending: "input_tokens",
    counted: new Set([
      "input",
      "model",
      "instructions",
      "tools",
      "tool_choice",
      "parallel_tool_calls",
      "reasoning",
      "text",
      "truncation",
    ]),
    ignored: new Set([
      "max_output_tokens",
      "stream",
      "stream_options",
      "temperature",
      "top_p",
      "top_logprobs",
      "store",
      "include",
      "metadata",
      "user",
      "safety_identifier",
      "prompt_cache_key",
      "prompt_cache_retention",
      "service_tier",
      "max_tool_calls",
    ]),
  },
};

/** Providers call their counts estimates: what is charged in the end may be a little more. */
const MARGIN = 1.05;
const MARGIN_TOKENS = 64;
/** The call itself waits meanwhile. */
const LONGEST_MS = 5000;
/** Who says one of these has no such endpoint, and is not asked again. */
const LACKING: ReadonlySet<number> = new Set([405, 501]);
/** Said of the endpoint by some and of the model by others, so that only this model is not asked about again. */
const NOT_FOUND = 404;
const MOST_LACKING = 1000;
/** Nobody counts so much less than the strict bound; where not even this would fit, nothing is won by asking. */
const LEAST_SHARE = 1 / 64;
const ONE = 1 as Amount;

/**
 * Asks providers how many tokens a request has, where its bytes, and a tokenizer if there is one, would not let it pass. Each
 * question is a call of its own: it takes a step and the bytes that are sent, and stands in the chain. Who does not answer, in time
 * and with a number, changes nothing: then the strict bound counts.
 */
export class ProviderCounts {
  /** Reads who is to bound requests; null when nobody is asked. */
  static of(count: unknown = "bytes", options: { readonly timer?: Timer } = {}): ProviderCounts | null {
    if (count === "bytes") return null;
    if (count === "provider") return new ProviderCounts(options);
    throw new InputError("count", `is ${show(count)}; allowed: "bytes" or "provider"`);
  }

  private readonly timer: Timer;
  private readonly lacking = new Set<string>();

  constructor({ timer = systemTimer }: { readonly timer?: Timer } = {}) {
    this.timer = timer;
  }

  over(post: Post): InputCount {
    return { bound: (...about) => this.bound(post, ...about) };
  }

  private async bound(post: Post, ...[purse, request, strict, needs]: Parameters<InputCount["bound"]>) {
    const asked = questionOf(request);
    if (asked === null || this.lacks(asked.place) || this.lacks(modelAt(asked.place, request))) return strict;
    const own: Amounts = { steps: ONE, network_egress_bytes: Buffer.byteLength(asked.body) as Amount };
    const path = await purse.store.path(purse.budget);
    if (fits(purse.store, path, needs(strict))) return strict;
    const least = needs(Math.ceil(strict * LEAST_SHARE));
    if (!fits(purse.store, path, together(own, least))) return strict;
    const count = await this.ask(post, asked, own, purse, request).catch(() => null);
    return count === null ? strict : Math.min(strict, Math.ceil(count * MARGIN) + MARGIN_TOKENS);
  }

  private async ask(
    post: Post,
    { url, body, place }: Question,
    own: Amounts,
    { gate, budget }: Purse,
    { wire, signal }: Counted,
  ): Promise<number | null> {
    const about = { budget, capability_id: `count:${wire.model}`, kind: "tool", ledger: { asked: own } } as const;
    const call = { ...about, wait_ms: 0, ...(signal !== undefined && { signal }) };
    const gated = await gate.call(call, async (stop) => {
      const answer = await this.inTime(stop, (late) => post(url, body, late));
      if (LACKING.has(answer.status)) this.lack(place);
      else if (answer.status === NOT_FOUND) this.lack(modelAt(place, { wire }));
      return { value: answer.status === 200 ? countIn(answer.body) : null, used: own };
    });
    return gated.kind === "done" ? gated.value : null;
  }

  private lacks(place: string): boolean {
    return this.lacking.has(place);
  }

  private lack(place: string): void {
    if (this.lacking.size < MOST_LACKING) this.lacking.add(place);
  }

  private async inTime<Value>(stop: AbortSignal, work: (signal: AbortSignal) => Promise<Value>): Promise<Value> {
    const late = new AbortController();
    const follow = () => late.abort(stop.reason);
    onAbort(stop, follow);
    const alarm = this.timer.after(LONGEST_MS, () => late.abort(new Error("the provider does not count in time")));
    try {
      return await untilAborted(work(late.signal), late.signal);
    } finally {
      alarm[Symbol.dispose]();
      offAbort(stop, follow);
    }
  }
}

interface Question {
  readonly url: URL;
  readonly body: string;
  /** Where the endpoint is, whatever stands behind it. */
  readonly place: string;
}

/** Null where nobody counts for this protocol, or where the request has something that may add to its input uncounted. */
function questionOf({ wire, url: address }: Counted): Question | null {
  const endpoint = ENDPOINTS[wire.protocol];
  if (endpoint === undefined || address === null) return null;
  const { ending, counted, ignored } = endpoint;
  const taken: Record<string, JsonObject[string]> = {};
  for (const [name, value] of Object.entries(wire.held(Math.max(1, wire.least_output)))) {
    if (counted.has(name)) taken[name] = value;
    else if (value !== null && !ignored.has(name)) return null;
  }
  const url = new URL(address);
  url.pathname = `${url.pathname.replace(/\/+$/, "")}/${ending}`;
  return { url, body: JSON.stringify(taken), place: `${url.origin}${url.pathname}` };
}

/** A model at a place. No address has a blank in it. */
function modelAt(place: string, { wire }: Pick<Counted, "wire">): string {
  return `${place} ${wire.model}`;
}

function countIn(body: string): number | null {
  const count = parsedObject(body)?.input_tokens;
  return typeof count === "number" && Number.isSafeInteger(count) && count > 0 ? count : null;
}

function together(one: Amounts, other: Amounts): Amounts {
  const sum: Record<string, Amount> = { ...one };
  for (const [id, amount] of Object.entries(other)) sum[id] = ((sum[id] ?? 0) + amount) as Amount;
  return sum;
}

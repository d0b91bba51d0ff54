import type { JsonObject } from "../../core/chain/canonical.js";
import { InputError } from "../../core/errors.js";
import type { Filling } from "../../runtime/filling.js";
import { needsOf } from "../tiers/needs.js";
import { listNamed } from "../tiers/tier-list.js";
import { NO_WISH, type Wish } from "../tiers/wish.js";
import type { Deployments } from "../wire/deployments.js";
import { mayHost } from "../wire/hosted-tools.js";
import { NONE_ALLOWED } from "../wire/known-members.js";
import type { Protocol, WireRequest } from "../wire/protocol.js";
import { isHomeOf } from "../wire/provider-hosts.js";
import { checkText } from "../wire/request-fields.js";
import { checkRouting } from "../wire/routing.js";
import { stripHostedTools } from "../wire/strip-tools.js";
import { UnboundedError } from "../wire/unbounded-error.js";
import type { MeteredRequest } from "./meter.js";
import type { OpenModel } from "./open-model.js";
import { type RefusalReport, unbounded } from "./refusal.js";

/** A request as it came, before anybody knows what it asks for. */
export interface RawRequest {
  readonly protocol: Protocol;
  readonly url: URL;
  readonly body: string;
  readonly bytes: number;
  /** What the caller says about the tier, where the request leaves its model open. */
  readonly wish?: Wish;
  /** Which models deployments run. */
  readonly deployments: Deployments;
  /** Whether tools that the provider runs are taken out before it is read. */
  readonly strip_tools?: boolean;
  /** The names of its headers, in small letters, where the caller chooses them and the address. */
  readonly headers?: Iterable<string>;
  /** What the operator allows at this address beside what is known. */
  readonly allow?: ReadonlySet<string>;
}

/** Reads a request of one of the protocols; a refusal when it is none that can be made. */
export function readMetered({
  protocol,
  url,
  body,
  bytes: came,
  wish = NO_WISH,
  deployments,
  strip_tools = false,
  headers,
  allow = NONE_ALLOWED,
}: RawRequest): MeteredRequest | RefusalReport {
  let parsed: unknown;
  let bytes: number;
  try {
    bytes = checkText(body, came);
    parsed = JSON.parse(body);
  } catch (error) {
    return invalid(error instanceof InputError ? error.message : "the body is no JSON");
  }
  if (typeof parsed !== "object" || parsed === null || Array.isArray(parsed)) return invalid("the body is no object");
  const compatible = !isHomeOf(protocol.home, url.hostname);
  try {
    const isAscii = came === body.length;
    if (headers !== undefined) checkRouting(url, headers, allow);
    const whole: Whole = {
      protocol,
      url,
      text: body,
      parsed: parsed as JsonObject,
      body: strip_tools ? stripHostedTools(parsed as JsonObject, protocol.name) : (parsed as JsonObject),
      isAscii,
      bytes,
      compatible,
      deployments,
      allow,
    };
    const request = requestTo(whole, null);
    if (listNamed(request.wire.model) === null) return wish.pin === null ? request : invalid(PINNED_MODEL);
    // The vectors of different models cannot be compared.
    if (protocol.name === "openai-embeddings") return invalid("vectors are made by one model alone; name it");
    return { ...request, open: openModel(whole, request.wire.model, wish) };
  } catch (error) {
    if (error instanceof InputError) return invalid(error.message);
    if (error instanceof UnboundedError) return unbounded(error.message);
    throw error;
  }
}

const PINNED_MODEL = "a tier is named, and the model is not left open; ask for a model such as bursar/auto";

/** A request that was parsed. */
interface Whole extends Pick<RawRequest, "protocol" | "url" | "bytes" | "deployments"> {
  readonly body: JsonObject;
  /** What the text stands for, which the body is unless something was taken out of it. */
  readonly parsed: JsonObject;
  readonly text: string;
  readonly isAscii: boolean;
  readonly compatible: boolean;
  readonly allow: ReadonlySet<string>;
}

/** The request to another model than the one that it names, or to that one. */
function requestTo(whole: Whole, model: string | null): MeteredRequest {
  const { protocol, url, body, parsed, text, isAscii, bytes, compatible, deployments, allow } = whole;
  const longer = model === null ? 0 : Math.max(0, Buffer.byteLength(model) - String(body.model).length);
  const wanted = model === null ? body : { ...body, model };
  const run = deployments.modelFor(url, typeof wanted.model === "string" ? wanted.model : null);
  const facts = {
    bytes: bytes + longer,
    compatible,
    shallow: true,
    allow,
    hosts: mayHost(url.hostname),
    ...(run !== null && { model: run.model }),
  };
  const wire: Filling<WireRequest> = protocol.read(wanted, facts);
  if (run !== null && run.deployment !== null) wire.deployment = run.deployment;
  wire.source = { text, parsed, isAscii };
  return { protocol, wire, url: url.href, egress_bytes: bytes + longer };
}

function openModel(whole: Whole, model: string, wish: Wish): OpenModel {
  return {
    model,
    ...wish,
    shown: needsOf(whole.body),
    as: (tier) => {
      try {
        return requestTo(whole, tier.model);
      } catch (error) {
        // What one model may cost can be bounded where that of another cannot.
        if (error instanceof UnboundedError) return null;
        throw error;
      }
    },
  };
}

/** A request that no provider would take. */
export function invalid(message: string): RefusalReport {
  return { code: "invalid_request", message, hint: "correct the request" };
}

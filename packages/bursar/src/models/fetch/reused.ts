import { type Purse, withPurse } from "../../runtime/purse.js";
import type { Meter, Metered, MeteredEffect, MeteredRequest } from "../meter/meter.js";
import type { Reuse } from "../reuse/reuse.js";
import { tenantOf } from "../reuse/tenant.js";
import type { WholeAnswer } from "../reuse/whole-answer.js";
import { answerOf, responseOf } from "./answers.js";

/** What came of a request: a response, or an error that was not anybody's budget. */
export type Sent = { readonly response: Response; readonly answer?: WholeAnswer } | { readonly error: unknown };

/** Sends a body to where the request goes. */
export type Send = (sent: Pick<RequestInit, "body" | "signal">) => Promise<Response>;

export interface Reusing {
  readonly meter: Meter;
  readonly purse: Purse;
  readonly request: MeteredRequest;
  readonly headers: Headers;
  readonly send: Send;
  readonly make: MeteredEffect<Sent | null>;
}

/** Makes a call whose answer others may have too, and which may be answered with one of theirs. */
export async function reused(reuse: Reuse, using: Reusing): Promise<Metered<Sent | null>> {
  const { meter, purse, request, make, send, headers } = using;
  const url = request.url ?? "";
  return reuse.call<Sent | null>({
    meter,
    purse,
    request,
    make,
    headers: Object.fromEntries(headers),
    tenant: await tenantOf(purse),
    send: async (text, signal) =>
      answerOf(await withPurse({ ...purse, metered: true }, () => send({ body: text, signal }))),
    give: (answer, from) => ({ response: responseOf(answer, url, from), answer }),
    fail: (error) => ({ error }),
    whole: (sent) => (sent !== null && "response" in sent ? (sent.answer ?? null) : null),
  });
}

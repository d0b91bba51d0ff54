import { randomUUID } from "node:crypto";
import type { Doing } from "./deed.js";
import { RefusedInside } from "./error.js";

/** `fetch`, with what it sends counted before it is sent. */
export type GovernedFetch = (input: string | URL, init?: RequestInit) => Promise<Response>;

/** What a request has besides its address, headers and body: methods, versions, separators. */
const AROUND = 64;

/** The bytes a request sends are reserved first; one that does not fit is not made. */
export function governedFetch({ gate, run, signal, key }: Doing): GovernedFetch {
  let count = 0;
  return async (input, init = {}) => {
    const url = new URL(input);
    const [body, size] = await bodyOf(init.body);
    const headers = new Headers(init.headers);
    const bytes =
      AROUND +
      url.href.length +
      size +
      [...headers].reduce((sum, [name, value]) => sum + name.length + value.length + 4, 0);
    const request: RequestInit = {
      ...init,
      headers,
      signal: AbortSignal.any([signal, ...(init.signal ? [init.signal] : [])]),
    };
    if (body !== null) request.body = body;
    const gated = await gate.call<Response>(
      {
        ...{ budget: run.budget, capability_id: "fetch", kind: "tool", step_id: key, signal },
        ...{ call_id: `${key} fetch ${count++} ${randomUUID()}` },
        asked: { steps: 0, network_egress_bytes: bytes },
      },
      async (within) => ({ value: await fetch(url, { ...request, signal: within }) }),
    );
    if (gated.kind === "done") return gated.value;
    if (gated.kind === "failed") throw gated.error;
    throw new RefusedInside(gated.decision, gated.message);
  };
}

/** The bytes as a whole, because what is not known cannot be reserved. */
async function bodyOf(body: RequestInit["body"]): Promise<readonly [Uint8Array<ArrayBuffer> | null, number]> {
  if (body === undefined || body === null) return [null, 0];
  const bytes = new Uint8Array(await new Response(body).arrayBuffer());
  return [bytes, bytes.length];
}

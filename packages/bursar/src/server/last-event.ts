import type { IncomingHttpHeaders } from "node:http";

/** The number of the last link that a client has seen, before its connection broke; null when it does not say. */
export function seqIn(headers: IncomingHttpHeaders): number | null {
  const { "last-event-id": last } = headers;
  return typeof last === "string" && /^\d{1,15}$/.test(last) ? Number(last) : null;
}

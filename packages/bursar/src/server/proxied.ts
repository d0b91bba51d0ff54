import type { IncomingMessage } from "node:http";
import { HttpError } from "./http-error.js";

/** What proxies add to requests that they pass on. */
const TRACES = ["forwarded", "x-forwarded-for", "x-forwarded-host", "x-forwarded-proto", "x-real-ip", "via"] as const;

/**
 * Refuses what a proxy has passed on. Where nobody logs in, whoever reaches the server is its owner, because only this machine reaches
 * it; a proxy on this machine would make an owner of everybody who reaches the proxy.
 *
 * nginx adds none of the headers unless it is told to, but speaks HTTP/1.0, as hardly anybody else does.
 */
export function refuseProxied({ headers, httpVersion }: IncomingMessage): void {
  const trace = TRACES.find((name) => headers[name] !== undefined);
  if (trace === undefined && httpVersion !== "1.0") return;
  const sign = trace === undefined ? "it is HTTP/1.0" : `it has the header ${trace}`;
  const message = `a proxy seems to have passed this request on (${sign}), and this server lets everybody in without a login`;
  const hint =
    "start the server with --url and the address that clients use, or with --login, so that everybody has to show a token; " +
    "or ask it directly, over HTTP/1.1";
  throw new HttpError(403, { code: "proxied", message, hint });
}

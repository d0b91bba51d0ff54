import http from "node:http";
import http2 from "node:http2";
import https from "node:https";
import { syncBuiltinESMExports } from "node:module";
import { BudgetExceededError } from "../meter/budget-exceeded-error.js";
import type { Providers } from "./providers.js";

const LOOKING: ReadonlySet<string> = new Set(["GET", "HEAD", "OPTIONS", "DELETE"]);

/** What `http.request` is given, as far as it matters here. */
interface Wanted {
  readonly host: string;
  readonly method: string;
  readonly upgrades: boolean;
}

/**
 * Shuts the ways to a provider that nothing meters: `node:http`, `node:https`, `node:http2` and web sockets. Only looking is
 * allowed there. A client that uses them fails with an error that says so; all other hosts are reached as before.
 */
export function shutSideDoors(providers: Providers): void {
  for (const module of [http, https]) {
    for (const name of ["request", "get"] as const) {
      const original = module[name] as (...args: unknown[]) => http.ClientRequest;
      const guarded = function (this: unknown, ...args: unknown[]): http.ClientRequest {
        const { host, method, upgrades } = wantedBy(args);
        if ((upgrades || !LOOKING.has(method)) && providers.has(host)) throw shut(`${method} to ${host} by node:http`);
        return original.apply(this, args);
      };
      Object.defineProperty(module, name, { value: guarded, writable: true, configurable: true, enumerable: true });
    }
  }
  const { connect } = http2;
  http2.connect = ((authority: string | URL, ...rest: never[]) => {
    const host = URL.canParse(String(authority)) ? new URL(authority).host : "";
    if (providers.has(host)) throw shut(`HTTP/2 to ${host}`);
    return connect(authority, ...rest);
  }) as typeof connect;
  syncBuiltinESMExports();
  shutSockets(providers);
}

/** Node has web sockets of its own from version 22 on. */
function shutSockets(providers: Providers): void {
  const world = globalThis as { WebSocket?: new (url: string | URL, ...rest: unknown[]) => object };
  const { WebSocket: Original } = world;
  if (Original === undefined) return;
  world.WebSocket = class WebSocket extends Original {
    constructor(url: string | URL, ...rest: unknown[]) {
      const host = URL.canParse(String(url)) ? new URL(url).host : "";
      if (providers.has(host)) throw shut(`a web socket to ${host}`);
      super(url, ...rest);
    }
  };
}

function wantedBy([first, second]: readonly unknown[]): Wanted {
  const isAddress = typeof first === "string" || first instanceof URL;
  const url = isAddress && URL.canParse(String(first)) ? new URL(String(first)) : null;
  const given = isAddress ? second : first;
  const options = (typeof given === "object" && given !== null ? given : {}) as http.RequestOptions;
  const { hostname, host, port, method = "GET", headers } = options;
  const bare = hostname ?? host ?? url?.hostname ?? "";
  const at = port ?? url?.port ?? "";
  const names = typeof headers === "object" && headers !== null ? Object.keys(headers) : [];
  return {
    host: at === "" || at === null || bare.includes(":") ? bare : `${bare}:${at}`,
    method: method.toUpperCase(),
    upgrades: names.some((name) => name.toLowerCase() === "upgrade"),
  };
}

function shut(what: string): BudgetExceededError {
  return new BudgetExceededError({
    code: "not_governed",
    message: `${what} may cost something and is not metered, so it is not sent`,
    hint: "use a client that sends with fetch, or go through the gateway",
  });
}

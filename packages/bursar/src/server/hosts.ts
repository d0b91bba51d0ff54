import type { IncomingHttpHeaders } from "node:http";
import { isIP } from "node:net";
import { HttpError } from "./http-error.js";

const LOCAL_NAMES: ReadonlySet<string> = new Set(["localhost", "127.0.0.1", "::1"]);

/** Whether only this machine reaches an address. */
export function isLoopback(host: string): boolean {
  return LOCAL_NAMES.has(bare(host)) || /^127(?:\.\d{1,3}){3}$/.test(host);
}

/**
 * Refuses requests that a page of somebody else can have made a browser send.
 *
 * A browser believes that a name belongs to a site, whatever address it stands for today (DNS rebinding): so only our own names
 * are taken, and bare addresses, which nobody can point elsewhere.
 */
export class Hosts {
  private readonly own: ReadonlySet<string>;
  private readonly url: string | null;

  constructor(host: string, url: string | null) {
    this.own = new Set(["localhost", host.toLowerCase(), ...(url === null ? [] : [new URL(url).hostname])]);
    this.url = url;
  }

  checkHost({ host }: IncomingHttpHeaders): void {
    const name = hostname(host ?? "");
    if (name !== null && (this.own.has(name) || name.endsWith(".localhost") || isIP(name) !== 0)) return;
    const message = `the server is not known as ${JSON.stringify((host ?? "").slice(0, 80))}`;
    const hint = "ask for it by its address, or tell it its name with `url`";
    throw new HttpError(403, { code: "unknown_host", message, hint });
  }

  /** What pages of other sites ask for is refused, whatever it is; programs say nothing of where they come from. */
  checkOrigin({ origin, host, "sec-fetch-site": site }: IncomingHttpHeaders): void {
    const fromElsewhere = site !== undefined && site !== "same-origin" && site !== "none";
    const sameOrigin = origin === undefined || origin === this.url || originsOf(host ?? "").includes(origin);
    if (!fromElsewhere && sameOrigin) return;
    const message = "this request comes from a page of another site";
    throw new HttpError(403, { code: "cross_site", message, hint: "open the server's own page, or use a program" });
  }
}

/** Other ports of the same name are other sites. */
function originsOf(host: string): readonly string[] {
  return [`http://${host.toLowerCase()}`, `https://${host.toLowerCase()}`];
}

/** The name in a Host header, without its port; null when it is none. */
function hostname(host: string): string | null {
  if (!/^[\w.:[\]-]{1,255}$/.test(host) || !URL.canParse(`http://${host}/`)) return null;
  return bare(new URL(`http://${host}/`).hostname);
}

function bare(name: string): string {
  return name.replace(/^\[|\]$/g, "");
}

import { subscribe } from "node:diagnostics_channel";
import { currentPurse } from "../../runtime/purse.js";

/**
 * Which requests of undici are paid for: those that are made within a metered call. A pool with a bound makes a request later, on behalf
 * of another one; so what was sent through the global `fetch` and has not been seen since is known by its method and address.
 */
export class Passage {
  private readonly expected = new Map<string, symbol[]>();
  /** Requests of undici that were admitted and are under way. */
  private readonly admitted = new Map<object, string>();

  constructor() {
    for (const end of ["trailers", "error"]) {
      subscribe(`undici:request:${end}`, (message) => {
        this.admitted.delete((message as { readonly request: object }).request);
      });
    }
  }

  /** Lets one request pass that is paid for. */
  async during<Value>(method: string, url: string, send: () => Promise<Value>): Promise<Value> {
    const key = keyOf(method, url);
    const token = Symbol();
    this.expected.set(key, [...(this.expected.get(key) ?? []), token]);
    try {
      return await send();
    } finally {
      // Still there where no request was made, such as for a signal that had fired before.
      this.forget(key, token);
    }
  }

  /** Whether the request that undici is making now is paid for. */
  admits(request: object, method: string, url: string): boolean {
    const key = keyOf(method, url);
    const [token] = this.expected.get(key) ?? [];
    if (token !== undefined) this.forget(key, token);
    if (token === undefined && currentPurse()?.metered !== true) return false;
    this.admitted.set(request, key);
    return true;
  }

  /**
   * Whether a request over HTTP/2 is paid for: it is made within a metered call, or undici sends one that was admitted, which may wait for
   * a connection until another call has ended.
   */
  admitsHttp2(method: string, host: string, path: string): boolean {
    if (currentPurse()?.metered === true) return true;
    const url = `https://${host}${path}`;
    if (!URL.canParse(url)) return false;
    const wanted = keyOf(method, url);
    for (const [request, key] of this.admitted) {
      if (key === wanted) return this.admitted.delete(request);
    }
    return false;
  }

  private forget(key: string, token: symbol): void {
    const left = (this.expected.get(key) ?? []).filter((each) => each !== token);
    if (left.length === 0) this.expected.delete(key);
    else this.expected.set(key, left);
  }
}

function keyOf(method: string, url: string): string {
  const { host, pathname } = new URL(url);
  return `${method.toUpperCase()} ${host}${pathname}`;
}

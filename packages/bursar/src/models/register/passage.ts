import { currentPurse } from "../../runtime/purse.js";

/**
 * Which requests of undici are paid for: those that are made within a metered call. A pool with a bound makes a request later, on behalf
 * of another one; so what was sent through the global `fetch` and has not been seen since is known by its method and address.
 */
export class Passage {
  private readonly expected = new Map<string, symbol[]>();

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

  /** Whether the request that is being made now is paid for. */
  admits(method: string, url: string): boolean {
    const key = keyOf(method, url);
    const [token] = this.expected.get(key) ?? [];
    if (token !== undefined) this.forget(key, token);
    return token !== undefined || currentPurse()?.metered === true;
  }

  private forget(key: string, token: symbol): void {
    const left = (this.expected.get(key) ?? []).filter((each) => each !== token);
    if (left.length === 0) this.expected.delete(key);
    else this.expected.set(key, left);
  }
}

function keyOf(method: string, url: string): string {
  const { origin, pathname } = new URL(url);
  return `${method.toUpperCase()} ${origin}${pathname}`;
}

import { Watch } from "./http/watch.js";
import type { Connection, TimeLimits } from "./provider/connection.js";
import { ConnectionLost, givenUp, NotSent } from "./provider/errors.js";
import { Origin } from "./provider/origin.js";
import { OutgoingRequest } from "./provider/outgoing-request.js";
import { RoundTrip } from "./provider/round-trip.js";
import type { Received } from "./received.js";

export { UpstreamTimeout } from "./provider/errors.js";

/** Where a request goes, and how. */
export interface Sending {
  readonly method: "GET" | "POST";
  readonly url: URL;
  readonly headers: Record<string, string | string[]>;
}

export interface SenderOptions extends Omit<TimeLimits, "connect_ms"> {
  readonly connect_ms?: number;
}

/** What an address comes to. */
interface Target {
  readonly origin: Origin;
  /** Its path, and the lines of a request that are always the same. */
  readonly rest: string;
}

/** Addresses that were sent to, so that they are taken apart once; there are few, unless clients make up what follows the path. */
const MOST_TARGETS = 1000;
/** How much later than it should a connection may be ended, as a share of the time it has; and at most. */
const [LATE_SHARE, MOST_LATE_MS] = [0.1, 500];

/** Sends requests on connections that are used again, and nothing ever twice: why it does so by itself, see decision 35. */
export class Sender implements Disposable {
  private readonly limits: TimeLimits;
  private readonly watch: Watch<Connection>;
  private readonly origins = new Map<string, Origin>();
  private readonly targets = new Map<string, Target>();
  private isClosed = false;

  private constructor(limits: TimeLimits) {
    this.limits = limits;
    const least_ms = Math.min(limits.connect_ms, limits.answer_ms, limits.silence_ms);
    this.watch = new Watch(Math.max(1, Math.min(MOST_LATE_MS, least_ms * LATE_SHARE)));
  }

  static open({ connect_ms = 10_000, ...limits }: SenderOptions): Sender {
    return new Sender({ connect_ms, ...limits });
  }

  /** Sends a request, and gives the answer once its headers are there. `bytes` are those of the body, for who knows them. */
  send(
    { method, url, headers }: Sending,
    body: string | null,
    signal: AbortSignal,
    bytes: number | null = null,
  ): Promise<Received> {
    return new Promise((resolve, reject) => {
      if (signal.aborted) throw givenUp(signal.reason);
      if (this.isClosed) throw notSent();
      const { origin, rest } = this.targets.get(url.href) ?? this.target(url);
      const request = new OutgoingRequest(method + rest, headers, body, bytes);
      origin.send(new RoundTrip(request, signal, resolve, reject));
    });
  }

  [Symbol.dispose](): void {
    this.isClosed = true;
    for (const origin of this.origins.values()) origin.close(notSent());
    this.watch.close(new ConnectionLost(CLOSED));
  }

  private target(url: URL): Target {
    const { origin: name, host, pathname, search } = url;
    const origin = this.origins.get(name) ?? new Origin(url, this.limits, this.watch);
    this.origins.set(name, origin);
    const target = { origin, rest: ` ${pathname}${search} HTTP/1.1\r\nhost: ${host}\r\nconnection: keep-alive\r\n` };
    if (this.targets.size >= MOST_TARGETS) this.targets.clear();
    this.targets.set(url.href, target);
    return target;
  }
}

const CLOSED = "the gateway is closed";

function notSent(): NotSent {
  return new NotSent("connect_failed", CLOSED);
}

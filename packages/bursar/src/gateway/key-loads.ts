import type { IncomingHttpHeaders } from "node:http";
import type { Clock } from "../ports/clock.js";

/** Answers to large bodies that are not read: so many at once without delay, one in so long after that, and no later than that. */
const [UNREAD_AT_ONCE, UNREAD_EVERY_MS, LATEST_UNREAD_MS] = [20, 50, 2000];

/** What one key may have under way at once. */
export interface KeyLimits {
  readonly calls_per_key: number;
  /** Bytes of request bodies, from their first byte until their requests are over. */
  readonly body_bytes_per_key: number;
  /** The longest body. */
  readonly body_bytes: number;
}

/** What a key has under way. */
interface KeyLoad {
  calls: number;
  body_bytes: number;
  /** Bytes of large bodies that were read for nothing, as of an instant: they wear off. */
  wasted: number;
  wasted_at: number;
  /** When all answers to bodies that were not read are paid off. */
  unread_until: number;
}

/** Bodies up to so many bytes are read whatever became of those before: to read one takes less than a millisecond. */
const SMALL_BODY = 64 * 1024;
/** Only from so many bytes on does it matter what was read for nothing: a client may try with less a few times. */
const FREE_WASTE = 4 * 1024 * 1024;
/** What was read for nothing wears off so fast, in bytes a millisecond: to read and parse that takes about a hundredth of the time. */
const WEARING_OFF = 1024;
/** More than that is not remembered, so that no key waits longer than half a minute. */
const MOST_WASTED = FREE_WASTE + 30 * 1024 * 1024;

const FORGOTTEN_AT_ONCE = 2;

/** What the keys of a gateway have under way, so that no key takes what the others need. */
export class KeyLoads {
  private readonly limits: KeyLimits;
  private readonly clock: Clock;
  private readonly loads = new Map<string, KeyLoad>();

  constructor(limits: KeyLimits, clock: Clock) {
    this.limits = limits;
    this.clock = clock;
  }

  /** Begins a request; null when its key has as many under way as it may. */
  begin(key: string): RequestLoad | null {
    const load = this.loadOf(key);
    if (load.calls >= this.limits.calls_per_key) return null;
    load.calls++;
    return new RequestLoad(load, this.limits, this.clock, () => this.end(key));
  }

  /**
   * How long the answer to a request is held back whose body is not read: a client that sends long bodies one after the other to a key
   * that takes none is not the faster for it. 0 for bodies that are short.
   */
  unreadDelay(key: string, headers: IncomingHttpHeaders): number {
    const { "content-length": length, "transfer-encoding": encoding } = headers;
    if (encoding === undefined && Number(length ?? 0) <= SMALL_BODY) return 0;
    const load = this.loadOf(key);
    const { monotonic } = this.clock.now();
    const delay = Math.max(0, load.unread_until - monotonic - UNREAD_AT_ONCE * UNREAD_EVERY_MS);
    load.unread_until = Math.max(monotonic, load.unread_until) + UNREAD_EVERY_MS;
    return Math.min(delay, LATEST_UNREAD_MS);
  }

  private loadOf(key: string): KeyLoad {
    const known = this.loads.get(key);
    if (known !== undefined) return known;
    this.forgetOldest();
    const load: KeyLoad = { calls: 0, body_bytes: 0, wasted: 0, wasted_at: 0, unread_until: 0 };
    this.loads.set(key, load);
    return load;
  }

  private end(key: string): void {
    const load = this.loads.get(key);
    if (load === undefined) return;
    load.calls--;
    if (this.isIdle(load)) this.loads.delete(key);
  }

  /** Looks at a few of the oldest for each new one, so that keys that do not come again are forgotten; those that may are looked at later. */
  private forgetOldest(): void {
    let looks = FORGOTTEN_AT_ONCE;
    for (const [key, load] of this.loads) {
      this.loads.delete(key);
      if (!this.isIdle(load)) this.loads.set(key, load);
      if (--looks === 0) return;
    }
  }

  private isIdle(load: KeyLoad): boolean {
    return load.calls === 0 && wastedOf(load, this.clock) === 0 && load.unread_until <= this.clock.now().monotonic;
  }
}

/** What one request takes of what its key may have under way. */
export class RequestLoad {
  private readonly load: KeyLoad;
  private readonly limits: KeyLimits;
  private readonly clock: Clock;
  private readonly ended: () => void;
  private taken = 0;

  constructor(load: KeyLoad, limits: KeyLimits, clock: Clock, ended: () => void) {
    this.load = load;
    this.limits = limits;
    this.clock = clock;
    this.ended = ended;
  }

  /** The longest body that is read now. A key whose large bodies were refused has to wait before the next one is read. */
  get mostBody(): number {
    const { body_bytes } = this.limits;
    return this.wait_ms === 0 ? body_bytes : Math.min(SMALL_BODY, body_bytes);
  }

  /** How long until large bodies are read again. */
  get wait_ms(): number {
    return Math.ceil(Math.max(0, wastedOf(this.load, this.clock) - FREE_WASTE) / WEARING_OFF);
  }

  /** Takes so many bytes more of a body; false when the key has too many under way. */
  grow(bytes: number): boolean {
    const { load } = this;
    if (load.body_bytes + bytes > this.limits.body_bytes_per_key) return false;
    load.body_bytes += bytes;
    this.taken += bytes;
    return true;
  }

  /** Its body was read, and nothing was sent for it. */
  wasted(bytes: number): void {
    if (bytes <= SMALL_BODY) return;
    const { load } = this;
    load.wasted = Math.min(MOST_WASTED, wastedOf(load, this.clock) + bytes);
    load.wasted_at = this.clock.now().monotonic;
  }

  end(): void {
    this.load.body_bytes -= this.taken;
    this.taken = 0;
    this.ended();
  }
}

function wastedOf({ wasted, wasted_at }: KeyLoad, clock: Clock): number {
  if (wasted === 0) return 0;
  return Math.max(0, wasted - (clock.now().monotonic - wasted_at) * WEARING_OFF);
}

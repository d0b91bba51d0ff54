import { useEffect, useState } from "preact/hooks";
import { API, get } from "./client.js";

/** What has changed since the last time; null when it could be anything, as after a break. */
export type Change = { readonly runs: readonly string[]; readonly approvals: readonly string[] } | null;
export type Connection = "connecting" | "live" | "lost";

const FIRST_WAIT_MS = 1000;
const LONGEST_WAIT_MS = 30_000;
const HIDDEN_LOOK_MS = 15_000;

/**
 * The one stream of changes that a page listens to. A browser gives a server six connections in all, so a page that nobody
 * looks at lets go of its stream and looks now and then instead.
 */
class Feed {
  private source: EventSource | null = null;
  private timer: ReturnType<typeof setTimeout> | undefined;
  private wait = FIRST_WAIT_MS;
  /** Whether something may have happened since the last reading: also before the first stream is open. */
  private broken = true;
  private readonly changed = new Set<(change: Change) => void>();
  private readonly moved = new Set<(connection: Connection) => void>();
  connection: Connection = "connecting";
  /** When the next attempt is made; null while there is no need for one. */
  retryAt: number | null = null;

  start(): () => void {
    const look = () => this.reconsider();
    document.addEventListener("visibilitychange", look);
    addEventListener("online", look);
    this.reconsider();
    return () => {
      document.removeEventListener("visibilitychange", look);
      removeEventListener("online", look);
      this.stop();
    };
  }

  listen(listener: (change: Change) => void): () => void {
    this.changed.add(listener);
    return () => this.changed.delete(listener);
  }

  onConnection(listener: (connection: Connection) => void): () => void {
    this.moved.add(listener);
    return () => this.moved.delete(listener);
  }

  /** Tries at once, whatever the wait. */
  reconsider(): void {
    this.stop();
    if (document.hidden) this.timer = setTimeout(() => this.lookHidden(), HIDDEN_LOOK_MS);
    else this.open();
  }

  private lookHidden(): void {
    this.broken = true;
    this.tell(null);
    this.timer = setTimeout(() => this.lookHidden(), HIDDEN_LOOK_MS);
  }

  private stop(): void {
    clearTimeout(this.timer);
    if (this.source !== null) {
      this.source.close();
      this.source = null;
      this.broken = true;
    }
  }

  private open(): void {
    this.retryAt = null;
    const source = new EventSource(`${API}events`);
    this.source = source;
    source.onopen = () => {
      this.wait = FIRST_WAIT_MS;
      this.move("live");
      // What happened while nobody listened is not told again.
      if (this.broken) this.tell(null);
      this.broken = false;
    };
    source.addEventListener("changed", (event) => this.tell(readChange(event.data)));
    source.onerror = () => this.lost();
  }

  /** Waits twice as long each time, give or take some, so that many pages do not come back at the same moment. */
  private lost(): void {
    this.stop();
    const wait = this.wait * (0.75 + Math.random() / 2);
    this.wait = Math.min(this.wait * 2, LONGEST_WAIT_MS);
    this.retryAt = Date.now() + wait;
    this.move("lost");
    this.timer = setTimeout(() => this.open(), wait);
    // A stream does not say why it ended; a plain request does, when it was for want of a login.
    get("me").catch(() => {});
  }

  private move(connection: Connection): void {
    this.connection = connection;
    for (const listener of this.moved) listener(connection);
  }

  private tell(change: Change): void {
    for (const listener of this.changed) listener(change);
  }
}

function readChange(data: unknown): Change {
  try {
    const { runs, approvals } = JSON.parse(String(data)) as { runs?: string[]; approvals?: string[] };
    return { runs: runs ?? [], approvals: approvals ?? [] };
  } catch {
    return null;
  }
}

export const feed: Feed = new Feed();

export function useConnection(): Connection {
  const [connection, setConnection] = useState(feed.connection);
  useEffect(() => feed.onConnection(setConnection), []);
  return connection;
}

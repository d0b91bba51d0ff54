import { useCallback, useEffect, useRef, useState } from "preact/hooks";
import { type ApiError, asApiError, get } from "./client.js";
import { type Change, feed } from "./feed.js";

/** Something the server knows, as far as it has been read. */
export interface Resource<Value> {
  /** The last that was read; stays while it is read again. */
  readonly value: Value | null;
  /** Why the last reading failed. */
  readonly error: ApiError | null;
  readonly reload: () => void;
  /** Puts an answer of the server in its place, so that nobody waits for what is known already. */
  readonly replace: (value: Value) => void;
}

const SHORTEST_PAUSE_MS = 400;

/** Reads an address of the API, and again whenever something relevant has changed; null reads nothing. */
export function useResource<Value>(
  path: string | null,
  relevant: (change: Change) => boolean = () => true,
): Resource<Value> {
  const [state, setState] = useState<{ path: string | null; value: Value | null; error: ApiError | null }>({
    path,
    value: null,
    error: null,
  });
  const isRelevant = useRef(relevant);
  isRelevant.current = relevant;
  const reading = useRef<Reading<Value> | null>(null);
  const replace = useCallback((value: Value) => setState({ path, value, error: null }), [path]);
  useEffect(() => {
    if (path === null) return;
    const current = new Reading<Value>(path, (value, error) =>
      setState((before) => ({ path, value: value ?? (before.path === path ? before.value : null), error })),
    );
    reading.current = current;
    const stop = feed.listen((change) => {
      if (change === null || isRelevant.current(change)) current.again();
    });
    return () => {
      stop();
      current.stop();
    };
  }, [path]);
  const reload = useCallback(() => reading.current?.again(), []);
  // What was read of another address must not be shown under this one, not even for a moment.
  const mine = state.path === path;
  return { value: mine ? state.value : null, error: mine ? state.error : null, reload, replace };
}

/** Reads one address, one reading at a time; what changes meanwhile leads to one more, and not to many. */
class Reading<Value> {
  private readonly path: string;
  private readonly tell: (value: Value | null, error: ApiError | null) => void;
  private readonly stopping = new AbortController();
  private busy = false;
  private dirty = false;

  constructor(path: string, tell: (value: Value | null, error: ApiError | null) => void) {
    this.path = path;
    this.tell = tell;
    void this.read();
  }

  again(): void {
    if (this.busy) this.dirty = true;
    else void this.read();
  }

  stop(): void {
    this.stopping.abort();
  }

  private async read(): Promise<void> {
    this.busy = true;
    const { signal } = this.stopping;
    try {
      const value = await get<Value>(this.path, signal);
      if (!signal.aborted) this.tell(value, null);
    } catch (error) {
      if (!signal.aborted) this.tell(null, asApiError(error));
    }
    setTimeout(() => this.rest(), SHORTEST_PAUSE_MS);
  }

  private rest(): void {
    this.busy = false;
    if (!this.dirty || this.stopping.signal.aborted) return;
    this.dirty = false;
    void this.read();
  }
}

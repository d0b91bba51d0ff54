import { useEffect, useState } from "preact/hooks";

const TICK_MS = 1000;
const listeners = new Set<() => void>();
let timer: ReturnType<typeof setInterval> | undefined;

/** One clock for all, however many times are shown. */
function listen(listener: () => void): () => void {
  listeners.add(listener);
  timer ??= setInterval(() => {
    for (const each of listeners) each();
  }, TICK_MS);
  return () => {
    listeners.delete(listener);
    if (listeners.size > 0) return;
    clearInterval(timer);
    timer = undefined;
  };
}

/** The instant, kept up to date so that "3 min ago" stays true; it changes no more often than is said. */
export function useNow(every_ms = 5000): number {
  const [now, setNow] = useState(Date.now);
  useEffect(
    () =>
      listen(() => {
        const next = Date.now();
        setNow((before) => (next - before >= every_ms || next < before ? next : before));
      }),
    [every_ms],
  );
  return now;
}

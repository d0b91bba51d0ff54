import { useEffect, useState } from "preact/hooks";

/** The instant, kept up to date so that "3 min ago" stays true. */
export function useNow(every_ms = 5000): number {
  const [now, setNow] = useState(Date.now);
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), every_ms);
    return () => clearInterval(timer);
  }, [every_ms]);
  return now;
}

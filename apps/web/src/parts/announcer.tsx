import type { JSX } from "preact";
import { useEffect, useState } from "preact/hooks";

const SHOWN_MS = 8000;
const listeners = new Set<(text: string) => void>();

/** Says something to everybody: shown for a while, and read out by a screen reader. */
export function announce(text: string): void {
  for (const listener of listeners) listener(text);
}

export function Announcer(): JSX.Element {
  const [text, setText] = useState("");
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const show = (next: string) => {
      clearTimeout(timer);
      setText(next);
      timer = setTimeout(() => setText(""), SHOWN_MS);
    };
    listeners.add(show);
    return () => {
      listeners.delete(show);
      clearTimeout(timer);
    };
  }, []);
  return (
    <div class={text === "" ? "announcer" : "announcer announcer-shown"} role="status" aria-live="polite">
      {text}
    </div>
  );
}

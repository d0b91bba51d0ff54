import type { KeySource } from "./keyboard.js";
import type { Screen } from "./render/live.js";

/** The process as the commands see it: where they write, whom they can ask, and when they have to stop. */
export interface Terminal extends Screen {
  /** Whether what is written is looked at, and not a file or a pipe. */
  readonly isTerminal: boolean;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Where keys come from; null when nobody can press any. */
  readonly keys: KeySource | null;
  /** Fires when the command has to end. */
  readonly signal: AbortSignal;
  readonly interrupt: () => void;
  /** Writes much: waits until there is room for more. */
  readonly pour: (text: string) => Promise<void>;
  /** Where progress is shown while somebody looks; null when nobody does. */
  readonly aside: Pick<Screen, "write" | "columns"> | null;
  /** What is piped in; null when it is a person's keyboard. */
  readonly input: AsyncIterable<Uint8Array> | null;
}

const COLUMNS = 80;
const ROWS = 24;

export function openTerminal(): Terminal {
  const { stdin, stdout, stderr, env } = process;
  const ending = new AbortController();
  const interrupt = () => ending.abort();
  // Once: whoever insists is not made to wait for a clean end.
  process.once("SIGINT", interrupt);
  process.once("SIGTERM", interrupt);
  // Whoever reads may leave early, as `head` does; there is nobody left to tell.
  stdout.on("error", (error: NodeJS.ErrnoException) => {
    if (error.code === "EPIPE") process.exit(0);
    throw error;
  });
  return {
    write: (text) => void stdout.write(text),
    columns: () => stdout.columns ?? COLUMNS,
    rows: () => stdout.rows ?? ROWS,
    isTerminal: stdout.isTTY === true,
    env,
    keys: stdin.isTTY ? stdin : null,
    signal: ending.signal,
    interrupt,
    pour: (text) => new Promise((resolve) => stdout.write(text, () => resolve())),
    aside:
      stderr.isTTY && env.TERM !== "dumb"
        ? { write: (text) => void stderr.write(text), columns: () => stderr.columns ?? COLUMNS }
        : null,
    input: stdin.isTTY ? null : stdin,
  };
}

import type { Screen } from "./frame-painter.js";
import type { KeySource } from "./keyboard.js";

/** The process as the commands see it: where they write, whom they can ask, and when they have to stop. */
export interface Terminal extends Screen {
  /** Text, or what a program has written, byte for byte. */
  readonly write: (written: string | Uint8Array) => void;
  /** Whether what is written is looked at, and not a file or a pipe. */
  readonly isTerminal: boolean;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Where keys come from; null when nobody can press any. */
  readonly keys: KeySource | null;
  /** Fires when the command has to end. */
  readonly signal: AbortSignal;
  readonly interrupt: () => void;
  /** Says the last word, with the exit code that goes with it: it counts even if nobody is there to read. */
  readonly finish: (code: number, text: string) => number;
  /** Writes much: waits until there is room for more. */
  readonly pour: (text: string) => Promise<void>;
  /** Where progress is shown while somebody looks; null when nobody does. */
  readonly aside: Pick<Screen, "write" | "columns"> | null;
  /** What is piped in; null when it is a person's keyboard. */
  readonly input: AsyncIterable<Uint8Array> | null;
}

/** Terminals that know no size, as some of containers, say 0. */
const COLUMNS = 80;
const ROWS = 24;

export function openTerminal(): Terminal {
  const { stdin, stdout, stderr, env } = process;
  const ending = new AbortController();
  const interrupt = () => ending.abort();
  // Once: whoever insists is not made to wait for a clean end.
  process.once("SIGINT", interrupt);
  process.once("SIGTERM", interrupt);
  stdout.on("error", unwritten);
  // Files are written at once, and then the error is thrown and not told.
  const write = (written: string | Uint8Array, done?: () => void): void => {
    try {
      stdout.write(written, done);
    } catch (error) {
      unwritten(error as NodeJS.ErrnoException);
    }
  };
  return {
    write: (written) => write(written),
    finish(code, text) {
      process.exitCode = code;
      write(text);
      return code;
    },
    columns: () => (stdout.isTTY ? stdout.columns || COLUMNS : Number.POSITIVE_INFINITY),
    rows: () => stdout.rows || ROWS,
    isTerminal: stdout.isTTY === true,
    env,
    keys: stdin.isTTY ? stdin : null,
    signal: ending.signal,
    interrupt,
    pour: (text) => new Promise((resolve) => write(text, resolve)),
    aside:
      stderr.isTTY && env.TERM !== "dumb"
        ? { write: (text) => void stderr.write(text), columns: () => stderr.columns || COLUMNS }
        : null,
    input: stdin.isTTY ? null : stdin,
  };
}

/** As of a process that was ended by SIGPIPE. */
const NOBODY_READS = 141;

const REASONS: Readonly<Record<string, string>> = {
  ENOSPC: "there is no room left",
  EIO: "the disk or the terminal failed",
};

function unwritten({ code = "unknown", message }: NodeJS.ErrnoException): never {
  // Whoever reads may leave early, as `head` does; there is nobody left to tell.
  if (code === "EPIPE") process.exit(process.exitCode ?? NOBODY_READS);
  process.stderr.write(`bursar: the output cannot be written: ${REASONS[code] ?? message} (${code})\n`);
  process.exit(1);
}

import type { KeySource } from "./keyboard.js";

const INTERRUPT = "\x03";
const END = "\x04";
const CLEAR = "\x15";
const BACKSPACES = "\b\x7f";
const LONGEST = 1000;

/** Asks for a line at the keyboard. Null when there will be none: the keyboard is gone, or the signal has fired. */
export async function readLine(
  question: string,
  {
    keys,
    write,
    interrupt,
    signal,
  }: {
    readonly keys: KeySource;
    readonly write: (text: string) => void;
    readonly interrupt: () => void;
    readonly signal: AbortSignal;
  },
): Promise<string | null> {
  if (signal.aborted) return null;
  write(question);
  keys.setRawMode(true);
  const line = new Line(write);
  return new Promise((resolve) => {
    const hear = (data: Buffer): void => {
      const typed = data.toString("utf8");
      if (typed.includes(INTERRUPT)) interrupt();
      else if (line.take(typed)) done(line.text);
      else if (typed === END && line.text === "") done(null);
    };
    const gone = (): void => done(null);
    function done(answer: string | null): void {
      keys.off("data", hear);
      keys.off("end", gone);
      signal.removeEventListener("abort", gone);
      keys.setRawMode(false);
      keys.pause();
      write("\n");
      resolve(answer);
    }
    keys.on("data", hear);
    keys.on("end", gone);
    signal.addEventListener("abort", gone, { once: true });
    keys.resume();
  });
}

/** A line while it is typed, as it stands on the screen. */
class Line {
  text = "";
  private readonly write: (text: string) => void;

  constructor(write: (text: string) => void) {
    this.write = write;
  }

  /** Takes what was typed; tells whether the line is complete. */
  take(typed: string): boolean {
    // Arrows and the like are sequences, and mean nothing here.
    if (typed.startsWith("\x1b")) return false;
    for (const key of typed) {
      if (key === "\r" || key === "\n") return true;
      if (key === CLEAR) this.drop([...this.text].length);
      else if (BACKSPACES.includes(key)) this.drop(1);
      else if (!/\p{Cc}/u.test(key) && this.text.length < LONGEST) this.add(key);
    }
    return false;
  }

  private add(key: string): void {
    this.text += key;
    this.write(key);
  }

  private drop(count: number): void {
    const characters = [...this.text];
    const dropped = Math.min(count, characters.length);
    this.text = characters.slice(0, characters.length - dropped).join("");
    this.write("\b \b".repeat(dropped));
  }
}

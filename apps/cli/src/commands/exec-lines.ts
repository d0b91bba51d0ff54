import { createInterface } from "node:readline";

/** What somebody at the keyboard does: a line, Ctrl-C, or Ctrl-D. */
export type Typed =
  | { readonly kind: "line"; readonly text: string }
  | { readonly kind: "interrupt" }
  | { readonly kind: "end" };

const MOST_AHEAD = 1000;

/** Lines from the keyboard, until there are no more. What is typed ahead waits for its turn. */
export class DialogueLines implements Disposable {
  /** Told of Ctrl-C while nobody asks for a line. */
  onInterrupt: (() => void) | null = null;
  private readonly reader = createInterface({ input: process.stdin, output: process.stdout });
  private readonly ahead: Typed[] = [];
  private waiting: ((typed: Typed) => void) | null = null;
  private isOver = false;

  constructor(signal: AbortSignal) {
    this.reader.on("line", (text) => this.take({ kind: "line", text }));
    this.reader.on("SIGINT", () => this.interrupt());
    this.reader.on("close", () => {
      this.isOver = true;
      this.take({ kind: "end" });
    });
    signal.addEventListener("abort", () => this.reader.close(), { once: true });
  }

  ask(prompt: string): Promise<Typed> {
    const next = this.ahead.shift();
    if (next !== undefined) return Promise.resolve(next);
    if (this.isOver) return Promise.resolve({ kind: "end" });
    this.reader.setPrompt(prompt);
    this.reader.prompt();
    return new Promise((resolve) => {
      this.waiting = resolve;
    });
  }

  [Symbol.dispose](): void {
    this.reader.close();
  }

  private take(typed: Typed): void {
    const { waiting } = this;
    this.waiting = null;
    if (waiting !== null) waiting(typed);
    else if (this.ahead.length < MOST_AHEAD) this.ahead.push(typed);
  }

  private interrupt(): void {
    // What was typed ahead was meant for what is being stopped.
    this.ahead.length = 0;
    if (this.waiting === null) {
      this.onInterrupt?.();
      return;
    }
    process.stdout.write("^C\n");
    // Drops what stood on the line: all of it is before its end.
    this.reader.write(null, { ctrl: true, name: "e" });
    this.reader.write(null, { ctrl: true, name: "u" });
    this.take({ kind: "interrupt" });
  }
}

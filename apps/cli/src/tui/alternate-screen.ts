const ENTER = "\x1b[?1049h\x1b[2J\x1b[H";
const CLEAR = "\x1b[2J\x1b[H";
/** The cursor is shown again too: whoever has hidden it may not have come to that. */
const LEAVE = "\x1b[?25h\x1b[?1049l";

const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

/** As of a process that was ended by SIGTERM. */
const ENDED = 143;

/**
 * A screen of its own, which leaves what was on the terminal before as it was. It is left whatever ends the process, but for
 * SIGKILL, which nobody hears.
 */
export class AlternateScreen implements Disposable {
  private readonly output: NodeJS.WriteStream;
  private entered = false;
  private signals = 0;

  constructor(output: NodeJS.WriteStream) {
    this.output = output;
    process.on("exit", this.leave);
    // Before the fault is written, which would be gone with this screen.
    process.on("uncaughtExceptionMonitor", this.leave);
    // Ink listens too, and where it is the only one that does, it ends the process without another word.
    for (const signal of SIGNALS) process.on(signal, this.insist);
    this.output.write(ENTER);
    this.entered = true;
  }

  clear(): void {
    if (this.entered) this.output.write(CLEAR);
  }

  [Symbol.dispose](): void {
    this.leave();
    process.off("exit", this.leave);
    process.off("uncaughtExceptionMonitor", this.leave);
    for (const signal of SIGNALS) process.off(signal, this.insist);
  }

  private readonly leave = (): void => {
    if (!this.entered) return;
    this.entered = false;
    this.output.write(LEAVE);
  };

  /** The first asks for a clean end; whoever insists gets one at once. A terminal that has hung up takes no clean end. */
  private readonly insist = (signal: NodeJS.Signals): void => {
    this.signals++;
    if (this.signals > 1 || signal === "SIGHUP") process.exit(ENDED);
  };
}

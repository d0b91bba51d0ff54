/** Gives up when somebody else takes too long. */
export class Patience implements Disposable {
  private readonly stop = new AbortController();
  private readonly ms: number;
  private alarm: NodeJS.Timeout | null = null;

  constructor(ms: number) {
    this.ms = ms;
  }

  /** Aborted when it was too long. */
  get signal(): AbortSignal {
    return this.stop.signal;
  }

  /** It is his turn, from now on. */
  begin(): void {
    this.rest();
    const late = () => this.stop.abort(new Error(`no answer within ${this.ms} ms`));
    this.alarm = setTimeout(late, this.ms);
  }

  /** It is not his turn any longer. */
  rest(): void {
    if (this.alarm !== null) clearTimeout(this.alarm);
    this.alarm = null;
  }

  [Symbol.dispose](): void {
    this.rest();
  }
}

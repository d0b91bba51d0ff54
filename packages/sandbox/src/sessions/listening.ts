/**
 * Tells the listeners of an execution what happens. The first that fails ends the execution with its failure: whoever cannot
 * listen has no use for the rest.
 */
export class Listening {
  private readonly giveUp: () => void;
  private failure: { readonly error: unknown } | null = null;

  constructor(giveUp: () => void) {
    this.giveUp = giveUp;
  }

  get failed(): boolean {
    return this.failure !== null;
  }

  /** What a listener throws must not be thrown where news arrive, now or later: nobody there could handle it. */
  tell(listener: () => unknown): void {
    if (this.failure !== null) return;
    try {
      const told = listener();
      if (told instanceof Promise) told.catch((error: unknown) => this.end(error));
    } catch (error) {
      this.end(error);
    }
  }

  /** Throws what the listener has thrown. */
  fail(): never {
    throw this.failure?.error;
  }

  private end(error: unknown): void {
    this.failure ??= { error };
    this.giveUp();
  }
}

/** What has to be ended, the last first. */
export class Endings implements AsyncDisposable {
  private readonly ends: (() => unknown)[] = [];

  /** Ends it when its turn comes, and gives it back. */
  add<Thing extends AsyncDisposable | Disposable>(thing: Thing): Thing {
    this.ends.push(() =>
      Symbol.asyncDispose in thing ? thing[Symbol.asyncDispose]() : (thing as Disposable)[Symbol.dispose](),
    );
    return thing;
  }

  /** Each is ended, whatever became of the others; then the first fault is told. */
  async [Symbol.asyncDispose](): Promise<void> {
    const faults: unknown[] = [];
    for (const end of this.ends.splice(0).reverse()) {
      try {
        await end();
      } catch (error) {
        faults.push(error);
      }
    }
    if (faults.length > 0) throw faults[0];
  }
}

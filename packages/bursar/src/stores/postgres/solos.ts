import { type Line, Silent } from "./pool.js";

/**
 * Connections for transactions of several statements, each for one transaction at a time. The driver has transactions of its
 * own, but brings the process down when the connection of one is cut. A pool of one connection only makes a new one, outside
 * of the transaction, so what is sent through here must do no harm there.
 */
export class Solos implements AsyncDisposable {
  private readonly make: () => Line;
  private readonly all = new Set<Line>();
  private readonly free: Line[] = [];

  constructor(make: () => Line) {
    this.make = make;
  }

  async use<Value>(work: (solo: Line) => Promise<Value>): Promise<Value> {
    const solo = this.free.pop() ?? this.another();
    let silent = false;
    try {
      return await work(solo);
    } catch (error) {
      silent = error instanceof Silent;
      throw error;
    } finally {
      // Whoever came next would wait on the same dead wire.
      if (silent) this.drop(solo);
      else this.free.push(solo);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([...this.all].map((solo) => solo[Symbol.asyncDispose]()));
  }

  private another(): Line {
    const solo = this.make();
    this.all.add(solo);
    return solo;
  }

  private drop(solo: Line): void {
    this.all.delete(solo);
    solo[Symbol.asyncDispose]().catch(() => {});
  }
}

import type { Server } from "./connect.js";

/**
 * Connections for transactions of several statements, each for one transaction at a time. The driver has transactions of its
 * own, but brings the process down when the connection of one is cut. A pool of one connection only makes a new one, outside
 * of the transaction, so what is sent through here must do no harm there.
 */
export class Solos implements AsyncDisposable {
  private readonly make: () => Server;
  private readonly all: Server[] = [];
  private readonly free: Server[] = [];

  constructor(make: () => Server) {
    this.make = make;
  }

  async use<Value>(work: (solo: Server) => Promise<Value>): Promise<Value> {
    const solo = this.free.pop() ?? this.another();
    try {
      return await work(solo);
    } finally {
      this.free.push(solo);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.all.map((solo) => solo.end({ timeout: 5 })));
  }

  private another(): Server {
    const solo = this.make();
    this.all.push(solo);
    return solo;
  }
}

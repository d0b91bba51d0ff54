import type { Descriptor } from "./descriptor.js";
import { commonError, FsError } from "./errno.js";

/** A guest may move a descriptor to any number below this, even where fewer may be open. */
const MAX_NUMBER = 4096;

/** The descriptors of a guest by number; a new one gets the lowest that is free. */
export class DescriptorTable {
  readonly limit: number;
  private readonly slots: (Descriptor | undefined)[] = [];
  private open = 0;
  /** No number below it is free. */
  private lowest = 0;

  constructor(limit: number) {
    this.limit = Math.min(limit, MAX_NUMBER);
  }

  get size(): number {
    return this.open;
  }

  /** Gives undefined for a number that is not open. */
  find(fd: number): Descriptor | undefined {
    return this.slots[fd >>> 0];
  }

  get(fd: number): Descriptor {
    const descriptor = this.slots[fd >>> 0];
    if (descriptor === undefined) throw commonError("EBADF");
    return descriptor;
  }

  /** To be asked before anything is made that would then have no descriptor. */
  expectRoom(): void {
    if (this.open >= this.limit) throw new FsError("EMFILE", `${this.limit} descriptors may be open`);
  }

  add(descriptor: Descriptor): number {
    this.expectRoom();
    let fd = this.lowest;
    while (this.slots[fd] !== undefined) fd += 1;
    this.put(fd, descriptor);
    this.lowest = fd + 1;
    return fd;
  }

  /** Puts a descriptor at a number, as when a saved table comes back. */
  put(fd: number, descriptor: Descriptor): void {
    if (!Number.isInteger(fd) || fd < 0 || fd >= MAX_NUMBER) throw commonError("EBADF");
    while (this.slots.length <= fd) this.slots.push(undefined);
    if (this.slots[fd] === undefined) this.open += 1;
    this.slots[fd] = descriptor;
  }

  close(fd: number): void {
    const descriptor = this.get(fd);
    this.take(fd >>> 0);
    descriptor.close();
  }

  /** Moves a descriptor to another number; what was open there is closed. */
  renumber(from: number, to: number): void {
    const descriptor = this.get(from);
    const target = to >>> 0;
    if (target >= MAX_NUMBER) throw commonError("EBADF");
    if (target === from >>> 0) return;
    const replaced = this.slots[target];
    this.take(from >>> 0);
    this.put(target, descriptor);
    replaced?.close();
  }

  *entries(): Generator<readonly [number, Descriptor]> {
    for (const [fd, descriptor] of this.slots.entries()) {
      if (descriptor !== undefined) yield [fd, descriptor];
    }
  }

  private take(fd: number): void {
    this.slots[fd] = undefined;
    this.open -= 1;
    this.lowest = Math.min(this.lowest, fd);
  }
}

/** Says that a program has ended because there was no memory left for it. */
export class MemoryExhausted extends Error {
  override readonly name = "MemoryExhausted";

  constructor() {
    super("the guest has no memory left; raise its limit, or let the program keep less");
  }
}

import { type SseEvent, stretchOf } from "./sse.js";

/** What is passed on of a stream. Events that lie together go together: to cut each of them out takes as long as to read it. */
export class PassedOn {
  readonly #list: Uint8Array[] = [];
  /** The stretch that the latest events lie in. */
  #piece: Uint8Array | null = null;
  #from = 0;
  #to = 0;

  /** An event as it came. */
  add({ piece, from, to }: SseEvent): void {
    if (piece === this.#piece && from === this.#to) {
      this.#to = to;
      return;
    }
    this.#flush();
    this.#piece = piece;
    this.#from = from;
    this.#to = to;
  }

  /** Other bytes in the place of an event. */
  put(bytes: Uint8Array): void {
    this.#flush();
    this.#list.push(bytes);
  }

  /** All of it. */
  end(): readonly Uint8Array[] {
    this.#flush();
    return this.#list;
  }

  #flush(): void {
    if (this.#piece !== null) this.#list.push(stretchOf(this.#piece, this.#from, this.#to));
    this.#piece = null;
  }
}

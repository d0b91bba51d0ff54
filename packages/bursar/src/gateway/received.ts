import type { IncomingHttpHeaders } from "node:http";

/** Takes a piece of a body. Whoever cannot take more right now gives back what to wait for. */
export type Take = (piece: Buffer) => void | Promise<void>;

/** How the sender is held back, until the answer is over. */
export interface Control {
  pause(): void;
  resume(): void;
  abort(reason: Error): void;
}

/** As much as comes with one look at a socket. Before anybody reads, and while whoever does is behind, no more is wanted. */
const MOST_EARLY = 64 * 1024;

/**
 * An answer whose headers are there; its body is handed over to whoever reads it. A provider's chunks are small, and many come at once:
 * what came with one look at the socket is handed over as one piece, because each is a write to the client.
 */
export class Received {
  status = 0;
  headers: IncomingHttpHeaders = {};
  /** What has come and was not handed over. */
  private early: Buffer[] = [];
  private size = 0;
  private take: Take | null = null;
  private state: "open" | "ended" | "failed" = "open";
  private error: unknown = null;
  private control: Control | null = null;
  private settle: { readonly resolve: () => void; readonly reject: (error: unknown) => void } | null = null;
  /** Whoever reads cannot take more right now. */
  private waiting = false;
  /** What is there will be handed over at the end of this turn. */
  private due = false;

  begin(status: number, headers: IncomingHttpHeaders, control: Control): void {
    this.status = status;
    this.headers = headers;
    this.control = control;
  }

  /** Reads the body to its end. It fails if the answer does, or if whoever takes it does. */
  read(take: Take): Promise<void> {
    return new Promise((resolve, reject) => {
      this.settle = { resolve, reject };
      this.take = take;
      this.handOver();
    });
  }

  /** The whole of a body that has come with its headers, as most do; null where somebody has to read it. */
  atOnce(): Buffer | null {
    if (this.state !== "ended" || this.take !== null) return null;
    const { early, size } = this;
    this.early = [];
    this.take = () => {};
    return early.length === 1 ? (early[0] as Buffer) : Buffer.concat(early, size);
  }

  /** Hangs up: the rest is not wanted. */
  drop(): void {
    this.early = [];
    this.size = 0;
    this.take = () => {};
    if (this.state === "open") this.hangUp();
  }

  push(piece: Buffer): void {
    this.early.push(piece);
    this.size += piece.length;
    if (this.size > MOST_EARLY) this.control?.pause();
    if (this.take === null || this.waiting || this.due) return;
    this.due = true;
    queueMicrotask(() => {
      this.due = false;
      this.handOver();
    });
  }

  end(): void {
    if (this.state === "open") this.state = "ended";
    // Its connection is another's from now on.
    this.control = null;
    this.over();
  }

  fail(error: unknown): void {
    if (this.state === "open") this.breakOff(error);
  }

  private breakOff(error: unknown): void {
    this.state = "failed";
    this.error = error;
    // What has come is paid for, so whoever counts it has to see it, even if he is behind.
    this.waiting = false;
    this.handOver();
  }

  private handOver(): void {
    const { early, size, take } = this;
    if (take !== null && early.length > 0 && !this.waiting) {
      this.early = [];
      this.size = 0;
      try {
        const wait = take(early.length === 1 ? (early[0] as Buffer) : Buffer.concat(early, size));
        if (wait !== undefined) this.hold(wait);
        else if (size > MOST_EARLY && this.state === "open") this.control?.resume();
      } catch (error) {
        this.giveUp(error);
      }
    }
    this.over();
  }

  /** Nothing is handed over until then. */
  private hold(wait: Promise<void>): void {
    this.waiting = true;
    this.control?.pause();
    wait.then(
      () => {
        this.waiting = false;
        if (this.state === "open") this.control?.resume();
        this.handOver();
      },
      (error: unknown) => this.giveUp(error),
    );
  }

  /** Whoever reads has failed, be it at the end of all, so nobody wants the rest. */
  private giveUp(error: unknown): void {
    if (this.state !== "failed") this.breakOff(error);
    this.hangUp();
  }

  private hangUp(): void {
    this.control?.abort(new Error("the rest is not wanted"));
  }

  /** Tells whoever reads that it is over, once he has taken everything. */
  private over(): void {
    const { settle, state } = this;
    if (settle === null || state === "open") return;
    if (state === "ended" && (this.waiting || this.early.length > 0)) return;
    // What has listened to the signal of a connection is not given back before the engine collects all of its memory, and it leads
    // here. From here nothing must lead on, to all that was asked and answered.
    this.settle = null;
    this.take = null;
    if (state === "failed") settle.reject(this.error);
    else settle.resolve();
  }
}

/** The whole of an answer; null when it is longer than it may be. */
export async function bodyOfAnswer(received: Pick<Received, "read" | "drop">, most: number): Promise<Buffer | null> {
  const pieces: Buffer[] = [];
  let size = 0;
  await received
    .read((piece) => {
      size += piece.length;
      if (size <= most) pieces.push(piece);
      else received.drop();
    })
    .catch((error: unknown) => {
      if (size <= most) throw error;
    });
  if (size > most) return null;
  return pieces.length === 1 ? (pieces[0] as Buffer) : Buffer.concat(pieces, size);
}

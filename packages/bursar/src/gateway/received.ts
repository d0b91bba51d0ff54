import type { IncomingHttpHeaders } from "node:http";

/** Takes a piece of a body. Whoever cannot take more right now gives back what to wait for. */
export type Take = (piece: Buffer) => void | Promise<void>;

/** How the sender is held back. */
interface Control {
  pause(): void;
  resume(): void;
  abort(reason: Error): void;
}

/** An answer whose headers are there; its body is handed over piece by piece to whoever reads it. */
export class Received {
  status = 0;
  headers: IncomingHttpHeaders = {};
  private readonly explain: (error: unknown) => unknown;
  private early: Buffer[] = [];
  private take: Take | null = null;
  private state: "open" | "ended" | "failed" = "open";
  private error: unknown = null;
  private control: Control | null = null;
  private settle: { readonly resolve: () => void; readonly reject: (error: unknown) => void } | null = null;
  private waiting = false;

  constructor(explain: (error: unknown) => unknown) {
    this.explain = explain;
  }

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
      const { early } = this;
      this.early = [];
      for (const piece of early) this.push(piece);
      if (!this.waiting && this.state === "open") this.control?.resume();
      this.over();
    });
  }

  /** Hangs up: the rest is not wanted. */
  drop(): void {
    this.early = [];
    this.take = () => {};
    if (this.state === "open") this.hangUp();
  }

  push(piece: Buffer): void {
    if (this.take === null || this.waiting) {
      // Before anybody reads, and while whoever does is behind, no more is wanted.
      this.early.push(piece);
      this.control?.pause();
      return;
    }
    try {
      const wait = this.take(piece);
      if (wait === undefined) return;
      this.waiting = true;
      this.control?.pause();
      wait.then(
        () => this.goOn(),
        (error: unknown) => this.giveUp(error),
      );
    } catch (error) {
      this.giveUp(error);
    }
  }

  end(): void {
    if (this.state === "open") this.state = "ended";
    this.over();
  }

  fail(error: unknown): void {
    if (this.state !== "open") return;
    this.state = "failed";
    this.error = this.explain(error);
    this.over();
  }

  /** Whoever reads has failed, so nobody wants the rest. */
  private giveUp(error: unknown): void {
    this.fail(error);
    this.hangUp();
  }

  private hangUp(): void {
    this.control?.abort(new Error("the rest is not wanted"));
  }

  private goOn(): void {
    this.waiting = false;
    const { early } = this;
    this.early = [];
    for (const piece of early) this.push(piece);
    if (!this.waiting && this.state === "open") this.control?.resume();
    this.over();
  }

  /** Tells whoever reads that it is over, once he has taken everything. */
  private over(): void {
    if (this.settle === null || this.state === "open") return;
    if (this.state === "failed") this.settle.reject(this.error);
    else if (!this.waiting && this.early.length === 0) this.settle.resolve();
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

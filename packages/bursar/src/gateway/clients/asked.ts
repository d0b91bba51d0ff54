import type { EventEmitter } from "node:events";
import type { IncomingHttpHeaders, OutgoingHttpHeaders } from "node:http";

/** A request as it has come, whoever listens, and the way back to who has sent it. */
export interface Asked {
  readonly method: string;
  /** What it asks for, as it was written. */
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  /** Fires when whoever asks hangs up. */
  readonly leaving: AbortSignal;
  readonly reply: Reply;
  /**
   * The whole of its body; null when it is longer than it may be. What is a little too long is read to its end and dropped, so that
   * whoever sent it is still there to hear why; of what is much too long, the rest is left unread. `grow` is asked for every piece
   * as it comes; once it says no, the body is not read on, and null too.
   */
  body(most: number, grow?: (bytes: number) => boolean): Buffer | null | Promise<Buffer | null>;
}

/** The answer to a request, as it is written. What is written to who has left is lost, and that is all. */
export interface Reply {
  /** The status that was told; 0 as long as none was. */
  readonly status: number;
  /** Whether the last word is said. */
  readonly isEnded: boolean;
  /** Whether nobody is there any more. */
  readonly isGone: boolean;
  /** Why nothing was sent to a provider, for whoever tells of the request later. */
  refused: string | null;
  /** Emits `drain` once the client has read what `write` held. */
  readonly flow: EventEmitter;
  /** Answers as a whole. The headers are the reply's own from then on. */
  answer(status: number, headers: OutgoingHttpHeaders, body: Buffer): void;
  /** Begins an answer whose end is not known; its head goes with the first bytes. */
  begin(status: number, headers: OutgoingHttpHeaders): void;
  /** Does not wait for them. */
  flush(): void;
  /** False when the client should read first. */
  write(bytes: Uint8Array): boolean;
  end(last?: Uint8Array): void;
  /** Breaks off. */
  hangUp(): void;
}

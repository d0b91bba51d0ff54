import { type Control, Received } from "../received.js";
import { type Hearer, hear, unhear } from "./aborts.js";
import type { AnswerHead } from "./answer-head.js";
import { AnswerReader, type AnswerSink } from "./answer-reader.js";
import type { Connection } from "./connection.js";
import { givenUp } from "./errors.js";
import type { OutgoingRequest } from "./outgoing-request.js";

/** A request on its way, and its answer on the way back. It lets go of its connection with the answer's last byte. */
export class RoundTrip implements AnswerSink, Control, Hearer {
  readonly request: OutgoingRequest;
  readonly reader: AnswerReader = new AnswerReader(this);
  private readonly signal: AbortSignal;
  private readonly received = new Received();
  private readonly resolve: (received: Received) => void;
  private readonly reject: (error: unknown) => void;
  private connection: Connection | null = null;
  /** Whether anything of it was given to a connection. */
  isSent = false;
  isOver = false;

  constructor(
    request: OutgoingRequest,
    signal: AbortSignal,
    resolve: (received: Received) => void,
    reject: (error: unknown) => void,
  ) {
    this.request = request;
    this.signal = signal;
    this.resolve = resolve;
    this.reject = reject;
    hear(signal, this);
  }

  start(connection: Connection): void {
    this.connection = connection;
  }

  begin({ status, headers }: AnswerHead): void {
    this.received.begin(status, headers, this);
    this.resolve(this.received);
  }

  push(piece: Buffer): void {
    this.received.push(piece);
  }

  end(): void {
    this.letGo();
    this.received.end();
  }

  fail(error: unknown): void {
    this.letGo();
    this.received.fail(error);
    this.reject(error);
  }

  pause(): void {
    this.connection?.pause();
  }

  resume(): void {
    this.connection?.resume();
  }

  abort(reason: unknown): void {
    if (this.connection !== null) this.connection.abort(reason);
    else if (!this.isOver) this.fail(reason);
  }

  /** Whoever asked does not want the answer any more. */
  aborted(): void {
    const { reason } = this.signal;
    this.abort(this.isSent ? reason : givenUp(reason));
  }

  private letGo(): void {
    this.isOver = true;
    this.connection = null;
    unhear(this.signal, this);
  }
}

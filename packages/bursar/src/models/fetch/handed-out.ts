import { type Deferred, deferred } from "../../runtime/deferred.js";

/**
 * A response that somebody waits for. Once he has it, nothing here leads to it any more: what still goes on behind a stream must not
 * keep the stream from being collected when he drops it.
 */
export class HandedOut {
  private waiting: Deferred<Response> | null = deferred<Response>();

  /** For who waits; before it is handed out. */
  get promise(): Promise<Response> {
    return (this.waiting as Deferred<Response>).promise;
  }

  give(response: Response): void {
    this.waiting?.resolve(response);
    this.waiting = null;
  }

  fail(error: unknown): void {
    this.waiting?.reject(error);
    this.waiting = null;
  }
}

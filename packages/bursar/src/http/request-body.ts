import type { IncomingMessage } from "node:http";
import { ClientGone } from "./client-gone.js";

export interface BodyLimits {
  readonly mostBytes: number;
  /** Called with the size of each piece; once it returns false, the rest is left unread. */
  readonly takePiece?: (bytes: number) => boolean;
}

/** Why the rest of a body will not come, or what to call when that is known. */
const failures = new WeakMap<IncomingMessage, Error | ((error: Error) => void)>();

/**
 * Reads the whole body of a request; null when it is longer than it may be. A body that is a little too long is read to its end and
 * dropped, so that its client is still there to read why; of one that is much too long, the rest is left unread.
 */
export function readRequestBody(
  incoming: IncomingMessage,
  { mostBytes, takePiece = () => true }: BodyLimits,
): Promise<Buffer | null> {
  const { "content-length": announced } = incoming.headers;
  if (announced !== undefined && Number(announced) > mostBytes * 2) return Promise.resolve(null);
  const known = failures.get(incoming);
  if (known instanceof Error) return Promise.reject(known);
  // A request that was cut off before it is read does not say so again.
  if (incoming.destroyed && !incoming.readableEnded) return Promise.reject(new ClientGone());
  return new Promise((resolve, reject) => {
    let pieces: Buffer[] = [];
    let size = 0;
    const finish = (body: Buffer | null) => {
      failures.delete(incoming);
      resolve(body);
    };
    const take = (piece: Buffer) => {
      size += piece.length;
      const isRefused = !takePiece(piece.length);
      if (size <= mostBytes && !isRefused) pieces.push(piece);
      else pieces = [];
      if (size <= mostBytes * 2 && !isRefused) return;
      incoming.off("data", take);
      incoming.pause();
      finish(null);
    };
    failures.set(incoming, (error) => {
      pieces = [];
      incoming.off("data", take);
      reject(error);
    });
    incoming.on("data", take);
    incoming.once("end", () => {
      incoming.off("close", cut);
      finish(size > mostBytes ? null : pieces.length === 1 ? (pieces[0] as Buffer) : Buffer.concat(pieces, size));
    });
    const cut = () => reject(new ClientGone());
    incoming.once("error", cut);
    incoming.once("close", cut);
  });
}

/** Fails the reader of a body whose rest will not come, though its connection stays open for a while. */
export function failRequestBody(incoming: IncomingMessage, error: Error): void {
  const reader = failures.get(incoming);
  if (typeof reader === "function") reader(error);
  failures.set(incoming, error);
}

/** Whether all of a body has come; where none is announced, there is none. */
export function isBodyWhole({ complete, headers }: IncomingMessage): boolean {
  const { "content-length": length = "0", "transfer-encoding": encoding } = headers;
  return complete || (length === "0" && encoding === undefined);
}

import type { Readable } from "node:stream";
import { ClientGone } from "./leaving.js";

/**
 * The whole of a body; null when it is longer than it may be. What is a little too long is read to its end and dropped, so that
 * whoever sent it is still there to hear why; of what is much too long, the rest is left unread. `grow` is asked for every piece as
 * it comes; once it says no, the rest is left unread too.
 */
export function bodyOf(
  incoming: Readable,
  most: number,
  announced: string | undefined = undefined,
  grow: (bytes: number) => boolean = () => true,
): Promise<Buffer | null> {
  if (announced !== undefined && Number(announced) > most * 2) return Promise.resolve(null);
  // What was cut before it is read says so to those who listened, and never again.
  if (incoming.destroyed && !incoming.readableEnded) return Promise.reject(new ClientGone());
  return new Promise((resolve, reject) => {
    let pieces: Buffer[] = [];
    let size = 0;
    const take = (piece: Buffer) => {
      size += piece.length;
      const isRefused = !grow(piece.length);
      if (size <= most && !isRefused) pieces.push(piece);
      else pieces = [];
      if (size <= most * 2 && !isRefused) return;
      incoming.off("data", take);
      incoming.pause();
      resolve(null);
    };
    incoming.on("data", take);
    // What is destroyed without a reason neither ends nor fails.
    const cut = () => reject(new Error("the body is not whole"));
    incoming.once("end", () => {
      incoming.off("close", cut);
      resolve(size > most ? null : pieces.length === 1 ? (pieces[0] as Buffer) : Buffer.concat(pieces, size));
    });
    incoming.once("error", reject);
    incoming.once("close", cut);
  });
}

import type { Socket } from "node:net";
import { DiscardPace } from "./discard-pace.js";

/** A client that was answered early is disconnected after this silence, after this time, or after this many bytes. */
const LONGEST_SILENCE_MS = 2000;
const LONGEST_MS = 60_000;
const MOST_BYTES = 64 * 1024 * 1024;
/** This many bytes are read as fast as they come: most bodies are shorter. */
const FAST_BYTES = 256 * 1024;

const pace = new DiscardPace();
const discarding = new WeakSet<Socket>();

/** Whether everything that still comes on a connection is discarded. */
export function isDiscarding(socket: Socket): boolean {
  return discarding.has(socket);
}

/**
 * Ends a connection whose client was answered before it had sent everything. Closed at once, the operating system would take back a
 * response that the client has not read yet; so the write side is closed, and input is read and discarded for a while, not fast.
 */
export function discardInput(socket: Socket): void {
  if (discarding.has(socket) || socket.destroyed) return;
  discarding.add(socket);
  let size = 0;
  let silence: NodeJS.Timeout | undefined;
  const end = () => void socket.destroy();
  const longest = setTimeout(end, LONGEST_MS).unref();
  const waitForMore = (ms: number) => {
    clearTimeout(silence);
    silence = setTimeout(end, ms).unref();
  };
  // The parser of node:http reads no more.
  socket.removeAllListeners("data");
  socket.on("data", (bytes: Buffer) => {
    size += bytes.length;
    if (size > MOST_BYTES) {
      end();
      return;
    }
    const waitMs = size > FAST_BYTES ? pace.waitAfter(bytes.length) : 0;
    // Until the response is written, its reader sets the pace.
    if (silence !== undefined) waitForMore(waitMs + LONGEST_SILENCE_MS);
    if (waitMs < 1) return;
    socket.pause();
    setTimeout(() => socket.resume(), waitMs).unref();
  });
  socket.once("close", () => {
    clearTimeout(silence);
    clearTimeout(longest);
  });
  socket.end(() => waitForMore(LONGEST_SILENCE_MS));
  // Not at once: the parser may be in the middle of a piece, and pauses the socket when nobody reads what is in it.
  setImmediate(() => socket.resume());
}

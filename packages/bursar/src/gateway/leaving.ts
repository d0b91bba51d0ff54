import { setMaxListeners } from "node:events";
import type { Socket } from "node:net";

/** Whoever asked has hung up. */
export class ClientGone extends Error {
  override readonly name: string = "ClientGone";

  constructor(message = "the client has hung up") {
    super(message);
  }
}

export function isClientGone(error: unknown): boolean {
  return error instanceof ClientGone;
}

const signals = new WeakMap<Socket, AbortSignal>();

/**
 * Fires when whoever asks on a connection hangs up. All requests on it share the signal: to make one takes as long as to make a
 * reservation, and a client hangs up on all of them at once.
 */
export function leavingOf(socket: Socket): AbortSignal {
  const known = signals.get(socket);
  if (known !== undefined) return known;
  const left = new AbortController();
  const { signal } = left;
  // Requests may come in one behind the other, before any of them is answered.
  setMaxListeners(0, signal);
  const leave = () => left.abort(new ClientGone());
  if (socket.destroyed) leave();
  else socket.once("close", leave);
  signals.set(socket, signal);
  return signal;
}

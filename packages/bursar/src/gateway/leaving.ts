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

/** The gateway was stopped, and what was under way took longer than it was given. */
export class GatewayStopped extends Error {
  override readonly name: string = "GatewayStopped";
  readonly code: string = "gateway_stopped";

  constructor() {
    super("the gateway was stopped before this answer was whole");
  }
}

/** So long clients that are told of the end may take to read it. */
const LAST_WORDS_MS = 1000;

const leaving = new WeakMap<Socket, AbortController>();

/**
 * Fires when whoever asks on a connection hangs up. All requests on it share the signal: to make one takes as long as to make a
 * reservation, and a client hangs up on all of them at once.
 */
export function leavingOf(socket: Socket): AbortSignal {
  const known = leaving.get(socket);
  if (known !== undefined) return known.signal;
  const left = new AbortController();
  const { signal } = left;
  // Requests may come in one behind the other, before any of them is answered.
  setMaxListeners(0, signal);
  const leave = () => left.abort(new ClientGone());
  if (socket.destroyed) leave();
  else socket.once("close", leave);
  leaving.set(socket, left);
  return signal;
}

/**
 * Ends what is under way on connections, after so long: requests fail with `GatewayStopped`, and their clients are told. Those who do
 * not read that are hung up on. What it returns keeps it from happening.
 */
export function stopAfter(sockets: Iterable<Socket>, within_ms: number): Disposable {
  let patience = setTimeout(() => {
    for (const socket of sockets) {
      const left = leaving.get(socket);
      if (left === undefined) socket.destroy();
      else left.abort(new GatewayStopped());
    }
    patience = setTimeout(() => {
      for (const socket of sockets) socket.destroy();
    }, LAST_WORDS_MS);
  }, within_ms);
  return { [Symbol.dispose]: () => clearTimeout(patience) };
}

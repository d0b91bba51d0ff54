import { setMaxListeners } from "node:events";
import type { Socket } from "node:net";

/** The client has closed its connection, or was disconnected. */
export class ClientGone extends Error {
  override readonly name: string = "ClientGone";

  constructor(message = "the client has hung up") {
    super(message);
  }
}

export function isClientGone(error: unknown): boolean {
  return error instanceof ClientGone;
}

/** The gateway was stopped, and this request took longer than the time that was left. */
export class GatewayStopped extends Error {
  override readonly name: string = "GatewayStopped";
  readonly code: string = "gateway_stopped";

  constructor() {
    super("the gateway was stopped before this answer was whole");
  }
}

/** How long clients that are told of the shutdown may take to read it. */
const LAST_WORDS_MS = 1000;

const controllers = new WeakMap<Socket, AbortController>();

/**
 * A signal that fires when the client of a connection hangs up. All requests of a connection share it: creating a signal takes as long
 * as a reservation in memory, and a client hangs up on all its requests at once.
 */
export function clientSignalOf(socket: Socket): AbortSignal {
  const known = controllers.get(socket);
  if (known !== undefined) return known.signal;
  const controller = new AbortController();
  const { signal } = controller;
  // Pipelined requests may all listen at once.
  setMaxListeners(0, signal);
  const abort = () => controller.abort(new ClientGone());
  if (socket.destroyed) abort();
  else socket.once("close", abort);
  controllers.set(socket, controller);
  return signal;
}

/**
 * Ends the requests of these connections after a time: each fails with `GatewayStopped`, and its client is told. Clients that do not read
 * that are disconnected. Dispose what is returned to prevent it.
 */
export function stopAfter(sockets: Iterable<Socket>, withinMs: number): Disposable {
  let timer = setTimeout(() => {
    for (const socket of sockets) {
      const controller = controllers.get(socket);
      if (controller === undefined) socket.destroy();
      else controller.abort(new GatewayStopped());
    }
    timer = setTimeout(() => {
      for (const socket of sockets) socket.destroy();
    }, LAST_WORDS_MS);
  }, withinMs);
  return { [Symbol.dispose]: () => clearTimeout(timer) };
}

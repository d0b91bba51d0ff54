import type { Socket } from "node:net";

/** Names a connection: with TLS there are two sockets for it, and both of them give the same name. */
export function peerOf({ remoteAddress = "", remotePort = 0 }: Socket): string {
  return `${remoteAddress} ${remotePort}`;
}

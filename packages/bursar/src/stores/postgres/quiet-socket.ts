import { connect, type Socket } from "node:net";

/** Where the driver wants to be connected to. It tries one host after the other by itself only where it makes the sockets. */
interface Target {
  readonly host: readonly string[];
  readonly port: readonly number[];
  readonly path?: string | false;
}

const CONNECT_MS = 5000;

/** A socket to a server that does not keep the process alive. The first host that answers is taken. */
export async function quietSocket({ host, port, path }: Target): Promise<Socket> {
  if (path) return connected(connect(path));
  let failure: unknown = new Error("no host is named");
  for (const [index, name] of host.entries()) {
    try {
      return await connected(connect(port[index] ?? port[0] ?? 5432, name));
    } catch (error) {
      failure = error;
    }
  }
  throw failure;
}

function connected(socket: Socket): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const late = () => socket.destroy(new Error("the server did not answer in time"));
    socket.once("error", reject);
    socket.setTimeout(CONNECT_MS, late);
    socket.once("connect", () => {
      socket.off("error", reject);
      socket.setTimeout(0);
      socket.off("timeout", late);
      resolve(socket.unref());
    });
  });
}

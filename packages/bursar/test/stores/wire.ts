import { connect, createServer, type Socket } from "node:net";

/** A wire to the server that a test can cut or silence as it likes. */
export interface Wire extends AsyncDisposable {
  readonly url: string;
  /** Decides for every piece on its way to the server: true cuts the connection before it arrives. */
  cut: (piece: Buffer) => boolean;
  /** Nothing comes back any more, and nobody is told. */
  silent: boolean;
}

export async function startWire(target: string): Promise<Wire> {
  const { hostname, port } = new URL(target);
  const open = new Set<Socket>();
  const server = createServer((client) => {
    const upstream = connect(Number(port), hostname);
    const end = () => {
      client.destroy();
      upstream.destroy();
    };
    for (const socket of [client, upstream]) {
      open.add(socket);
      socket.on("error", end);
      socket.on("close", end);
    }
    client.on("data", (piece) => (wire.cut(piece) ? end() : upstream.write(piece)));
    upstream.on("data", (piece) => void (wire.silent || client.write(piece)));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  const port_ = String(typeof address === "object" ? address?.port : "");
  const wire: Wire = {
    url: Object.assign(new URL(target), { port: port_ }).href,
    cut: () => false,
    silent: false,
    async [Symbol.asyncDispose]() {
      for (const socket of open) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return wire;
}

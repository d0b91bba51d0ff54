import { connect, createServer, type Socket } from "node:net";

/** What becomes of a piece of work on its way to the server and back. */
export type Fate = "pass" | "lose request" | "lose answer" | "lose sight";

export interface Proxy extends AsyncDisposable {
  readonly url: string;
}

/** Stands in every link, and so in every request that records something. */
const WORK = '"prev":';

/** Stands in those that have locked what they write before. */
const LOCKED = "; COMMIT";

/**
 * A wire between store and server that is cut at the worst of moments: before a request arrives, after it has been answered,
 * or in between, when nobody here can know what comes of it.
 */
export async function startProxy(target: string, fate: (locked: boolean) => Fate): Promise<Proxy> {
  const { hostname, port } = new URL(target);
  const open = new Set<Socket>();
  const server = createServer((client) => {
    const upstream = connect(Number(port), hostname);
    let losing = false;
    const cut = () => {
      client.destroy();
      upstream.end();
    };
    for (const socket of [client, upstream]) {
      open.add(socket);
      socket.on("error", cut);
      socket.on("close", () => {
        open.delete(socket);
        cut();
      });
    }
    client.on("data", (piece) => {
      const chosen = piece.includes(WORK) ? fate(piece.includes(LOCKED)) : "pass";
      if (chosen === "lose request") return cut();
      losing ||= chosen === "lose answer";
      if (chosen === "lose sight") upstream.write(piece, cut);
      else upstream.write(piece);
    });
    upstream.on("data", (piece) => {
      if (losing) cut();
      else client.write(piece);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  const url = new URL(target);
  url.port = String(typeof address === "object" ? address?.port : "");
  return {
    url: url.href,
    async [Symbol.asyncDispose]() {
      for (const socket of open) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

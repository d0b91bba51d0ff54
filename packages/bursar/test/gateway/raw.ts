import { connect, type Socket } from "node:net";

/** A connection on which a test writes what no client would. */
export interface RawConnection extends Disposable {
  readonly socket: Socket;
  write(bytes: string | Uint8Array): void;
  /** All that has come so far. */
  heard(): string;
  /** Settles when the other side has closed, with all that has come. */
  readonly closed: Promise<string>;
}

export function openRaw(url: string): Promise<RawConnection> {
  const { hostname, port } = new URL(url);
  return rawOn(connect(Number(port), hostname), "connect");
}

/** The same on a socket that is only just being connected, and says so with this event. */
export async function rawOn(socket: Socket, connected: "connect" | "secureConnect"): Promise<RawConnection> {
  const pieces: Buffer[] = [];
  const heard = () => Buffer.concat(pieces).toString("utf8");
  socket.on("data", (piece) => pieces.push(piece));
  // Whoever is hung up on hears it as an error or as an end, as it happens.
  socket.on("error", () => {});
  const closed = new Promise<string>((resolve) => socket.on("close", () => resolve(heard())));
  await new Promise<void>((resolve, reject) => {
    socket.once(connected, resolve);
    socket.once("error", reject);
  });
  return {
    socket,
    heard,
    closed,
    write: (bytes) => void socket.write(bytes),
    [Symbol.dispose]: () => void socket.destroy(),
  };
}

/** Writes a request as it stands and gives all that comes back; the request has to ask for the connection to be closed. */
export async function askRaw(url: string, request: string | Uint8Array): Promise<RawAnswer> {
  using connection = await openRaw(url);
  connection.write(request);
  return readRaw(await connection.closed);
}

export interface RawAnswer {
  readonly status: number;
  readonly headers: string;
  readonly body: string;
  /** How many answers came one after another. */
  readonly answers: number;
}

export function readRaw(text: string): RawAnswer {
  const [headers = "", ...rest] = text.split("\r\n\r\n");
  const status = Number(/^HTTP\/1\.1 (\d{3})/.exec(headers)?.[1] ?? 0);
  return { status, headers, body: rest.join("\r\n\r\n"), answers: text.match(/HTTP\/1\.1 \d{3}/g)?.length ?? 0 };
}

/** A request written out, with headers in the order they are given. */
export function written(start: string, headers: readonly string[], body = ""): string {
  return `${start} HTTP/1.1\r\n${headers.map((header) => `${header}\r\n`).join("")}\r\n${body}`;
}

import { get, type IncomingMessage } from "node:http";
import { until } from "../gateway/until.js";

export interface Heard {
  readonly event: string;
  readonly id: string | null;
  readonly data: unknown;
}

/** A client that listens to events, as browsers do. */
export interface Listener extends Disposable {
  readonly status: number;
  readonly heard: readonly Heard[];
  readonly comments: () => number;
  /** Whether the server has ended it. */
  readonly isOver: () => boolean;
  /** Waits until there is an event that fits, and gives it. */
  hears(what: string, fits: (heard: Heard) => boolean): Promise<Heard>;
  readonly incoming: IncomingMessage;
}

export async function listen(url: string, headers: Record<string, string> = {}): Promise<Listener> {
  const heard: Heard[] = [];
  let comments = 0;
  let over = false;
  const incoming = await new Promise<IncomingMessage>((resolve, reject) => {
    get(url, { headers, agent: false }, resolve).on("error", reject);
  });
  let rest = "";
  incoming.setEncoding("utf8");
  incoming.on("data", (piece: string) => {
    const blocks = `${rest}${piece}`.split("\n\n");
    rest = blocks.pop() ?? "";
    for (const block of blocks) {
      if (block.startsWith(":")) comments++;
      else if (block.includes("data: ")) heard.push(readBlock(block));
    }
  });
  incoming.on("error", () => {});
  incoming.on("close", () => {
    over = true;
  });
  return {
    status: incoming.statusCode ?? 0,
    heard,
    incoming,
    comments: () => comments,
    isOver: () => over,
    async hears(what, fits) {
      await until(`it hears ${what}`, () => heard.some(fits));
      return heard.find(fits) as Heard;
    },
    [Symbol.dispose]: () => void incoming.destroy(),
  };
}

function readBlock(block: string): Heard {
  const field = (name: string) =>
    block
      .split("\n")
      .find((line) => line.startsWith(`${name}: `))
      ?.slice(name.length + 2);
  return { event: field("event") ?? "message", id: field("id") ?? null, data: JSON.parse(field("data") ?? "null") };
}

import type { ServerResponse } from "node:http";

/** What is sent and not yet read may be so much, beside what the system holds; then the reader is too slow to be served. */
const MOST_UNREAD = 512 * 1024;
/** Whoever does not read does not hear that he is hung up on either. */
const LINGER_MS = 2000;

/** Events for one client, for as long as it listens. */
export class EventStream {
  private readonly response: ServerResponse;
  private readonly listeners: (() => void)[] = [];
  private opened = false;
  private ended = false;
  /** Whether nothing was read since the last sign of life. */
  private stuck = false;

  constructor(response: ServerResponse) {
    this.response = response;
    response.once("close", () => this.over());
    response.on("drain", () => {
      this.stuck = false;
    });
  }

  /** Tells the client that it is heard from now on. What was sent before was for nobody. */
  open(): void {
    if (this.ended || this.opened) return;
    this.opened = true;
    const { response } = this;
    response.writeHead(200, {
      "content-type": "text/event-stream; charset=utf-8",
      "cache-control": "no-store",
      // Proxies that collect answers before they pass them on would keep all of it to themselves.
      "x-accel-buffering": "no",
    });
    response.write("retry: 1000\n\n");
  }

  /** Whether nobody hears any more what is sent. */
  get isOver(): boolean {
    return this.ended;
  }

  onOver(listener: () => void): void {
    if (this.ended) listener();
    else this.listeners.push(listener);
  }

  send(event: string, data: unknown, id: number | null = null): void {
    // JSON has no line breaks of its own, so one line of data is enough.
    this.sendText(event, JSON.stringify(data), id);
  }

  sendText(event: string, data: string, id: number | null = null): void {
    this.write(`event: ${event}\n${id === null ? "" : `id: ${id}\n`}data: ${data}\n\n`);
  }

  /** A sign of life, which is no event. Whoever has read nothing from one to the next is not served any longer. */
  beat(): void {
    if (this.stuck) this.drop();
    this.stuck = this.response.writableNeedDrain;
    this.write(": \n\n");
  }

  /** Settles when there is room for more, or nobody is there to read it. */
  async ready(): Promise<void> {
    const { response } = this;
    if (this.ended || !response.writableNeedDrain) return;
    await new Promise<void>((resolve) => {
      const done = () => {
        response.off("drain", done);
        response.off("close", done);
        resolve();
      };
      response.on("drain", done);
      response.on("close", done);
    });
  }

  /** Says one last thing. */
  end(event: string, data: unknown): void {
    if (this.ended) return;
    this.open();
    this.response.end(`event: ${event}\ndata: ${JSON.stringify(data)}\n\n`);
    this.over();
    const lingering = setTimeout(() => this.response.destroy(), LINGER_MS);
    lingering.unref();
    this.response.once("close", () => clearTimeout(lingering));
  }

  private write(text: string): void {
    if (this.ended || !this.opened) return;
    this.response.write(text);
    if (this.response.writableLength > MOST_UNREAD) this.drop();
  }

  private drop(): void {
    this.end("dropped", { reason: "what was sent is not read fast enough; connect again" });
  }

  private over(): void {
    if (this.ended) return;
    this.ended = true;
    for (const listener of this.listeners.splice(0)) listener();
  }
}

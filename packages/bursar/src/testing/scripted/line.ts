import type { ServerResponse } from "node:http";
import type { JsonObject } from "../../core/chain/canonical.js";
import type { Timer } from "../../ports/timer.js";
import type { ScriptedHalf, Spoken } from "./answer.js";

type Headers = Readonly<Record<string, string>>;

/** The way to a client that waits for an answer. Either side may hang up. */
export class Line {
  private readonly response: ServerResponse;
  private readonly timer: Timer;
  private cut = false;

  /** `left` is called when the client hangs up before the answer is over. */
  constructor(response: ServerResponse, timer: Timer, left: () => void) {
    this.response = response;
    this.timer = timer;
    response.once("close", () => {
      if (!this.cut && !response.writableFinished) left();
    });
  }

  /** Whether an answer has begun. */
  get begun(): boolean {
    return this.response.headersSent;
  }

  /** Hangs up. */
  hangUp(): void {
    this.cut = true;
    this.response.destroy();
  }

  send(status: number, body: JsonObject, headers: Headers): void {
    this.sendText(status, JSON.stringify(body), { ...headers, "content-type": "application/json" });
  }

  sendText(status: number, text: string, headers: Headers): void {
    const bytes = Buffer.from(text);
    this.response.writeHead(status, { ...headers, "content-length": bytes.length });
    this.response.end(bytes);
  }

  /** The beginning of an answer that is no stream. */
  async sendPart(body: JsonObject, { rest = "half", ending = "cut" }: ScriptedHalf, headers: Headers): Promise<void> {
    const bytes = Buffer.from(JSON.stringify(body));
    const part = partOf(bytes, rest);
    // A client that knows the length notices by itself; one that is told of an end has to look at what it has.
    const length = ending === "end" ? {} : { "content-length": bytes.length };
    this.response.writeHead(200, { ...headers, ...length, "content-type": "application/json" });
    await this.write(part);
    // Only a stream has a place for an error once it has begun.
    this.end(ending === "error" ? "cut" : ending);
  }

  async stream(events: readonly string[], { piece_ms = 0 }: Spoken, headers: Headers): Promise<void> {
    this.openStream(headers);
    if (piece_ms === 0) this.response.end(events.join(""));
    else if (await this.sendEvents(events, piece_ms)) this.response.end();
  }

  /** The beginning of a stream. */
  async streamPart(
    events: readonly string[],
    { events: wanted = events.length >> 1, rest, ending = "cut", piece_ms = 0 }: ScriptedHalf,
    failure: (sent: number) => string,
    headers: Headers,
  ): Promise<void> {
    // Half a character can only be had where there is one to halve: the next event that has one is it.
    const sent = rest === "character" ? wanted + events.slice(wanted).findIndex(hasLongCharacter) : wanted;
    if (sent < wanted) throw new Error("no event after those has a character of several bytes to break off in");
    this.openStream(headers);
    // A stream begins before its first event does, and a client that waits for one has to see that.
    this.response.flushHeaders();
    if (!(await this.sendEvents(events.slice(0, sent), piece_ms))) return;
    const next = events[sent];
    if (rest !== undefined && next !== undefined) await this.write(partOf(Buffer.from(next), rest));
    if (ending === "error") await this.write(Buffer.from(failure(sent)));
    this.end(ending);
  }

  /** Waits. Tells whether anybody is still there. */
  wait(ms: number): Promise<boolean> {
    const { response } = this;
    if (response.destroyed) return Promise.resolve(false);
    if (ms === 0) return Promise.resolve(true);
    return new Promise((resolve) => {
      const gone = () => {
        alarm[Symbol.dispose]();
        resolve(false);
      };
      const alarm = this.timer.after(ms, () => {
        response.off("close", gone);
        resolve(true);
      });
      response.once("close", gone);
    });
  }

  private openStream(headers: Headers): void {
    this.response.writeHead(200, {
      ...headers,
      "content-type": "text/event-stream; charset=utf-8",
      "cache-control": "no-cache",
    });
  }

  /** Tells whether anybody is still there. */
  private async sendEvents(events: readonly string[], piece_ms: number): Promise<boolean> {
    if (piece_ms === 0) return this.write(Buffer.from(events.join("")));
    for (const [index, event] of events.entries()) {
      if (index > 0 && !(await this.wait(piece_ms))) return false;
      if (!(await this.write(Buffer.from(event)))) return false;
    }
    return true;
  }

  /** Writes, and waits until it is on its way. Tells whether anybody is still there. */
  private write(bytes: Buffer): Promise<boolean> {
    const { response } = this;
    if (response.destroyed) return Promise.resolve(false);
    if (bytes.length === 0) return Promise.resolve(true);
    return new Promise((resolve) => {
      const gone = () => resolve(false);
      response.once("close", gone);
      response.write(bytes, (error) => {
        response.off("close", gone);
        resolve(error === null || error === undefined);
      });
    });
  }

  private end(ending: NonNullable<ScriptedHalf["ending"]>): void {
    if (ending === "cut") this.hangUp();
    else if (ending !== "hang") this.response.end();
  }
}

/** The beginning of some bytes: half of them, or all up to the middle of the first character that has several. */
function partOf(bytes: Buffer, rest: "half" | "character"): Buffer {
  if (rest === "half") return bytes.subarray(0, bytes.length >> 1);
  const first = bytes.findIndex((byte) => byte >= 0x80);
  if (first < 0) throw new Error("the answer has no character of several bytes to break off in");
  return bytes.subarray(0, first + 1);
}

function hasLongCharacter(event: string): boolean {
  return Buffer.byteLength(event) > event.length;
}

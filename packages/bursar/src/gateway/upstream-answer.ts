import type { IncomingHttpHeaders } from "node:http";
import { type KeyScrubber, ScrubbedBody } from "../models/wire/key-scrubber.js";
import { plain, type Readable } from "./encoding.js";
import { bodyOfAnswer, type Received, type Take } from "./received.js";

/** The provider has answered with something that cannot be read. */
class UnreadableAnswer extends Error {
  override readonly name: string = "UnreadableAnswer";
  readonly code: string = "unreadable";
}

/** What an upstream has answered: without compression, and without the key that the gateway has shown it. */
export class UpstreamAnswer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  private readonly readable: Readable;
  private readonly body: ScrubbedBody;

  /** Throws where it is compressed in an unknown way. */
  constructor(received: Received, scrubber: KeyScrubber) {
    const readable = plain(received);
    if (readable === null) {
      received.drop();
      throw new UnreadableAnswer("it is compressed in an unknown way");
    }
    this.readable = readable;
    this.status = readable.status;
    this.headers = scrubber.isIdle ? readable.headers : scrubbedHeaders(readable.headers, scrubber);
    this.body = new ScrubbedBody(scrubber);
  }

  /** Whether the upstream does not take the gateway's key: it says so, or names the key in an error. */
  get isDenial(): boolean {
    return this.status === 401 || (this.status >= 400 && this.body.isMasked);
  }

  /** Reads the body to its end. */
  async read(take: Take): Promise<void> {
    await this.readable.read((piece) => {
      const scrubbed = this.body.push(piece);
      return scrubbed.length === 0 ? undefined : take(scrubbed);
    });
    const rest = this.body.end();
    if (rest !== null) await take(rest);
  }

  /** The whole of the body. */
  async whole(most: number): Promise<Buffer> {
    const atOnce = this.readable.atOnce();
    const bytes = atOnce ?? (await bodyOfAnswer(this.readable, most));
    if (bytes === null || bytes.length > most) throw new UnreadableAnswer(`it has more than ${most} bytes`);
    return this.body.whole(bytes);
  }

  /** Hangs up: the rest is not wanted. */
  drop(): void {
    this.readable.drop();
  }
}

function scrubbedHeaders(headers: IncomingHttpHeaders, scrubber: KeyScrubber): IncomingHttpHeaders {
  const scrubbed: Record<string, string | string[]> = {};
  for (const [name, value] of Object.entries(headers)) {
    if (value === undefined || scrubber.text(name) !== name) continue;
    scrubbed[name] = Array.isArray(value) ? value.map((each) => scrubber.text(each)) : scrubber.text(value);
  }
  return scrubbed;
}

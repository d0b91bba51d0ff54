/** What a response says beside its body. */
export interface ResponseHead {
  readonly status: number;
  readonly statusText: string;
  readonly headers: Headers;
  readonly url: string;
}

const decoder = new TextDecoder();

/** What is left to the platform: types do not let methods stand in for what they call properties. */
const Plain = Response as unknown as new (
  body: null,
  init: ResponseInit,
) => Pick<Response, "status" | "statusText" | "ok" | "redirected" | "type">;

/**
 * A response whose body is here already. A plain one would lay a stream over the bytes at once, which takes longer than to keep
 * the books of the call; most callers only want the text. A stream is made for who asks for one.
 */
export class WholeResponse extends Plain implements Response {
  readonly #head: ResponseHead;
  readonly #bytes: Uint8Array<ArrayBuffer>;
  #used = false;
  /** The same response with a stream, once somebody wanted that. */
  #streamed: Response | null = null;

  constructor(head: ResponseHead, bytes: Uint8Array<ArrayBuffer>) {
    super(null, { status: head.status, statusText: head.statusText });
    this.#head = head;
    this.#bytes = bytes;
  }

  get url(): string {
    return this.#head.url;
  }

  get headers(): Headers {
    return this.#head.headers;
  }

  get body(): Response["body"] {
    return this.#stream().body;
  }

  get bodyUsed(): boolean {
    return this.#used || this.#streamed?.bodyUsed === true;
  }

  async text(): Promise<string> {
    return this.#streamed === null ? decoder.decode(this.#take()) : this.#streamed.text();
  }

  async json(): Promise<unknown> {
    return JSON.parse(await this.text());
  }

  async arrayBuffer(): Promise<ArrayBuffer> {
    if (this.#streamed !== null) return this.#streamed.arrayBuffer();
    const { buffer, byteOffset, byteLength } = this.#take();
    return buffer.slice(byteOffset, byteOffset + byteLength);
  }

  async bytes(): Promise<Uint8Array<ArrayBuffer>> {
    return new Uint8Array(await this.arrayBuffer());
  }

  blob(): Promise<Blob> {
    return this.#stream().blob();
  }

  formData(): ReturnType<Response["formData"]> {
    return this.#stream().formData();
  }

  clone(): Response {
    if (this.bodyUsed || this.body?.locked === true) throw unusable();
    return new WholeResponse({ ...this.#head, headers: new Headers(this.headers) }, this.#bytes);
  }

  #take(): Uint8Array<ArrayBuffer> {
    if (this.#used) throw unusable();
    this.#used = true;
    return this.#bytes;
  }

  #stream(): Response {
    if (this.#streamed === null) {
      this.#streamed = new Response(this.#bytes, this.#head);
      // What was read as a text before has no second reading.
      if (this.#used) void this.#streamed.arrayBuffer();
    }
    return this.#streamed;
  }
}

function unusable(): TypeError {
  return new TypeError("Body is unusable: Body has already been read");
}

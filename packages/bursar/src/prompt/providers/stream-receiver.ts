import { drain, hangUp } from "../../models/meter/hang-up.js";
import { StreamedAnswer } from "../../models/meter/streamed-answer.js";
import { isObject, parsedObject } from "../../models/wire/json-object.js";
import type { WireRequest } from "../../models/wire/protocol.js";
import { SseSplitter } from "../../models/wire/sse.js";
import { ProviderError, type UsageReport } from "../provider.js";
import type { Assembly, Dialect } from "./dialect.js";
import type { Received, Receiver } from "./receiver.js";
import { WholeReceiver } from "./whole-receiver.js";

/** No answer needs more, however small its pieces are. */
const MOST_BYTES = 64 * 1024 * 1024;

/** Takes an answer piece by piece, and knows at any moment what it can have used. */
export class StreamReceiver implements Receiver {
  private readonly shown: (text: string) => string;
  private readonly dialect: Dialect;
  private readonly wire: WireRequest;
  private readonly answer: StreamedAnswer;
  private readonly assembly: Assembly;
  private readonly splitter: SseSplitter = new SseSplitter();
  private begun = false;
  private failure = "";

  /** `shown` makes what a provider says fit for an error. */
  constructor(dialect: Dialect, wire: WireRequest, most: number, shown: (text: string) => string) {
    this.shown = shown;
    this.dialect = dialect;
    this.wire = wire;
    this.answer = new StreamedAnswer(wire, dialect.protocol.stream(wire), most);
    this.assembly = dialect.assembly();
  }

  /** Before anything has come, nobody knows; then input is as reported or bounded, and output as far as it was seen. */
  get seen(): UsageReport {
    if (!this.begun) return {};
    const { reported, output } = this.answer.seen;
    return { usage: { input: reported?.input ?? this.wire.input_tokens, output }, estimated: true };
  }

  async receive(response: Response): Promise<Received> {
    const isStream = (response.headers.get("content-type") ?? "").includes("text/event-stream");
    // Some servers do not know how, and answer in one piece.
    if (!isStream || response.body === null) return new WholeReceiver(this.dialect.protocol).receive(response);
    this.begun = true;
    await this.readAll(response.body);
    if (this.failure !== "") throw this.broken(`it told of a failure: ${this.failure}`);
    if (this.answer.state === "capped")
      throw this.broken("it was longer than the request allowed, and was not read on");
    const { body } = this.assembly;
    if (body === null) throw this.broken("it did not come to its end");
    const { counts } = this.answer;
    // A whole answer without usage is charged the reservation, like any other.
    const report = counts === null ? {} : { usage: { input: counts.input, output: counts.output } };
    return { body, said: JSON.stringify(body), report };
  }

  private async readAll(body: ReadableStream<Uint8Array>): Promise<void> {
    const reader = body.getReader();
    let size = 0;
    while (this.answer.state === "running" && size <= MOST_BYTES) {
      const { done, value } = await reader.read();
      if (done) return;
      size += value.length;
      for (const bytes of this.answer.push(value)) this.read(bytes);
    }
    for (const bytes of this.answer.last) this.read(bytes);
    void (this.answer.state === "ended" ? drain(reader) : hangUp(reader));
  }

  private read(bytes: Uint8Array): void {
    for (const { event, data } of this.splitter.push(bytes)) {
      const value = data === null ? null : parsedObject(data);
      if (data === null || value === null) continue;
      if (value.type === "error" || isObject(value.error)) this.failure = this.shown(data);
      else this.assembly.read(event, value);
    }
  }

  private broken(why: string): ProviderError {
    return new ProviderError(`the answer of the provider broke off: ${why}`, this.seen);
  }
}

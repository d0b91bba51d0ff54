import { bodyOf } from "../../models/chat/response.js";
import { parsedObject } from "../../models/wire/json-object.js";
import type { Protocol } from "../../models/wire/protocol.js";
import type { UsageReport } from "../provider.js";
import type { Received, Receiver } from "./receiver.js";

/** Takes an answer that comes in one piece. */
export class WholeReceiver implements Receiver {
  /** Of an answer that did not arrive, nobody knows. */
  readonly seen: UsageReport = {};
  private readonly protocol: Protocol;

  constructor(protocol: Protocol) {
    this.protocol = protocol;
  }

  async receive(response: Response): Promise<Received> {
    const said = await bodyOf(response);
    const body = parsedObject(said);
    const counts = body === null ? null : this.protocol.usage(body);
    return { body, said, report: counts === null ? {} : { usage: { input: counts.input, output: counts.output } } };
  }
}

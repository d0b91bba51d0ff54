import type { JsonObject } from "../../core/chain/canonical.js";
import type { UsageReport } from "../provider.js";

/** What came back for a request. */
export interface Received {
  /** The answer; null when there is none that can be read. */
  readonly body: JsonObject | null;
  /** What to show of it, if it cannot be used. */
  readonly said: string;
  readonly report: UsageReport;
}

/** Takes the answer to one request. */
export interface Receiver {
  receive(response: Response): Promise<Received>;
  /** What the request can have used, should it break off now. */
  readonly seen: UsageReport;
}

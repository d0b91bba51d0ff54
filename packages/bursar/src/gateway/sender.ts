import { Agent, type ClientRequest, type IncomingMessage, request as requestHttp } from "node:http";
import { request as requestHttps, Agent as SecureAgent } from "node:https";
import { BursarError } from "../core/errors.js";

export interface Sending {
  readonly method: string;
  readonly url: URL;
  readonly headers: Record<string, string | string[]>;
  readonly body: string | null;
  readonly signal: AbortSignal;
}

export interface SenderOptions {
  /** How long a provider may take until it begins to answer. */
  readonly answer_ms: number;
  /** How long it may then be silent. */
  readonly silence_ms: number;
}

/** The provider did not answer, or stopped to, for longer than it is given. */
export class UpstreamTimeout extends BursarError {
  override readonly name: string = "UpstreamTimeout";

  constructor(message: string) {
    super("upstream_timeout", message);
  }
}

/**
 * A connection that nobody uses is closed before servers do so, most of which wait for 5 seconds: a request that meets a closing
 * connection is lost, and would have to be paid for, because nobody knows whether it was read.
 */
const IDLE = { keepAlive: true, timeout: 4000 } as const;

/** Sends requests on connections that are used again. */
export class Sender implements Disposable {
  private readonly options: SenderOptions;
  private readonly plain = new Agent(IDLE);
  private readonly secure = new SecureAgent(IDLE);

  constructor(options: SenderOptions) {
    this.options = options;
  }

  /** Sends a request, and gives the answer once its headers are there. */
  send({ method, url, headers, body, signal }: Sending): Promise<IncomingMessage> {
    const { answer_ms, silence_ms } = this.options;
    return new Promise((resolve, reject) => {
      const options = { method, headers, signal };
      const sent: ClientRequest =
        url.protocol === "https:"
          ? requestHttps(url, { ...options, agent: this.secure })
          : requestHttp(url, { ...options, agent: this.plain });
      let patience = answer_ms;
      sent.on("timeout", () => {
        sent.destroy(new UpstreamTimeout(`the provider has said nothing for ${patience} ms`));
      });
      sent.setTimeout(answer_ms);
      // It may fail more than once, and what nobody listens to would end the process.
      sent.on("error", reject);
      sent.once("response", (answer) => {
        patience = silence_ms;
        sent.setTimeout(silence_ms);
        resolve(answer);
      });
      sent.end(body ?? undefined);
    });
  }

  [Symbol.dispose](): void {
    this.plain.destroy();
    this.secure.destroy();
  }
}

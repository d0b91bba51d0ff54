import type { Agent, Dispatcher } from "undici";
import { BursarError } from "../core/errors.js";
import { Received } from "./received.js";

/** Where a request goes, and how. */
export interface Sending {
  readonly method: "GET" | "POST";
  readonly url: URL;
  readonly headers: Record<string, string | string[]>;
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
const IDLE_MS = 4000;

/**
 * Sends requests on connections that are used again. It is undici's dispatcher and not `node:http`, which seemed to take longer for
 * most requests (decision 35).
 */
export class Sender implements Disposable {
  private readonly options: SenderOptions;
  private readonly agent: Agent;

  private constructor(options: SenderOptions, agent: Agent) {
    this.options = options;
    this.agent = agent;
  }

  /** Whoever only looks at keys does not wait until it is loaded, which takes longer than all the rest. */
  static async open(options: SenderOptions): Promise<Sender> {
    const { Agent } = await import("undici");
    const { answer_ms: headersTimeout, silence_ms: bodyTimeout } = options;
    const idle = { keepAliveTimeout: IDLE_MS, keepAliveMaxTimeout: IDLE_MS };
    const agent = new Agent({ ...idle, headersTimeout, bodyTimeout, pipelining: 1, connections: null });
    return new Sender(options, agent);
  }

  /** Sends a request, and gives the answer once its headers are there. */
  send({ method, url, headers }: Sending, body: string | null, signal: AbortSignal): Promise<Received> {
    const { origin, pathname, search } = url;
    return new Promise((resolve, reject) => {
      const fail = (error: unknown) => reject(this.explained(error));
      if (signal.aborted) return reject(signal.reason);
      const received = new Received((error) => this.explained(error));
      let control: Dispatcher.DispatchController | null = null;
      const stop = () => {
        const reason: unknown = signal.reason;
        received.fail(reason);
        reject(reason);
        control?.abort(reason instanceof Error ? reason : new Error("the request was given up"));
      };
      const over = () => signal.removeEventListener("abort", stop);
      signal.addEventListener("abort", stop, { once: true });
      const handler: Dispatcher.DispatchHandler = {
        onRequestStart: (given) => {
          control = given;
          if (signal.aborted) given.abort(new Error("the request was given up"));
        },
        onResponseStart: (given, status, answered) => {
          // What comes before the answer itself is for nobody but us.
          if (status < 200) return;
          received.begin(status, answered, given);
          resolve(received);
        },
        onResponseData: (_, piece) => received.push(piece),
        onResponseEnd: () => {
          over();
          received.end();
        },
        onResponseError: (_, error) => {
          over();
          received.fail(error);
          fail(error);
        },
      };
      this.agent.dispatch({ origin, path: `${pathname}${search}`, method, headers, body }, handler);
    });
  }

  [Symbol.dispose](): void {
    void this.agent.destroy().catch(() => {});
  }

  private explained(error: unknown): unknown {
    const { answer_ms, silence_ms } = this.options;
    const code = (error as NodeJS.ErrnoException | null)?.code;
    if (code === "UND_ERR_HEADERS_TIMEOUT") return new UpstreamTimeout(silent(answer_ms));
    return code === "UND_ERR_BODY_TIMEOUT" ? new UpstreamTimeout(silent(silence_ms)) : error;
  }
}

function silent(ms: number): string {
  return `the provider has said nothing for ${ms} ms`;
}

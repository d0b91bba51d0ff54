import { Agent, request } from "node:http";

export interface Target {
  readonly port: number;
  readonly secret: string;
}

const PROMPT = "All work and no play makes for a long prompt. ".repeat(90).slice(0, 4096);

/** A client that asks one target, on so many connections as it needs. */
export class Client {
  private readonly agent = new Agent({ keepAlive: true, maxSockets: 1000 });
  private readonly target: Target;
  private readonly bodies: { readonly whole: Buffer; readonly stream: Buffer };

  constructor(target: Target) {
    this.target = target;
    const body = (stream: boolean) =>
      Buffer.from(
        JSON.stringify({
          model: "gpt-4o",
          max_tokens: 100,
          stream,
          ...(stream && { stream_options: { include_usage: true } }),
          messages: [{ role: "user", content: PROMPT }],
        }),
      );
    this.bodies = { whole: body(false), stream: body(true) };
  }

  /** Asks once, and reads the answer to its end. */
  ask(kind: "whole" | "stream", headers: Readonly<Record<string, string>> = {}): Promise<number> {
    const body = this.bodies[kind];
    const { port, secret } = this.target;
    return new Promise((resolve, reject) => {
      const sent = request({
        host: "127.0.0.1",
        port,
        path: "/v1/chat/completions",
        method: "POST",
        agent: this.agent,
        headers: {
          ...headers,
          "content-type": "application/json",
          "content-length": body.length,
          authorization: `Bearer ${secret}`,
        },
      });
      sent.on("error", reject);
      sent.on("response", (answer) => {
        let size = 0;
        answer.on("data", (piece: Buffer) => {
          size += piece.length;
        });
        answer.on("error", reject);
        answer.on("end", () => {
          if (answer.statusCode === 200) resolve(size);
          else reject(new Error(`the target answers ${answer.statusCode}`));
        });
      });
      sent.end(body);
    });
  }

  /** So many requests in all, so many at once. */
  async askAll(kind: "whole" | "stream", count: number, atOnce: number): Promise<void> {
    let left = count;
    const one = async () => {
      while (left-- > 0) await this.ask(kind);
    };
    await Promise.all(Array.from({ length: atOnce }, one));
  }

  close(): void {
    this.agent.destroy();
  }
}

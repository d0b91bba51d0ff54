import type { ScriptedRequest } from "../../src/testing/scripted/request.js";
import { randomOf } from "../stores/seeds.js";

/* A gateway that looks ahead and saves in every way it can, a provider that keeps its own books, and callers who want all sorts of things. */

/** In billionths of a dollar for a token: input, output. */
const NANO: Readonly<Record<string, readonly [number, number]>> = {
  "gpt-5": [4000, 16_000],
  "gpt-4o": [1000, 4000],
  "claude-sonnet-4-5": [250, 1000],
  "text-embedding-3-small": [20, 0],
};
export const PRICES = Object.fromEntries(
  Object.entries(NANO).map(([model, [input, output]]) => [
    model,
    { input_usd_per_mtok: input / 1000, output_usd_per_mtok: output / 1000 },
  ]),
);
export const TIERS = {
  lists: {
    auto: {
      tiers: [
        { name: "large", model: "gpt-5" },
        { name: "medium", model: "gpt-4o" },
        { name: "small", model: "claude-sonnet-4-5" },
      ],
    },
  },
};
export const REUSE = { in_flight: true, embeddings: { window_ms: 10 }, cache: true };

/** A provider that keeps its own books. */
export class Seller {
  nano = 0;
  tokens = 0;
  private readonly next = randomOf(7);

  async answer({ protocol, model, text, max_tokens, body }: ScriptedRequest) {
    await new Promise((resolve) => setTimeout(resolve, 20 * this.next()));
    if (text.startsWith("wrong")) return { kind: "status", status: 400, message: "no" } as const;
    const isChat = protocol !== "openai-embeddings";
    const prompt_tokens = isChat ? 10 : 3 * [body.input].flat().length;
    const completion_tokens = isChat ? Math.min(max_tokens ?? 4096, 200 + Math.floor(200 * this.next())) : 0;
    const [input = 0, output = 0] = NANO[model] ?? [];
    this.nano += input * prompt_tokens + output * completion_tokens;
    this.tokens += prompt_tokens + completion_tokens;
    return { kind: "text", text: "Yes.", usage: { prompt_tokens, completion_tokens } } as const;
  }
}

/** What caller number so and so wants: most of it is new, some was asked before, some is wrong, some is streamed. */
export function wish(number: number): readonly [path: string, body: object] {
  const chat = (model: string, content: string, more: object = {}) =>
    ["/v1/chat/completions", { model, messages: [{ role: "user", content }], max_tokens: 4096, ...more }] as const;
  switch (number % 10) {
    case 0:
    case 1:
      return ["/v1/embeddings", { model: "text-embedding-3-small", input: `text ${number}` }];
    case 2:
    case 3:
      return chat("gpt-4o", `question ${number % 40}`);
    case 4:
      return chat("gpt-4o", `wrong ${number}`);
    case 5:
      return chat("bursar/auto", `story ${number}`, { stream: true, stream_options: { include_usage: true } });
    default:
      return chat("bursar/auto", `question ${number}`);
  }
}

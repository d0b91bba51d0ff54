import type { ScriptedProtocol } from "../../../src/testing/scripted/request.js";
import type { ScriptedModel } from "../../../src/testing/scripted-model.js";

/** How a protocol is asked for an answer, without any client in between. */
export interface Asking {
  readonly protocol: ScriptedProtocol;
  readonly path: string;
  readonly body: object;
  /** How it spells the most that an answer may have. */
  readonly limit: string;
}

const MESSAGES = [{ role: "user", content: "Hello?" }];

export const ASKING: readonly Asking[] = [
  { protocol: "openai-chat", path: "/chat/completions", body: { messages: MESSAGES }, limit: "max_completion_tokens" },
  { protocol: "openai-responses", path: "/responses", body: { input: "Hello?" }, limit: "max_output_tokens" },
  {
    protocol: "anthropic-messages",
    path: "/messages",
    body: { messages: MESSAGES, max_tokens: 99_999 },
    limit: "max_tokens",
  },
];

/** Asks. */
export function ask(
  server: ScriptedModel,
  { path, body }: Asking,
  more: object = {},
  init: RequestInit = {},
): Promise<Response> {
  return fetch(`${server.url}${path}`, {
    method: "POST",
    headers: { "anthropic-version": "2023-06-01" },
    ...init,
    body: JSON.stringify({ model: "scripted", ...body, ...more }),
  });
}

/** What arrives of a response, and how it ends. */
export async function arrived(response: Response): Promise<{ readonly bytes: Buffer; readonly whole: boolean }> {
  const pieces: Uint8Array[] = [];
  try {
    for await (const piece of response.body as unknown as AsyncIterable<Uint8Array>) pieces.push(piece);
  } catch {
    return { bytes: Buffer.concat(pieces), whole: false };
  }
  return { bytes: Buffer.concat(pieces), whole: true };
}

/** The events of a stream that are whole. */
export function eventsIn(bytes: Buffer): readonly string[] {
  return bytes.toString("utf8").split("\n\n").slice(0, -1);
}

/** Lets everything happen that needs no time. */
export async function until(isSo: () => boolean): Promise<void> {
  while (!isSo()) await new Promise((resolve) => setImmediate(resolve));
}

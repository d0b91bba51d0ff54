import { KeyScrubber } from "../wire/key-scrubber.js";
import { ProviderError } from "./provider-error.js";

const MOST_BYTES = 16 * 1024 * 1024;
const LONGEST = 300;

/** The body of a response as a text. One that does not end is not read to its end. */
export async function bodyOf(response: Response): Promise<string> {
  if (response.body === null) return "";
  const decoder = new TextDecoder();
  let size = 0;
  let text = "";
  for await (const piece of response.body as unknown as AsyncIterable<Uint8Array>) {
    size += piece.length;
    if (size > MOST_BYTES) {
      const { status } = response;
      throw new ProviderError("provider_answer", `the provider sends more than ${MOST_BYTES} bytes`, { status });
    }
    text += decoder.decode(piece, { stream: true });
  }
  return text + decoder.decode();
}

/** What a provider says of a failure, short and without the key, which some of them repeat. */
export function shortened(text: string, secret: string | null): string {
  const said = messageIn(text) ?? text;
  // Before it is cut, so that no part of it is left.
  const safe = secret === null ? said : new KeyScrubber(secret).answer(said.replaceAll(secret, "[key]"));
  const line = safe
    .replace(/\bsk-[\w-]{8,}/g, "[key]")
    .replace(/\p{Surrogate}/gu, "\ufffd")
    .replace(/[\p{Cc}\s]+/gu, " ")
    .trim();
  return line.length > LONGEST ? `${line.slice(0, LONGEST)}…` : line;
}

/** The message of an error as providers write it. */
function messageIn(text: string): string | null {
  try {
    const { error } = JSON.parse(text) as { error?: unknown };
    if (typeof error === "string") return error;
    const { message } = error as { message?: unknown };
    return typeof message === "string" ? message : null;
  } catch {
    return null;
  }
}

import { isCount } from "../../core/chain/rules.js";

/** Longer loops than this forget how they began; then the model's window bounds what they refer to. */
const MOST = 10_000;
const LONGEST_NAME = 256;

/**
 * How much a model has thought at most, by the name under which the provider keeps it. OpenAI's models refer to their earlier
 * thoughts by name, and pay for them as input; whoever has seen them being thought knows how much that can be.
 */
const kept = new Map<string, number>();

/** Remembers that everything named in these parts came with an answer of so many tokens. */
export function keepThoughts(names: Iterable<string>, output_tokens: number): void {
  if (!isCount(output_tokens)) return;
  for (const name of names) {
    if (name.length > LONGEST_NAME) continue;
    kept.delete(name);
    kept.set(name, output_tokens);
    const [oldest] = kept.keys();
    if (kept.size > MOST && oldest !== undefined) kept.delete(oldest);
  }
}

/** The most tokens of a thought that is referred to by its name; null when nobody here has seen it. */
export function tokensOfThought(name: string): number | null {
  return kept.get(name) ?? null;
}

/** Under which name a provider keeps a part, if it says so. */
export function nameOfThought(part: {
  readonly type?: unknown;
  readonly providerMetadata?: unknown;
  readonly providerOptions?: unknown;
}): string | null {
  if (typeof part.type !== "string" || !part.type.startsWith("reasoning")) return null;
  for (const own of Object.values((part.providerMetadata ?? part.providerOptions ?? {}) as Record<string, unknown>)) {
    const { itemId } = (own ?? {}) as { readonly itemId?: unknown };
    if (typeof itemId === "string") return itemId;
  }
  return null;
}

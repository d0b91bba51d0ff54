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

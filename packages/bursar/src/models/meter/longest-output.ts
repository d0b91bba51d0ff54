/**
 * The longest answer a model gives, by its name. A request that does not say how long
 * its answer may be is held to this: to ask for more is an error at the provider, and to assume less could be too little.
 */
const LONGEST: readonly (readonly [name: RegExp, tokens: number])[] = [
  [/^gpt-3\.5/, 4096],
  // The first ones have one window for both sides, which a longer answer would not leave room for a question in.
  [/^gpt-4(?:$|-|:)/, 4096],
  [/^gpt-4\.1/, 32_768],
  [/^gpt-4o-2024-05-13/, 4096],
  [/^(?:chat)?gpt-4(?:\.5|o)/, 16_384],
  [/^gpt-audio/, 16_384],
  [/^gpt-5(?:\.\d+)?-chat/, 16_384],
  [/^gpt-5-pro/, 272_000],
  [/^gpt-[56](?:$|[-.:])/, 128_000],
  [/^o1-mini/, 65_536],
  [/^o1-preview/, 32_768],
  [/^o[134](?:$|[-:])/, 100_000],
  [/^codex-mini/, 100_000],
  [/^computer-use-preview/, 1024],
];

/** Null for models of which it is not known. */
export function longestOutput(model: string): number | null {
  const bare = model.slice(model.lastIndexOf("/") + 1).toLowerCase();
  const name = bare.startsWith("ft:") ? bare.slice(3) : bare;
  return LONGEST.find(([family]) => family.test(name))?.[1] ?? null;
}

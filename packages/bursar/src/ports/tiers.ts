/** What a request may need of a model, as far as it can be read off the request itself. Callers may name others of their own. */
export type KnownCapability = "tools" | "images" | "audio" | "files" | "structured_output";

/** One model that a list may choose. */
export interface TierOptions {
  /** How it is called in pins and in the chain: `large`. */
  readonly name: string;
  /** The model as its provider names it. Its price comes from the price book. */
  readonly model: string;
  /** How good it is, by whatever measure: only for reports. By its place in the list, unless it is said. */
  readonly quality?: number;
  /** What it can do; everything, unless it is said. */
  readonly capabilities?: readonly (KnownCapability | (string & {}))[];
  /** The most tokens it takes; as the price book says, unless it is said. */
  readonly context_window?: number;
}

/** How slowly a better tier is gone back to. */
export interface HysteresisOptions {
  /** So many calls at least after a switch, and twice as many with every time that it went up: 3. */
  readonly calls?: number;
  /** By so much more than it needs has to be left: 0.25. */
  readonly margin?: number;
}

/** Models to choose from, the best first. */
export interface TierListOptions {
  readonly tiers: readonly TierOptions[];
  /** The name of the worst tier that may be chosen: the last, unless it is said. */
  readonly floor?: string;
  /** What happens when not even the floor fits: as the budget's policy says, unless it is said here. */
  readonly when_none_fits?: "pause" | "stop";
  readonly hysteresis?: HysteresisOptions;
}

/**
 * Lists of models by name: a request for `bursar/<name>` goes to the best of them that fits what is left.
 *
 * @example
 * ```ts
 * const tiers: TiersOptions = {
 *   lists: {
 *     auto: {
 *       tiers: [
 *         { name: "large", model: "gpt-5" },
 *         { name: "small", model: "gpt-5-mini", capabilities: ["tools", "structured_output"] },
 *       ],
 *     },
 *   },
 * };
 * ```
 */
export interface TiersOptions {
  readonly lists: Readonly<Record<string, TierListOptions>>;
  /** With false, nothing is chosen: `bursar/<name>` means the first tier of its list. */
  readonly enabled?: boolean;
}

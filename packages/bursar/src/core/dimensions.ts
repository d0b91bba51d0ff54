import type { Amount, Amounts } from "./amount.js";
import { checkDimension, type Dimension, defineDimension } from "./dimension.js";
import { InputError, show } from "./errors.js";
import { nearest } from "./nearest.js";

/** Other names a caller may use at the edges; inside there is one id. */
const ALIASES: Readonly<Record<string, string>> = {
  max_cost_usd: "cost_usd",
  token_budget: "llm_tokens",
  wall_clock: "wall_clock_ms",
  network_egress: "network_egress_bytes",
  storage_write: "storage_write_bytes",
};

const NO_PEAKS: readonly string[] = Object.freeze([]);

/** The dimensions one ledger counts, in the order in which equally severe findings are reported. */
export class Dimensions {
  readonly all: readonly Dimension[];
  private readonly byId: ReadonlyMap<string, Dimension>;
  private readonly ranks: ReadonlyMap<string, number>;

  constructor(all: readonly Dimension[]) {
    const byId = new Map<string, Dimension>();
    for (const dimension of all) {
      checkDimension(dimension);
      if (byId.has(dimension.id) || Object.hasOwn(ALIASES, dimension.id)) {
        throw new InputError("dimension.id", `is "${dimension.id}", which is taken; choose another`);
      }
      byId.set(dimension.id, dimension);
    }
    this.all = Object.freeze([...all]);
    this.byId = byId;
    this.ranks = new Map(all.map(({ id }, rank) => [id, rank]));
  }

  /** A table with further dimensions of the caller's own. */
  with(...further: readonly Dimension[]): Dimensions {
    return new Dimensions([...this.all, ...further]);
  }

  has(id: string): boolean {
    return this.byId.has(id);
  }

  /** By its id alone; undefined where the table has none. */
  find(id: string): Dimension | undefined {
    return this.byId.get(id);
  }

  /** Whether all that is named is in the table. */
  hasAll(amounts: Amounts): boolean {
    for (const id in amounts) if (!this.byId.has(id)) return false;
    return true;
  }

  /** The part of amounts that is held: peaks and clocks are not. */
  sumsOf(amounts: Amounts): Amounts {
    const sums: Record<string, Amount> = {};
    for (const id in amounts) {
      const { kind } = this.byId.get(id) ?? this.get(id);
      if (kind === "sum") sums[id] = amounts[id] as Amount;
    }
    return sums;
  }

  /** Those of the dimensions that are peaks. Nearly always there are none. */
  peaksOf(amounts: Readonly<Record<string, number>>): readonly string[] {
    let peaks: string[] | null = null;
    for (const id in amounts) {
      if ((this.byId.get(id) ?? this.get(id)).kind !== "peak") continue;
      peaks ??= [];
      peaks.push(id);
    }
    return peaks ?? NO_PEAKS;
  }

  /** The place in the table; -1 for what is not in it. */
  rank(id: string): number {
    return this.ranks.get(id) ?? -1;
  }

  /** By its id alone: for names that come from inside. */
  get(id: string): Dimension {
    const dimension = this.byId.get(id);
    if (dimension === undefined) throw this.unknown(id, "dimension");
    return dimension;
  }

  /** By any name a caller may use: id, alias or kebab form. */
  resolve(name: string, field: string = name): Dimension {
    // No id is also an alias, so an id in its own form needs no reading.
    const exact = name.includes("-") ? undefined : this.byId.get(name);
    if (exact !== undefined) return exact;
    const snake = name.replaceAll("-", "_");
    const id = Object.hasOwn(ALIASES, snake) ? ALIASES[snake] : snake;
    const dimension = this.byId.get(id ?? snake);
    if (dimension === undefined) throw this.unknown(name, field);
    return dimension;
  }

  /** The names that a caller may use for a dimension: its id, then its aliases. */
  namesOf(id: string): readonly string[] {
    return [id, ...Object.keys(ALIASES).filter((alias) => ALIASES[alias] === id)];
  }

  private unknown(name: string, field: string): InputError {
    const ids = this.all.map(({ id }) => id);
    const guess = nearest(name.replaceAll("-", "_"), [...ids, ...Object.keys(ALIASES)]);
    const hint = guess === null ? "" : `; did you mean ${guess}?`;
    const subject = field === name ? "" : `${show(name)} `;
    return new InputError(field, `${subject}is not a dimension${hint}; known: ${ids.join(", ")}`);
  }
}

const MEGABYTE = 1_048_576;

/** The thirteen dimensions every ledger has. */
export const STANDARD: Dimensions = new Dimensions([
  defineDimension({ id: "steps", kind: "sum", unit: "calls", defaultLimit: 50, description: "Capability calls" }),
  defineDimension({
    id: "wall_clock_ms",
    kind: "clock",
    unit: "ms",
    defaultLimit: 60_000,
    description: "Running time",
  }),
  defineDimension({
    id: "llm_tokens",
    kind: "sum",
    unit: "tokens",
    defaultLimit: 100_000,
    defaultPolicy: "approval_required",
    description: "Input and output tokens",
  }),
  defineDimension({ id: "llm_input_tokens", kind: "sum", unit: "tokens", description: "Input tokens" }),
  defineDimension({ id: "llm_output_tokens", kind: "sum", unit: "tokens", description: "Output tokens" }),
  defineDimension({
    id: "cost_usd",
    kind: "sum",
    unit: "USD",
    decimals: 9,
    defaultLimit: 0.5,
    description: "Money spent",
  }),
  defineDimension({
    id: "network_egress_bytes",
    kind: "sum",
    unit: "bytes",
    defaultLimit: 10 * MEGABYTE,
    description: "Bytes sent to the network",
  }),
  defineDimension({
    id: "storage_write_bytes",
    kind: "sum",
    unit: "bytes",
    defaultLimit: 50 * MEGABYTE,
    description: "Bytes written to storage",
  }),
  defineDimension({ id: "fuel", kind: "sum", unit: "fuel", description: "Work done in the WASM sandbox" }),
  defineDimension({ id: "memory_peak_bytes", kind: "peak", unit: "bytes", description: "Highest memory of a guest" }),
  defineDimension({ id: "iterations", kind: "sum", unit: "rounds", description: "Rounds of an agent's loop" }),
  defineDimension({ id: "subcalls", kind: "sum", unit: "runs", description: "Child runs started" }),
  defineDimension({ id: "depth", kind: "peak", unit: "levels", description: "Nesting of runs; the root is 0" }),
]);

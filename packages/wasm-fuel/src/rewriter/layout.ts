import type { Declarations } from "./declarations.js";
import { TYPE } from "./operators.js";
import type { Signature } from "./types.js";

/** The names of our exports. A colon keeps them out of the way of anything a compiler makes. */
export const PRIVATE = {
  fuel: "bursar:fuel",
  depth: "bursar:depth",
  hooks: "bursar:hooks",
  ceiling: "bursar:ceiling",
  refused: "bursar:refused",
  start: "bursar:start",
} as const;

/** In pages: more than any guest can ask for. */
export const NO_CEILING: number = 2 ** 40;

/** Functions that we add. */
export const HELPERS = ["refill", "bytes", "elements", "grow", "copy", "fill"] as const;
export type Helper = (typeof HELPERS)[number];

/** The types of helpers, by their place among the types that we add. */
const HELPER_TYPES = [
  { params: [TYPE.i64], results: [] },
  { params: [TYPE.i32], results: [TYPE.i32] },
  { params: [TYPE.i32, TYPE.i32, TYPE.i32], results: [] },
] as const;
const TYPE_OF: Readonly<Record<Helper, number>> = { refill: 0, bytes: 1, elements: 1, grow: 1, copy: 2, fill: 2 };

/** Where our additions are in the spaces of the module's indices: always after what it had, so that none of those changes. */
export class Layout {
  readonly fuel: number;
  /** How many pages the memory may have at most, and the most that were wanted beyond. */
  readonly ceiling: number;
  readonly refused: number;
  /** The last one, because not every module has it. */
  readonly depth: number;
  readonly hooks: number;
  private readonly firstType: number;
  private readonly firstHelper: number;
  private readonly used: Helper[] = [];
  private readonly blockTypes = new Map<string, { readonly index: number; readonly results: Uint8Array }>();

  constructor(declarations: Declarations) {
    this.fuel = declarations.globals;
    this.ceiling = declarations.globals + 1;
    this.refused = declarations.globals + 2;
    this.depth = declarations.globals + 3;
    this.hooks = declarations.tables;
    this.firstType = declarations.signatures.length;
    this.firstHelper = declarations.functions.length;
    this.helper("refill");
  }

  /** The helpers that are called, in the order of their indices. */
  get helpers(): readonly Helper[] {
    return this.used;
  }

  /** The index of a helper, which is then added to the module. */
  helper(name: Helper): number {
    const known = this.used.indexOf(name);
    return this.firstHelper + (known < 0 ? this.used.push(name) - 1 : known);
  }

  typeOf(helper: Helper): number {
    return this.firstType + TYPE_OF[helper];
  }

  /** The type of a block that takes nothing and gives several results, which needs an entry among the types. */
  blockType(results: Uint8Array): number {
    const key = results.join();
    const known = this.blockTypes.get(key);
    if (known !== undefined) return known.index;
    const index = this.firstType + HELPER_TYPES.length + this.blockTypes.size;
    this.blockTypes.set(key, { index, results });
    return index;
  }

  /** The types that we add. */
  types(): readonly { readonly params: readonly number[]; readonly results: readonly number[] }[] {
    return [
      ...HELPER_TYPES,
      ...[...this.blockTypes.values()].map(({ results }) => ({ params: [], results: [...results] })),
    ];
  }
}

/** Whether a block of these results can say so without an entry among the types. */
export function plainBlockType({ results }: Signature): number | null {
  if (results.length > 1) return null;
  return results[0] ?? TYPE.empty;
}

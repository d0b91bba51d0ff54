import { BULK, OP } from "./operators.js";

/**
 * What fuel is: the cost of every operator that a guest executes. The model is wasmtime's, with charges by size added, so
 * that a single operator cannot do a second's work for one unit. A new figure here is a new `version`: a receipt names it.
 */
export interface CostTable {
  readonly version: string;
  /** Entering a function. */
  readonly entry: number;
  /** Every operator that is not free, calls and branches included. */
  readonly operator: number;
  /** Operators that cost nothing, by their names in the text format. */
  readonly free: readonly string[];
  /** Bytes that memory.copy, memory.fill and memory.init move for one unit, rounded down; a power of two. */
  readonly bytesPerUnit: number;
  /** One element that table.copy, table.fill, table.init and table.grow are asked for. */
  readonly element: number;
  /** One page of 64 KiB by which memory.grow made the memory larger; when it fails, nothing. */
  readonly page: number;
}

export const COSTS: CostTable = {
  version: "1",
  entry: 1,
  operator: 1,
  free: ["nop", "drop", "block", "loop", "unreachable", "return", "else", "end"],
  bytesPerUnit: 4,
  element: 1,
  page: 131_072,
};

const CODES: Readonly<Record<string, number>> = OP;

/** The cost of an operator by its first byte, without what it is charged by size. */
export const COST_OF: Uint8Array = costOf(COSTS);

function costOf({ operator, free }: CostTable): Uint8Array {
  const costs = new Uint8Array(256).fill(operator);
  for (const name of free) {
    const code = CODES[name];
    if (code === undefined) throw new RangeError(`the cost table lists ${name} as free, which is no operator`);
    costs[code] = 0;
  }
  return costs;
}

/** How an operator behind the prefix `0xfc` is charged by size. */
export function sizeCharge(code: number): "bytes" | "elements" | "none" {
  switch (code) {
    case BULK.memoryInit:
    case BULK.memoryCopy:
    case BULK.memoryFill:
      return "bytes";
    case BULK.tableInit:
    case BULK.tableCopy:
    case BULK.tableFill:
    case BULK.tableGrow:
      return "elements";
    default:
      return "none";
  }
}

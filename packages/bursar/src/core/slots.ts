import { LedgerError } from "./errors.js";
import { UNROLLED } from "./row.js";
import { grown } from "./rows.js";

const FIRST_SLOTS = 16;
const MAX_SLOTS = 2 ** 24;
const FREE = -1;

/** The reservations of a ledger: one slot each, in typed arrays that grow by doubling and are used again when freed. */
export class Slots {
  /** What each reservation asked for, a row of columns a slot. */
  asked: Float64Array;
  private leaves: Int32Array = new Int32Array(FIRST_SLOTS).fill(FREE);
  private expires: Float64Array = new Float64Array(FIRST_SLOTS);
  private charged: Uint8Array = new Uint8Array(FIRST_SLOTS);
  private further: Uint8Array = new Uint8Array(FIRST_SLOTS);
  /** Each free slot names the next one. */
  private nextFree: Int32Array = new Int32Array(FIRST_SLOTS);
  private firstFree: number = FREE;
  private size = 0;
  private readonly columns: number;

  constructor(columns: number) {
    this.columns = columns;
    this.asked = new Float64Array(FIRST_SLOTS * columns);
  }

  /** Where the amounts of the next reservation have to be written in `asked`. */
  next(): number {
    if (this.firstFree === FREE) this.firstFree = this.append();
    return this.firstFree * this.columns;
  }

  /** Where the amounts of a reservation stand in `asked`. */
  from(slot: number): number {
    return slot * this.columns;
  }

  /** Gives the next slot to a reservation whose amounts stand in it already. */
  take(leaf: number, expires: number, charged: boolean, further: boolean): number {
    const slot = this.firstFree;
    this.firstFree = this.nextFree[slot] as number;
    this.leaves[slot] = leaf;
    this.expires[slot] = expires;
    this.charged[slot] = charged ? 1 : 0;
    this.further[slot] = further ? 1 : 0;
    return slot;
  }

  /** The budget a reservation was made in. */
  leaf(slot: number): number {
    const leaf = this.leaves[slot];
    if (leaf === undefined || leaf === FREE) throw new LedgerError(`reservation ${slot} is unknown or settled already`);
    return leaf;
  }

  /** Whether the reservation is charged, not given back, when it expires. */
  isCharged(slot: number): boolean {
    return this.charged[slot] === 1;
  }

  /** What a reservation asked for. */
  row(slot: number): Float64Array {
    return this.asked.subarray(slot * this.columns, (slot + 1) * this.columns);
  }

  free(slot: number): void {
    if (this.further[slot] === 1) {
      // The kernel writes further columns only where a call concerns them, so nothing may be left there.
      for (let c = slot * this.columns + UNROLLED; c < (slot + 1) * this.columns; c++) this.asked[c] = 0;
    }
    this.leaves[slot] = FREE;
    this.nextFree[slot] = this.firstFree;
    this.firstFree = slot;
  }

  /** The reservations whose instant has come, in the order of their slots. */
  due(instant: number): readonly number[] {
    const due: number[] = [];
    for (let slot = 0; slot < this.size; slot++) {
      if (this.leaves[slot] !== FREE && (this.expires[slot] as number) <= instant) due.push(slot);
    }
    return due;
  }

  private append(): number {
    if (this.size >= MAX_SLOTS) throw new LedgerError(`a ledger has room for ${MAX_SLOTS} reservations in flight`);
    if (this.size >= this.leaves.length) {
      const slots = this.leaves.length * 2;
      this.asked = grown(this.asked, new Float64Array(slots * this.columns));
      this.leaves = grown(this.leaves, new Int32Array(slots).fill(FREE));
      this.expires = grown(this.expires, new Float64Array(slots));
      this.charged = grown(this.charged, new Uint8Array(slots));
      this.further = grown(this.further, new Uint8Array(slots));
      this.nextFree = grown(this.nextFree, new Int32Array(slots));
    }
    this.nextFree[this.size] = FREE;
    return this.size++;
  }
}

import { LedgerError } from "./errors.js";
import { grown, MAX_CELLS, WRITTEN_OUT } from "./row.js";

const FIRST_SLOTS = 16;
const MAX_SLOTS = 2 ** 24;

// A slot begins with these, in the same array as the amounts, so that a reservation touches one piece of memory.
/** The budget's number and 1. A free slot has 0 or less there, and by it names the next free one. */
const LEAF = 0;
const EXPIRES = 1;
/** 1 when the reservation is charged, not given back, when it expires. */
const CHARGED = 2;
/** 1 when amounts stand in columns that the kernel does not write out. */
const FURTHER = 3;
/** From where a slot begins to its amounts. */
export const ASKED = 4;

/** The reservations of a ledger: one slot each, in a typed array that grows by doubling and is used again when freed. */
export class Slots {
  cells: Float64Array;
  readonly stride: number;
  private firstFree = -1;
  private size = 0;

  constructor(columns: number) {
    this.stride = ASKED + columns;
    this.cells = new Float64Array(FIRST_SLOTS * this.stride);
  }

  /** Where the next reservation will stand. */
  next(): number {
    if (this.firstFree === -1) this.firstFree = this.append();
    return this.firstFree * this.stride;
  }

  /** Gives the next slot to a reservation whose amounts stand in it already. */
  take(leaf: number, expires: number, charged: boolean, further: boolean): number {
    const { cells } = this;
    const slot = this.firstFree;
    const at = slot * this.stride;
    this.firstFree = (-1 - (cells[at + LEAF] as number)) | 0;
    cells[at + LEAF] = leaf + 1;
    cells[at + EXPIRES] = expires;
    cells[at + CHARGED] = charged ? 1 : 0;
    cells[at + FURTHER] = further ? 1 : 0;
    return slot;
  }

  /** The budget a reservation was made in. */
  leaf(slot: number): number {
    const leaf = this.cells[slot * this.stride + LEAF] as number;
    // An unknown slot gives undefined, which is not above 0 either.
    if (!(leaf > 0)) throw new LedgerError(`reservation ${slot} is unknown or settled already`);
    return (leaf - 1) | 0;
  }

  isCharged(slot: number): boolean {
    return this.cells[slot * this.stride + CHARGED] === 1;
  }

  isFurther(slot: number): boolean {
    return this.cells[slot * this.stride + FURTHER] === 1;
  }

  /** What a reservation asked for. */
  asked(slot: number): Float64Array {
    return this.cells.subarray(slot * this.stride + ASKED, (slot + 1) * this.stride);
  }

  free(slot: number): void {
    const { cells } = this;
    const at = slot * this.stride;
    // The kernel writes further columns only where a call concerns them, so nothing may be left there.
    if (cells[at + FURTHER] === 1) cells.fill(0, at + ASKED + WRITTEN_OUT, at + this.stride);
    cells[at + LEAF] = -1 - this.firstFree;
    this.firstFree = slot;
  }

  /** The reservations whose instant has come, in the order of their slots. */
  due(instant: number): readonly number[] {
    const { cells, stride } = this;
    const due: number[] = [];
    for (let slot = 0; slot < this.size; slot++) {
      const at = slot * stride;
      if ((cells[at + LEAF] as number) > 0 && (cells[at + EXPIRES] as number) <= instant) due.push(slot);
    }
    return due;
  }

  private append(): number {
    const most = Math.min(MAX_SLOTS, Math.floor(MAX_CELLS / this.stride));
    if (this.size >= most) throw new LedgerError(`a ledger has room for ${most} reservations in flight`);
    if (this.size * this.stride >= this.cells.length) this.cells = grown(this.cells);
    return this.size++;
  }
}

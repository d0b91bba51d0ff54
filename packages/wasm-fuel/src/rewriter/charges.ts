import type { Layout } from "./layout.js";
import { OP, TYPE } from "./operators.js";
import type { Writer } from "./writer.js";

/** Positions of branches that are hardly ever taken, for one function. */
export type Hints = number[];

/** Writes the pieces of code that charge and check. The counter holds what is left of the present slice, and may go below zero. */
export class Charges {
  /** Locals of the present function. */
  scratch = 0;
  sum = 0;
  /** Where the present function begins, and the branches in it that are hardly ever taken. */
  bodyStart = 0;
  hints: Hints = [];
  private readonly writer: Writer;
  private readonly layout: Layout;

  constructor(writer: Writer, layout: Layout) {
    this.writer = writer;
    this.layout = layout;
  }

  /** Charges the global counter. */
  charge(amount: number): void {
    if (amount === 0) return;
    this.getFuel();
    this.constant(amount);
    this.writer.byte(OP.i64Sub);
    this.setFuel();
  }

  /** Charges, and asks for more fuel when less is left than has been executed and not charged. */
  chargeAndCheck(amount: number, pending: number): void {
    const { writer } = this;
    this.getFuel();
    if (amount !== 0) {
      this.constant(amount);
      writer.byte(OP.i64Sub);
      writer.operator(OP.localTee, this.scratch);
      this.setFuel();
      writer.operator(OP.localGet, this.scratch);
    }
    this.constant(pending);
    writer.byte(OP.i64LtS);
    this.openUnlikely();
    this.refill(pending);
    writer.byte(OP.end);
  }

  /** Begins to count in the local; it is set on the way in, because clearing it on the way out would keep it alive outside. */
  startSum(amount: number): void {
    this.constant(amount);
    this.writer.operator(OP.localSet, this.sum);
  }

  addToSum(amount: number): void {
    if (amount === 0) return;
    const { writer } = this;
    writer.operator(OP.localGet, this.sum);
    this.constant(amount);
    writer.byte(OP.i64Add);
    writer.operator(OP.localSet, this.sum);
  }

  /** Moves the sum, and some more, to the global counter. */
  chargeSum(amount: number): void {
    const { writer } = this;
    this.getFuel();
    writer.operator(OP.localGet, this.sum);
    writer.byte(OP.i64Sub);
    if (amount !== 0) {
      this.constant(amount);
      writer.byte(OP.i64Sub);
    }
    this.setFuel();
  }

  addToSumAndCheck(amount: number, pending: number): void {
    const { writer } = this;
    writer.operator(OP.localGet, this.sum);
    if (amount !== 0) {
      this.constant(amount);
      writer.byte(OP.i64Add);
      writer.operator(OP.localTee, this.sum);
    }
    if (pending !== 0) {
      this.constant(pending);
      writer.byte(OP.i64Add);
    }
    this.getFuel();
    writer.byte(OP.i64GtS);
    this.openUnlikely();
    this.chargeSum(0);
    this.startSum(0);
    this.refill(pending);
    writer.byte(OP.end);
  }

  /** Counts one call more, and calls the host when there were too many. */
  enterCall(): void {
    const { writer, layout } = this;
    this.moveDepth(OP.i32Sub);
    writer.operator(OP.globalGet, layout.depth);
    writer.operator(OP.i32Const, 0);
    writer.byte(OP.i32LtS);
    this.openUnlikely();
    this.refill(0);
    writer.byte(OP.end);
  }

  leaveCall(): void {
    this.moveDepth(OP.i32Add);
  }

  /** Opens an `if` of which the engine is told that it is hardly ever entered. */
  openUnlikely(): void {
    this.hints.push(this.writer.position - this.bodyStart);
    this.writer.operator(OP.if, TYPE.empty);
  }

  /** Calls the host, which gives more fuel or throws. */
  refill(pending: number): void {
    this.constant(pending);
    this.writer.operator(OP.call, this.layout.helper("refill"));
  }

  getFuel(): void {
    this.writer.operator(OP.globalGet, this.layout.fuel);
  }

  setFuel(): void {
    this.writer.operator(OP.globalSet, this.layout.fuel);
  }

  constant(value: number): void {
    this.writer.byte(OP.i64Const);
    this.writer.signed(value);
  }

  private moveDepth(operator: number): void {
    const { writer, layout } = this;
    writer.operator(OP.globalGet, layout.depth);
    writer.operator(OP.i32Const, 1);
    writer.byte(operator);
    writer.operator(OP.globalSet, layout.depth);
  }
}

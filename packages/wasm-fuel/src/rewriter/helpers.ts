import { Charges, type Hints } from "./charges.js";
import { COSTS } from "./costs.js";
import type { Helper, Layout } from "./layout.js";
import { BULK, OP, TYPE } from "./operators.js";
import type { Writer } from "./writer.js";

const BYTES_SHIFT = 31 - Math.clz32(COSTS.bytesPerUnit);

/** Writes a function of ours. They stand apart so that the guest's own functions stay small where memory is moved. */
export function emitHelper(name: Helper, writer: Writer, layout: Layout): Hints {
  const charges = new Charges(writer, layout);
  const start = writer.openSize();
  charges.bodyStart = start;
  switch (name) {
    case "refill":
      writer.byte(0);
      writer.operator(OP.localGet, 0);
      writer.operator(OP.i32Const, 0);
      writer.operator(OP.callIndirect, layout.typeOf("refill"));
      writer.u32(layout.hooks);
      break;
    case "bytes":
    case "elements":
      writer.byte(0);
      emitCharge(charges, writer, name, 0);
      writer.operator(OP.localGet, 0);
      break;
    case "copy":
    case "fill":
      emitMove(charges, writer, name);
      break;
    case "grow":
      emitGrow(charges, writer, layout);
  }
  writer.byte(OP.end);
  writer.closeSize(start);
  return charges.hints;
}

/** Takes from the counter what an argument costs, and asks for more fuel before the work is done. */
function emitCharge(charges: Charges, writer: Writer, by: "bytes" | "elements" | "pages", argument: number): void {
  charges.getFuel();
  writer.operator(OP.localGet, argument);
  writer.byte(OP.i64ExtendI32U);
  if (by === "bytes") {
    charges.constant(BYTES_SHIFT);
    writer.byte(OP.i64ShrU);
  } else {
    charges.constant(by === "pages" ? COSTS.page : COSTS.element);
    writer.byte(OP.i64Mul);
  }
  writer.byte(OP.i64Sub);
  charges.setFuel();
  charges.getFuel();
  charges.constant(0);
  writer.byte(OP.i64LtS);
  charges.openUnlikely();
  charges.refill(0);
  writer.byte(OP.end);
}

/**
 * Grows the memory and charges for it if that worked: a guest that asks for too much gets its -1, not the end of its fuel. What
 * would go beyond the ceiling is not even tried, and noted, if it is the most so far.
 */
function emitGrow(charges: Charges, writer: Writer, { ceiling, refused }: Layout): void {
  const [grown, wanted] = [1, 2];
  writer.byte(2);
  writer.operator(1, TYPE.i32);
  writer.operator(1, TYPE.i64);
  writer.operator(OP.memorySize, 0);
  writer.byte(OP.i64ExtendI32U);
  writer.operator(OP.localGet, 0);
  writer.byte(OP.i64ExtendI32U);
  writer.byte(OP.i64Add);
  writer.operator(OP.localTee, wanted);
  writer.operator(OP.globalGet, ceiling);
  writer.byte(OP.i64GtU);
  writer.operator(OP.if, TYPE.empty);
  emitNote(writer, wanted, refused);
  writer.byte(OP.i32Const);
  writer.signed(-1);
  writer.byte(OP.return);
  writer.byte(OP.end);
  writer.operator(OP.localGet, 0);
  writer.operator(OP.memoryGrow, 0);
  writer.operator(OP.localTee, grown);
  writer.byte(OP.i32Const);
  writer.signed(-1);
  writer.byte(OP.i32Ne);
  writer.operator(OP.if, TYPE.empty);
  emitCharge(charges, writer, "pages", 0);
  writer.byte(OP.end);
  writer.operator(OP.localGet, grown);
}

/** Keeps the larger one of a local and a global in the global. */
function emitNote(writer: Writer, local: number, global: number): void {
  writer.operator(OP.localGet, local);
  writer.operator(OP.globalGet, global);
  writer.byte(OP.i64GtU);
  writer.operator(OP.if, TYPE.empty);
  writer.operator(OP.localGet, local);
  writer.operator(OP.globalSet, global);
  writer.byte(OP.end);
}

/** Charges for the bytes, the third argument, and moves them. */
function emitMove(charges: Charges, writer: Writer, name: "copy" | "fill"): void {
  writer.byte(0);
  emitCharge(charges, writer, "bytes", 2);
  for (const argument of [0, 1, 2]) writer.operator(OP.localGet, argument);
  writer.operator(OP.bulkPrefix, name === "copy" ? BULK.memoryCopy : BULK.memoryFill);
  for (let memory = name === "copy" ? 2 : 1; memory > 0; memory -= 1) writer.byte(0);
}

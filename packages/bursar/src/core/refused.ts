import type { Decision } from "./decision.js";
import { BursarError } from "./errors.js";

/** A reservation that had to be admitted was not, so nothing of its list was done. */
export class RefusedError extends BursarError {
  override readonly name: string = "RefusedError";
  readonly decision: Decision;

  constructor(call: string, decision: Decision) {
    super("refused", `call ${call} had to be admitted, but was not: ${decision.kind}`);
    this.decision = decision;
  }
}

/** An extension that had to be granted, and that a budget above has no room for. The list it stood in was not done. */
export class NoRoomError extends BursarError {
  override readonly name: string = "NoRoomError";
  readonly dimension: string;
  /** The budget that has no room. */
  readonly budget: string;
  /** How much it has, in ledger units. */
  readonly room: number;

  constructor(dimension: string, budget: string, room: number) {
    super(
      "no_room",
      `${dimension} cannot be extended so far: budget ${budget} has no room for it; extend that one first`,
    );
    this.dimension = dimension;
    this.budget = budget;
    this.room = room;
  }
}

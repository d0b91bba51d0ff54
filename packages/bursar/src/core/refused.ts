import type { Decision } from "./decision.js";
import { writeAmount } from "./dimension.js";
import type { Dimensions } from "./dimensions.js";
import { BursarError } from "./errors.js";
import type { Extended } from "./extension.js";

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

  /** `left` is the room in edge units, for people. */
  constructor(dimension: string, budget: string, room: number, left?: number) {
    const but = left === undefined ? "" : `, with ${left} left`;
    super(
      "no_room",
      `${dimension} cannot be extended so far: budget ${budget} has no room for it${but}; extend that one first`,
    );
    this.dimension = dimension;
    this.budget = budget;
    this.room = room;
  }
}

/** What to throw for an extension that was not granted. */
export function noRoom(
  { dimension, budget, room }: Extract<Extended, { kind: "no_room" }>,
  dimensions: Dimensions,
): NoRoomError {
  return new NoRoomError(dimension, budget, room, writeAmount(dimensions.get(dimension), room));
}

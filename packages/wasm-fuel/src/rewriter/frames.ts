import { NONE } from "./graph.js";
import { Ints } from "./vectors.js";

export const FRAME = { function: 0, block: 1, loop: 2, if: 3, else: 4, deadLoop: 5 } as const;

/** The constructs that are open at one place in the code, the function itself first. */
export class Frames {
  depth = 0;
  readonly kind: Ints = new Ints(64);
  /** The node that a branch to this frame goes to, once there is a branch. */
  readonly label: Ints = new Ints(64);
  /** How many values such a branch carries. */
  readonly arity: Ints = new Ints(64);
  /** The loop around the frame. */
  readonly loop: Ints = new Ints(64);
  /** The node that ended in this `if`. */
  readonly condition: Ints = new Ints(64);
  /** 1 when a `br_table` goes here: such an edge cannot carry a charge. */
  readonly isTableTarget: Ints = new Ints(64);

  push(kind: number, label: number, arity: number, loop: number, condition: number = NONE): void {
    const index = this.depth++;
    if (index === this.kind.length) {
      for (const list of [this.kind, this.label, this.arity, this.loop, this.condition, this.isTableTarget])
        list.push(0);
    }
    this.kind.set(index, kind);
    this.label.set(index, label);
    this.arity.set(index, arity);
    this.loop.set(index, loop);
    this.condition.set(index, condition);
    this.isTableTarget.set(index, 0);
  }
}

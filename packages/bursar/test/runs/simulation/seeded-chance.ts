import crypto, { type UUID } from "node:crypto";
import { syncBuiltinESMExports } from "node:module";
import { Dice } from "./dice.js";

/** Until it is over, all chance there is comes from a seed: names are made of it, and names decide who comes first. */
export class SeededChance implements Disposable {
  private readonly random = Math.random;
  private readonly randomUUID = crypto.randomUUID;

  constructor(seed: number) {
    const dice = new Dice(seed);
    Math.random = () => dice.next();
    crypto.randomUUID = () => uuidOf(dice);
    syncBuiltinESMExports();
  }

  [Symbol.dispose](): void {
    Math.random = this.random;
    crypto.randomUUID = this.randomUUID;
    syncBuiltinESMExports();
  }
}

function uuidOf(dice: Dice): UUID {
  const digits = (count: number) => Array.from({ length: count }, () => dice.below(16).toString(16)).join("");
  return `${digits(8)}-${digits(4)}-4${digits(3)}-8${digits(3)}-${digits(12)}`;
}

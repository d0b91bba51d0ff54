import type { Purse } from "../../runtime/purse.js";
import { takeHold } from "../../runtime/waiting-holds.js";
import type { MeteredRequest } from "./meter.js";

/** Whoever holds something for this call knew less about it, and hands it down. Only who sees the request takes what was left for it. */
export function takenOver(purse: Purse, { url, wire }: MeteredRequest): Purse | Promise<Purse> {
  const { store, budget, leaver = null } = purse;
  const isSeen = purse.hold === undefined && url !== null;
  // Further out the model is known by the name that the request gives it.
  const { model: named } = wire.body;
  const model = typeof named === "string" ? named : wire.model;
  const left = isSeen ? takeHold({ store, budget, model, leaver }) : null;
  const hold = purse.hold ?? left?.hold;
  if (hold === undefined) return purse;
  const payer = left === null || left.round === null ? purse : { ...purse, round: left.round };
  return hold.handDown().then(() => payer);
}

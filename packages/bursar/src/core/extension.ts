import { type Amount, type Amounts, MAX_AMOUNT, NONE } from "./amount.js";
import { type Budget, covers, freeOf, heldFor, limitOf, type Path, usedOf } from "./budget.js";
import type { Dimension } from "./dimension.js";
import type { Dimensions } from "./dimensions.js";
import { InputError, LedgerError } from "./errors.js";
import { crossed } from "./notice.js";
import { closed, hold } from "./settlement.js";
import type { Time } from "./time.js";

/** An extension, or the ancestor that has no room for it. */
export type Extended =
  | { readonly kind: "extended"; readonly path: Path }
  | { readonly kind: "no_room"; readonly budget: string; readonly dimension: string; readonly room: number };

/**
 * Adds to the limits of the leaf: all of the amounts or none. Limits themselves never change; an extension is a delta
 * beside them. It ends the exhaustion and re-arms the thresholds that are no longer crossed.
 */
export function extendBudget(path: Path, additional: Amounts, time: Time, dimensions: Dimensions): Extended {
  const [leaf, ...above] = path;
  if (leaf === undefined || leaf.ended) throw new LedgerError(`budget ${leaf?.id} has ended; it cannot be extended`);
  if (leaf.funding === "aside") throw new LedgerError(`budget ${leaf.id} is a wrap-up reserve; extend its run instead`);
  if (Object.keys(additional).length === 0) throw new InputError("extension", "names no dimension; give at least one");
  const extended: Record<string, Amount> = { ...leaf.extended };
  for (const [id, amount] of Object.entries(additional)) {
    const dimension = dimensions.get(id);
    check(leaf, dimension, amount);
    const short = above.length === 0 ? null : shortage(leaf, above, dimension, amount, time);
    if (short !== null) return short;
    extended[id] = ((extended[id] ?? NONE) + amount) as Amount;
  }
  const longer = rearmed({ ...leaf, extended }, Object.keys(additional), time, dimensions);
  return { kind: "extended", path: [longer, ...heldAbove(leaf, longer, above, additional, dimensions)] };
}

function check(leaf: Budget, dimension: Dimension, amount: Amount): void {
  const field = `extension.${dimension.id}`;
  const limit = limitOf(leaf, dimension.id);
  if (limit === Number.POSITIVE_INFINITY) throw new InputError(field, `has no limit in budget ${leaf.id} to extend`);
  if (amount === 0) throw new InputError(field, "is 0; allowed: an amount above 0");
  if (limit + amount > MAX_AMOUNT) throw new InputError(field, `would raise the limit above ${MAX_AMOUNT}`);
}

/** The first ancestor that could not honour the extension. One that only warns refuses nothing. */
function shortage(leaf: Budget, above: Path, dimension: Dimension, amount: number, time: Time): Extended | null {
  const { id, kind } = dimension;
  const wanted = kind === "peak" ? limitOf(leaf, id) + amount : amount;
  for (const budget of giversOf(above, dimension)) {
    const room = Math.max(0, freeOf(budget, dimension, time));
    if (wanted > room) return { kind: "no_room", budget: budget.id, dimension: id, room };
  }
  return null;
}

/** The most that could be added to a limit before an ancestor has no room for it; it may be nothing, or without end. */
export function roomAbove(leaf: Budget, above: Path, dimension: Dimension, time: Time): number {
  const own = dimension.kind === "peak" ? limitOf(leaf, dimension.id) : 0;
  const rooms = giversOf(above, dimension).map((budget) => freeOf(budget, dimension, time) - own);
  return Math.max(0, Math.floor(Math.min(Number.POSITIVE_INFINITY, ...rooms)));
}

/** Those above that have to have room for an extension: up to the one for which its own ancestors hold it. */
function giversOf(above: Path, { id, kind }: Dimension): Path {
  const strict = above.filter(({ policies }) => policies[id] !== "soft_warn");
  const last = kind === "clock" ? -1 : strict.findIndex((budget) => covers(budget, id));
  return last < 0 ? strict : strict.slice(0, last + 1);
}

/** What a held budget has more, its ancestors hold more. */
function heldAbove(before: Budget, after: Budget, above: Path, added: Amounts, dimensions: Dimensions): Path {
  const more: Record<string, Amount> = {};
  for (const id of Object.keys(added)) {
    const dimension = dimensions.get(id);
    const grown = heldFor(after, dimension) - heldFor(before, dimension);
    if (grown > 0) more[id] = grown as Amount;
  }
  return above.length === 0 ? above : closed(hold(above, more));
}

function rearmed(leaf: Budget, ids: readonly string[], time: Time, dimensions: Dimensions): Budget {
  const warned: Record<string, number> = { ...leaf.warned };
  for (const id of ids) {
    const dimension = dimensions.get(id);
    warned[id] = Math.min(warned[id] ?? 0, crossed(leaf, dimension, usedOf(leaf, dimension, time)));
  }
  return { ...leaf, warned, exhausted: leaf.exhausted.filter((id) => !ids.includes(id)) };
}

import type { Amounts } from "../../core/amount.js";

/** How slowly a better tier is gone back to. */
export interface Hysteresis {
  readonly calls: number;
  readonly margin: number;
}

/** A tier as one call sees it. */
export interface Candidate {
  /** The most the call may use there, in ledger units; null when the call cannot be made there at all. */
  readonly quote: Amounts | null;
  /** What a call has cost there on average, in billionths of a dollar; null when nobody knows yet. */
  readonly mean: number | null;
}

/** Where the calls of one budget stand. */
export interface Standing {
  readonly tier: number;
  /** How many calls were made since it was last switched. */
  readonly calls: number;
  /** How often it went up again. */
  readonly ups: number;
}

/** What a call is decided by. */
export interface Situation {
  /** The best first, and none below the floor. */
  readonly candidates: readonly Candidate[];
  /** What is neither used nor held, by dimension; what is not named has no limit. */
  readonly left: Readonly<Record<string, number>>;
  /** How many calls are expected until the end, with this one. */
  readonly calls: number;
  /** Null before the first call. */
  readonly standing: Standing | null;
  readonly hysteresis: Hysteresis;
}

/**
 * Why a tier was chosen.
 * - `first`: nothing was chosen before, and it is the best that fits.
 * - `stays`: nothing has changed.
 * - `quote_too_large`: what it was does not fit any more.
 * - `rest_too_large`: this call would still fit, but not the calls that are expected after it.
 * - `room_again`: a better one fits again, with room to spare.
 * - `capabilities`: the request needs what the other has not; the next one goes back.
 * - `back`: the request before needed something that this one does not.
 * - `none_fits`: not even the floor does; the budget's policy decides.
 * - `pinned`: the caller has named it.
 * - `step`: the first call of the step has chosen it.
 */
export type Reason =
  | "first"
  | "stays"
  | "quote_too_large"
  | "rest_too_large"
  | "room_again"
  | "capabilities"
  | "back"
  | "none_fits"
  | "pinned"
  | "step";

export interface Selection {
  readonly tier: number;
  readonly reason: Reason;
  readonly standing: Standing;
}

/**
 * Chooses a tier for one call: the best that it can be made at, whose quote fits what is left, and at which the calls expected
 * after it fit too. Down at once; up only with room to spare, and each time only after twice as many calls as the time before,
 * so that n calls go up no more than log2(n) times. Null when there is none that it can be made at.
 */
export function select(situation: Situation): Selection | null {
  const { candidates, standing } = situation;
  const lowest = lowestOf(candidates);
  if (lowest === -1) return null;
  const best = firstFit(situation, 0, candidates.length, 1);
  if (standing === null) {
    const tier = best === -1 ? lowest : best;
    const reason = best === -1 ? "none_fits" : "first";
    return { tier, reason, standing: { tier, calls: 1, ups: 0 } };
  }
  const now = candidates[standing.tier];
  if (now === undefined || now.quote === null) return aside(situation, standing, lowest, "capabilities");
  if (best === -1) return moved(standing, lowest, "none_fits");
  if (best > standing.tier) return moved(standing, best, whyDown(now, situation));
  // A better one may be the cheaper one for a call like this.
  if (fits(now, situation, 1) !== null) return aside(situation, standing, lowest, whyDown(now, situation));
  const { hysteresis } = situation;
  if (best < standing.tier && standing.calls >= hysteresis.calls * 2 ** standing.ups) {
    const up = firstFit(situation, 0, standing.tier, 1 + hysteresis.margin);
    if (up !== -1) return moved(standing, up, "room_again");
  }
  return moved(standing, standing.tier, "stays");
}

/** The same for a call of a step that has its tier already: that, if the call can be made there at all. */
export function stay(situation: Situation, tier: number): Pick<Selection, "tier" | "reason"> | null {
  const lowest = lowestOf(situation.candidates);
  if (lowest === -1) return null;
  if (situation.candidates[tier]?.quote != null) return { tier, reason: "step" };
  return aside(situation, { tier, calls: 0, ups: 0 }, lowest, "capabilities");
}

/** The worst that the call can be made at. */
function lowestOf(candidates: readonly Candidate[]): number {
  for (let index = candidates.length - 1; index >= 0; index--) {
    if (candidates[index]?.quote != null) return index;
  }
  return -1;
}

/** The best from a place on, and before another, that fits so many times. */
function firstFit(situation: Situation, from: number, before: number, times: number): number {
  const { candidates } = situation;
  for (let index = from; index < before; index++) {
    const candidate = candidates[index];
    if (candidate !== undefined && fits(candidate, situation, times) === null) return index;
  }
  return -1;
}

/** Why a candidate does not fit; null when it does. */
function fits({ quote, mean }: Candidate, { left, calls }: Situation, times: number): "quote" | "rest" | null {
  if (quote === null) return "quote";
  for (const id in quote) {
    const asked = quote[id] as number;
    const room = left[id];
    if (room !== undefined && asked > 0 && asked * times > room) return "quote";
  }
  const money = left.cost_usd;
  return money !== undefined && mean !== null && mean * calls * times > money ? "rest" : null;
}

function whyDown(now: Candidate, situation: Situation): Reason {
  return fits(now, situation, 1) === "quote" ? "quote_too_large" : "rest_too_large";
}

/** One call elsewhere, because it cannot be made where the others are: as near to them as it fits, rather below than above. */
function aside(situation: Situation, standing: Standing, lowest: number, reason: Reason): Selection {
  const stays: Standing = { ...standing, calls: standing.calls + 1 };
  const below = firstFit(situation, standing.tier + 1, situation.candidates.length, 1);
  if (below !== -1) return { tier: below, reason, standing: stays };
  for (let index = standing.tier - 1; index >= 0; index--) {
    const candidate = situation.candidates[index];
    if (candidate === undefined || fits(candidate, situation, 1) !== null) continue;
    return { tier: index, reason, standing: stays };
  }
  return { tier: lowest, reason: "none_fits", standing: stays };
}

function moved(standing: Standing, tier: number, reason: Reason): Selection {
  if (tier === standing.tier) return { tier, reason, standing: { ...standing, calls: standing.calls + 1 } };
  const ups = standing.ups + (tier < standing.tier ? 1 : 0);
  return { tier, reason, standing: { tier, calls: 1, ups } };
}

import { InputError, show } from "../../core/errors.js";
import { checkKeys, checkWhole } from "../../core/fields.js";
import type { HysteresisOptions, TierListOptions, TierOptions, TiersOptions } from "../../ports/tiers.js";
import type { Hysteresis } from "./select.js";

/** One model of a list. */
export interface Tier {
  readonly name: string;
  readonly model: string;
  readonly quality: number;
  /** What it can do; null for everything. */
  readonly can: ReadonlySet<string> | null;
  readonly context_window: number | null;
}

/** Models to choose from, the best first. */
export interface TierList {
  readonly name: string;
  readonly tiers: readonly Tier[];
  /** Those down to the floor. */
  readonly choosable: readonly Tier[];
  /** The place of the worst that may be chosen. */
  readonly floor: number;
  readonly unfit: "pause" | "stop" | null;
  readonly hysteresis: Hysteresis;
}

/** All lists, read. */
export interface Tiers {
  readonly enabled: boolean;
  readonly lists: ReadonlyMap<string, TierList>;
}

/** What the name of a list stands behind where a model is named. */
const PREFIX = "bursar/";
const NAME = /^[\w.-]{1,100}$/;
const NAME_RULE = '1 to 100 letters, digits, ".", "_" and "-"';
const MOST_LISTS = 100;
const MOST_TIERS = 32;
const CALLS = 3;
const MARGIN = 0.25;

/** The list that a model's name stands for; null for the name of a model. */
export function listNamed(model: unknown): string | null {
  return typeof model === "string" && model.startsWith(PREFIX) ? model.slice(PREFIX.length) : null;
}

/** As a list is named where a model is. */
export function modelNamed({ name }: Pick<TierList, "name">): string {
  return `${PREFIX}${name}`;
}

/** Reads lists of tiers as a caller writes them. */
export function readTiers(options: TiersOptions, field = "tiers"): Tiers {
  checkKeys(options, field, ["lists", "enabled"]);
  const { lists, enabled = true } = options;
  if (typeof enabled !== "boolean") {
    throw new InputError(`${field}.enabled`, `is ${show(enabled)}; allowed: true or false`);
  }
  if (typeof lists !== "object" || lists === null || Array.isArray(lists)) {
    throw new InputError(`${field}.lists`, `is ${show(lists)}; allowed: an object with a list for each name`);
  }
  const entries = Object.entries(lists);
  if (entries.length === 0 || entries.length > MOST_LISTS) {
    throw new InputError(`${field}.lists`, `has ${entries.length} lists; allowed: 1 to ${MOST_LISTS}`);
  }
  const read = new Map(entries.map(([name, list]) => [name, readList(name, list, `${field}.lists.${name}`)]));
  return { enabled, lists: read };
}

function readList(name: string, list: TierListOptions, field: string): TierList {
  if (!NAME.test(name)) throw new InputError(field, `is no name of a list; allowed: ${NAME_RULE}`);
  checkKeys(list, field, ["tiers", "floor", "when_none_fits", "hysteresis"]);
  const { tiers: listed, floor, when_none_fits: unfit = null, hysteresis = {} } = list;
  if (!Array.isArray(listed) || listed.length === 0 || listed.length > MOST_TIERS) {
    throw new InputError(`${field}.tiers`, `is ${show(listed)}; allowed: a list of 1 to ${MOST_TIERS} tiers`);
  }
  const tiers = (listed as readonly TierOptions[]).map((tier, index) =>
    readTier(tier, `${field}.tiers[${index}]`, listed.length - index),
  );
  const twice = tiers.find((tier, index) => tiers.findIndex((other) => other.name === tier.name) !== index);
  if (twice !== undefined) throw new InputError(`${field}.tiers`, `name ${show(twice.name)} twice; allowed: once`);
  const lowest = floor === undefined ? tiers.length - 1 : tiers.findIndex((tier) => tier.name === floor);
  if (lowest === -1) {
    const known = tiers.map((tier) => tier.name).join(", ");
    throw new InputError(`${field}.floor`, `is ${show(floor)}, which is no tier of this list; allowed: ${known}`);
  }
  if (unfit !== null && unfit !== "pause" && unfit !== "stop") {
    throw new InputError(`${field}.when_none_fits`, `is ${show(unfit)}; allowed: "pause" or "stop"`);
  }
  const choosable = tiers.slice(0, lowest + 1);
  const read = readHysteresis(hysteresis, `${field}.hysteresis`);
  return { name, tiers, choosable, floor: lowest, unfit, hysteresis: read };
}

function readTier(tier: TierOptions, field: string, place: number): Tier {
  checkKeys(tier, field, ["name", "model", "quality", "capabilities", "context_window"]);
  const { name, model, quality = place, capabilities, context_window = null } = tier;
  if (typeof name !== "string" || !NAME.test(name)) {
    throw new InputError(`${field}.name`, `is ${show(name)}; allowed: ${NAME_RULE}`);
  }
  if (typeof model !== "string" || model === "" || listNamed(model) !== null) {
    throw new InputError(`${field}.model`, `is ${show(model)}; allowed: a model as its provider names it`);
  }
  if (!Number.isFinite(quality)) throw new InputError(`${field}.quality`, `is ${show(quality)}; allowed: a number`);
  if (capabilities !== undefined && !(Array.isArray(capabilities) && capabilities.every(isName))) {
    throw new InputError(`${field}.capabilities`, `are ${show(capabilities)}; allowed: a list of names`);
  }
  if (context_window !== null) checkWhole(context_window, `${field}.context_window`, 1, Number.MAX_SAFE_INTEGER);
  return { name, model, quality, can: capabilities === undefined ? null : new Set(capabilities), context_window };
}

function isName(value: unknown): value is string {
  return typeof value === "string" && NAME.test(value);
}

function readHysteresis(hysteresis: HysteresisOptions, field: string): Hysteresis {
  checkKeys(hysteresis, field, ["calls", "margin"]);
  const { calls = CALLS, margin = MARGIN } = hysteresis;
  checkWhole(calls, `${field}.calls`, 1, 1_000_000);
  if (typeof margin !== "number" || !(margin >= 0 && margin <= 100)) {
    throw new InputError(`${field}.margin`, `is ${show(margin)}; allowed: a number from 0 to 100`);
  }
  return { calls, margin };
}

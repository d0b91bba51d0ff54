import { writeAmount } from "../core/dimension.js";
import type { PreflightPolicy } from "../foresight/preflight.js";
import type { TiersOptions } from "../ports/tiers.js";
import { readAmountField } from "./amounts.js";
import { fieldAt } from "./check-structure.js";
import { describeField, type Field } from "./field.js";
import { offer, type Reading } from "./reading.js";
import { checkUrl } from "./store-section.js";

/** Everything that looks ahead and saves. What is not named is null, or as it is shipped. */
export interface ForesightSection {
  /** False switches all of it off: nothing is estimated or learned, every call is a request of its own to the first tier. */
  readonly enabled: boolean;
  readonly preflight: PreflightPolicy;
  readonly predict: PredictSettings | null;
  readonly reservations: "learned" | "full";
  readonly tiers: TiersOptions | null;
  readonly batches: BatchSection | null;
  readonly reuse: ReuseSection | null;
}

/** Which model is asked what runs will take, and what that may cost. */
export interface PredictSettings {
  readonly model: string;
  /** What all predictions about one program may cost in a day, in dollars. */
  readonly cost_usd: number;
}

/** Where model calls that can wait go, as `BatchesOptions` of `bursar/models` has it. What is not said has its default there. */
export interface BatchSection {
  readonly provider: "openai" | "anthropic";
  readonly model: string;
  readonly url?: string;
  /** The environment variable that holds the key; never the key itself. */
  readonly key_env?: string;
  /** Tells two accounts at one address apart, so that neither hands in what is the other's. */
  readonly name?: string;
  readonly price_factor?: number;
  readonly max_tokens?: number;
  readonly window_ms?: number;
  readonly most_items?: number;
  readonly poll_ms?: number;
  readonly longest_poll_ms?: number;
}

/** What may be used again or sent together, as `ReuseOptions` of `bursar/models` has it. What is not said is not switched on. */
export interface ReuseSection {
  readonly in_flight?: boolean;
  readonly embeddings?: boolean | { readonly window_ms?: number; readonly inputs?: number; readonly tokens?: number };
  readonly cache?: boolean | CacheSection;
  readonly shared?: boolean;
  /** Whether it is for the model calls of runs, too: false, because a program may ask the same twice to hear two answers. */
  readonly runs?: boolean;
}

interface CacheSection {
  readonly bytes?: number;
  readonly ttl_ms?: number;
  /** As it is written: whoever opens it says from where a relative one is meant. */
  readonly folder?: string;
  readonly folder_bytes?: number;
}

/** The section as its schema has it. */
export type WrittenForesight = Partial<Omit<ForesightSection, "predict">> & {
  readonly predict?: Partial<PredictSettings> & { readonly model: string };
};

/** What is there without a file. */
export const SHIPPED_FORESIGHT: ForesightSection = {
  enabled: true,
  preflight: "warn",
  reservations: "learned",
  predict: null,
  tiers: null,
  batches: null,
  reuse: null,
};

const PREDICT_COST_USD = 0.01;

/** Checks what a schema cannot say of the section, and fills in what is not written. */
export function readForesight(reading: Reading, field: Field, written: WrittenForesight): ForesightSection {
  const section: ForesightSection = {
    ...SHIPPED_FORESIGHT,
    ...written,
    predict: written.predict === undefined ? null : readPredict(reading, field, written.predict.model),
  };
  checkTiers(reading, field, section.tiers);
  checkUrl(reading, fieldAt(field, ["batches", "url"]), "https://host/v1");
  return section.enabled ? section : switchedOff(section);
}

function readPredict(reading: Reading, foresight: Field, model: string): PredictSettings {
  const cost = fieldAt(foresight, ["predict", "cost_usd"]);
  const dimension = reading.dimensions.get("cost_usd");
  const amount = cost === undefined ? undefined : readAmountField(reading, dimension, cost);
  return { model, cost_usd: amount === undefined ? PREDICT_COST_USD : writeAmount(dimension, amount) };
}

/** A floor names a tier of its list, and no two tiers have one name. */
function checkTiers(reading: Reading, foresight: Field, tiers: TiersOptions | null): void {
  for (const [list, { tiers: listed, floor }] of Object.entries(tiers?.lists ?? {})) {
    const path = ["tiers", "lists", list];
    const names = listed.map(({ name }) => name);
    const floorField = fieldAt(foresight, [...path, "floor"]);
    if (floorField !== undefined && floor !== undefined && !names.includes(floor)) {
      const shown = describeField(floorField);
      reading.report(floorField, () => `is ${shown}, which is no tier of this list; ${offer(floor, names)}`);
    }
    for (const [index, name] of names.entries()) {
      const tier = fieldAt(foresight, [...path, "tiers", String(index)]);
      if (tier === undefined || names.indexOf(name) === index) continue;
      reading.report(tier, `names ${name} again; allowed: each name once`);
    }
  }
}

function switchedOff({ preflight, tiers }: ForesightSection): ForesightSection {
  return {
    ...SHIPPED_FORESIGHT,
    enabled: false,
    preflight,
    reservations: "full",
    tiers: tiers === null ? null : { ...tiers, enabled: false },
  };
}

import { PREFLIGHT_POLICIES, type PreflightPolicy } from "../foresight/preflight.js";
import type { TiersOptions } from "../ports/tiers.js";
import { type BatchSection, readBatches } from "./batch.js";
import type { Field } from "./field.js";
import { type PredictSettings, readPredict } from "./predict.js";
import { keyed, type Reading } from "./reading.js";
import { type ReuseSection, readReuse } from "./reuse.js";
import { readFlag, readWord } from "./scalars.js";
import { readTiers } from "./tiers.js";

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

const KEYS = Object.keys(SHIPPED_FORESIGHT);

export function readForesight(reading: Reading, field: Field | undefined): ForesightSection {
  if (field === undefined) return SHIPPED_FORESIGHT;
  const fields = keyed(reading, field, KEYS);
  const section = <Value>(name: string, read: (reading: Reading, field: Field) => Value): Value | null => {
    const found = fields.get(name);
    return found === undefined ? null : read(reading, found);
  };
  const word = <const Word extends string>(name: string, words: readonly Word[], otherwise: Word): Word =>
    readWord(reading, fields.get(name), words) ?? otherwise;
  const read: ForesightSection = {
    enabled: readFlag(reading, fields.get("enabled")) ?? true,
    preflight: word("preflight", PREFLIGHT_POLICIES, "warn"),
    reservations: word("reservations", ["learned", "full"], "learned"),
    predict: section("predict", readPredict),
    tiers: section("tiers", readTiers),
    batches: section("batches", readBatches),
    reuse: section("reuse", readReuse),
  };
  return read.enabled ? read : switchedOff(read);
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

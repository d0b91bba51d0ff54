import type { Amount } from "../core/amount.js";
import type { Dimensions } from "../core/dimensions.js";
import type { ExhaustionPolicy } from "../core/policy.js";
import { checkStructure } from "./check-structure.js";
import type { ConfigSchema } from "./config-schema.js";
import type { Field } from "./field.js";
import { EMPTY_LAYER, type Layer, readLayer, type Speaker } from "./layer.js";
import type { StatedBy } from "./origin.js";
import { plainField } from "./plain.js";
import { membersOf, Reading } from "./reading.js";

/** What whoever starts a run asks for, in edge units. Absent is nothing asked, null is no limit. */
export interface Override {
  readonly limits?: Readonly<Record<string, number | string | null>>;
  readonly policies?: Readonly<Record<string, string>>;
  /** What it was given by, for origins: `--budget`, `plan.rtfs:1`. */
  readonly from?: string;
}

/** An override that has been read. */
export interface Asked {
  readonly limits: StatedBy<Amount | null>;
  readonly policies: StatedBy<ExhaustionPolicy>;
}

const OVERRIDE: ConfigSchema = {
  type: "object",
  properties: { limits: {}, policies: {}, from: {}, name: {} },
  additionalProperties: false,
};

/** Reads limits and policies that a program gives, by the rules of a file; throws with everything that is wrong. */
export function readOverride(override: Override | undefined, dimensions: Dimensions): Asked {
  if (override === undefined) return EMPTY_LAYER;
  const { from = "override" } = override;
  return readPlainLayer(override, dimensions, { kind: "override", name: from }, "override");
}

/** The same for whoever else gives limits and policies as an object. */
export function readPlainLayer(input: object, dimensions: Dimensions, speaker: Speaker, path: string): Layer {
  const reading = new Reading(null, dimensions);
  const field = plainField(reading, input, path);
  checkStructure(reading, OVERRIDE, field);
  const fields = membersOf(field);
  const members = new Map<string, Field>();
  const limits = fields.get("limits");
  const policies = fields.get("policies");
  if (limits !== undefined) members.set("budgets", limits);
  if (policies !== undefined) members.set("exhaustion_policies", policies);
  const layer = readLayer(reading, members, speaker);
  reading.finish();
  return layer;
}

import { writeAmount } from "../core/dimension.js";
import { readAmountField } from "./amounts.js";
import type { Field } from "./field.js";
import { asText, keyed, needed, type Reading } from "./reading.js";

/** Which model is asked what runs will take, and what that may cost. */
export interface PredictSettings {
  readonly model: string;
  /** What all predictions about one program may cost in a day, in dollars. */
  readonly cost_usd: number;
}

const COST_USD = 0.01;

/** Reads `predict: { model: gpt-5-nano, cost_usd: 0.01 }`. Without the section, no model is asked. Null after a complaint. */
export function readPredict(reading: Reading, field: Field): PredictSettings | null {
  const fields = keyed(reading, field, ["model", "cost_usd"]);
  const [named, cost] = [needed(reading, field, fields, "model"), fields.get("cost_usd")];
  const model = named === undefined ? null : asText(reading, named, "a model's name, such as gpt-5-nano");
  const dimension = reading.dimensions.get("cost_usd");
  const amount = cost === undefined ? null : readAmountField(reading, dimension, cost);
  if (model === null || amount === undefined) return null;
  return { model, cost_usd: amount === null ? COST_USD : writeAmount(dimension, amount) };
}

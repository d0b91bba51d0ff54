import type { Effected } from "../../runtime/gate.js";
import type { AnswerReport } from "../wire/answer-report.js";
import type { Held } from "./meter.js";

/** What came of a call whose answer has said this: without usage it is charged as it was reserved, or as it claims to cost. */
export function reported<Value>(
  held: Held,
  value: Value,
  { counts, claims }: Pick<AnswerReport, "counts"> & Partial<AnswerReport>,
): Effected<Value> {
  if (claims !== undefined) held.claim(claims);
  return counts === null ? { value } : { value, usage: held.usage(counts) };
}

import { STANDARD } from "../core/dimensions.js";
import { nearest } from "../core/nearest.js";
import { BudgetReader, type PlanLimits } from "./budget.js";
import type { CompileOptions } from "./compile.js";
import type { FormOf } from "./edn/form.js";
import { printShort } from "./edn/print.js";
import { readForms } from "./edn/reader.js";
import { Source } from "./source.js";

/** What surrounds the runs of a session, as far as a text can say it. */
export interface ExecutionContext {
  readonly session: PlanLimits | null;
}

const SESSION = "session_budget_limits";

/**
 * Reads `{:session_budget_limits {…}}`: the limits that all runs of a session share.
 *
 * @throws {PlanError} with the line and the column of what is wrong.
 */
export function readExecutionContext(text: string, options: CompileOptions = {}): ExecutionContext {
  const source = new Source(options.file ?? "<context>", text);
  const map = mapIn(source);
  const budgets = new BudgetReader(source, options.dimensions ?? STANDARD);
  let session: PlanLimits | null = null;
  for (const [key, value] of map.entries) {
    const name = key.kind === "keyword" ? key.name.replaceAll("-", "_") : "";
    if (name !== SESSION) {
      const guess = nearest(name, [SESSION]);
      const hint = guess === null ? `it takes :${SESSION}` : `did you mean :${guess}?`;
      throw source.error(key, `an execution context has no ${printShort(key)}`, hint);
    }
    if (session !== null) throw source.error(key, `${printShort(key)} is given twice`, "give it once");
    session = budgets.session(value);
  }
  return { session };
}

function mapIn(source: Source): FormOf<"map"> {
  const [form, further] = readForms(source);
  const hint = `an execution context is one {:${SESSION} {…}}`;
  if (form === undefined) throw source.error({ line: 1, column: 1 }, "there is nothing in this text", hint);
  if (form.kind !== "map") throw source.error(form, `${printShort(form)} is no execution context`, hint);
  if (further !== undefined) throw source.error(further, "this is a second form", hint);
  return form;
}

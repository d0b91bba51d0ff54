import { canonicalize, type Json } from "../../../core/chain/canonical.js";
import type { Defects } from "./defect.js";
import type { Sql, SqlRow } from "./port.js";

/** What the chains say of the answers to requests for approval, by the request's id. */
export type Decisions = ReadonlyMap<string, Readonly<Record<string, unknown>>>;

/**
 * Compares the requests for approval with the answers that chains record: a forged yes lets a call be made. Links of
 * chains that are `away`, in files or broken, may record one.
 */
export async function checkRequests(
  sql: Sql,
  defects: Defects,
  decisions: Decisions,
  away: ReadonlySet<string>,
): Promise<void> {
  for await (const row of sql.rows("SELECT id, status, body, budget FROM approvals ORDER BY id")) {
    const recorded = decisions.get(String(row.id));
    let problem = recorded === undefined ? null : differenceIn(row, recorded);
    if (recorded === undefined && DECIDED.has(String(row.status)) && !(await isAway(sql, row, away))) {
      problem = `is ${row.status} in the store, but no chain records this decision`;
    }
    if (problem !== null) defects.add("error", `request ${row.id}`, problem);
  }
}

/** An answer is recorded where the run writes that waits for it, or where no run does, the budget. */
async function isAway(sql: Sql, { body, budget }: SqlRow, away: ReadonlySet<string>): Promise<boolean> {
  if (away.size === 0) return false;
  const text = `SELECT chain FROM budgets WHERE id = $1
    UNION SELECT chain FROM runs JOIN budgets ON budgets.id = runs.budget WHERE runs.id = $2`;
  const chains = await sql.all(text, [budget === null ? "" : String(budget), runIn(String(body))]);
  return chains.some(({ chain }) => away.has(String(chain)));
}

function runIn(body: string): string {
  try {
    return String(JSON.parse(body).run);
  } catch {
    return "";
  }
}

const DECIDED: ReadonlySet<string> = new Set(["approved", "denied"]);

function differenceIn({ status, body }: SqlRow, recorded: Readonly<Record<string, unknown>>): string | null {
  let kept: Readonly<Record<string, Json | undefined>>;
  try {
    kept = JSON.parse(String(body));
  } catch {
    return "has a row that cannot be read";
  }
  const { kind, digest, decision } = kept;
  const { by, reason, extension } = (decision ?? {}) as Readonly<Record<string, Json | undefined>>;
  for (const [name, value] of Object.entries({ status, kind, digest, by, reason, extension })) {
    const [store, chain] = [written(value), written(recorded[name])];
    // Links of older versions do not say everything.
    if (recorded[name] === undefined || store === chain) continue;
    return `${name} is ${store} in the store, ${chain} by the chain that records the decision`;
  }
  return null;
}

function written(value: unknown): string {
  return value === undefined ? "missing" : canonicalize(value as Json);
}

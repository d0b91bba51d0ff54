import type { Defects } from "./defect.js";
import type { Sql, SqlRow } from "./port.js";

/** What a chain says of a run when it began. */
export interface StartedRun {
  readonly chain: string;
  readonly said: Readonly<Record<string, unknown>>;
}

const UNDER_WAY = "status IN ('queued', 'running', 'paused')";

/** The runs that may still spend something. */
export async function runsUnderWay(sql: Sql): Promise<ReadonlySet<string>> {
  const ids = new Set<string>();
  for await (const { id } of sql.rows(`SELECT id FROM runs WHERE ${UNDER_WAY}`)) ids.add(String(id));
  return ids;
}

/** Compares each run under way with the link that records its beginning: one with another budget would spend that one's money. */
export async function checkRuns(
  sql: Sql,
  defects: Defects,
  started: ReadonlyMap<string, StartedRun>,
  away: ReadonlySet<string>,
): Promise<void> {
  const text = `SELECT runs.id, runs.budget, body, chain FROM runs LEFT JOIN budgets ON budgets.id = runs.budget
    WHERE ${UNDER_WAY} ORDER BY runs.id`;
  for await (const row of sql.rows(text)) {
    const recorded = started.get(String(row.id));
    const problem =
      recorded !== undefined
        ? differenceIn(row, recorded)
        : away.size === 0
          ? "is under way in the store, but no chain records that it began"
          : null;
    if (problem !== null) defects.add("error", `run ${row.id}`, problem);
  }
}

function differenceIn({ body, budget, chain }: SqlRow, { chain: home, said }: StartedRun): string | null {
  let kept: Readonly<Record<string, unknown>>;
  try {
    kept = JSON.parse(String(body));
  } catch {
    return "has a row that cannot be read";
  }
  if (kept.budget !== budget) return `names two budgets: ${kept.budget} and ${budget}`;
  if (chain !== home) return `has the budget ${budget}, but its beginning is recorded in the chain ${home}`;
  for (const name of ["parent", "session", "started_by"]) {
    // Links of older versions do not say everything.
    if (said[name] === undefined || said[name] === kept[name]) continue;
    return `${name} is ${JSON.stringify(kept[name])} in the store, ${JSON.stringify(said[name])} by its chain`;
  }
  return null;
}

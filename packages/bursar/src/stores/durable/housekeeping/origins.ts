import { parseLine } from "../../../core/chain/link.js";
import { writeAmount } from "../../../core/dimension.js";
import type { Dimensions } from "../../../core/dimensions.js";
import type { Defects } from "./defect.js";
import type { Sql, SqlRow } from "./port.js";
import { type Position, positionOf, standingsAt } from "./positions.js";

interface Terms extends Readonly<Record<string, unknown>> {
  readonly limits: Readonly<Record<string, number>>;
  readonly policies: Readonly<Record<string, unknown>>;
}

interface Origin extends Position {
  readonly budget: SqlRow;
}

/** Compares what each budget was opened with to the link that recorded its opening. */
export async function checkOrigins(sql: Sql, defects: Defects, dimensions: Dimensions): Promise<void> {
  for await (const { wanted, line, head } of standingsAt(sql, originsIn(sql, defects))) {
    const { budget, chain, seq } = wanted;
    if (chain !== budget.chain) {
      const problem = `names the link ${chain}#${seq} for its opening, but it writes to the chain ${budget.chain}`;
      defects.add("error", `budget ${budget.id}`, problem);
      continue;
    }
    if (line === null && head !== null && head.archived !== null) continue;
    const problem = line === null ? `is not there (${chain}#${seq})` : lineProblem(line, budget, dimensions);
    if (problem !== null) defects.add("error", `budget ${budget.id}`, `the link that recorded its opening ${problem}`);
  }
}

async function* originsIn(sql: Sql, defects: Defects): AsyncGenerator<Origin> {
  for await (const budget of sql.rows("SELECT id, parent, chain, origin, terms FROM budgets")) {
    const position = positionOf(budget.origin);
    if (position === null)
      defects.add("error", `budget ${budget.id}`, "does not name the link that recorded its opening");
    else yield { ...position, budget };
  }
}

function lineProblem(line: string, budget: SqlRow, dimensions: Dimensions): string | null {
  try {
    return openingProblem(parseLine(line).data, budget, dimensions);
  } catch {
    return UNREADABLE;
  }
}

const UNREADABLE = "cannot be compared with its row, because one of them cannot be read";

/** How a link that recorded an opening differs from the row of its budget; null where it does not. */
export function openingProblem(
  data: Readonly<Record<string, unknown>>,
  { id, parent, terms }: SqlRow,
  dimensions: Dimensions,
): string | null {
  try {
    const { scope, funding, deadline, limits, policies, thresholds } = JSON.parse(String(terms)) as Terms;
    const says = { run_id: data.run_id, parent: data.parent, scope: data.scope, funding: data.funding };
    const row = { run_id: id, parent, scope, funding };
    for (const key of Object.keys(says) as (keyof typeof says)[]) {
      if (says[key] !== row[key])
        return `says ${JSON.stringify(says[key])} for ${key}, not ${JSON.stringify(row[key])}`;
    }
    if (data.deadline !== deadline) return `says the deadline ${data.deadline}, not ${deadline}`;
    if (data.policies !== undefined) {
      const said = data.policies as Readonly<Record<string, unknown>>;
      for (const dimension of new Set([...Object.keys(said), ...Object.keys(policies)])) {
        if (said[dimension] === policies[dimension]) continue;
        return `says the policy ${said[dimension] ?? "none"} for ${dimension}, not ${policies[dimension] ?? "none"}`;
      }
    }
    // Links of older versions do not name them.
    if (data.thresholds !== undefined && String(data.thresholds) !== String(thresholds)) {
      return `says the thresholds ${data.thresholds}, not ${thresholds}`;
    }
    return limitDifference(data.limits as Record<string, unknown>, limits, dimensions);
  } catch {
    return UNREADABLE;
  }
}

/** The links speak in dollars and the like, the rows in the smallest unit. */
function limitDifference(
  said: Readonly<Record<string, unknown>>,
  limits: Readonly<Record<string, number>>,
  dimensions: Dimensions,
): string | null {
  for (const id of new Set([...Object.keys(said), ...Object.keys(limits)])) {
    if (!dimensions.has(id)) continue;
    const limit = limits[id];
    const stated = limit === undefined ? undefined : writeAmount(dimensions.get(id), limit);
    if (stated !== said[id]) return `says a limit of ${said[id] ?? "none"} for ${id}, not ${stated ?? "none"}`;
  }
  return null;
}

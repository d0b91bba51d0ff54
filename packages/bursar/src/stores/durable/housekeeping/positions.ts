import { parseLine } from "../../../core/chain/link.js";
import type { Sql, SqlRow } from "./port.js";

/** A link that somebody names: `chain#seq`. */
export interface Position {
  readonly chain: string;
  readonly seq: number;
}

/** What stands at a position: its line, or why there is none. */
export interface Standing<Wanted extends Position> {
  readonly wanted: Wanted;
  readonly line: string | null;
  /** The head of the chain, null when it has none. */
  readonly head: { readonly seq: number; readonly hash: string; readonly archived: string | null } | null;
}

/** So many are looked up at once: few round trips, and no more rows in memory than that. */
const AT_ONCE = 50;

/** Looks up what stands at many positions, in any order. */
export async function* standingsAt<Wanted extends Position>(
  sql: Sql,
  positions: AsyncIterable<Wanted> | Iterable<Wanted>,
): AsyncGenerator<Standing<Wanted>> {
  let batch: Wanted[] = [];
  for await (const position of positions) {
    batch.push(position);
    if (batch.length < AT_ONCE) continue;
    yield* await standings(sql, batch);
    batch = [];
  }
  if (batch.length > 0) yield* await standings(sql, batch);
}

async function standings<Wanted extends Position>(sql: Sql, batch: readonly Wanted[]): Promise<Standing<Wanted>[]> {
  const list = batch.map((_, at) => {
    const first = at * 3 + 1;
    return `(CAST($${first} AS BIGINT), CAST($${first + 1} AS TEXT), CAST($${first + 2} AS BIGINT))`;
  });
  const rows = await sql.all(
    `SELECT wanted.column1 AS number, links.seq AS first, links.lines AS lines,
       heads.seq AS last, heads.hash AS hash, heads.archived AS archived
     FROM (VALUES ${list.join(", ")}) AS wanted
     LEFT JOIN heads ON heads.chain = wanted.column2
     LEFT JOIN links ON links.chain = wanted.column2 AND links.seq =
       (SELECT max(seq) FROM links AS other WHERE other.chain = wanted.column2 AND other.seq <= wanted.column3)`,
    batch.flatMap(({ chain, seq }, at) => [at, chain, seq]),
  );
  return rows.flatMap((row) => {
    const wanted = batch[Number(row.number)];
    return wanted === undefined ? [] : [{ wanted, line: lineIn(row, wanted.seq), head: headIn(row) }];
  });
}

function lineIn({ first, lines }: SqlRow, seq: number): string | null {
  return typeof lines === "string" ? (lines.split("\n")[seq - Number(first)] ?? null) : null;
}

function headIn({ last, hash, archived }: SqlRow): Standing<Position>["head"] {
  return last === null || last === undefined
    ? null
    : { seq: Number(last), hash: String(hash), archived: archived === null ? null : String(archived) };
}

/** The position that the id of a link names, or null when it names none. */
export function positionOf(id: unknown): Position | null {
  if (typeof id !== "string") return null;
  const at = id.lastIndexOf("#");
  const seq = Number(id.slice(at + 1));
  return at > 0 && Number.isSafeInteger(seq) && seq >= 0 ? { chain: id.slice(0, at), seq } : null;
}

/** When a link was written; null when its line cannot be read. */
export function instantOf(line: string): number | null {
  try {
    return parseLine(line).at;
  } catch {
    return null;
  }
}

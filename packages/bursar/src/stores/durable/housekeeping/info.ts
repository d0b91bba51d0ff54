import { countOf, type Engine, type Sql } from "./port.js";
import { instantOf, positionOf, standingsAt } from "./positions.js";

export interface StoreInfo {
  readonly where: string;
  readonly engine: Engine["kind"];
  readonly schema: number;
  readonly bytes: number;
  readonly budgets: { readonly open: number; readonly ended: number };
  readonly calls: { readonly all: number; readonly reserved: number };
  readonly chains: { readonly all: number; readonly archived: number };
  /** Links in the store; those of archived chains are in files. */
  readonly links: number;
  readonly runs: Readonly<Record<string, number>>;
  readonly approvalsWaiting: number;
  /** The reservation that has been open for the longest time. */
  readonly oldestHold: OldestHold | null;
}

interface OldestHold {
  readonly call: string;
  readonly budget: string;
  /** When it was reserved; null when the chain does not tell. */
  readonly at: number | null;
  /** When it is settled if nobody does so before. */
  readonly expires: number | null;
}

export async function info(engine: Engine): Promise<StoreInfo> {
  const schema = await engine.version();
  const bytes = await engine.bytes();
  const { kind, where } = engine;
  return engine.reading(async (sql) => ({
    where,
    engine: kind,
    schema,
    bytes,
    budgets: {
      open: await countOf(sql, "states", "WHERE ended = 0"),
      ended: await countOf(sql, "states", "WHERE ended <> 0"),
    },
    calls: { all: await countOf(sql, "calls"), reserved: await countOf(sql, "calls", "WHERE status = 'reserved'") },
    chains: { all: await countOf(sql, "heads"), archived: await countOf(sql, "heads", "WHERE archived IS NOT NULL") },
    links: await linksIn(sql),
    runs: await runsIn(sql),
    approvalsWaiting: await countOf(sql, "approvals", "WHERE status = 'pending'"),
    oldestHold: await oldestHold(sql),
  }));
}

/** Heads know how many links there are; counting lines would read all of them. */
async function linksIn(sql: Sql): Promise<number> {
  const [row] = await sql.all("SELECT sum(seq + 1) AS links FROM heads WHERE archived IS NULL");
  return Number(row?.links ?? 0);
}

async function runsIn(sql: Sql): Promise<Readonly<Record<string, number>>> {
  const rows = await sql.all("SELECT status, count(*) AS count FROM runs GROUP BY status ORDER BY status");
  return Object.fromEntries(rows.map(({ status, count }) => [String(status), Number(count)]));
}

async function oldestHold(sql: Sql): Promise<OldestHold | null> {
  let oldest: OldestHold | null = null;
  for await (const { wanted, line } of standingsAt(sql, holdsIn(sql))) {
    const at = line === null ? null : instantOf(line);
    if (oldest === null || (at !== null && (oldest.at === null || at < oldest.at))) oldest = { ...wanted.hold, at };
  }
  return oldest;
}

async function* holdsIn(sql: Sql) {
  for await (const { id, budget, expires, body } of sql.rows(
    "SELECT id, budget, expires, body FROM calls WHERE status = 'reserved'",
  )) {
    const link: unknown = (JSON.parse(String(body)) as { link?: unknown }).link;
    const hold = {
      call: String(id),
      budget: String(budget),
      expires: expires === null ? null : Number(expires),
      at: null,
    };
    yield { ...(positionOf(link) ?? { chain: "", seq: 0 }), hold };
  }
}

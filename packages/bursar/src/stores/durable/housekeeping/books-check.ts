import { randomBytes } from "node:crypto";
import type { Dimensions } from "../../../core/dimensions.js";
import { SERVER_CHAIN } from "../../../runtime/server-chain.js";
import { BOOKS, Tally } from "./books.js";
import type { ChainPart, ChainReader } from "./chains.js";
import type { Defects } from "./defect.js";
import { Differences } from "./differences.js";
import { eachGroup, GroupedRows } from "./groups.js";
import { countOf, type Sql, type SqlRow, type WorkOptions } from "./port.js";
import { positionOf, standingsAt } from "./positions.js";
import { RebuiltChain, type Registration } from "./rebuilt-chain.js";
import { runsUnderWay, type StartedRun } from "./started-runs.js";

export interface BookCounts {
  budgets: number;
  calls: number;
  /** Of the budgets, those that were rebuilt from their chain. Links of archived chains are in files. */
  rebuilt: number;
}

/** What the server's chain says of keys and tokens; null where that chain is not whole, so that nothing is known. */
export interface Registrations {
  readonly keys: ReadonlyMap<string, Registration>;
  readonly tokens: ReadonlyMap<string, Registration>;
}

/**
 * Reads chains and books side by side, both in the order of the chains' names: each chain is added up, and what came out is compared
 * with the rows of the budgets that write to it. Needs the memory of the budgets of one chain.
 */
export class BooksCheck implements ChainReader {
  readonly counts: BookCounts = { budgets: 0, calls: 0, rebuilt: 0 };
  private readonly sql: Sql;
  private readonly defects: Defects;
  private readonly dimensions: Dimensions;
  private readonly options: WorkOptions;
  private readonly differences: Differences;
  private readonly books: GroupedRows<SqlRow>;
  private readonly salt = randomBytes(8).toString("hex");
  private readonly total: number;
  private readonly underWay: ReadonlySet<string>;
  private chain: RebuiltChain;
  private name = "";
  /** Null as long as the server's chain was not read as a whole. */
  registrations: Registrations | null = null;
  /** What all chains that prove something say of the answers to requests for approval. */
  readonly decisions: Map<string, Readonly<Record<string, unknown>>> = new Map();
  /** Where the runs that are under way began. */
  readonly started: Map<string, StartedRun> = new Map();
  /** Chains that were not read as a whole. */
  readonly away: Set<string> = new Set();

  static async open(sql: Sql, defects: Defects, dimensions: Dimensions, options: WorkOptions): Promise<BooksCheck> {
    const total = (await countOf(sql, "budgets")) + (await countOf(sql, "calls"));
    return new BooksCheck(sql, defects, dimensions, options, { total, underWay: await runsUnderWay(sql) });
  }

  private constructor(
    sql: Sql,
    defects: Defects,
    dimensions: Dimensions,
    options: WorkOptions,
    { total, underWay }: { readonly total: number; readonly underWay: ReadonlySet<string> },
  ) {
    this.sql = sql;
    this.defects = defects;
    this.dimensions = dimensions;
    this.options = options;
    this.total = total;
    this.underWay = underWay;
    this.differences = new Differences(dimensions, defects);
    this.books = new GroupedRows(sql.rows(BOOKS), ({ home }) => String(home));
    this.chain = this.blank();
  }

  begin(chain: string): void {
    this.name = chain;
    this.chain = this.blank();
  }

  take(line: string): void | Promise<void> {
    this.chain.take(line);
    if (this.chain.isBehind) return this.chain.settle();
  }

  async end(part: ChainPart, isArchived: boolean): Promise<void> {
    await this.chain.settle();
    if (part === "rest") this.differences.isSomethingAway = true;
    if (part !== "whole") this.away.add(this.name);
    if (part !== "broken") for (const [id, decision] of this.chain.decisions) this.decisions.set(id, decision);
    if (part !== "broken") this.noteRuns();
    if (this.name === SERVER_CHAIN && part === "whole") this.registrations = this.chain;
    // What writes to chains that are not there comes before.
    for (let key = await this.books.key(); key !== null && isBefore(key, this.name); key = await this.books.key()) {
      await this.compareNext(null, null, false);
    }
    const seen = new Set<string>();
    if ((await this.books.key()) === this.name) await this.compareNext(this.chain, part, isArchived, seen);
    if (part === "broken") return;
    for (const [id, rebuilt] of this.chain.budgets) if (!seen.has(id)) this.differences.missing(rebuilt, this.name);
  }

  private noteRuns(): void {
    for (const [id, { parent, session, started_by }] of this.chain.runs) {
      if (this.underWay.has(id)) this.started.set(id, { chain: this.name, said: { parent, session, started_by } });
    }
  }

  private async compareNext(
    chain: RebuiltChain | null,
    part: ChainPart | null,
    isArchived: boolean,
    seen: Set<string> = new Set(),
  ): Promise<void> {
    const { defects, dimensions, counts, differences, salt } = this;
    await this.books.take((_, group) =>
      eachGroup(
        group,
        ({ owner }) => String(owner),
        async (owner, rows) => {
          const tally = new Tally(owner, { dimensions, chain, part, isArchived, salt });
          for await (const row of rows) tally.take(row, defects);
          seen.add(owner);
          counts.calls += tally.calls;
          counts.budgets += tally.budget === null ? 0 : 1;
          tally.compare(defects);
          if (tally.compareChain(differences)) counts.rebuilt++;
          this.options.progress?.({ what: "books", done: counts.budgets + counts.calls, total: this.total });
        },
      ),
    );
  }

  private blank(): RebuiltChain {
    const { dimensions, sql, differences } = this;
    return new RebuiltChain(
      { dimensions, foreign: (notice) => differences.hear(notice), lookUp: (ids) => linesOf(sql, ids) },
      this.salt,
    );
  }

  /** Compares what writes to chains that are not there, and tells what can be told only now. */
  async finish(): Promise<void> {
    while ((await this.books.key()) !== null) await this.compareNext(null, null, false);
    await this.books.close();
    await this.differences.finish(this.sql, this.chain);
  }
}

/** The lines of links, by their ids; null for those that are not there. */
export async function linesOf(sql: Sql, ids: readonly string[]): Promise<readonly (string | null)[]> {
  const lines: (string | null)[] = ids.map(() => null);
  const wanted = ids.flatMap((id, at) => {
    const position = positionOf(id);
    return position === null ? [] : [{ ...position, at }];
  });
  for await (const {
    wanted: { at },
    line,
  } of standingsAt(sql, wanted))
    lines[at] = line;
  return lines;
}

/** Names are compared byte by byte, as the tables do. */
function isBefore(a: string, b: string): boolean {
  return Buffer.compare(Buffer.from(a), Buffer.from(b)) < 0;
}

import { createHash } from "node:crypto";
import { LineSplitter } from "../../../core/chain/lines.js";
import type { Dimensions } from "../../../core/dimensions.js";
import { StoreError } from "../errors.js";
import { checkContents, KNOWN_SCHEMA } from "./check.js";
import { Defects } from "./defect.js";
import type { ExportHeader, ExportReport, ExportTrailer } from "./export.js";
import { countOf, type Engine, type Sql, type SqlValue, type WorkOptions } from "./port.js";
import { ALL_TABLES, type Table } from "./tables.js";

/** So many rows are written with one statement. */
const AT_ONCE = 100;

/** What an export may be read from: a stream of a file, of standard input, of anything. */
export type Chunks = AsyncIterable<string | Uint8Array> | Iterable<string | Uint8Array>;

/** Reads an export into an empty store: all of it, and only if it is whole and every chain in it verifies. */
export async function importFrom(
  engine: Engine,
  dimensions: Dimensions,
  chunks: Chunks,
  options: WorkOptions,
): Promise<ExportReport> {
  return engine.writing(true, async (sql) => {
    await refuseFilled(engine, sql);
    const reader = new ExportReader(sql);
    const splitter = new LineSplitter();
    for await (const chunk of chunks) {
      options.signal?.throwIfAborted();
      for (const line of splitter.push(chunk)) await reader.take(line);
      if (splitter.fault !== null) throw reader.wrong(splitter.fault);
      options.progress?.({ what: "rows", done: reader.rows, total: 0 });
    }
    const [unended] = splitter.end();
    if (unended !== undefined) await reader.take(unended);
    const trailer = await reader.end();
    const defects = new Defects();
    const { links } = await checkContents(sql, dimensions, defects, options);
    const [first] = defects.listed.filter(({ severity }) => severity === "error");
    if (first !== undefined) {
      throw refused(`its contents are not sound (${defects.errors} errors): ${first.where}: ${first.problem}`);
    }
    return { ...trailer, links };
  });
}

async function refuseFilled(engine: Engine, sql: Sql): Promise<void> {
  for (const { name } of ALL_TABLES) {
    if ((await countOf(sql, name)) === 0) continue;
    throw new StoreError(
      "store_filled",
      `${engine.where} is not empty (it has ${name}): import into a new store, because two stores cannot be made one`,
    );
  }
}

/** Takes the lines of an export one after the other, and writes their rows. */
class ExportReader {
  rows = 0;
  private readonly sql: Sql;
  private readonly hash = createHash("sha256");
  private readonly counts: Record<string, number> = Object.fromEntries(ALL_TABLES.map(({ name }) => [name, 0]));
  private header: ExportHeader | null = null;
  private trailer: ExportTrailer | null = null;
  private number = 0;
  private table: Table | null = null;
  private waiting: SqlValue[][] = [];

  constructor(sql: Sql) {
    this.sql = sql;
  }

  async take(line: string): Promise<void> {
    this.number++;
    if (this.trailer !== null) throw this.wrong("it comes after the end");
    const value = this.parse(line);
    if (this.header === null) this.header = this.readHeader(value);
    else if (value.end === true) return this.finish(value as unknown as ExportTrailer);
    else await this.add(value);
    this.hash.update(`${line}\n`);
  }

  /** What the last line said, once everything it says was found to be so. */
  async end(): Promise<ExportTrailer> {
    await this.write();
    if (this.header === null) throw refused("it is empty");
    if (this.trailer === null) throw refused("its end is missing, so it was cut short");
    return this.trailer;
  }

  wrong(problem: string): StoreError {
    return refused(`line ${this.number + (this.number === 0 ? 1 : 0)}: ${problem}`);
  }

  private parse(line: string): Readonly<Record<string, unknown>> {
    try {
      const value: unknown = JSON.parse(line);
      if (typeof value === "object" && value !== null) return value as Record<string, unknown>;
    } catch {
      // The error below says it.
    }
    throw this.wrong(
      this.number === 1 ? "this is no export of a store" : "it is no JSON object, so it was cut or changed",
    );
  }

  private readHeader(value: Readonly<Record<string, unknown>>): ExportHeader {
    if (value.format !== "bursar-export") throw this.wrong("this is no export of a store");
    if (value.version !== 1)
      throw this.wrong(`it has format ${value.version}, and this Bursar knows 1; install a newer one`);
    if (value.schema !== KNOWN_SCHEMA) {
      const help = "open the store it came from with this Bursar, then export it again";
      throw this.wrong(`it has schema version ${value.schema}, and this Bursar has ${KNOWN_SCHEMA}; ${help}`);
    }
    return value as unknown as ExportHeader;
  }

  private async add(value: Readonly<Record<string, unknown>>): Promise<void> {
    const table = ALL_TABLES.find(({ name }) => name === value.table);
    if (table === undefined) throw this.wrong("it names no table of a store");
    if (this.table !== table || this.waiting.length === AT_ONCE) await this.write();
    this.table = table;
    this.waiting.push(this.valuesOf(table, value.row));
    this.counts[table.name] = (this.counts[table.name] ?? 0) + 1;
    this.rows++;
  }

  private valuesOf({ name, columns }: Table, row: unknown): SqlValue[] {
    const known = Object.entries(columns);
    const given = typeof row === "object" && row !== null ? (row as Record<string, unknown>) : {};
    const fits = Object.keys(given).length === known.length && known.every(([key, type]) => isOf(given[key], type));
    if (!fits) throw this.wrong(`it is no row of ${name}: it needs ${known.map(([key]) => key).join(", ")}`);
    return known.map(([key]) => given[key] as SqlValue);
  }

  private async write(): Promise<void> {
    const { table, waiting } = this;
    if (table === null || waiting.length === 0) return;
    this.waiting = [];
    const names = Object.keys(table.columns);
    const rows = waiting.map((_, row) => `(${names.map((_, at) => `$${row * names.length + at + 1}`).join(", ")})`);
    const text = `INSERT INTO ${table.name} (${names.join(", ")}) VALUES ${rows.join(", ")}`;
    await this.sql.run(text, waiting.flat());
  }

  private finish(trailer: ExportTrailer): void {
    const { counts, sha256 } = trailer;
    if (sha256 !== this.hash.digest("hex")) throw refused("its SHA-256 is not the one it ends with, so it was changed");
    for (const [name, count] of Object.entries(this.counts)) {
      if (counts?.[name] !== count) throw refused(`it has ${count} rows of ${name}, and ends with another number`);
    }
    this.trailer = trailer;
  }
}

function isOf(value: unknown, type: Table["columns"][string]): boolean {
  if (value === null) return type.endsWith("?");
  return type.startsWith("text") ? typeof value === "string" : typeof value === "number" && Number.isFinite(value);
}

function refused(problem: string): StoreError {
  return new StoreError("store_damaged", `the export is refused, and nothing was kept of it: ${problem}`);
}

import { createHash } from "node:crypto";
import { KNOWN_SCHEMA } from "./check.js";
import { countOf, type Engine, type Sql, type WorkOptions } from "./port.js";
import { ALL_TABLES } from "./tables.js";

/** The first line of an export. */
export interface ExportHeader {
  readonly format: "bursar-export";
  readonly version: 1;
  /** The version of the tables the rows come from. */
  readonly schema: number;
  readonly at: number;
}

/** The last line: how many rows of each table there are, and the SHA-256 of everything before this line. */
export interface ExportTrailer {
  readonly end: true;
  readonly counts: Readonly<Record<string, number>>;
  readonly sha256: string;
}

/** What was exported or imported: the last line, and how many links its rows of links hold. */
export interface ExportReport extends ExportTrailer {
  readonly links: number;
}

/** So much text is handed out at a time; a piece for each row would cost more than the row. */
const PIECE = 64 * 1024;

/** All rows of all tables, of one moment, as JSON lines. Gives back what the last line says, and the number of links. */
export async function exportTo(
  engine: Engine,
  instant: number,
  write: (piece: string) => Promise<void>,
  options: WorkOptions,
): Promise<ExportReport> {
  return engine.reading(async (sql) => {
    const hash = createHash("sha256");
    let piece = "";
    const flush = async () => {
      hash.update(piece);
      await write(piece);
      piece = "";
    };
    const header: ExportHeader = { format: "bursar-export", version: 1, schema: KNOWN_SCHEMA, at: instant };
    piece = `${JSON.stringify(header)}\n`;
    const total = await rowsIn(sql);
    const counts: Record<string, number> = {};
    let done = 0;
    let links = 0;
    for (const { name, columns, order } of ALL_TABLES) {
      counts[name] = 0;
      const names = Object.keys(columns).join(", ");
      for await (const row of sql.rows(`SELECT ${names} FROM ${name} ORDER BY ${order}`)) {
        piece += `${JSON.stringify({ table: name, row })}\n`;
        counts[name]++;
        done++;
        if (name === "links") links += String(row.lines).split("\n").length;
        if (piece.length < PIECE) continue;
        await flush();
        options.progress?.({ what: "rows", done, total });
      }
    }
    await flush();
    options.progress?.({ what: "rows", done, total });
    const trailer: ExportTrailer = { end: true, counts, sha256: hash.digest("hex") };
    await write(`${JSON.stringify(trailer)}\n`);
    return { ...trailer, links };
  });
}

async function rowsIn(sql: Sql): Promise<number> {
  let total = 0;
  for (const { name } of ALL_TABLES) total += await countOf(sql, name);
  return total;
}

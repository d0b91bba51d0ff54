/** What both engines keep. */
export type SqlValue = null | number | string;
export type SqlRow = Readonly<Record<string, SqlValue>>;

/** The little SQL that housekeeping needs. Texts are the same for both engines; parameters are `$1`, `$2` and so on. */
export interface Sql {
  /** Rows one after the other, however many there are. Several of these may be under way at once. */
  rows(text: string, values?: readonly SqlValue[]): AsyncIterable<SqlRow>;
  all(text: string, values?: readonly SqlValue[]): Promise<readonly SqlRow[]>;
  run(text: string, values?: readonly SqlValue[]): Promise<void>;
  /** What is put behind a SELECT in order to keep its rows as they are; nothing where a transaction keeps everything so. */
  readonly forUpdate: string;
}

/** One store, seen from beside: a connection of its own, which does not keep others from writing while it reads. */
export interface Engine extends AsyncDisposable {
  readonly kind: "sqlite" | "postgres";
  /** For messages; never with a password. */
  readonly where: string;
  /** The version of the tables, 0 when there are none. */
  version(): Promise<number>;
  /** Everything read in here is of one moment. */
  reading<Result>(work: (sql: Sql) => Promise<Result>): Promise<Result>;
  /** All of it happens or nothing; with `alone`, nobody else writes meanwhile. */
  writing<Result>(alone: boolean, work: (sql: Sql) => Promise<Result>): Promise<Result>;
  /** What the engine itself finds wrong with its pages; null when it cannot tell. */
  complaints(): Promise<readonly string[] | null>;
  bytes(): Promise<number>;
  /** Gives room back that nothing needs any more. */
  vacuum(): Promise<void>;
  /** Writes a copy of one moment into a new file; null when the engine has a better way, which the text names. */
  copyTo: ((path: string) => Promise<void>) | null;
}

/** How far a piece of work has come. */
export interface Progress {
  readonly what: string;
  readonly done: number;
  /** How much there is in all. */
  readonly total: number;
}

/** What every long piece of work takes. */
export interface WorkOptions {
  readonly progress?: (progress: Progress) => void;
  readonly signal?: AbortSignal;
}

export async function countOf(sql: Sql, table: string, where = ""): Promise<number> {
  const [row] = await sql.all(`SELECT count(*) AS count FROM ${table} ${where}`);
  return Number(row?.count ?? 0);
}

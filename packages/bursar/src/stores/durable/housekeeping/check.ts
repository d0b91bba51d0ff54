import type { Dimensions } from "../../../core/dimensions.js";
import { pending } from "../schema.js";
import { BooksCheck } from "./books-check.js";
import { checkAnchors, checkChains } from "./chains.js";
import { type Defect, Defects } from "./defect.js";
import { checkOrigins } from "./origins.js";
import type { Engine, Sql, WorkOptions } from "./port.js";
import { checkRequests } from "./requests.js";
import { checkSecrets } from "./secrets.js";
import { checkRuns } from "./started-runs.js";

export interface CheckOptions extends WorkOptions {
  /** The folder with the archived chains; without it, only what is in the store is checked. */
  readonly archive?: string;
}

export interface CheckReport {
  /** Whether there is no error. Warnings do not count. */
  readonly ok: boolean;
  readonly where: string;
  readonly engine: Engine["kind"];
  readonly schema: number;
  /** What the engine says of its own pages; `not_available` when it cannot tell. */
  readonly integrity: "sound" | "damaged" | "not_available";
  readonly chains: number;
  readonly links: number;
  /** How many of the chains have their lines in files. */
  readonly archived: number;
  /** How many of those files were verified and are sound; null when no folder was named, and so none was looked at. */
  readonly files: number | null;
  /** How many heads the tenant's chain vouches for. */
  readonly anchors: number;
  readonly budgets: number;
  /** Of these, those whose figures were rebuilt from their chain. The links of archived chains are in files. */
  readonly rebuilt: number;
  readonly calls: number;
  /** Keys of the gateway and tokens of the server. */
  readonly keys: number;
  readonly errors: number;
  readonly warnings: number;
  /** The first of what was found. */
  readonly defects: readonly Defect[];
}

/** The version of the tables that this code reads and writes. */
export const KNOWN_SCHEMA: number = pending(0, { serial: "", name: "" }).at(-1)?.version ?? 0;

/** Looks at everything there is, in the state of one moment, and changes nothing. */
export async function check(engine: Engine, dimensions: Dimensions, options: CheckOptions): Promise<CheckReport> {
  const defects = new Defects();
  const schema = await engine.version();
  const { kind, where } = engine;
  let integrity: CheckReport["integrity"] = "not_available";
  await defects.during(where, async () => {
    const complaints = await engine.complaints();
    if (complaints !== null) integrity = complaints.length === 0 ? "sound" : "damaged";
    for (const complaint of complaints ?? [])
      defects.add("error", where, `SQLite says: ${complaint}`, "restore a backup");
  });
  let contents = NOTHING;
  await defects.during(where, async () => {
    contents = await engine.reading((sql) => checkContents(sql, dimensions, defects, options));
  });
  const { errors, warnings, listed } = defects;
  return { ok: errors === 0, where, engine: kind, schema, integrity, ...contents, errors, warnings, defects: listed };
}

type Contents = Pick<
  CheckReport,
  "chains" | "links" | "archived" | "files" | "anchors" | "budgets" | "rebuilt" | "calls" | "keys"
>;

const NOTHING: Contents = {
  chains: 0,
  links: 0,
  archived: 0,
  files: null,
  anchors: 0,
  budgets: 0,
  rebuilt: 0,
  calls: 0,
  keys: 0,
};

/** The part of a check that any tables can be put to, also those that are about to be kept. */
export async function checkContents(
  sql: Sql,
  dimensions: Dimensions,
  defects: Defects,
  options: CheckOptions,
): Promise<Contents> {
  const counts: { -readonly [Name in keyof Contents]: Contents[Name] } = { ...NOTHING };
  const books = await BooksCheck.open(sql, defects, dimensions, options);
  Object.assign(counts, await checkChains(sql, defects, { ...options, reader: books }));
  counts.anchors = await checkAnchors(sql, defects);
  await checkOrigins(sql, defects, dimensions);
  await books.finish();
  counts.keys = await checkSecrets(sql, defects, books.registrations);
  await checkRequests(sql, defects, books.decisions, books.away);
  await checkRuns(sql, defects, books.started, books.away);
  return Object.assign(counts, books.counts);
}

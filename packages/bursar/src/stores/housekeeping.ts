import { rm } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import { type Dimensions, STANDARD } from "../core/dimensions.js";
import { InputError, show } from "../core/errors.js";
import type { Clock } from "../ports/clock.js";
import type { SampledChecks } from "../runtime/sweeper.js";
import { systemClock } from "../runtime/system-clock.js";
import type { StoreAddress } from "./address.js";
import { StoreError } from "./durable/errors.js";
import { type ArchiveOptions, type ArchiveReport, archive } from "./durable/housekeeping/archive.js";
import { type CheckOptions, type CheckReport, check, KNOWN_SCHEMA } from "./durable/housekeeping/check.js";
import { type ExportReport, exportTo } from "./durable/housekeeping/export.js";
import { isThere, makeFile, sweepFolder, writing } from "./durable/housekeeping/files.js";
import { type Chunks, importFrom } from "./durable/housekeeping/import.js";
import { info, type StoreInfo } from "./durable/housekeeping/info.js";
import type { Engine, WorkOptions } from "./durable/housekeeping/port.js";
import { SampledCheck } from "./durable/housekeeping/sample.js";
import { addressOf, openAt } from "./open.js";

export interface HousekeepingOptions {
  /** The dimensions the store counts, when there are some of your own. */
  readonly dimensions?: Dimensions;
  readonly clock?: Clock;
}

export interface MigrateReport {
  readonly where: string;
  /** The version of the tables before and after; 0 when there are none. */
  readonly before: number;
  readonly after: number;
  /** The version this Bursar works with. */
  readonly known: number;
}

export interface VacuumReport {
  readonly where: string;
  readonly bytesBefore: number;
  readonly bytesAfter: number;
}

export interface BackupReport {
  readonly file: string;
  readonly bytes: number;
  readonly check: CheckReport;
}

type DurableAddress = Exclude<StoreAddress, { engine: "memory" }>;

/**
 * Everything around a store that is not a call: looking at it, checking it, moving it, and making it smaller. It works beside
 * the store, on a connection of its own, while others go on writing. Long work is best done in a process of its own.
 *
 * @example
 * ```ts
 * await using housekeeping = openHousekeeping("sqlite:bursar.db");
 * const { ok, defects } = await housekeeping.check();
 * if (!ok) console.error(defects);
 * ```
 */
export class Housekeeping implements AsyncDisposable {
  private readonly address: DurableAddress;
  private readonly dimensions: Dimensions;
  private readonly clock: Clock;
  private engine: Engine | null = null;

  constructor(address: DurableAddress, { dimensions = STANDARD, clock = systemClock }: HousekeepingOptions) {
    this.address = address;
    this.dimensions = dimensions;
    this.clock = clock;
  }

  /** One look: what there is, how much of it, and what is open. */
  async info(): Promise<StoreInfo> {
    return info(await this.current());
  }

  /** Verifies every chain and anchor and adds up all books. What is wrong is in the report; nothing is changed. */
  async check(options: CheckOptions = {}): Promise<CheckReport> {
    return check(await this.current(), this.dimensions, options);
  }

  /**
   * A check that goes through the store a few budgets at a time, for a `Sweeper` to do in between. It uses the connection of this
   * housekeeping, so it is over when that is disposed, and nothing else is to be asked of it meanwhile.
   */
  async sample(): Promise<SampledChecks> {
    return new SampledCheck(await this.current(), this.dimensions);
  }

  /** Writes all rows as JSON lines, through the function given. `import` reads them into a store of either engine. */
  async export(write: (piece: string) => Promise<void>, options: WorkOptions = {}): Promise<ExportReport> {
    return exportTo(await this.current(), this.clock.now().instant, write, options);
  }

  /** The same into a new file, which is there as a whole or not at all. */
  async exportFile(file: string, options: WorkOptions = {}): Promise<ExportReport> {
    checkPath(file);
    await sweepFolder(dirname(resolve(file)));
    return makeFile(resolve(file), (temporary) =>
      writing(temporary, (open) => this.export((piece) => open.appendFile(piece), options)),
    );
  }

  /** Reads an export into this store, which has to be empty or not there yet. When it is refused, nothing is left behind. */
  async import(chunks: Chunks, options: WorkOptions = {}): Promise<ExportReport> {
    const fresh = this.address.engine === "sqlite" && !(await isThere(resolve(this.address.path)));
    await this.migrate();
    try {
      return await importFrom(await this.current(), this.dimensions, chunks, options);
    } catch (error) {
      await this.close();
      if (fresh && this.address.engine === "sqlite") await removeFile(this.address.path);
      throw error;
    }
  }

  /** Brings the tables up to date, or only says whether they are. Opening a store does the same by itself. */
  async migrate({ dry = false }: { readonly dry?: boolean } = {}): Promise<MigrateReport> {
    const { where, version: before } = await this.look();
    if (!dry && before <= KNOWN_SCHEMA) {
      await this.close();
      await (await openAt(this.address, { clock: this.clock }))[Symbol.asyncDispose]();
    }
    const { version: after } = dry ? { version: before } : await this.look();
    return { where, before, after, known: KNOWN_SCHEMA };
  }

  /** Gives room back that nothing needs any more. */
  async vacuum(): Promise<VacuumReport> {
    const engine = await this.current();
    const bytesBefore = await engine.bytes();
    await engine.vacuum();
    return { where: engine.where, bytesBefore, bytesAfter: await engine.bytes() };
  }

  /** Copies a SQLite store of one moment into a new file, while others write, and checks the copy before it gets its name. */
  async backup(file: string, options: WorkOptions = {}): Promise<BackupReport> {
    checkPath(file);
    const { copyTo, where } = await this.current();
    if (copyTo === null) {
      throw new StoreError(
        "store_failed",
        `${where} is backed up with its own tools: use pg_dump, or write a portable copy with \`bursar store export\``,
      );
    }
    const path = resolve(file);
    await sweepFolder(dirname(path));
    return makeFile(path, async (temporary) => {
      await copyTo(temporary);
      options.signal?.throwIfAborted();
      await using copy = await openEngine({ engine: "sqlite", path: temporary });
      const report = await check(copy, this.dimensions, options);
      if (!report.ok) {
        const [first] = report.defects;
        throw new StoreError(
          "store_damaged",
          `the backup is not sound, so none was kept: ${first?.where} ${first?.problem}`,
        );
      }
      return { file: path, bytes: await copy.bytes(), check: { ...report, where: path } };
    });
  }

  /**
   * Writes chains whose budgets have all ended long ago to files, and takes their links, calls and journal entries out of the
   * store. Budgets and heads stay, so the final usage is still known and every file can be verified.
   */
  async archive(options: ArchiveOptions): Promise<ArchiveReport> {
    if (!(options?.older_ms >= 0))
      throw new InputError("older_ms", `is ${show(options?.older_ms)}; allowed: 0 or more`);
    const engine = await this.current();
    await using store = await openAt(this.address, { dimensions: this.dimensions, clock: this.clock });
    return await archive(engine, store, this.clock.now().instant, options);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  /** The engine, if its tables are those that this code knows. */
  private async current(): Promise<Engine> {
    if (this.engine !== null) return this.engine;
    const engine = await openEngine(this.address);
    try {
      refuseForeign(engine.where, await engine.version());
    } catch (error) {
      await engine[Symbol.asyncDispose]();
      throw error;
    }
    this.engine = engine;
    return engine;
  }

  /** The version of the tables, also where there are none. */
  private async look(): Promise<{ where: string; version: number }> {
    const { address } = this;
    if (address.engine === "sqlite" && !(await isThere(resolve(address.path)))) {
      return { where: resolve(address.path), version: 0 };
    }
    await using engine = await openEngine(address);
    return { where: engine.where, version: await engine.version() };
  }

  private async close(): Promise<void> {
    const { engine } = this;
    this.engine = null;
    await engine?.[Symbol.asyncDispose]();
  }
}

/**
 * Opens the housekeeping of the store a URL names, as `openStore` reads it. The store itself is opened with the first thing
 * that is asked for.
 *
 * @example
 * ```ts
 * await using housekeeping = openHousekeeping("postgres://bursar@localhost/bursar");
 * console.log(await housekeeping.info());
 * ```
 */
export function openHousekeeping(url?: string, options: HousekeepingOptions = {}): Housekeeping {
  const address = addressOf(url, "durable");
  if (address.engine === "memory") {
    throw new StoreError(
      "store_url",
      "a memory: store lives in the process that made it, so there is nothing to look after; name sqlite:<file> or postgres://user@host/database",
    );
  }
  return new Housekeeping(address, options);
}

async function openEngine(address: DurableAddress): Promise<Engine> {
  if (address.engine === "sqlite") return (await import("./sqlite/engine.js")).sqliteEngine(address.path);
  return (await import("./postgres/engine.js")).postgresEngine(address);
}

function refuseForeign(where: string, version: number): void {
  if (version === KNOWN_SCHEMA) return;
  if (version === 0) {
    throw new StoreError("store_missing", `there is no store at ${where}; \`bursar store migrate\` makes one`);
  }
  const help = version < KNOWN_SCHEMA ? "run `bursar store migrate`" : "install a newer Bursar; nothing was changed";
  throw new StoreError(
    "store_schema",
    `${where} has schema version ${version}, this Bursar has ${KNOWN_SCHEMA}: ${help}`,
  );
}

function checkPath(file: unknown): void {
  if (typeof file !== "string" || file === "") throw new InputError("file", `is ${show(file)}; allowed: a path`);
}

async function removeFile(path: string): Promise<void> {
  for (const suffix of ["", "-wal", "-shm"]) await rm(`${resolve(path)}${suffix}`, { force: true });
}

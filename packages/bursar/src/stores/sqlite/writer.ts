import { setTimeout as sleep } from "node:timers/promises";
import { Operations } from "../../core/apply.js";
import type { Books } from "../../core/books.js";
import { Dimensions } from "../../core/dimensions.js";
import { Draft } from "../../core/draft.js";
import { sha256Hex } from "../../runtime/crypto.js";
import { reach } from "../durable/points.js";
import { brief } from "./brief.js";
import type { Database, Statement } from "./driver.js";
import { concernsAll, explain, isBusy } from "./faults.js";
import { lookups } from "./lookup.js";
import type { ApplyRequest, LookupRequest, Reply, Request, WriterOptions } from "./messages.js";
import { openTables } from "./open.js";
import { pack } from "./packed.js";
import { Tables } from "./tables.js";

/** So many callers share one transaction at most; the others are next. */
const GROUP = 512;
/** For so long after another process has written, we make room for it after each transaction. */
const COMPANY_MS = 250;
const RETRY_MS = 4;

/**
 * The one that owns the file. Whoever asks while a transaction is under way is served by the next one, all together, with
 * one sync of the disk for all of them. Each caller's list still happens as a whole or not at all.
 */
export class Writer {
  private readonly path: string;
  private readonly patience_ms: number;
  private readonly clock: string;
  private readonly database: Database;
  private readonly beginning: Statement;
  private readonly committing: Statement;
  private readonly tables: Tables;
  private readonly look: <R extends LookupRequest>(request: R) => unknown;
  private readonly operations: Operations;
  private readonly reply: (replies: readonly Reply[]) => void;
  private queue: ApplyRequest[] = [];
  private working: Promise<void> | null = null;
  private companyUntil = 0;

  constructor(options: WriterOptions, reply: (replies: readonly Reply[]) => void) {
    const { path, dimensions, reading, patience_ms } = options;
    this.path = path;
    this.patience_ms = patience_ms;
    this.clock = reading.clock;
    this.reply = reply;
    this.operations = new Operations(new Dimensions(dimensions));
    try {
      this.database = openTables(path, reading.instant);
      this.beginning = this.database.prepare("BEGIN IMMEDIATE");
      this.committing = this.database.prepare("COMMIT");
      this.tables = new Tables(this.database, reading);
      this.look = lookups(this.database, reading.clock);
    } catch (error) {
      throw explain(error, path);
    }
  }

  /** Takes requests in. What is looked up is answered at once, in the state of the last transaction. */
  take(requests: readonly Request[]): void {
    const found: Reply[] = [];
    for (const request of requests) {
      if ("operations" in request) this.queue.push(request);
      else found.push(this.find(request));
    }
    if (found.length > 0) this.reply(found);
    if (this.queue.length > 0) this.working ??= this.work();
  }

  /** Whether another process has written since the last time. */
  changed(): boolean {
    return this.tables.hasChanged();
  }

  async close(): Promise<void> {
    await this.working;
    this.database.close();
  }

  private find(request: LookupRequest): Reply {
    try {
      return { id: request.id, found: this.look(request) };
    } catch (error) {
      return { id: request.id, error: pack(explain(error, this.path)) };
    }
  }

  private async work(): Promise<void> {
    while (this.queue.length > 0) {
      const failed = await this.begin();
      const group = this.queue.slice(0, GROUP);
      this.queue = this.queue.slice(GROUP);
      this.reply(await this.serve(group, failed));
      reach("answered");
      // Others get their turn, and those who were just answered their next word, before the next transaction begins.
      if (performance.now() < this.companyUntil) await sleep(1);
      else await new Promise((resolve) => setImmediate(resolve));
    }
    // Here and not later, so that no request can come in between and find nobody at work.
    this.working = null;
  }

  /** Serves a group in the transaction that has begun, unless that failed. */
  private async serve(group: readonly ApplyRequest[], failed: Error | null): Promise<readonly Reply[]> {
    if (failed !== null) return group.map(({ id }) => ({ id, error: pack(failed) }));
    try {
      return this.transact(group);
    } catch (error) {
      this.undo();
      // One list that cannot be written must not fail the others.
      if (group.length === 1 || concernsAll(error)) return this.serve(group, explain(error, this.path));
      const replies: Reply[] = [];
      for (const request of group) replies.push(...(await this.serve([request], await this.begin())));
      return replies;
    }
  }

  /** Waits its turn among processes. Gives back why it could not begin, or null. */
  private async begin(): Promise<Error | null> {
    const until = performance.now() + this.patience_ms;
    for (;;) {
      try {
        this.beginning.run();
        reach("begun");
        return null;
      } catch (error) {
        if (!isBusy(error) || performance.now() > until) return explain(error, this.path);
        this.companyUntil = performance.now() + COMPANY_MS;
        await sleep(Math.random() * RETRY_MS);
      }
    }
  }

  private transact(group: readonly ApplyRequest[]): readonly Reply[] {
    const { instant, monotonic } = (group.at(-1) as ApplyRequest).time;
    const reading = { instant, monotonic, clock: this.clock };
    if (this.tables.look(reading)) this.companyUntil = performance.now() + COMPANY_MS;
    const draft = new Draft(this.tables, sha256Hex, reading.instant);
    const replies = group.map((request) => this.decide(draft, request));
    reach("decided");
    this.tables.write(draft.changes);
    reach("written");
    this.committing.run();
    reach("committed");
    this.tables.remember(draft.changes);
    return replies;
  }

  /** One caller's list, in a draft of its own: when it fails, the others do not notice. */
  private decide(group: Draft, { id, operations, time }: ApplyRequest): Reply {
    try {
      const apply = (books: Books) => operations.map((each) => this.operations.applyChecked(books, each, time));
      return { id, outcomes: group.within(time.instant, apply).map(brief) };
    } catch (error) {
      return { id, error: pack(explain(error, this.path)) };
    }
  }

  private undo(): void {
    this.tables.forget();
    if (this.database.isTransaction) this.database.exec("ROLLBACK");
  }
}

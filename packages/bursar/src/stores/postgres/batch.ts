import { setTimeout as sleep } from "node:timers/promises";
import { Operations } from "../../core/apply.js";
import type { CallId } from "../../core/call.js";
import type { Head } from "../../core/chain/link.js";
import type { Dimensions } from "../../core/dimensions.js";
import { type Changes, Draft, keyOf } from "../../core/draft.js";
import type { Operation, Outcome } from "../../core/operation.js";
import { sha256Hex } from "../../runtime/crypto.js";
import { toStretches } from "../durable/lines.js";
import { reach } from "../durable/points.js";
import { type Reading, TABLES } from "../durable/rows.js";
import { quoted, type Server } from "./connect.js";
import { concernsAll, explain, gotNoLock, isAway, isClash } from "./faults.js";
import type { Mirror, Read, Wanted } from "./mirror.js";
import type { Solos } from "./solos.js";
import { Unread, View } from "./view.js";
import { askedOf, mirrored, parametersOf, workOf } from "./work.js";

/** One caller's list of operations. */
export interface Request {
  readonly operations: readonly Operation[];
  readonly reading: Reading;
  readonly resolve: (outcomes: readonly Outcome[]) => void;
  readonly reject: (error: unknown) => void;
}

/** What a batch will do, if what it is based on still holds. */
interface Plan {
  readonly view: View;
  readonly changes: Changes;
  readonly reading: Reading;
  readonly answers: readonly Answer[];
}

type Answer = { readonly outcomes: readonly Outcome[] } | { readonly error: unknown };

/** What `expire` and `anchor` work on is found by looking, not by name. */
interface Found {
  readonly expiring: readonly CallId[];
  readonly grown: readonly Head[];
}

export interface BatchOptions {
  readonly server: Server;
  readonly solos: Solos;
  readonly name: string;
  readonly dimensions: Dimensions;
  readonly mirror: Mirror;
  readonly patience_ms: number;
}

/** After so many decisions in vain the rows are locked first: slower, but then nobody else is faster. */
const OPTIMISTIC = 2;
const RETRY_MS = 100;
const MOST_FOUND = 1000;
/** Texts, because the driver would write values of the type json once more. */
const APPLY = `SELECT bursar_apply($1::text::json, $2::text::json, $3::text::json, $4::text::json, $5::text::json,
  $6::text::bigint, $7::text::jsonb)`;

/** Decides a batch of lists on the mirror, and has the server write all of it, in one transaction and one round trip. */
export class Batches {
  private readonly server: Server;
  private readonly solos: Solos;
  private readonly name: string;
  private readonly mirror: Mirror;
  private readonly operations: Operations;
  private readonly patience_ms: number;

  constructor({ server, solos, name, dimensions, mirror, patience_ms }: BatchOptions) {
    this.server = server;
    this.solos = solos;
    this.name = name;
    this.mirror = mirror;
    this.operations = new Operations(dimensions);
    this.patience_ms = patience_ms;
  }

  /** Never rejects: every caller gets an answer of its own. */
  async settle(batch: readonly Request[]): Promise<void> {
    try {
      const { answers } = await this.transact(batch);
      reach("committed");
      for (const [index, answer] of answers.entries()) {
        if ("error" in answer) batch[index]?.reject(explain(answer.error, this.name));
        else batch[index]?.resolve(answer.outcomes);
      }
      reach("answered");
    } catch (error) {
      // One list that the server cannot take must not fail the others.
      if (batch.length > 1 && !concernsAll(error)) for (const request of batch) await this.settle([request]);
      else for (const { reject } of batch) reject(explain(error, this.name));
    }
  }

  private async transact(batch: readonly Request[]): Promise<Plan> {
    const until = performance.now() + this.patience_ms;
    for (let tries = 0; ; tries++) {
      try {
        const plan = tries < OPTIMISTIC ? await this.optimistic(batch, until) : await this.locked(batch, until);
        if (plan !== null) return plan;
      } catch (error) {
        if (!isClash(error) && !isAway(error)) throw error;
        if (performance.now() > until) throw error;
        if (isAway(error)) await sleep(RETRY_MS);
      }
    }
  }

  /** Null when somebody else was faster; then the mirror knows more. */
  private async optimistic(batch: readonly Request[], until: number): Promise<Plan | null> {
    const plan = await this.plan(batch, this.server);
    return (await this.send(plan, until)) ? plan : null;
  }

  /**
   * Sends a plan until it is known whether it was carried out. When the server goes away in the middle, that is not known:
   * the plan is sent again as it is, which does nothing if it had been carried out, and then its own links tell.
   */
  private async send(plan: Plan, until: number, lost = false): Promise<boolean> {
    const parameters = parametersOf(workOf(plan.view, plan.changes, plan.reading));
    let doubtful = lost;
    const attempt = async () => {
      try {
        reach("written");
        await this.server.unsafe(APPLY, [...parameters], { prepare: true });
      } catch (error) {
        doubtful ||= isAway(error);
        throw error;
      }
    };
    // Our own first attempt may still be under way over there, and be who holds the locks.
    const isOpen = (error: unknown) => isAway(error) || (doubtful && gotNoLock(error));
    try {
      await insist(attempt, until, isOpen);
      mirrored(this.mirror, plan.view, plan.changes);
      return true;
    } catch (error) {
      if (isOpen(error)) throw error;
      // Whatever the server says now, it may have done its work before it went away.
      if (doubtful && (await insist(() => this.landed(plan), until))) return true;
      if (!isClash(error)) throw error;
      await this.learn(askedOf(plan.view) as unknown as Wanted, this.server, plan.reading);
      return false;
    }
  }

  /** Whether a plan whose answer was lost was carried out: then what it wrote stands in the tables, to the byte. */
  private async landed({ view, changes }: Plan): Promise<boolean> {
    const [chain] = changes.chains.values();
    const [document] = changes.documents.values();
    const [entry] = changes.entries.values();
    const stands = async (sql: string, values: (string | number)[], expected: string | undefined) => {
      const [row] = await this.server.unsafe(sql, values);
      return row !== undefined && row.text === expected;
    };
    let landed = false;
    if (chain !== undefined) {
      const { head, lines } = chain;
      const last = toStretches(head.seq, lines).at(-1);
      const written = "SELECT lines AS text FROM links WHERE chain = $1 AND seq = $2";
      landed = await stands(written, [head.chain, last?.seq ?? 0], last?.lines);
    } else if (entry !== undefined) {
      const written = "SELECT entry AS text FROM journal WHERE run = $1 AND key = $2";
      landed = await stands(written, [entry.run, entry.key], JSON.stringify(entry.entry));
    } else if (document !== undefined) {
      const { kind, id, version, status, body } = document;
      const written = `SELECT body AS text FROM ${TABLES[kind]} WHERE id = $1 AND version = $2 AND status = $3`;
      landed = await stands(written, [id, version, status], JSON.stringify(body));
    }
    if (landed) mirrored(this.mirror, view, changes);
    return landed;
  }

  /** Locks everything the decision looks at, then decides. Null when somebody else was faster after all. */
  private async locked(batch: readonly Request[], until: number): Promise<Plan | null> {
    const { view, reading } = await this.plan(batch, this.server);
    const sent: Plan[] = [];
    try {
      await this.solos.use((solo) => this.alone(solo, view, reading, batch, sent));
    } catch (error) {
      const [plan] = sent;
      // The server may have gone away after it had committed.
      if (plan === undefined || !isAway(error)) throw error;
      return (await this.send(plan, until, true)) ? plan : null;
    }
    const [plan] = sent;
    if (plan === undefined) return null;
    // Not before: a mirror of what was rolled back would be taken for true as soon as others reach the same version.
    mirrored(this.mirror, plan.view, plan.changes);
    return plan;
  }

  private async alone(solo: Server, view: View, reading: Reading, batch: readonly Request[], sent: Plan[]) {
    const asked = askedOf(view);
    try {
      await solo.unsafe("BEGIN");
      await solo.unsafe(
        `SELECT 1 FROM budgets WHERE id IN (SELECT jsonb_array_elements_text($1::text::jsonb->'budgets'))
         ORDER BY id FOR UPDATE`,
        [JSON.stringify(asked)],
      );
      await this.learn(asked as unknown as Wanted, solo, reading);
      const plan = await this.plan(batch, solo);
      const parameters = parametersOf(workOf(plan.view, plan.changes, plan.reading));
      sent.push(plan);
      reach("written");
      // In one message: if the transaction was lost with its connection, there is nothing that could be committed alone.
      const values = parameters.map((text) => (text === null ? "NULL" : quoted(text)));
      await solo.unsafe(`SELECT bursar_apply(${values.join(", ")}); COMMIT`).simple();
    } catch (error) {
      // Where there is no transaction any more, this does nothing.
      if (!isAway(error)) await solo.unsafe("ROLLBACK");
      throw error;
    }
  }

  /** Decides on the mirror, and reads what is missing there as often as something is. */
  private async plan(batch: readonly Request[], server: Pick<Server, "unsafe">): Promise<Plan> {
    const found = await this.look(batch, server);
    for (;;) {
      try {
        const plan = this.decide(batch, found);
        reach("decided");
        return plan;
      } catch (error) {
        if (!(error instanceof Unread)) throw error;
        const { reading } = batch.at(-1) as Request;
        await this.learn(wantedBy(batch, this.mirror, found, error.wanted), server, reading);
      }
    }
  }

  private decide(batch: readonly Request[], { expiring, grown }: Found): Plan {
    const view = new View(this.mirror, expiring, grown);
    const { reading } = batch.at(-1) as Request;
    const group = new Draft(view, sha256Hex, reading.instant);
    for (const { operations } of batch) view.expect(operations);
    const answers = batch.map((request): Answer => {
      const draft = new Draft(group, sha256Hex, request.reading.instant);
      try {
        const outcomes = request.operations.map((each) => this.operations.apply(draft, each, request.reading));
        group.absorb(draft.changes);
        return { outcomes };
      } catch (error) {
        if (error instanceof Unread) throw error;
        return { error };
      }
    });
    return { view, changes: group.changes, reading, answers };
  }

  private async look(batch: readonly Request[], server: Pick<Server, "unsafe">): Promise<Found> {
    const asks = (op: Operation["op"]) => batch.find(({ operations }) => operations.some((each) => each?.op === op));
    const expire = asks("expire");
    const expiring =
      expire === undefined
        ? []
        : await server.unsafe(
            `SELECT id FROM calls WHERE status = 'reserved' AND expires <= $1 ORDER BY expires, id LIMIT ${MOST_FOUND}`,
            [expire.reading.instant],
          );
    const grown =
      asks("anchor") === undefined
        ? []
        : await server.unsafe(`SELECT chain, seq, hash FROM heads WHERE grown = 1 ORDER BY chain LIMIT ${MOST_FOUND}`);
    return { expiring: expiring.map(({ id }) => id as string), grown: grown as unknown as readonly Head[] };
  }

  private async learn(wanted: Wanted, server: Pick<Server, "unsafe">, reading: Reading): Promise<void> {
    const [row] = await server.unsafe("SELECT bursar_read($1::text::jsonb) AS now", [JSON.stringify(wanted)], {
      prepare: true,
    });
    this.mirror.learn(wanted, row?.now as Read, reading);
  }
}

/** Tries again while the server is away or the outcome is open, as long as there is patience. */
async function insist<Value>(work: () => Promise<Value>, until: number, isOpen = isAway): Promise<Value> {
  for (;;) {
    try {
      return await work();
    } catch (error) {
      if (!isOpen(error) || performance.now() > until) throw error;
      await sleep(RETRY_MS);
    }
  }
}

/** Everything a batch names and the mirror does not know, so that one look is enough. */
function wantedBy(batch: readonly Request[], mirror: Mirror, { expiring, grown }: Found, first: Wanted): Wanted {
  const budgets = new Set(first.budgets);
  const calls = new Set([...first.calls, ...expiring]);
  const heads = new Set([...first.heads, ...grown.map(({ chain }) => chain)]);
  const documents = new Map(first.documents.map((each) => [keyOf(each.kind, each.id), each]));
  for (const operation of batch.flatMap(({ operations }) => operations)) {
    if ("budget" in operation && operation.budget !== null) budgets.add(operation.budget);
    if (operation.op === "commit" || operation.op === "release") calls.add(operation.call);
    if (operation.op === "put") documents.set(keyOf(operation.kind, operation.id), operation);
  }
  return {
    ...first,
    budgets: [...budgets].filter((id) => mirror.accounts.get(id) === undefined),
    calls: [...calls].filter((id) => mirror.calls.get(id) === undefined),
    heads: [...heads].filter((chain) => mirror.heads.get(chain) === undefined),
    documents: [...documents]
      .filter(([name]) => mirror.documents.get(name) === undefined)
      .map(([, { kind, id }]) => ({ kind, id })),
  };
}

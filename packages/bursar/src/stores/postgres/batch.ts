import { setTimeout as sleep } from "node:timers/promises";
import { reach } from "../durable/points.js";
import type { Reading } from "../durable/rows.js";
import { quoted } from "./connect.js";
import { concernsAll, explain, gotNoLock, isAway, isClash } from "./faults.js";
import { hasLanded } from "./landed.js";
import { Mirror, type Wanted } from "./mirror.js";
import { learn, type Plan, type Planner, type Request } from "./planner.js";
import type { Asking, Line } from "./pool.js";
import type { Solos } from "./solos.js";
import type { View } from "./view.js";
import { askedOf, mirrored, parametersOf } from "./work.js";

export interface BatchOptions {
  readonly server: Asking;
  readonly solos: Solos;
  readonly name: string;
  readonly planner: Planner;
  readonly mirror: Mirror;
  readonly patience_ms: number;
}

/** After so many decisions in vain the rows are locked first: slower, but then nobody else is faster. */
const OPTIMISTIC = 2;
const RETRY_MS = 100;
/** A text, because the driver would write a value of the type jsonb once more. */
const APPLY = "SELECT bursar_apply($1, $2::text::jsonb)";

/** Decides a batch of lists on the mirror, and has the server write all of it, in one transaction and one round trip. */
export class Batches {
  private readonly server: Asking;
  private readonly solos: Solos;
  private readonly name: string;
  private readonly mirror: Mirror;
  private readonly planner: Planner;
  private readonly patience_ms: number;

  constructor({ server, solos, name, planner, mirror, patience_ms }: BatchOptions) {
    this.server = server;
    this.solos = solos;
    this.name = name;
    this.mirror = mirror;
    this.planner = planner;
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
    // What is read for this batch stays until it is settled, however much others read meanwhile.
    const mirror = new Mirror(this.mirror);
    for (let tries = 0; ; tries++) {
      try {
        const plan =
          tries < OPTIMISTIC ? await this.optimistic(batch, mirror, until) : await this.locked(batch, mirror, until);
        if (plan !== null) return plan;
      } catch (error) {
        if (!isClash(error) && !isAway(error)) throw error;
        if (performance.now() > until) throw error;
        if (isAway(error)) await sleep(RETRY_MS);
      }
    }
  }

  /** Null when somebody else was faster; then the mirror knows more. */
  private async optimistic(batch: readonly Request[], mirror: Mirror, until: number): Promise<Plan | null> {
    const plan = await this.planner.plan(batch, mirror, this.server);
    return (await this.send(plan, mirror, until)) ? plan : null;
  }

  /**
   * Sends a plan until it is known whether it was carried out. When the server goes away in the middle, that is not known:
   * the plan is sent again as it is, which does nothing if it had been carried out, and then its own links tell.
   */
  private async send(plan: Plan, mirror: Mirror, until: number, lost = false): Promise<boolean> {
    const parameters = parametersOf(plan);
    let doubtful = lost;
    const attempt = async () => {
      try {
        reach("written");
        await this.server.ask(APPLY, parameters);
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
      if (doubtful && (await insist(() => hasLanded(plan, this.server), until))) {
        mirrored(this.mirror, plan.view, plan.changes);
        return true;
      }
      if (!isClash(error)) throw error;
      await learn(askedOf(plan.view) as unknown as Wanted, mirror, this.server, plan.reading);
      return false;
    }
  }

  /** Locks everything the decision looks at, then decides. Null when somebody else was faster after all. */
  private async locked(batch: readonly Request[], mirror: Mirror, until: number): Promise<Plan | null> {
    const { view, reading } = await this.planner.plan(batch, mirror, this.server);
    const sent: Plan[] = [];
    try {
      await this.solos.use(async (solo) => {
        await this.lock(solo, view, mirror, reading);
        await this.alone(solo, batch, mirror, sent);
      });
    } catch (error) {
      const [plan] = sent;
      // The server may have gone away after it had committed.
      if (plan === undefined || !isAway(error)) throw error;
      return (await this.send(plan, mirror, until, true)) ? plan : null;
    }
    const [plan] = sent;
    if (plan === undefined) return null;
    // Not before: a mirror of what was rolled back would be taken for true as soon as others reach the same version.
    mirrored(this.mirror, plan.view, plan.changes);
    return plan;
  }

  private async lock(solo: Line, view: View, mirror: Mirror, reading: Reading): Promise<void> {
    const asked = askedOf(view);
    await undone(solo, async () => {
      await solo.ask("BEGIN");
      await solo.ask(
        `SELECT 1 FROM states WHERE id IN (SELECT jsonb_array_elements_text($1::text::jsonb->'budgets'))
         ORDER BY id FOR UPDATE`,
        [JSON.stringify(asked)],
      );
      await learn(asked as unknown as Wanted, mirror, solo, reading);
    });
  }

  private async alone(solo: Line, batch: readonly Request[], mirror: Mirror, sent: Plan[]): Promise<void> {
    await undone(solo, async () => {
      const plan = await this.planner.plan(batch, mirror, solo);
      const parameters = parametersOf(plan);
      sent.push(plan);
      reach("written");
      // In one message: if the transaction was lost with its connection, there is nothing that could be committed alone.
      const values = parameters.map((text) => (text === null ? "NULL" : quoted(text)));
      await solo.script(`SELECT bursar_apply(${values.join(", ")}); COMMIT`);
    });
  }
}

/** Takes back what a transaction has done so far when it fails. */
async function undone(solo: Line, work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    // Where there is no transaction any more, this does nothing.
    if (!isAway(error)) await solo.ask("ROLLBACK");
    throw error;
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

import {
  type Action,
  type BudgetAmounts,
  type Clock,
  type Decision,
  type Finding,
  Gate,
  type Grant,
  type Scope,
  type Store,
  type Timer,
  writeAmount,
} from "bursar";
import { leftOf, type Position, positionsOf } from "bursar/views";
import type { Tell } from "./moment.js";
import type { Pace } from "./pace.js";
import { quote, report } from "./quote.js";
import { seeded } from "./random.js";
import type { Load, SimulatedCall } from "./script.js";
import { Tail } from "./tail.js";

/** What a demo needs from the world. */
export interface World {
  readonly store: Store;
  readonly clock: Clock;
  readonly timer: Timer;
  readonly pace: Pace;
  readonly seed: number;
  readonly signal: AbortSignal;
  readonly tell: Tell;
}

/** How a call ended for the run that made it. */
export type Played =
  | { readonly kind: "done" }
  | { readonly kind: "refused" }
  | { readonly kind: "paused"; readonly finding: Finding };

/** A run that cannot go on: its budget is exhausted for good, or its time has run out. */
export class RunStopped extends Error {
  override readonly name: string = "RunStopped";
}

/** Usage differs by up to this share from seed to seed, and never so much that the story would be another one. */
const SPREAD = 0.03;
/** Tokens come in multiples of this, so that prices stay short enough to read. */
const TOKEN_GRAIN = 25;

/** The ledger with everything around it that makes it a play: simulated calls, their pace, and somebody who tells. */
export class Stage implements Disposable {
  readonly world: World;
  private readonly gate: Gate;
  private readonly tail: Tail;
  private readonly random: () => number;
  private calls = 0;

  constructor(world: World, chain: string) {
    this.world = world;
    const { store, clock, timer } = world;
    this.gate = new Gate({ store, clock, timer });
    this.tail = new Tail(world.store, chain, world.tell);
    this.random = seeded(world.seed);
  }

  /** Tells a moment after everything the chain has recorded before it. */
  readonly tell: Tell = async (moment) => {
    await this.tail.flush();
    await this.world.tell(moment);
  };

  wait(ms: number): Promise<void> {
    return this.world.pace.wait(ms);
  }

  async open(id: string, parent: string | null, scope: Scope, grant: Grant): Promise<void> {
    const [{ decision, budget }] = await this.world.store.apply([
      { op: "open", parent, opening: { id, scope, grant } },
    ]);
    await this.tail.flush();
    if (budget === null) throw stopped(decision);
  }

  async end(...budgets: readonly string[]): Promise<void> {
    await this.world.store.apply(budgets.map((budget) => ({ op: "end", budget }) as const));
    await this.tail.flush();
  }

  /** Records an action, and gives back the id of its link. */
  async record(budget: string, action: Action, cause?: string): Promise<string> {
    const operation = { op: "record", budget, action, ...(cause === undefined ? {} : { cause }) } as const;
    const [{ links }] = await this.world.store.apply([operation]);
    await this.tail.flush();
    return links[0] ?? "";
  }

  /** Puts a simulated call through the gate. */
  async play(budget: string, call: SimulatedCall): Promise<Played> {
    const { step_id, capability_id, asks, uses, takes_ms } = call;
    const { signal, pace } = this.world;
    const asked = quote(call);
    const usage = report(capability_id, this.vary(uses));
    const status = { waits: true };
    const gated = this.gate.call(
      { budget, capability_id, step_id, call_id: `call-${++this.calls}`, kind: kindOf(asks), asked, signal },
      async () => {
        status.waits = false;
        await this.tail.flush();
        await pace.wait(takes_ms);
        return { value: "simulated", usage };
      },
    );
    void gated.catch(() => {}).finally(() => (status.waits = false));
    await this.tellIfWaiting(budget, step_id, asked, status);
    const result = await gated;
    await this.tail.flush();
    signal.throwIfAborted();
    if (result.kind === "done") return { kind: "done" };
    if (result.kind === "failed") throw new RunStopped(`${step_id} failed: ${String(result.error)}`);
    return answer(result.decision);
  }

  /** Where every dimension on the path of a budget stands. */
  async positions(budget: string): Promise<readonly Position[]> {
    return positionsOf(await this.world.store.path(budget), this.world.store.dimensions, this.world.clock.now());
  }

  [Symbol.dispose](): void {
    this.gate[Symbol.dispose]();
  }

  /** A call that has neither begun nor been refused after one turn of the event loop waits for holds in flight. */
  private async tellIfWaiting(budget: string, step_id: string, asked: BudgetAmounts, status: { waits: boolean }) {
    await new Promise((resolve) => setImmediate(resolve));
    if (!status.waits) return;
    for (const position of await this.positions(budget)) {
      const { dimension, held } = position;
      const wanted = asked[dimension.id] ?? 0;
      const left = writeAmount(dimension, leftOf(position));
      if (wanted <= left) continue;
      const shortage = { budget: position.budget, dimension: dimension.id, asked: wanted, left };
      await this.tell({ kind: "waiting", step_id, held: writeAmount(dimension, held), ...shortage });
    }
  }

  private vary(load: Load): Load {
    const factor = 1 + (this.random() * 2 - 1) * SPREAD;
    if ("nano_usd" in load) return load;
    return { tokens: Math.round((load.tokens * factor) / TOKEN_GRAIN) * TOKEN_GRAIN };
  }
}

function answer(decision: Decision): Played {
  const [finding] = decision.findings;
  if (decision.kind === "paused" && finding !== undefined) return { kind: "paused", finding };
  if (decision.kind === "refused") return { kind: "refused" };
  throw stopped(decision);
}

function stopped({ kind, findings }: Decision): RunStopped {
  return new RunStopped(
    `${kind}: ${findings[0]?.dimension ?? "no dimension"} of ${findings[0]?.budget ?? "no budget"}`,
  );
}

function kindOf(load: Load): "model" | "tool" {
  return "tokens" in load ? "model" : "tool";
}

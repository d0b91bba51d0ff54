import type { Store } from "bursar";
import type { Address } from "./child.js";
import { checkNothingLeaks, checkTruth, type Query } from "./truth.js";
import { Witness } from "./witness.js";

const DOLLAR = 1_000_000_000;
const LATER_MS = 2 * 3_600_000;

/** Opens a store for the test itself; `ahead_ms` sets its clock ahead. */
export type OpenStore = (ahead_ms: number) => Promise<Store>;

/** One store that is crashed again and again: what its children were told, and whether the store keeps to it. */
export class History {
  readonly witness: Witness = new Witness();
  private readonly address: Address;
  private readonly open: OpenStore;
  private readonly query: Query;
  private lives = 0;

  constructor(address: Address, open: OpenStore, query: Query) {
    this.address = address;
    this.open = open;
    this.query = query;
  }

  /** The budgets that all callers share: a wide one, and one that is soon exhausted and extended. */
  async begin(): Promise<void> {
    await using store = await this.open(0);
    const limits = (cost: number, steps: number) =>
      ({ kind: "limits", limits: { cost_usd: cost * DOLLAR, steps } }) as never;
    await store.apply([
      { op: "open", parent: null, opening: { id: "session", scope: "shared", grant: limits(100_000, 10_000_000) } },
      { op: "open", parent: "session", opening: { id: "tight", scope: "shared", grant: limits(5, 1_000_000) } },
    ]);
  }

  /** What the next child is told of this store. */
  errand(seed: number): object {
    return { ...this.address, seed, name: `life${this.lives++}`, again: this.witness.again() };
  }

  async check(): Promise<void> {
    await using store = await this.open(0);
    const { faults } = this.witness;
    if (faults.length > 0) throw new Error(`what was asked for went wrong: ${faults.slice(0, 3).join("; ")}`);
    await checkTruth(store, this.query, this.witness);
  }

  /** Lets all instants pass, and looks once more. */
  async end(): Promise<void> {
    await using store = await this.open(LATER_MS);
    await checkNothingLeaks(store, this.query);
    await checkTruth(store, this.query, new Witness());
  }
}

/** A clock that is ahead of the machine's. */
export function clockAhead(ahead_ms: number): { now(): { instant: number; monotonic: number } } {
  return { now: () => ({ instant: Date.now() + ahead_ms, monotonic: performance.now() }) };
}

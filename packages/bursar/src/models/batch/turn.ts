import { StaleError } from "../../core/document.js";
import type { Operation, PutOperation } from "../../core/operation.js";
import type { Outcomes, Store } from "../../ports/store.js";

/** An outlet's turn is a claim, as runs have them: written anew with everything, so that whoever has lost it can write nothing. */
interface Claim {
  readonly worker: string | null;
  readonly expires: number;
  readonly version: number;
}

const LONGEST_MS = 60 * 60_000;

/** The right to do what is due for the batches of one outlet. One process has it at a time. */
export class Turn {
  private readonly store: Store;
  private readonly id: string;
  private readonly ms: number;
  private claim: Claim;

  private constructor(store: Store, id: string, ms: number, claim: Claim) {
    this.store = store;
    this.id = id;
    this.ms = ms;
    this.claim = claim;
  }

  /** Null when somebody else has it. */
  static async take(store: Store, outlet: string, worker: string, ms: number): Promise<Turn | null> {
    const id = `batches:${outlet}`;
    const document = await store.document("lease", id);
    const before = (document?.body ?? { worker: null, expires: 0 }) as unknown as Omit<Claim, "version">;
    const now = store.clock.now().instant;
    // One's own is left from a round that broke off, and one that never ends from before the clock was set back.
    const isClaimed = before.expires > now && before.expires <= now + Math.max(ms, LONGEST_MS);
    if (before.worker !== null && before.worker !== worker && isClaimed) return null;
    const turn = new Turn(store, id, ms, { worker, expires: now + ms, version: document?.version ?? 0 });
    try {
      await turn.apply([]);
      return turn;
    } catch (error) {
      if (turn.isLost(error)) return null;
      throw error;
    }
  }

  /** Writes, and keeps the turn for as long as it may take to say the next thing to a provider. */
  async apply<const Ops extends readonly Operation[]>(operations: Ops): Promise<Outcomes<Ops>> {
    const expires = this.store.clock.now().instant + this.ms;
    return this.write({ ...this.claim, expires }, operations);
  }

  async leave(): Promise<void> {
    await this.write({ ...this.claim, worker: null, expires: 0 }, []);
  }

  isLost(error: unknown): boolean {
    return error instanceof StaleError && error.kind === "lease" && error.id === this.id;
  }

  private async write<const Ops extends readonly Operation[]>(claim: Claim, operations: Ops): Promise<Outcomes<Ops>> {
    const outcomes = (await this.store.apply([this.put(claim), ...operations])) as readonly unknown[];
    this.claim = { ...claim, version: claim.version + 1 };
    return outcomes.slice(1) as unknown as Outcomes<Ops>;
  }

  private put({ worker, expires, version }: Claim): PutOperation {
    const status = worker === null ? "free" : "claimed";
    return { op: "put", kind: "lease", id: this.id, budget: null, status, body: { worker, expires }, version };
  }
}

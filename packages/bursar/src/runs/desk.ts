import { StaleError } from "../core/document.js";
import { BursarError, LedgerError } from "../core/errors.js";
import type { Operation, Outcome } from "../core/operation.js";
import type { Outcomes, Store } from "../ports/store.js";
import type { Timer } from "../ports/timer.js";
import { StoreOver } from "../runtime/store-over.js";
import { type Claim, claimId, putClaim, readClaim } from "./claim.js";
import { ClaimLostError } from "./error.js";
import { InnerCharges } from "./inner-charges.js";
import { isAnswer } from "./journal.js";
import { sleep } from "./sleep.js";
import { Spare } from "./spare.js";

interface Waiting {
  readonly operations: readonly Operation[];
  /** How far the program has come that is paid for, once these are written. */
  readonly computed?: Claim["computed"];
  readonly resolve: (outcomes: readonly Outcome[]) => void;
  readonly reject: (error: unknown) => void;
}

/** How long to wait before a store that failed is asked again, at first; then longer. */
const AGAIN_MS = 50;
const LONGEST_MS = 2000;

/**
 * The store as one run sees it. What the run writes in one turn goes into one transaction: the end of a call, its result,
 * and the beginning of the next. And with it goes the claim, so that nothing is written by a worker that has lost it.
 */
export class Desk extends StoreOver {
  private readonly timer: Timer;
  private readonly claim_ms: number;
  private claim: Claim;
  /** The reservation that is written into the claim from now on. */
  hold: string | null;
  /** How far the program has come that is paid for, or will be when all is written. */
  computed: Claim["computed"];
  /** What a process must have to go on from where the program is saved, once that is written. */
  needs: Claim["needs"];
  /** What calls have held and not taken, since this worker has the run. */
  readonly spare: Spare = new Spare();
  private queue: Waiting[] = [];
  private flushing: Promise<void> | null = null;
  private failure: Error | null = null;

  constructor(store: Store, timer: Timer, claim: Claim, claim_ms: number) {
    super(store);
    this.timer = timer;
    this.claim = claim;
    this.hold = claim.hold;
    this.computed = claim.computed;
    this.needs = claim.needs;
    this.claim_ms = claim_ms;
  }

  get epoch(): number {
    return this.claim.epoch;
  }

  /** Why nothing can be written any more, or null. */
  get lost(): Error | null {
    return this.failure;
  }

  apply<const Ops extends readonly Operation[]>(operations: Ops): Promise<Outcomes<Ops>> {
    return new Promise((resolve, reject) => {
      if (this.failure !== null) return reject(this.failure);
      for (const operation of operations) this.spare.see(operation);
      const inner = InnerCharges.current();
      const written = (outcomes: readonly Outcome[]) => {
        inner?.see(operations, outcomes);
        (resolve as Waiting["resolve"])(outcomes);
      };
      this.queue.push({ operations, resolve: written, reject });
      this.flushing ??= this.flush();
    });
  }

  /**
   * Writes together with the next thing that somebody waits for: nothing depends on it before that. It is told when it could not be
   * written, because the run is somebody else's now.
   */
  later(operations: readonly Operation[], lost: () => void = () => {}): void {
    if (this.failure === null) this.queue.push({ operations, resolve: () => {}, reject: lost });
    else lost();
  }

  /** The same for what the program has computed, which the claim says in the same transaction: it is charged once. */
  charge(operations: readonly Operation[], computed: Claim["computed"]): void {
    this.computed = computed;
    if (this.failure === null) this.queue.push({ operations, computed, resolve: () => {}, reject: () => {} });
  }

  /** Writes what waits to be written together with the next thing, if there is any. */
  async written(): Promise<void> {
    while (this.flushing !== null) await this.flushing;
    if (this.queue.length > 0) await this.apply([]);
  }

  /** Writes the last words, and gives the claim back in the same transaction. */
  async leave(operations: readonly Operation[]): Promise<readonly Outcome[]> {
    while (this.flushing !== null) await this.flushing;
    if (this.failure !== null) throw this.failure;
    const { length } = this.queue;
    const before = this.queue.flatMap((each) => each.operations);
    const all = [...before, ...operations];
    const outcomes = await this.write(all, this.computed, { ...this.claim, worker: null, expires: 0 });
    // Not before it is written: it may have to be tried again.
    this.queue.splice(0, length);
    this.failure = new ClaimLostError(this.claim.run, "left");
    return outcomes.slice(before.length);
  }

  /** The store itself belongs to somebody else. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.fail(new ClaimLostError(this.claim.run, "left"));
  }

  private computedIn(group: readonly Waiting[]): Claim["computed"] {
    return group.findLast(({ computed }) => computed !== undefined)?.computed ?? this.claim.computed;
  }

  private async flush(): Promise<void> {
    try {
      while (this.queue.length > 0 && this.failure === null) {
        // Whoever has just got an answer says its next word first, so that both go into one transaction.
        await quiet();
        const group = this.queue;
        this.queue = [];
        await this.serve(group);
      }
    } finally {
      this.flushing = null;
    }
  }

  private async serve(group: readonly Waiting[]): Promise<void> {
    try {
      const outcomes = await this.write(
        group.flatMap(({ operations }) => operations),
        this.computedIn(group),
      );
      let at = 0;
      for (const { operations, resolve } of group) {
        resolve(outcomes.slice(at, at + operations.length));
        at += operations.length;
      }
    } catch (error) {
      if (this.failure !== null || group.length === 1) for (const { reject } of group) reject(error);
      // One list that cannot be written must not fail the others.
      else for (const each of answersFirst(group)) await this.serve([each]);
    }
  }

  /** Writes once for certain. A store that is away for a while is asked again until the claim has run out. */
  private async write(
    operations: readonly Operation[],
    computed: Claim["computed"],
    next?: Claim,
  ): Promise<readonly Outcome[]> {
    for (let wait = AGAIN_MS; ; wait = Math.min(2 * wait, LONGEST_MS)) {
      const { hold, needs } = this;
      const { instant } = this.clock.now();
      const kept = next ?? { ...this.claim, expires: instant + this.claim_ms, spoke: instant };
      const renewed = { ...kept, hold, computed, needs };
      try {
        const outcomes = (await this.store.apply([putClaim(renewed), ...operations])) as readonly Outcome[];
        this.claim = { ...renewed, version: this.claim.version + 1 };
        return outcomes.slice(1);
      } catch (error) {
        if (this.isLost(error) || (error instanceof LedgerError && (await this.isTaken())))
          throw this.fail(new ClaimLostError(this.claim.run));
        // What the run itself said cannot be done; the store is fine.
        if (!(error instanceof BursarError) || !error.code.startsWith("store_")) throw error;
        await this.whetherWritten(error);
        await sleep(this.timer, wait);
      }
    }
  }

  private isLost(error: unknown): boolean {
    if (!(error instanceof StaleError)) return false;
    return error.kind === "lease" && error.id === claimId(this.claim.run);
  }

  /** After a fault it is not known whether it was written; if it was, its outcomes are lost, and so is this run to us. */
  private async whetherWritten(fault: unknown): Promise<void> {
    if (this.clock.now().instant > this.claim.expires) throw this.fail(fault as Error);
    if (await this.isTaken()) throw this.fail(fault as Error);
  }

  /** Whether the claim was written by another worker, who may have ended the run and its budget since. */
  private async isTaken(): Promise<boolean> {
    const document = await this.store.document("lease", claimId(this.claim.run)).catch(() => undefined);
    return document !== undefined && readClaim(this.claim.run, document).version !== this.claim.version;
  }

  private fail(error: Error): Error {
    this.failure ??= error;
    const waiting = this.queue;
    this.queue = [];
    for (const { reject } of waiting) reject(this.failure);
    return this.failure;
  }
}

/** What a program has asked for because of an answer must not be kept without it, nor an answer without those before it. */
function answersFirst(group: readonly Waiting[]): readonly Waiting[] {
  const answers = ({ operations }: Waiting) => operations.some(isAnswer);
  return [...group.filter(answers), ...group.filter((each) => !answers(each))];
}

/** Everything that can go on by itself has gone on. */
export function quiet(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

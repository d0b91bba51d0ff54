import type { JsonObject } from "../core/chain/canonical.js";
import type { Document } from "../core/document.js";
import type { PutOperation } from "../core/operation.js";
import type { Store } from "../ports/store.js";
import type { RunRecord } from "./record.js";

/**
 * A worker's right to drive a run. It is a document that is written anew with everything the worker writes, so that whoever
 * has lost it can write nothing; and it runs out by itself when its worker is no more.
 */
export interface Claim {
  readonly run: string;
  /** Null when nobody drives the run. */
  readonly worker: string | null;
  /** Counts the claims, so that each attempt at a call has a name of its own. */
  readonly epoch: number;
  readonly expires: number;
  /** When its worker has last written: of one that has died, nobody knows whether it did anything after that. */
  readonly spoke: number;
  /** A reservation that its program computes with; whoever takes the run over gives it back. */
  readonly hold: string | null;
  /** How far its program has come that is paid for: what it has computed from its beginning on, by dimension. */
  readonly computed: Readonly<Record<string, number>>;
  /** What a process must have to go on from where the program was saved; null where it was not, or where that is not known. */
  readonly needs: JsonObject | null;
  readonly version: number;
}

const PREFIX = "run:";

export function claimId(run: string): string {
  return `${PREFIX}${run}`;
}

/** The run that a claim is for; null when the document is no claim. */
export function runOfClaim(id: string): string | null {
  return id.startsWith(PREFIX) ? id.slice(PREFIX.length) : null;
}

export function readClaim(run: string, document: Document | null): Claim {
  if (document === null) {
    return { run, worker: null, epoch: 0, expires: 0, spoke: 0, hold: null, computed: {}, needs: null, version: 0 };
  }
  // Claims that were written before there were these have none.
  const { worker, epoch, expires, hold, computed = {}, needs = null, ...rest } = document.body as unknown as Claim;
  const { spoke = expires } = rest;
  return { run, worker, epoch, expires, spoke, hold, computed, needs, version: document.version };
}

/** Who drives a run at present, and how long it stays so without another word. */
export async function claimOf(store: Store, run: string): Promise<Claim> {
  return readClaim(run, await store.document("lease", claimId(run)));
}

export function putClaim({ run, worker, epoch, expires, spoke, hold, computed, needs, version }: Claim): PutOperation {
  const status = worker === null ? "free" : "claimed";
  return {
    op: "put",
    kind: "lease",
    id: claimId(run),
    budget: null,
    status,
    body: { worker, epoch, expires, spoke, hold, computed, needs },
    version,
  };
}

/** Whether a run that is under way by name is driven by nobody, because its worker is gone; the next one goes on with it. */
export async function isInterrupted(store: Store, run: Pick<RunRecord, "id" | "status">): Promise<boolean> {
  return (await silentSince(store, run)) !== null;
}

/** Since when nobody drives a run that is under way by name; null while somebody does, and for one that is not under way. */
export async function silentSince(store: Store, run: Pick<RunRecord, "id" | "status">): Promise<number | null> {
  if (run.status !== "running") return null;
  const { worker, expires, spoke } = await claimOf(store, run.id);
  const { instant } = store.clock.now();
  if (worker === null) return instant;
  return expires <= instant ? spoke : null;
}

/** The claim that takes over from this one, if its holder is gone. */
export function taken(claim: Claim, worker: string, now: number, claim_ms: number): Claim | null {
  if (claim.worker !== null && claim.expires > now) return null;
  return { ...claim, worker, epoch: claim.epoch + 1, expires: now + claim_ms, spoke: now };
}

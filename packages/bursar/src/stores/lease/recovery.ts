import { open, readdir, readFile, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import type { Amounts } from "../../core/amount.js";
import type { BudgetId } from "../../core/budget.js";
import type { Json } from "../../core/chain/canonical.js";
import { type Head, parseLine } from "../../core/chain/link.js";
import { verifyChain } from "../../core/chain/verify.js";
import type { Dimensions } from "../../core/dimensions.js";
import { LedgerError } from "../../core/errors.js";
import type { Operation } from "../../core/operation.js";
import type { Clock } from "../../ports/clock.js";
import type { Store } from "../../ports/store.js";
import { sha256Hex } from "../../runtime/crypto.js";
import { isRunning, type Owner, readOwnerNote } from "./owner.js";
import { Proofs } from "./proofs.js";

/** No first line is longer. */
const FIRST_LINE = 4096;

/**
 * Settles the slices of processes of this machine that have died, by what their logs prove: calls as they were settled,
 * model calls under way as reserved. A slice is touched only when its time is over, because until then its holder might
 * merely be asleep. What no log proves less of stays charged in full.
 */
export async function recoverLeases(
  folder: string,
  store: Store,
  clock: Clock,
  own: string,
  isAlive: (owner: Owner) => boolean = isRunning,
): Promise<void> {
  for (const name of await readdir(folder)) {
    if (!name.endsWith(".jsonl") || name === `${own}.jsonl`) continue;
    const path = join(folder, name);
    // Who is alive is asked first: the logs of living processes can be long.
    const owner = await readOwner(path);
    if (owner === null || isAlive(owner)) continue;
    const log = await readLog(path, store.dimensions);
    if (log === null) continue;
    const left = [...log.proofs.left()];
    const { instant } = clock.now();
    if (left.some(({ expires }) => expires > instant)) continue;
    for (const { call, budget, used } of left) await settle(store, call, budget, used, log.head);
    // Another process may have done the same at the same time; a slice is settled once, whoever does it.
    await (left.length === 0 ? rm(path) : rename(path, `${path}.settled`)).catch(() => {});
    // It may have died while it began its file anew.
    await rm(`${path}.next`, { force: true }).catch(() => {});
  }
}

interface Log {
  readonly head: Head;
  readonly proofs: Proofs;
}

async function settle(store: Store, call: string, budget: BudgetId, used: Amounts, head: Head): Promise<void> {
  const { chain, seq, hash } = head;
  const data = { slice: call, log: { chain, seq, hash } };
  const operations: readonly Operation[] = [
    { op: "commit", call, used: { ...used } },
    { op: "record", budget, action: { action_type: "LeaseProved", data } },
  ];
  await store.apply(operations).catch((error: unknown) => {
    // The slice was never granted, or its budget is archived: there is nothing to settle.
    if (!(error instanceof LedgerError)) throw error;
  });
}

/** Who wrote a log: that stands in its first line. */
async function readOwner(path: string): Promise<Owner | null> {
  const file = await open(path, "r").catch(() => null);
  if (file === null) return null;
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(FIRST_LINE), 0, FIRST_LINE, 0);
    const [line = ""] = buffer.toString("utf8", 0, bytesRead).split("\n");
    const [owner = []] = parseLine(line).data.notes as readonly (readonly Json[])[];
    return readOwnerNote(owner);
  } catch {
    return null;
  } finally {
    await file.close();
  }
}

/** Reads a log as far as it is whole; null when it proves nothing. What was torn at its end was never acknowledged. */
async function readLog(path: string, dimensions: Dimensions): Promise<Log | null> {
  const text = await readFile(path, "utf8").catch(() => "");
  const lines = text.split("\n").slice(0, -1);
  const verified = await verifyChain(lines, { hash: sha256Hex });
  if (!verified.ok || lines.length === 0) return null;
  const proofs = new Proofs(dimensions);
  let head: Head | null = null;
  for (const line of lines) {
    const link = parseLine(line);
    head = { chain: link.chain, seq: link.seq, hash: link.hash };
    const notes = link.data.notes as readonly (readonly Json[])[];
    if (link.action_type !== "LeaseLogOpened") for (const note of notes) proofs.take(note);
  }
  return head === null ? null : { head, proofs };
}

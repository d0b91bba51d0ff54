import { open, readdir, readFile, rename } from "node:fs/promises";
import { hostname } from "node:os";
import { join } from "node:path";
import type { Amount, Amounts } from "../../core/amount.js";
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
import { zeros } from "./share.js";

/** No first line is longer. */
const FIRST_LINE = 4096;

/** What a log says of one slice. */
interface Proved {
  readonly budget: BudgetId;
  readonly expires: number;
  readonly granted: Amounts;
  returned: boolean;
  readonly calls: Map<string, { readonly kind: string; readonly asked: Amounts; charged: Amounts | null }>;
}

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
    const log = await readLog(path);
    if (log === null) continue;
    const left = [...log.slices].filter(([, { returned }]) => !returned);
    const { instant } = clock.now();
    if (left.some(([, { expires }]) => expires > instant)) continue;
    for (const [call, proved] of left) await settle(store, call, proved, log.head);
    // Another process may have done the same at the same time; a slice is settled once, whoever does it.
    await rename(path, `${path}.settled`).catch(() => {});
  }
}

interface Owner {
  readonly pid: number;
  readonly host: string;
}

interface Log {
  readonly head: Head;
  readonly slices: Map<string, Proved>;
}

async function settle(store: Store, call: string, { budget, granted, calls }: Proved, head: Head): Promise<void> {
  let used = zeros(granted);
  for (const { kind, asked, charged } of calls.values()) {
    used = counted(used, charged ?? (kind === "model" ? asked : {}), store.dimensions);
  }
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
    const [[pid, host] = []] = parseLine(line).data.notes as readonly (readonly Json[])[];
    return { pid: Number(pid), host: String(host) };
  } catch {
    return null;
  } finally {
    await file.close();
  }
}

/** Reads a log as far as it is whole; null when it proves nothing. What was torn at its end was never acknowledged. */
async function readLog(path: string): Promise<Log | null> {
  const text = await readFile(path, "utf8").catch(() => "");
  const lines = text.split("\n").slice(0, -1);
  const verified = await verifyChain(lines, { hash: sha256Hex });
  if (!verified.ok || lines.length === 0) return null;
  const slices = new Map<string, Proved>();
  let head: Head | null = null;
  for (const line of lines) {
    const link = parseLine(line);
    head = { chain: link.chain, seq: link.seq, hash: link.hash };
    const notes = link.data.notes as readonly (readonly Json[])[];
    if (link.action_type !== "LeaseLogOpened") for (const note of notes) take(slices, note);
  }
  return head === null ? null : { head, slices };
}

function take(slices: Map<string, Proved>, [what, call, ...rest]: readonly Json[]): void {
  const slice = slices.get(String(call));
  if (what === "granted") {
    const [budget, expires, granted] = rest as unknown as [string, number, Amounts];
    slices.set(String(call), { budget, expires, granted, returned: false, calls: new Map() });
  } else if (slice === undefined) return;
  else if (what === "returned") slice.returned = true;
  else if (what === "reserved") {
    const [id, kind, asked] = rest as unknown as [string, string, Amounts];
    slice.calls.set(id, { kind, asked, charged: null });
  } else if (what === "settled") {
    const [id, charged] = rest as unknown as [string, Amounts];
    const known = slice.calls.get(id);
    if (known !== undefined) known.charged = charged;
  } else if (what === "moved") move(slice, slices.get(String(rest[0])));
}

/** Calls under way went on in another slice; what was settled before stays with the first, which was given back. */
function move(from: Proved, to: Proved | undefined): void {
  from.returned = true;
  for (const [id, call] of from.calls) if (call.charged === null) to?.calls.set(id, call);
}

/** Sums add up; of peaks the highest counts. */
function counted(before: Amounts, more: Amounts, dimensions: Dimensions): Amounts {
  const after: Record<string, Amount> = { ...before };
  for (const [id, amount] of Object.entries(more)) {
    const known = after[id] ?? 0;
    const peak = dimensions.has(id) && dimensions.get(id).kind === "peak";
    after[id] = (peak ? Math.max(known, amount) : known + amount) as Amount;
  }
  return after;
}

function isRunning({ pid, host }: Owner): boolean {
  if (host !== hostname()) return true;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}

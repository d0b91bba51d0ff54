import {
  ApprovalError,
  type ApprovalRequest,
  type BudgetAmounts,
  type Bursar,
  BursarError,
  InputError,
  type Principal,
  pendingRequests,
  type RunRecord,
} from "bursar";
import { unlessAborted } from "../unless-aborted.js";

/** What is answered to a request. */
export type Choice =
  | { readonly kind: "approve"; readonly extensions?: BudgetAmounts; readonly reason: string | null }
  | { readonly kind: "deny"; readonly reason: string | null }
  | { readonly kind: "leave" };

/** How a run is accompanied while it is driven. */
export interface Company {
  readonly bursar: Bursar;
  readonly by: Principal;
  readonly signal: AbortSignal;
  /** Begins and ends the view. */
  readonly start: () => void;
  readonly rest: () => Promise<void>;
  /** Told when a run stands still or has ended. */
  readonly stood: (run: RunRecord) => void;
  /** Says what is worth knowing. */
  readonly note: (text: string) => void;
  /** Told that it is waited for so many calls in a batch, which may take a day. */
  readonly waiting: (calls: number) => void;
  /** Who decides over requests; null when nobody is there. */
  readonly decide: ((request: ApprovalRequest) => Promise<Choice>) | null;
  /** Whether to wait for somebody elsewhere when nobody decides here. */
  readonly waits: boolean;
}

/** So often a run may pause while somebody drives it by hand. */
const MOST_PAUSES = 1000;
const LOOK_MS = 500;

/** Drives a run until it has ended, or has paused and nobody decides. */
export async function driveOn(id: string, company: Company): Promise<RunRecord> {
  let run = await driven(id, company);
  for (let pauses = 0; run.status === "paused" && pauses < MOST_PAUSES; pauses++) {
    const [request] = await pendingRequests(company.bursar.store, run.id);
    if (request === undefined) {
      const waiting = await waitingIn(run, company.bursar);
      if (waiting.length > 0) await untilCollected(run, waiting, company);
      // Somebody may have decided since the run was looked at.
      else if ((await company.bursar.find(id)).version === run.version) return run;
      run = await driven(id, company);
      continue;
    }
    const choice = company.decide === null ? null : await company.decide(request);
    if (choice === null || choice.kind === "leave") {
      if (!company.waits || choice?.kind === "leave") return run;
      await untilMoved(run, company);
    } else await decided(request, choice, company);
    run = await driven(id, company);
  }
  return run;
}

/** Drives it with the view on. */
async function driven(id: string, company: Company): Promise<RunRecord> {
  const { bursar, signal, start, rest, stood } = company;
  start();
  try {
    const run = await unlessAborted(bursar.drive(id), signal);
    await rest();
    stood(run);
    return run;
  } finally {
    await rest();
  }
}

/** Carries a decision out. What cannot be granted is said, and asked about again. */
async function decided(
  request: ApprovalRequest,
  choice: Exclude<Choice, { kind: "leave" }>,
  company: Company,
): Promise<void> {
  const { bursar, by, signal, start, rest, note } = company;
  start();
  try {
    const { reason } = choice;
    if (choice.kind === "deny") await unlessAborted(bursar.deny(request.id, { by, reason }), signal);
    else {
      const { extensions } = choice;
      const options = { by, reason, ...(extensions !== undefined && { extensions }) };
      await unlessAborted(bursar.approve(request.id, options), signal);
    }
  } catch (error) {
    if (!isMendable(error)) throw error;
    await rest();
    note(error.message);
  } finally {
    await rest();
  }
}

/** Somebody else was faster, or there is no room for what was granted. */
function isMendable(error: unknown): error is BursarError {
  return (
    error instanceof ApprovalError ||
    error instanceof InputError ||
    (error instanceof BursarError && error.code === "no_room")
  );
}

/** Which runs, of this one and those below it, stand still because calls that can wait are not answered yet. */
async function waitingIn(run: RunRecord, bursar: Bursar): Promise<readonly RunRecord[]> {
  if (run.status !== "paused" || run.pause === null) return [];
  const { batches = [], children } = run.pause;
  const below = await Promise.all(children.map(async (id) => waitingIn(await bursar.find(id), bursar)));
  return [...(batches.length > 0 ? [run] : []), ...below.flat()];
}

/** Sends and fetches what waits, until the run can go on, or one below it. Whoever has enough leaves it to a worker. */
async function untilCollected(run: RunRecord, waiting: readonly RunRecord[], company: Company): Promise<void> {
  const { bursar, signal } = company;
  company.waiting(waiting.reduce((sum, { pause }) => sum + (pause?.batches ?? []).length, 0));
  const ids = [run, ...waiting].map(({ id }) => id);
  for (;;) {
    // What is under way is broken off by the signal, and left to others before this process ends.
    await bursar.collect(signal);
    signal.throwIfAborted();
    const now = await Promise.all(ids.map((id) => bursar.find(id)));
    if (now.some(({ status }) => status !== "paused")) return;
    await unlessAborted(new Promise((resolve) => setTimeout(resolve, LOOK_MS)), signal);
  }
}

/** Waits until somebody elsewhere has decided. */
async function untilMoved({ id }: RunRecord, { bursar, signal }: Company): Promise<void> {
  for (;;) {
    const { status } = await bursar.find(id);
    if (status !== "paused") return;
    await unlessAborted(new Promise((resolve) => setTimeout(resolve, LOOK_MS)), signal);
  }
}

import {
  ApprovalError,
  type ApprovalRequest,
  type Bursar,
  BursarError,
  InputError,
  type Principal,
  pendingRequests,
  type RunRecord,
} from "bursar";
import type { Choice } from "./decide.js";
import { unlessAborted } from "./unless-aborted.js";

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
      if (!waitsForBatches(run)) return run;
      await untilCollected(run, company);
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

/** Whether nothing but the answers of calls that can wait keeps a run from going on. */
function waitsForBatches({ pause }: RunRecord): boolean {
  return pause !== null && (pause.batches ?? []).length > 0;
}

/** Sends and fetches what waits, until the run can go on. Whoever has enough leaves it to a worker. */
async function untilCollected(run: RunRecord, company: Company): Promise<void> {
  const { bursar, signal, note } = company;
  const { length } = run.pause?.batches ?? [];
  note(`waits for ${length} ${length === 1 ? "call" : "calls"} in a batch; Ctrl-C leaves that to a worker`);
  for (;;) {
    // What is under way is broken off by the signal, and left to others before this process ends.
    await bursar.collect(signal);
    signal.throwIfAborted();
    if ((await bursar.find(run.id)).status !== "paused") return;
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

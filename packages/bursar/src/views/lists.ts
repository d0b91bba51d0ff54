import { InputError, show } from "../core/errors.js";
import { checkWhole } from "../core/fields.js";
import type { Store } from "../ports/store.js";
import { type ApprovalStatus, readApproval } from "../runs/approval.js";
import type { RunStatus } from "../runs/record.js";
import { approvalView } from "./approval-view.js";
import { latest } from "./latest.js";
import { BRIEF, type RunBrief, readBrief } from "./run-brief.js";
import { runRow } from "./run-row.js";
import type { ApprovalView, Page, RunRow } from "./shapes.js";

/** Which runs are wanted. */
export interface RunListOptions {
  readonly status?: RunStatus;
  readonly session?: string;
  /** Part of its id, its program's name, or whoever has started it; upper and lower case are the same. */
  readonly text?: string;
  /** Whether runs below others are listed too. Where a text is looked for, they are unless this says no. */
  readonly children?: boolean;
  /** What the page before gave as `next`. */
  readonly before?: string;
  readonly limit?: number;
}

export interface ApprovalListOptions {
  readonly status?: ApprovalStatus;
  readonly before?: string;
  readonly limit?: number;
}

const SHOWN = 50;
const MOST_ITEMS = 500;
export const RUN_STATUSES: readonly RunStatus[] = ["queued", "running", "paused", "completed", "failed", "cancelled"];
const ANSWERS: readonly ApprovalStatus[] = ["pending", "approved", "denied", "expired", "withdrawn"];

/** The runs of a store, the latest first. A page may be short, even empty, and still not be the last: `next` tells. */
export async function listRuns(store: Store, options: RunListOptions = {}): Promise<Page<RunRow>> {
  const { status, before } = options;
  if (status !== undefined) checkWord(status, "status", RUN_STATUSES);
  const limit = countIn(options.limit, "limit");
  const read = wantedBy(options);
  const page = await latest(store, {
    kind: "run",
    status,
    before,
    limit,
    only: BRIEF,
    read: (each) => read(readBrief(each)),
  });
  return { items: await Promise.all(page.items.map((run) => runRow(store, run))), next: page.next };
}

/** What humans were asked, the latest first. */
export async function listApprovals(store: Store, options: ApprovalListOptions = {}): Promise<Page<ApprovalView>> {
  const { status, before } = options;
  if (status !== undefined) checkWord(status, "status", ANSWERS);
  const limit = countIn(options.limit, "limit");
  const page = await latest(store, { kind: "approval", status, before, limit, read: readApproval });
  return { items: await Promise.all(page.items.map((request) => approvalView(store, request))), next: page.next };
}

function wantedBy({
  session,
  text,
  children = text !== undefined,
}: RunListOptions): (run: RunBrief) => RunBrief | null {
  const sought = text?.toLowerCase();
  return (run) => {
    if (run.parent !== null && !children) return null;
    if (session !== undefined && run.session !== session) return null;
    if (sought === undefined) return run;
    const words = [run.id, run.program.name, run.started_by];
    return words.some((word) => word.toLowerCase().includes(sought)) ? run : null;
  };
}

/** How many are wanted, or which is the first: a whole number that is not beyond reason. */
export function countIn(value: number | undefined, field: string): number {
  const count = value ?? SHOWN;
  checkWhole(count, field, 1, MOST_ITEMS);
  return count;
}

function checkWord(word: string, field: string, known: readonly string[]): void {
  if (!known.includes(word)) throw new InputError(field, `is ${show(word)}; allowed: ${known.join(", ")}`);
}

import { type ApprovalRequest, type ApprovalStatus, currentRequest, readApproval, type Store } from "bursar";
import { UsageError, unknown } from "../app/errors.js";
import { openLooking } from "../app/runs/missing-parts.js";
import { COMMON_HELP, IDS_HELP, QUIET, textOf } from "../arguments/run-flags.js";
import { approvalsText } from "../render/approval.js";
import { harmless, type Style } from "../render/style.js";
import type { Terminal } from "../terminal/terminal.js";
import { openPlace } from "./common/place.js";
import { type Chore, type Done, listed, type RunsCommand, runsCommand } from "./common/run-command.js";

const STATUSES: readonly (ApprovalStatus | "all")[] = ["pending", "approved", "denied", "expired", "withdrawn", "all"];
const MOST = 1000;

const COMMAND: RunsCommand = {
  help: `Usage: bursar approvals [flags]

What runs wait for: which limit, what was used of all of them, and the extension
that is suggested.

Flags:
  --status <status>  pending (the default), approved, denied, expired, withdrawn
                     or all; ${MOST} at most are shown
${IDS_HELP}
${COMMON_HELP}

Exit codes: 0 done, 1 failed, 2 not understood, 130 interrupted

Examples:
  bursar approvals
  bursar approvals --quiet | xargs -n 1 bursar approve
`,
  flags: { status: { type: "string" }, ...QUIET },
  waits: "reading the store",
  run: list,
};

export function approvals(args: readonly string[], terminal: Terminal): Promise<number> {
  return runsCommand(COMMAND, args, terminal);
}

async function list({ flags, terminal, style }: Chore): Promise<Done> {
  const status = textOf(flags, "status") ?? "pending";
  if (!STATUSES.includes(status as ApprovalStatus)) {
    throw new UsageError(unknown(`the status ${status}`, status, STATUSES));
  }
  await using place = await openPlace(flags, terminal);
  const found: ApprovalRequest[] = [];
  for await (const document of place.store.documents("approval", status === "all" ? undefined : status)) {
    terminal.signal.throwIfAborted();
    if (found.length === MOST) break;
    found.push(await currentRequest(place.store, readApproval(document)));
  }
  const missing = await missingIn(found, place.store, terminal);
  const text = `${approvalsText(found, place.store.clock.now().instant, style)}${missingText(missing, style)}`;
  const approvals = found.map((request) => ({ ...request, missing: missing.get(request.run ?? "") ?? [] }));
  return { report: { approvals }, text, brief: listed(found.map(({ id }) => id)) };
}

type Missing = ReadonlyMap<string, readonly string[]>;

/** What this machine lacks to go on with the runs that wait for an answer, by their ids. */
async function missingIn(found: readonly ApprovalRequest[], store: Store, terminal: Terminal): Promise<Missing> {
  const waiting = found.flatMap(({ status, run }) => (status === "pending" && run !== null ? [run] : []));
  const runs = [...new Set(waiting)];
  await using looking = await openLooking(store, terminal, runs);
  const missing = new Map<string, readonly string[]>();
  for (const id of runs) {
    const lacking = await looking.bursar.missingFor(id);
    if (lacking.length > 0) missing.set(id, lacking);
  }
  return missing;
}

function missingText(missing: Missing, style: Style): string {
  if (missing.size === 0) return "";
  const lines = [...missing].flatMap(([run, lacking]) =>
    lacking.map((each) => `  ${harmless(run)}  ${harmless(each)}\n`),
  );
  return `\n${style.warn("missing here")}\n${lines.join("")}`;
}

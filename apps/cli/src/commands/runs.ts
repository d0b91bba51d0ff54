import { Events, isInterrupted, type RunRecord, type RunStatus, readRun, type Store } from "bursar";
import { heldIn, standing } from "bursar/views";
import { UsageError, unknown } from "../app/errors.js";
import { findRun } from "../app/store/find-run.js";
import { latestIds, MOST_SEEN } from "../app/store/latest-ids.js";
import { COMMON_HELP, countOf, IDS_HELP, QUIET, textOf } from "../arguments/run-flags.js";
import { type RunRow, runsText } from "../render/run-table.js";
import { harmless } from "../render/style.js";
import type { Terminal } from "../terminal/terminal.js";
import { openPlace } from "./common/place.js";
import { type Chore, type Done, listed, type RunsCommand, runsCommand } from "./common/run-command.js";

const STATUSES: readonly RunStatus[] = ["queued", "running", "paused", "completed", "failed", "cancelled"];
const SHOWN = 20;
const MOST = 10_000;

const COMMAND: RunsCommand = {
  help: `Usage: bursar runs [flags]

The runs in a store, the latest first. What a run has spent stands before the
+, what is held for its calls under way behind it. One that is interrupted has
lost its process: \`bursar resume\`, or the next worker, goes on with it.

Flags:
  --status <status>  ${STATUSES.join(", ")}
  --session <id>     those of one session
  --children         those below other runs too
  --most <n>         how many: ${SHOWN} unless said otherwise
  --before <run>     those before this one: where a list before ended
${IDS_HELP}
${COMMON_HELP}

Exit codes: 0 done, 1 failed, 2 not understood, 130 interrupted

Examples:
  bursar runs
  bursar runs --status paused
  bursar runs --json | jq -r '.runs[] | select(.usage.cost_usd > 0.1) | .id'
`,
  flags: {
    status: { type: "string" },
    session: { type: "string" },
    children: { type: "boolean" },
    most: { type: "string" },
    before: { type: "string" },
    ...QUIET,
  },
  waits: "reading the store",
  run: list,
};

export function runs(args: readonly string[], terminal: Terminal): Promise<number> {
  return runsCommand(COMMAND, args, terminal);
}

async function list({ flags, terminal, style }: Chore): Promise<Done> {
  const status = textOf(flags, "status");
  if (status !== undefined && !STATUSES.includes(status as RunStatus)) {
    throw new UsageError(unknown(`the status ${status}`, status, STATUSES));
  }
  const most = countOf(flags, "most", MOST) ?? SHOWN;
  await using place = await openPlace(flags, terminal);
  const { store } = place;
  const from = textOf(flags, "before");
  const before = from === undefined ? undefined : (await findRun(store, from)).id;
  const { ids, more, next } = await latestIds(store, {
    status,
    session: textOf(flags, "session"),
    children: flags.children === true,
    before,
    most,
  });
  const documents = await Promise.all(ids.map((id) => store.document("run", id)));
  const found = documents.flatMap((document) => (document === null ? [] : [readRun(document)]));
  const rows = await Promise.all(found.map((run) => rowOf(store, run)));
  const report = { runs: rows.map(({ run, ...figures }) => ({ ...summary(run), ...figures })), more, next };
  const text = runsText(rows, rows.length < most ? 0 : more, store.clock.now().instant, terminal.columns(), style);
  return { report, text: `${text}${goingOn(next, rows.length, most)}`, brief: listed(rows.map(({ run }) => run.id)) };
}

/** How to see what follows where the table does not say it. */
function goingOn(next: string | null, shown: number, most: number): string {
  if (next === null || shown === most) return "";
  const seen = `${MOST_SEEN.toLocaleString("en-US")} runs were looked at`;
  return `${seen}; \`bursar runs --before ${harmless(next)}\` with the same flags looks at those before\n`;
}

async function rowOf(store: Store, run: RunRecord): Promise<RunRow> {
  const [budget, interrupted] = await Promise.all([store.budget(run.budget), isInterrupted(store, run)]);
  if (budget === null) return { run, interrupted, usage: {}, held: {} };
  const usage = new Events(store.dimensions).consumed(await standing(store, budget), store.clock.now());
  return { run, interrupted, usage, held: heldIn(budget, store.dimensions) };
}

function summary({
  id,
  status,
  program,
  session,
  parent,
  started_by,
  created,
  ended,
  pause,
  failure,
}: RunRecord): object {
  const { kind, name } = program;
  return { id, status, program: { kind, name }, session, parent, started_by, created, ended, pause, failure };
}

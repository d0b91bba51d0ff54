import { Events, isInterrupted, type RunRecord, type RunStatus, readRun, type Store } from "bursar";
import { heldIn, standing } from "bursar/views";
import { UsageError, unknown } from "../args.js";
import { type RunRow, runsText } from "../render/run-table.js";
import { type Chore, type Done, listed, type RunsCommand, runsCommand } from "../runs/command.js";
import { COMMON_HELP, countOf, IDS_HELP, QUIET, textOf } from "../runs/flags.js";
import { openPlace } from "../runs/place.js";
import type { Terminal } from "../terminal.js";

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
${IDS_HELP}
${COMMON_HELP}

Exit codes: 0 done, 1 failed, 2 not understood, 130 interrupted

Examples:
  bursar runs
  bursar runs --status paused
  bursar runs --json | jq -r '.runs[] | select(.usage.cost_usd > 0.1) | .id'
`,
  flags: {
    ...{ status: { type: "string" }, session: { type: "string" }, children: { type: "boolean" } },
    ...{ most: { type: "string" }, ...QUIET },
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
  const session = textOf(flags, "session");
  await using place = await openPlace(flags, terminal);
  const { store } = place;
  const latest = new Latest(most);
  for await (const document of store.documents("run", status)) {
    terminal.signal.throwIfAborted();
    const run = readRun(document);
    if (run.parent !== null && flags.children !== true) continue;
    if (session === undefined || run.session === session) latest.add(run);
  }
  const rows = await Promise.all(latest.runs.map((run) => rowOf(store, run)));
  const more = latest.count - rows.length;
  const report = { runs: rows.map(({ run, ...figures }) => ({ ...summary(run), ...figures })), more };
  const text = runsText(rows, more, store.clock.now().instant, terminal.columns(), style);
  return { report, text, brief: listed(rows.map(({ run }) => run.id)) };
}

/** The latest of many, without holding all of them. */
class Latest {
  count = 0;
  private readonly most: number;
  private kept: RunRecord[] = [];

  constructor(most: number) {
    this.most = most;
  }

  get runs(): readonly RunRecord[] {
    this.trim();
    return this.kept;
  }

  add(run: RunRecord): void {
    this.count++;
    this.kept.push(run);
    if (this.kept.length >= 2 * this.most + 100) this.trim();
  }

  private trim(): void {
    this.kept.sort((a, b) => b.created - a.created || (a.id < b.id ? 1 : -1));
    this.kept = this.kept.slice(0, this.most);
  }
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

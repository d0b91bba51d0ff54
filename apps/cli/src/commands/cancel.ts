import { hasEnded } from "bursar";
import { openDeciding } from "../app/runs/open-deciding.js";
import { findRun } from "../app/store/find-run.js";
import { COMMON_HELP, principalOf, QUIET, textOf } from "../arguments/run-flags.js";
import { resultText } from "../render/run.js";
import type { Terminal } from "../terminal/terminal.js";
import { openPlace } from "./common/place.js";
import { type Chore, type Done, type RunsCommand, runsCommand } from "./common/run-command.js";

const COMMAND: RunsCommand = {
  help: `Usage: bursar cancel <run> [flags]

Ends a run wherever it stands, and what is below it. What it has used stays
used. A run that another process drives is told within ten seconds.

Flags:
  --reason <text>    why, for the record
  --as <name>        who cancels; else the user's name
  --quiet            nothing but the exit code, and what fails
${COMMON_HELP}

A run's id may be given by any unambiguous beginning.

Exit codes: 0 it is cancelled, 1 it has ended otherwise, or the command failed,
2 not understood, 130 interrupted

Examples:
  bursar cancel 0194a2 --reason "not needed any more"
`,
  word: "the run to cancel",
  flags: { reason: { type: "string" }, as: { type: "string" }, ...QUIET },
  waits: "waiting for the run to end",
  run: end,
};

export function cancel(args: readonly string[], terminal: Terminal): Promise<number> {
  return runsCommand(COMMAND, args, terminal);
}

async function end({ word, flags, terminal, style }: Chore): Promise<Done> {
  const by = principalOf(flags);
  await using place = await openPlace(flags, terminal);
  const run = await findRun(place.store, word);
  await using bursar = openDeciding(place, terminal);
  if (hasEnded(run)) {
    const result = await bursar.result(run);
    const text = `it has ended before:\n${resultText(result, style)}`;
    return { report: { ...result, ok: false }, text, brief: "", code: 1 };
  }
  const result = await bursar.cancel(run.id, by, textOf(flags, "reason") ?? null);
  const ok = result.status === "cancelled";
  return { report: { ok, ...result }, text: resultText(result, style), brief: "", code: ok ? 0 : 1 };
}

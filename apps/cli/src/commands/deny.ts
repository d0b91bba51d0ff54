import type { ApprovalRequest, DenyOptions, RunRecord } from "bursar";
import { openDeciding } from "../app/runs/open-deciding.js";
import { driveOthers, namedRun } from "../app/runs/waiting-runs.js";
import { findRequest, findRun } from "../app/store/find-run.js";
import type { Place } from "../app/store/opened-store.js";
import { rootOf } from "../app/store/run-root.js";
import {
  COMMON_HELP,
  DRIVING,
  DRIVING_HELP,
  EQUIPMENT,
  EQUIPMENT_HELP,
  principalOf,
  textOf,
} from "../arguments/run-flags.js";
import { subjectOf } from "../render/approval.js";
import { resultText } from "../render/run.js";
import type { Style } from "../render/style.js";
import type { Terminal } from "../terminal/terminal.js";
import { goOn } from "./common/continue-run.js";
import { EXIT_HELP } from "./common/exit-code.js";
import { openPlace } from "./common/place.js";
import { type Chore, type Done, type RunsCommand, runsCommand } from "./common/run-command.js";

const COMMAND: RunsCommand = {
  help: `Usage: bursar deny <request | checkpoint | run> [flags]

Says no to what a run waits for. No more budget: the run is cancelled, and its
checkpoint removed. No to one action: the program is told, and goes on.

Flags:
  --reason <text>    why, for the record
${EQUIPMENT_HELP}
${DRIVING_HELP}
${COMMON_HELP}

Ids may be given by any unambiguous beginning.

${EXIT_HELP}
  (0 as well when the run was cancelled by this denial)

Examples:
  bursar deny 0194a2 --reason "too expensive"
`,
  word: "the request to deny, or its run,",
  flags: { reason: { type: "string" }, ...EQUIPMENT, ...DRIVING },
  run: sayNo,
};

export function deny(args: readonly string[], terminal: Terminal): Promise<number> {
  return runsCommand(COMMAND, args, terminal);
}

async function sayNo({ word, flags, terminal, style }: Chore): Promise<Done> {
  const options = { by: principalOf(flags), reason: textOf(flags, "reason") ?? null };
  await using place = await openPlace(flags, terminal);
  const request = await findRequest(place.store, word);
  if (flags.detach === true || request.run === null) {
    await using bursar = openDeciding(place, terminal);
    await bursar.decide(request.id, "deny", options);
    return {
      report: await findRequest(place.store, request.id),
      text: `${style.good("✓ denied")}  ${subjectOf(request)}\n`,
    };
  }
  const run = await rootOf(place.store, await findRun(place.store, namedRun(word, request)));
  if (endsRun(request, run)) return await ended(place, terminal, { request, run, options }, style);
  return await goOn({ place, flags, terminal, run }, async (bursar) => {
    await bursar.deny(request.id, options);
    await driveOthers(bursar, request, run);
  });
}

/** A run without anybody above it that gets no more budget is over, and to end it takes none of what it needs. */
function endsRun(request: ApprovalRequest, root: RunRecord): boolean {
  return request.kind === "budget_extension" && request.waiting.some(({ run }) => run === root.id);
}

async function ended(
  place: Place,
  terminal: Terminal,
  {
    request,
    run,
    options,
  }: { readonly request: ApprovalRequest; readonly run: RunRecord; readonly options: DenyOptions },
  style: Style,
): Promise<Done> {
  await using bursar = openDeciding(place, terminal);
  await bursar.deny(request.id, options);
  await driveOthers(bursar, request, run);
  const result = await bursar.result(await bursar.find(run.id));
  return { report: result, text: resultText(result, style) };
}

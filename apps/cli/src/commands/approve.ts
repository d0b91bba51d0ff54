import type { ApproveOptions } from "bursar";
import { UsageError } from "../app/errors.js";
import { checkModules } from "../app/runs/missing-parts.js";
import { openDeciding } from "../app/runs/open-deciding.js";
import { driveOthers, namedRun } from "../app/runs/waiting-runs.js";
import { findRequest, findRun } from "../app/store/find-run.js";
import { rootOf } from "../app/store/run-root.js";
import {
  amountsOf,
  COMMON_HELP,
  DRIVING,
  DRIVING_HELP,
  EQUIPMENT,
  EQUIPMENT_HELP,
  principalOf,
  REPLAY,
  REPLAY_HELP,
  textOf,
} from "../arguments/run-flags.js";
import { subjectOf } from "../render/approval.js";
import { runFigures } from "../render/run-figures.js";
import type { Terminal } from "../terminal/terminal.js";
import { ALL_FLAGS, approveAll } from "./approve-all.js";
import { goOn } from "./common/continue-run.js";
import { EXIT_HELP } from "./common/exit-code.js";
import { openPlace } from "./common/place.js";
import { type Chore, type Done, type RunsCommand, runsCommand } from "./common/run-command.js";

const COMMAND: RunsCommand = {
  help: `Usage: bursar approve <request | checkpoint | run> [flags]
       bursar approve [run] --all [--yes] [flags]

Says yes to what a run waits for, and drives it on from where it was. All that
it has used stays used.

Flags:
  --extend <..>      other amounts than suggested, as llm_tokens=+50000,steps=+5
  --reason <text>    why, for the record
${REPLAY_HELP}
  --all              all requests that wait, or all of this run and those below
                     it, as suggested; shows them and asks first
  --of <budget>      with --all: those for this budget alone, as session:team
  --yes              with --all: without asking
${EQUIPMENT_HELP}
${DRIVING_HELP}
${COMMON_HELP}

Ids may be given by any unambiguous beginning.

${EXIT_HELP}

Examples:
  bursar approve 0194a2
  bursar approve 0194a2 --extend llm_tokens=+50000 --reason "worth it"
  bursar approve nightly --detach
  bursar approve --all --of session:team --yes
`,
  word: "the request to approve, or its run,",
  wordless: "all",
  flags: { extend: { type: "string" }, reason: { type: "string" }, ...ALL_FLAGS, ...REPLAY, ...EQUIPMENT, ...DRIVING },
  run: (chore) => (chore.flags.all === true ? approveAll(chore) : sayYes(chore)),
};

export function approve(args: readonly string[], terminal: Terminal): Promise<number> {
  return runsCommand(COMMAND, args, terminal);
}

async function sayYes({ word, flags, terminal, style }: Chore): Promise<Done> {
  const by = principalOf(flags);
  const extend = textOf(flags, "extend");
  const extensions = extend === undefined ? undefined : amountsOf(extend, "--extend");
  const reason = textOf(flags, "reason") ?? null;
  const replayChanged = flags["replay-changed"] === true;
  const options: ApproveOptions = { by, reason, replayChanged, ...(extensions !== undefined && { extensions }) };
  if (flags.of !== undefined) throw new UsageError("--of goes with --all");
  await using place = await openPlace(flags, terminal);
  const request = await findRequest(place.store, word);
  if (extensions !== undefined && request.kind !== "budget_extension") {
    throw new UsageError("--extend is for budgets, and this request is about something else");
  }
  if (flags.detach === true || request.run === null) {
    await using bursar = openDeciding(place, terminal);
    if (!replayChanged) await checkModules(place.store, request);
    await bursar.decide(request.id, "approve", options);
    const decided = await findRequest(place.store, request.id);
    const granted = runFigures(decided.decision?.extension ?? {});
    const text = `${style.good("✓ approved")}  ${subjectOf(request)}${granted === "" ? "" : `: ${granted} more`}\n`;
    return { report: decided, text };
  }
  const about = await findRun(place.store, namedRun(word, request));
  const run = await rootOf(place.store, about);
  return await goOn({ place, flags, terminal, run, about }, async (bursar) => {
    await bursar.approve(request.id, options);
    await driveOthers(bursar, request, run);
  });
}

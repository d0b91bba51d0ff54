import { type ApprovalRequest, pendingRequests } from "bursar";
import { findRun } from "../app/store/find-run.js";
import { rootOf } from "../app/store/run-root.js";
import {
  COMMON_HELP,
  DRIVING,
  DRIVING_HELP,
  EQUIPMENT,
  EQUIPMENT_HELP,
  HINTS,
  HINTS_HELP,
  hintsOf,
  principalOf,
  REPLAY,
  REPLAY_HELP,
} from "../arguments/run-flags.js";
import type { Terminal } from "../terminal/terminal.js";
import { goOn } from "./common/continue-run.js";
import { EXIT_HELP } from "./common/exit-code.js";
import { openPlace } from "./common/place.js";
import { type Chore, type Done, type RunsCommand, runsCommand } from "./common/run-command.js";

const COMMAND: RunsCommand = {
  help: `Usage: bursar resume <run> [flags]

Lets a run go on where it was, whoever had it before: after an interruption,
after a crash, when a request of it has expired, which then is asked anew, or
when \`bursar extend\` or --budget-extend has added what it asks for. A worker
that died holds its runs for half a minute at most.

Flags:
${HINTS_HELP}
${REPLAY_HELP}
${EQUIPMENT_HELP}
${DRIVING_HELP}
${COMMON_HELP}

A run's id may be given by any unambiguous beginning.

${EXIT_HELP}

Examples:
  bursar resume 0194a2
  bursar resume nightly --module tools.mjs --watch
`,
  word: "the run to resume",
  flags: { ...HINTS, ...REPLAY, ...EQUIPMENT, ...DRIVING },
  run: goAhead,
};

export function resume(args: readonly string[], terminal: Terminal): Promise<number> {
  return runsCommand(COMMAND, args, terminal);
}

async function goAhead({ word, flags, terminal }: Chore): Promise<Done> {
  principalOf(flags);
  await using place = await openPlace(flags, terminal);
  const found = await findRun(place.store, word);
  const run = await rootOf(place.store, found);
  const now = place.store.clock.now().instant;
  const waiting: ApprovalRequest[] = [];
  for (const request of await pendingRequests(place.store, run.id)) {
    if (request.expires > now && !isExtended(request)) waiting.push(request);
  }
  const replayChanged = flags["replay-changed"] === true;
  const hints = hintsOf(flags);
  return await goOn({ place, flags, terminal, run, about: found }, async (bursar, by) => {
    if (hints !== undefined) {
      await bursar.wake(found.id, by, { replayChanged, hints });
      if (run.id !== found.id) await bursar.wake(run.id, by, { replayChanged });
      return;
    }
    // While a request is open, to let the run go on would only make it ask the same again.
    if (run.status === "paused" && waiting.length === 0) await bursar.resume(run.id, by, { replayChanged });
    else if (replayChanged) await bursar.allowChanged(found.id, by);
  });
}

/** Whether what it asks for was extended without it, so that a waiting call finds enough by now. */
function isExtended({ exhausted_dimension: dimension, least_extension }: ApprovalRequest): boolean {
  return dimension !== null && least_extension[dimension] === 0;
}

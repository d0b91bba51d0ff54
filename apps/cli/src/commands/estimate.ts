import { type Bursar, calibration, systemClock } from "bursar";
import { estimateView } from "bursar/views";
import { equip, needsFrom } from "../app/equipment/equipment.js";
import { foresightOf } from "../app/equipment/foresight.js";
import { LazySandbox } from "../app/equipment/lazy-sandbox.js";
import { CommandError, UsageError } from "../app/errors.js";
import { findProgram } from "../app/programs/find-program.js";
import { needing } from "../app/programs/program-needs.js";
import { bursarAt } from "../app/runs/open-bursar.js";
import { asUsage, sharedTerms } from "../app/runs/shared-budgets.js";
import { equipmentOptions } from "../arguments/equipment-flags.js";
import { estimateChoiceOf } from "../arguments/preflight-flags.js";
import { COMMON_HELP, EQUIPMENT, EQUIPMENT_HELP, listOf, principalOf, textOf } from "../arguments/run-flags.js";
import { termsOf } from "../arguments/run-terms.js";
import { inputOf, ownOf, PROGRAMS_HELP, WANTED, WANTED_HELP, wishOf } from "../arguments/wanted-run.js";
import { calibrationText } from "../render/calibration.js";
import { estimateText } from "../render/estimate.js";
import type { Terminal } from "../terminal/terminal.js";
import { EXIT } from "./common/exit-code.js";
import { configOf, lookPlace, openPlace } from "./common/place.js";
import { type Chore, type Done, type RunsCommand, runsCommand } from "./common/run-command.js";

const COMMAND: RunsCommand = {
  help: `Usage: bursar estimate <file> [flags]
       bursar estimate --report [--program <name>]

What a run would take of every dimension: as many runs take more than the
median as take less, and 95 of 100 stay within the 95 %. The figures come from
the program itself, from its own past runs in the store, and from a model where
one is asked. Nothing is started, and nothing is spent but for that question.

${PROGRAMS_HELP}

Flags:
${WANTED_HELP}
  --no-predict       do not ask a model
  --as <name>        who would start it; else the user's name
  --report           how well the predictions of past runs have held; then
                     --program is the name of the program that is meant, and
                     all are without it
${EQUIPMENT_HELP}
${COMMON_HELP}

Exit codes:
  0    it fits, or nobody can say what it will take; the report is told
  1    the command has failed
  2    the command line was not understood
  5    the 95 % does not fit into the limits
  130  interrupted

Examples:
  bursar estimate research.py --input '{"topic":"tea"}' --budget cost_usd=0.50
  bursar estimate plan.rtfs --module tools.mjs --json | jq .fits
  bursar estimate --report --program research
`,
  word: "the program to estimate",
  wordless: "report",
  flags: {
    ...WANTED,
    ...EQUIPMENT,
    "no-predict": { type: "boolean" },
    report: { type: "boolean" },
    as: { type: "string" },
  },
  waits: "estimating",
  run: (chore) => (chore.flags.report === true ? report(chore) : estimated(chore)),
};

export function estimate(args: readonly string[], terminal: Terminal): Promise<number> {
  return runsCommand(COMMAND, args, terminal);
}

async function estimated({ word: file, flags, terminal, style }: Chore): Promise<Done> {
  const config = configOf(flags, terminal);
  const sandbox = new LazySandbox(terminal.env);
  const found = await findProgram(wishOf(file, flags, sandbox));
  const { start, shared: above } = termsOf(config, flags, found, systemClock.now().instant);
  const input = await inputOf(textOf(flags, "input"), terminal);
  await using equipment = await equip(
    equipmentOptions(flags, { env: terminal.env, config }),
    config,
    sandbox,
    ownOf(found),
  );
  found.checkTools(equipment.tools);
  await using place = await lookPlace(flags, config, terminal);
  const foresight = foresightOf(place, equipment, estimateChoiceOf(flags));
  if (foresight === false) throw new CommandError(SWITCHED_OFF);
  await using bursar: Bursar = await bursarAt(place, equipment, terminal, {
    foresight,
    policy: textOf(flags, "policy"),
  });
  const program = needing(found.program, needsFrom(equipment, found.program));
  const named = [...config.sessions.keys()];
  const shared = await asUsage(sharedTerms(place.store, above, named));
  const by = principalOf(flags);
  const view = estimateView(await bursar.estimate(program, input, { ...start, ...shared, by }), place.store.dimensions);
  return {
    report: view,
    text: estimateText(view, terminal.columns(), style),
    code: view.fits ? EXIT.done : EXIT.stopped,
  };
}

const SWITCHED_OFF = "the configuration has switched foresight off, so nothing is known; set foresight.enabled to true";

async function report({ word, flags, terminal, style }: Chore): Promise<Done> {
  const programs = listOf(flags, "program");
  if (word !== "" || programs.length > 1) {
    throw new UsageError("--report is about all programs, or about the one that --program names");
  }
  const [program] = programs;
  await using place = await openPlace(flags, terminal);
  const rows = await calibration(place.store, program === undefined ? {} : { program });
  return { report: { rows }, text: calibrationText(rows, program ?? null, terminal.columns(), style) };
}

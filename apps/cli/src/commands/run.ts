import { canonicalize, type Json, type RunRecord, type Store, systemClock } from "bursar";
import type { Configuration } from "bursar/config";
import { equip, needsFrom } from "../app/equipment/equipment.js";
import { foresightOf } from "../app/equipment/foresight.js";
import { LazySandbox } from "../app/equipment/lazy-sandbox.js";
import { CommandError, UsageError } from "../app/errors.js";
import { type FoundProgram, findProgram } from "../app/programs/find-program.js";
import { needing, needsOf } from "../app/programs/program-needs.js";
import { bursarAt } from "../app/runs/open-bursar.js";
import { Printing } from "../app/runs/program-printing.js";
import { asUsage, openShared, type SharedPlace } from "../app/runs/shared-budgets.js";
import { command } from "../arguments/command-line.js";
import { equipmentOptions } from "../arguments/equipment-flags.js";
import { estimateChoiceOf, PREFLIGHT, PREFLIGHT_HELP, preflightOf } from "../arguments/preflight-flags.js";
import {
  COMMON_HELP,
  DRIVING,
  DRIVING_HELP,
  EQUIPMENT,
  EQUIPMENT_HELP,
  type Given,
  HINTS,
  HINTS_HELP,
  hintsOf,
  principalOf,
  textOf,
} from "../arguments/run-flags.js";
import { type Terms, termsOf } from "../arguments/run-terms.js";
import { inputOf, ownOf, PROGRAMS_HELP, WANTED, WANTED_HELP, wishOf } from "../arguments/wanted-run.js";
import { harmless } from "../render/style.js";
import type { Terminal } from "../terminal/terminal.js";
import { configMember, tellConfig } from "./common/config-notice.js";
import { accompanied } from "./common/continue-run.js";
import { EXIT_HELP } from "./common/exit-code.js";
import { configOf, isKept, makePlace } from "./common/place.js";
import { type Chore, type Done, type RunsCommand, runsCommand } from "./common/run-command.js";
import { companyFor, errorStyle } from "./common/run-company.js";

const HELP = `Usage: bursar run <file> [flags]

Runs a program inside a budget: a call that does not fit is refused before it
is made, and the run stops, asks or warns, as its policies say. It can be
killed at any time and resumed elsewhere.

${PROGRAMS_HELP}

Flags:
${WANTED_HELP}
${HINTS_HELP}
${PREFLIGHT_HELP}
${EQUIPMENT_HELP}
${DRIVING_HELP}
${COMMON_HELP}

With --json standard output has the outcome alone. While the run waits for calls
in a batch, standard error says so in a line of JSON:
  {"event":"waiting_for_batch","run_id":"…","calls":3}

${EXIT_HELP}

Examples:
  bursar run research.py --input '{"topic":"tea"}' --budget cost_usd=0.50
  bursar run agent.mjs --agent --input @request.json --session team-a
  bursar run plan.rtfs --module tools.mjs --json | jq .result
`;

const COMMAND: RunsCommand = {
  help: HELP,
  word: "the program to run",
  flags: { ...WANTED, ...HINTS, ...PREFLIGHT, ...EQUIPMENT, ...DRIVING },
  run: start,
};

export function run(args: readonly string[], terminal: Terminal): Promise<number> {
  return runsCommand(COMMAND, args, terminal);
}

async function start({ word: file, flags, terminal }: Chore): Promise<Done> {
  if (flags.detach === true && flags.yes === true) throw new UsageError("--detach and --yes exclude each other");
  const config = configOf(flags, terminal);
  tellConfig(config, flags);
  const by = principalOf(flags);
  const sandbox = new LazySandbox(terminal.env);
  const found = await findProgram(wishOf(file, flags, sandbox));
  const terms = termsOf(config, flags, found, systemClock.now().instant);
  const hints = hintsOf(flags);
  const input = await inputOf(textOf(flags, "input"), terminal);
  await using equipment = await equip(
    equipmentOptions(flags, { env: terminal.env, config }),
    config,
    sandbox,
    ownOf(found),
  );
  found.checkTools(equipment.tools);
  if (flags.detach === true && !isKept(flags, config, terminal)) {
    throw new UsageError("a memory: store ends with this process, so nothing can be left to a worker; name another");
  }
  await using place = await makePlace(flags, config, terminal);
  const preflight = preflightOf(flags);
  const printing = new Printing();
  const { printed } = printing;
  const foresight = foresightOf(place, equipment, estimateChoiceOf(flags));
  await using bursar = await bursarAt(place, equipment, terminal, {
    foresight,
    printed,
    policy: textOf(flags, "policy"),
  });
  const shared = await sharedFor(place.store, terms, flags, config);
  const program = needing(found.program, needsFrom(equipment, found.program));
  const isNew = terms.start.id === undefined || (await place.store.document("run", terms.start.id)) === null;
  const record = await bursar.start(program, input, {
    ...terms.start,
    by,
    ...(preflight !== null && { preflight }),
    ...(hints !== undefined && { hints }),
    ...(shared.session !== null && { session: shared.session }),
  });
  if (record.program.digest !== program.digest) {
    throw new CommandError(`run ${record.id} is there already, with another program; choose another --id`);
  }
  // Whoever gives another input does not want the old answer.
  if (!isNew && flags.input !== undefined && canonicalize(record.input) !== canonicalize(input as Json)) {
    throw new CommandError(`run ${record.id} is there already, with another input; choose another --id`);
  }
  if (flags.detach === true) return detached(record, flags, config);
  tell(record, found, flags, terminal, { isNew, note: shared.note });
  const company = companyFor(record, bursar, by, { flags, terminal, from: 0, printing });
  const done = await accompanied(record, company, { flags, terminal });
  return { ...done, report: { ...done.report, ...configMember(config) } };
}

async function sharedFor(store: Store, { shared }: Terms, flags: Given, config: Configuration): Promise<SharedPlace> {
  return asUsage(openShared(store, shared, flags["session-budget"] !== undefined, [...config.sessions.keys()]));
}

function detached({ id, status, program }: RunRecord, flags: Given, config: Configuration): Done {
  const next = [command("show", id, flags, null)];
  const needs = needsOf(program)?.flags ?? [];
  const report = { run_id: id, status, program: program.name, needs, next, ...configMember(config) };
  return { report, text: `${id}\n` };
}

function tell(
  { id, status, program }: RunRecord,
  { description }: FoundProgram,
  flags: Given,
  terminal: Terminal,
  { isNew, note }: { readonly isNew: boolean; readonly note: string | null },
): void {
  if (flags.json === true || flags.quiet === true) return;
  const style = errorStyle(terminal);
  const again = isNew ? "" : `  ${style.warn(`it is there already, and ${status}; nothing is started anew`)}\n`;
  const told = note === null ? "" : `  ${style.warn("note")} ${harmless(note)}\n`;
  process.stderr.write(`${style.bold(`run ${id}`)}  ${style.dim(`${program.name}, ${description}`)}\n${again}${told}`);
}

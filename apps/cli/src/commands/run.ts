import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import { type Json, type RunRecord, systemClock } from "bursar";
import { CommandError, UsageError } from "../args.js";
import { harmless } from "../render/style.js";
import { type Chore, type Done, type RunsCommand, runsCommand } from "../runs/command.js";
import { bursarAt, companyFor, errorStyle } from "../runs/company.js";
import { type Equipment, equip, MEMORY_BYTES, needsFrom } from "../runs/equipment.js";
import { EXIT_HELP } from "../runs/exit-code.js";
import {
  COMMON_HELP,
  countOf,
  DRIVING,
  DRIVING_HELP,
  EQUIPMENT,
  EQUIPMENT_HELP,
  type Given,
  listOf,
  principalOf,
  textOf,
} from "../runs/flags.js";
import { accompanied } from "../runs/go-on.js";
import { LazySandbox } from "../runs/lazy-sandbox.js";
import { needing, needsOf } from "../runs/needs.js";
import { command } from "../runs/outcome.js";
import { configOf, isKept, makePlace } from "../runs/place.js";
import { type FoundProgram, findProgram } from "../runs/program.js";
import { openShared } from "../runs/shared.js";
import { termsOf } from "../runs/terms.js";
import type { Terminal } from "../terminal.js";

const HELP = `Usage: bursar run <file> [flags]

Runs a program inside a budget: a call that does not fit is refused before it
is made, and the run stops, asks or warns, as its policies say. It can be
killed at any time and resumed elsewhere.

Programs:
  .py, .js, .mjs     in the sandbox; they ask with await host.llm, host.tool,
                     host.spawn, host.sleep, host.budget
  .rtfs, .edn        a plan, in the sandbox too
  .ts, .mts          a module with an agent (defineAgent), and maybe tools.
                     TRUSTED: it is loaded into this process. It needs a Node
                     that loads TypeScript (22.18 or newer)
  .js, .mjs --agent  the same, compiled

Flags:
  --input <json>     what the program is given; @file or - reads it from there
  --budget <limits>  such as cost_usd=0.50,steps=20,wall_clock=60s
  --exhaustion <..>  what happens at a limit, as steps=approval_required;
                     hard_stop, approval_required or soft_warn
  --policy <name>    the policy of the configuration to start from
  --wrap-up <..>     what is set aside for the final answer, as llm_tokens=2000
  --deadline <time>  10m from now, or 2027-01-31T12:00:00Z
  --session <id>     the session it belongs to, whose limits several runs share
  --session-budget   the limits of a session that is not open yet
  --id <id>          a name of its own: started again, it is the same run
  --name <name>      what the program is called; which agent of a module
  --agent            load .js or .mjs into this process
  --package <name>   a package that Python may import; may be given again
  --memory <MiB>     how large a guest's memory may grow: 256
${EQUIPMENT_HELP}
${DRIVING_HELP}
${COMMON_HELP}

${EXIT_HELP}

Examples:
  bursar run research.py --input '{"topic":"tea"}' --budget cost_usd=0.50
  bursar run agent.mjs --agent --input @request.json --session team-a
  bursar run plan.rtfs --module tools.mjs --json | jq .result
`;

const COMMAND: RunsCommand = {
  help: HELP,
  word: "the program to run",
  flags: {
    ...{ input: { type: "string" }, budget: { type: "string" }, exhaustion: { type: "string" } },
    ...{ policy: { type: "string" }, "wrap-up": { type: "string" }, deadline: { type: "string" } },
    ...{ session: { type: "string" }, "session-budget": { type: "string" }, id: { type: "string" } },
    ...{ name: { type: "string" }, agent: { type: "boolean" }, package: { type: "string", multiple: true } },
    ...{ memory: { type: "string" }, ...EQUIPMENT, ...DRIVING },
  },
  run: start,
};

export function run(args: readonly string[], terminal: Terminal): Promise<number> {
  return runsCommand(COMMAND, args, terminal);
}

async function start({ word: file, flags, terminal }: Chore): Promise<Done> {
  if (flags.detach === true && flags.yes === true) throw new UsageError("--detach and --yes exclude each other");
  const config = configOf(flags, terminal);
  const by = principalOf(flags);
  const sandbox = new LazySandbox(terminal.env);
  const found = await findProgram(wishOf(file, flags, sandbox));
  const terms = termsOf(config, flags, found, systemClock.now().instant);
  const input = await inputOf(textOf(flags, "input"), terminal);
  await using equipment = await equip(flags, terminal.env, ownOf(found, file), sandbox);
  found.checkTools(equipment.tools);
  if (flags.detach === true && !isKept(flags, config, terminal)) {
    throw new UsageError("a memory: store ends with this process, so nothing can be left to a worker; name another");
  }
  await using place = await makePlace(flags, config);
  await using bursar = bursarAt(place, equipment, terminal);
  const shared = await openShared(place.store, terms.effective.shared, flags["session-budget"] !== undefined);
  const program = needing(found.program, needsFrom(equipment, found.program));
  const isNew = terms.start.id === undefined || (await place.store.document("run", terms.start.id)) === null;
  const record = await bursar.start(program, input, {
    ...{ ...terms.start, by },
    ...(shared.session !== null && { session: shared.session }),
  });
  if (record.program.digest !== program.digest) {
    throw new CommandError(`run ${record.id} is there already, with another program; choose another --id`);
  }
  if (flags.detach === true) return detached(record, flags);
  tell(record, found, flags, terminal, { isNew, note: shared.note });
  const company = companyFor(record, bursar, by, { flags, terminal, from: 0 });
  return await accompanied(record, company, { flags, terminal });
}

function wishOf(file: string, flags: Given, sandbox: LazySandbox) {
  const mib = countOf(flags, "memory", 4096);
  if (mib !== undefined && mib < 32) throw new UsageError(`--memory is ${mib}; allowed: 32 to 4096, in MiB`);
  return {
    ...{ file, name: textOf(flags, "name"), trusted: flags.agent === true, packages: listOf(flags, "package") },
    ...{ memory_bytes: mib === undefined ? MEMORY_BYTES : mib * 1024 * 1024, sandbox: sandbox.open },
  };
}

/** What a file brings along by itself: a module its other agents and its tools, a plan the runs that are nested in it. */
function ownOf(
  { program, below, module }: FoundProgram,
  file: string,
): Partial<Pick<Equipment, "programs" | "tools" | "flags">> {
  if (module !== null) return { programs: module.agents, tools: module.tools, flags: ["--module", module.file] };
  const flags = below.length === 0 ? [] : ["--program", resolve(file)];
  return { programs: [program, ...below], flags };
}

const MOST_INPUT = 10 * 1024 * 1024;

async function inputOf(text: string | undefined, { input }: Terminal): Promise<Json> {
  if (text === undefined) return null;
  if (text === "-" && input === null) throw new UsageError("nothing is piped in; give --input as JSON, or as @file");
  const written =
    text === "-" && input !== null ? await piped(input) : text.startsWith("@") ? await readInput(text.slice(1)) : text;
  try {
    return JSON.parse(written) as Json;
  } catch (error) {
    const problem = error instanceof Error ? error.message : String(error);
    throw new UsageError(`--input is no JSON: ${harmless(problem)}; a text has to be quoted, as '"tea"'`);
  }
}

async function piped(input: AsyncIterable<Uint8Array>): Promise<string> {
  const pieces: Uint8Array[] = [];
  let size = 0;
  for await (const piece of input) {
    size += piece.length;
    if (size > MOST_INPUT) throw new CommandError(`the input has more than ${MOST_INPUT} bytes`);
    pieces.push(piece);
  }
  return Buffer.concat(pieces).toString("utf8");
}

async function readInput(file: string): Promise<string> {
  const text = await readFile(file, "utf8").catch((error: NodeJS.ErrnoException) => {
    throw new CommandError(`${file} cannot be read (${error.code}); check its name`);
  });
  if (text.length > MOST_INPUT) throw new CommandError(`the input has more than ${MOST_INPUT} bytes`);
  return text;
}

function detached({ id, status, program }: RunRecord, flags: Given): Done {
  const next = [command("show", id, flags, null)];
  const needs = needsOf(program)?.flags ?? [];
  return { report: { run_id: id, status, program: program.name, needs, next }, text: `${id}\n` };
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

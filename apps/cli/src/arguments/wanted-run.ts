import { readFile } from "node:fs/promises";
import type { Json } from "bursar";
import { type Equipment, MEMORY_BYTES } from "../app/equipment/equipment.js";
import type { LazySandbox } from "../app/equipment/lazy-sandbox.js";
import { CommandError, UsageError } from "../app/errors.js";
import type { FoundProgram, ProgramWish } from "../app/programs/find-program.js";
import { harmless } from "../render/style.js";
import { countOf, type Flags, type Given, listOf, textOf } from "./run-flags.js";

/** What can be said of a run before it is started. */
export const WANTED: Flags = {
  input: { type: "string" },
  budget: { type: "string" },
  exhaustion: { type: "string" },
  policy: { type: "string" },
  "wrap-up": { type: "string" },
  deadline: { type: "string" },
  session: { type: "string" },
  "session-budget": { type: "string" },
  id: { type: "string" },
  name: { type: "string" },
  agent: { type: "boolean" },
  package: { type: "string", multiple: true },
  memory: { type: "string" },
};

/** What a run can be of. */
export const PROGRAMS_HELP = `Programs:
  .py, .js, .mjs     in the sandbox; they ask with await host.llm, host.tool,
                     host.spawn, host.sleep, host.budget
  .rtfs, .edn        a plan, in the sandbox too
  .ts, .mts          a module with an agent (defineAgent), and maybe tools.
                     TRUSTED: it is loaded into this process. It needs a Node
                     that loads TypeScript (22.18 or newer)
  .js, .mjs --agent  the same, compiled`;

export const WANTED_HELP = `  --input <json>     what the program is given; @file or - reads it from there
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
  --memory <MiB>     how large a guest's memory may grow: 256`;

/** The program that a file and the flags ask for. */
export function wishOf(file: string, flags: Given, sandbox: LazySandbox): ProgramWish {
  const mib = countOf(flags, "memory", 4096);
  if (mib !== undefined && mib < 32) throw new UsageError(`--memory is ${mib}; allowed: 32 to 4096, in MiB`);
  return {
    file,
    name: textOf(flags, "name"),
    trusted: flags.agent === true,
    packages: listOf(flags, "package"),
    memory_bytes: mib === undefined ? MEMORY_BYTES : mib * 1024 * 1024,
    sandbox: sandbox.open,
  };
}

/** What a file brings along by itself: a module its other agents and its tools. */
export function ownOf({ program, module }: FoundProgram): Partial<Pick<Equipment, "programs" | "tools" | "flags">> {
  if (module !== null) return { programs: module.agents, tools: module.tools, flags: ["--module", module.file] };
  return { programs: [program] };
}

const MOST_INPUT = 10 * 1024 * 1024;

/** What the program is given, as --input has it. */
export async function inputOf(
  text: string | undefined,
  { input }: { readonly input: AsyncIterable<Uint8Array> | null },
): Promise<Json> {
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

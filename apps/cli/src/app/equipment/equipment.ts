import { resolve } from "node:path";
import { type GuestSource, guestProgram, type Model, type Program, type ProgramRef, RunError, type Tool } from "bursar";
import type { Configuration } from "bursar/config";
import { type AllowedMembers, type ModelDeployments, type ModelPrices, openPrices } from "bursar/models";
import { CommandError } from "../args.js";
import type { Terminal } from "../terminal.js";
import { allowedBy } from "./allowed.js";
import { deploymentsOf } from "./deployments.js";
import { type EQUIPMENT, type Given, listOf } from "./flags.js";
import { runReuse } from "./foresight.js";
import { LazySandbox } from "./lazy-sandbox.js";
import { modelFlags, modelOf, pricesOf } from "./model.js";
import { loadModule } from "./module-file.js";
import { bareSource, checkNeeds, digestWith, howToGive, type Needs, needsOf } from "./needs.js";
import { planProgram } from "./plan-program.js";
import { findProgram } from "./program.js";

/** 256 MiB, as the sandbox has it. */
export const MEMORY_BYTES: number = 256 * 1024 * 1024;

/** Everything that a process brings along to drive runs with. */
export interface Equipment extends AsyncDisposable {
  readonly programs: readonly Program[];
  readonly tools: readonly Tool[];
  readonly model: Model | null;
  /** What models cost, as far as it is stated beside the table of prices; null for nothing. */
  readonly prices: ModelPrices | null;
  /** Which models deployments run. */
  readonly deployments: ModelDeployments;
  /** What is sent to each host beside what is known. */
  readonly allow: AllowedMembers;
  readonly sandbox: LazySandbox;
  /** The flags that another process needs to be equipped alike. */
  readonly flags: readonly string[];
}

/** What there is without any flag. */
interface Surroundings extends Pick<Terminal, "env"> {
  readonly config: Configuration;
  /** Whether a gateway beside it also takes the prices that name a model. */
  readonly hasGateway?: boolean;
}

/** Loads what the flags name, and what a file that is run brings along by itself. */
export async function equip(
  flags: Given,
  { env, config, hasGateway = false }: Surroundings,
  own: Partial<Pick<Equipment, "programs" | "tools" | "flags">> = {},
  sandbox: LazySandbox = new LazySandbox(env),
): Promise<Equipment> {
  const programs: Program[] = [...(own.programs ?? [])];
  const tools: Tool[] = [...(own.tools ?? [])];
  for (const file of new Set(listOf(flags, "module"))) {
    const module = await loadModule(file);
    programs.push(...module.agents.filter((agent) => !programs.includes(agent)));
    tools.push(...module.tools.filter((tool) => !tools.includes(tool)));
  }
  for (const file of new Set(listOf(flags, "program"))) {
    const wish = { file, name: undefined, trusted: false, packages: [], memory_bytes: MEMORY_BYTES };
    const { program } = await findProgram({ ...wish, sandbox: sandbox.open });
    programs.push(program);
  }
  refuseTwins(programs, "program");
  refuseTwins(tools, "tool");
  const batched = config.foresight.batches?.model ?? null;
  const prices = pricesOf(flags, env, batched);
  // The model that a price is stated for need not be the only one that is asked.
  const book = prices === null ? null : await openPrices({ prices });
  const reuse = runReuse(config);
  const deployments = deploymentsOf(flags, config);
  const allow = allowedBy(flags, config);
  const model = modelOf(flags, env, { batched, book, reuse, deployments, allow, hasGateway });
  return {
    programs,
    tools,
    model,
    prices,
    deployments,
    allow,
    sandbox,
    flags: [...(own.flags ?? []), ...fileFlags(flags, "module"), ...fileFlags(flags, "program"), ...modelFlags(flags)],
    [Symbol.asyncDispose]: async () => {
      await reuse?.settled();
      await sandbox[Symbol.asyncDispose]();
    },
  };
}

/** Files are named from the root, because whoever goes on may stand elsewhere. */
function fileFlags(flags: Given, name: keyof typeof EQUIPMENT): readonly string[] {
  return listOf(flags, name).flatMap((file) => [`--${name}`, resolve(file)]);
}

function refuseTwins(things: readonly { readonly name: string }[], what: string): void {
  const seen = new Set<string>();
  for (const { name } of things) {
    if (seen.has(name)) throw new CommandError(`two ${what}s are called ${name}; rename one of them`);
    seen.add(name);
  }
}

/** What the store keeps of this equipment with a run. */
export function needsFrom({ programs, tools, model, flags }: Equipment, program: Program): Needs {
  return {
    tools: tools.map(({ name }) => name).sort(),
    programs: programs.flatMap(({ name }) => (name === program.name ? [] : [name])).sort(),
    model: model !== null,
    flags,
  };
}

/** Makes programs out of what the store keeps of them. It throws when this process has not all that a run needs. */
export function reviver(equipment: Equipment): (ref: ProgramRef) => Program | null {
  return (ref) => {
    const needs = needsOf(ref);
    if (needs !== null) checkNeeds(ref.name, needs, equipment);
    if (ref.kind === "guest" && ref.source !== null) return guestFrom(ref, equipment.sandbox);
    const known = equipment.programs.find(({ name }) => name === ref.name);
    if (known !== undefined && needs !== null && digestWith(known.digest, needs) === ref.digest) return known;
    if (known !== undefined) {
      throw new RunError("unknown_program", `${ref.name} is another version than the one the run began with`);
    }
    const how = needs === null ? "give it with --module" : howToGive(needs);
    throw new RunError("unknown_program", `${ref.name} is trusted code that this process does not have; ${how}`);
  };
}

function guestFrom(ref: ProgramRef, sandbox: LazySandbox): Program {
  const source = bareSource(ref) as unknown as GuestSource;
  return source.plan === true
    ? planProgram(ref.name, source, sandbox.open)
    : guestProgram(ref.name, source, sandbox.open);
}

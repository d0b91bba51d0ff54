import {
  type GuestSource,
  guestProgram,
  InputError,
  type Model,
  type Program,
  type ProgramRef,
  RunError,
  type Tool,
} from "bursar";
import type { Configuration } from "bursar/config";
import {
  type AllowedMembers,
  allowedNames,
  chatModel,
  type ModelDeployments,
  type ModelPrices,
  openPrices,
  type PriceRemedies,
  type Reuse,
} from "bursar/models";
import { CommandError, UsageError } from "../errors.js";
import { findProgram } from "../programs/find-program.js";
import { loadModule } from "../programs/module-file.js";
import { planProgram } from "../programs/plan-program.js";
import { bareSource, checkNeeds, digestWith, howToGive, type Needs, needsOf } from "../programs/program-needs.js";
import { runReuse } from "./foresight.js";
import type { LazySandbox } from "./lazy-sandbox.js";

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
  /** How a user states a missing price or deployment. */
  readonly remedies: PriceRemedies;
  readonly sandbox: LazySandbox;
  /** The flags that another process needs to be equipped alike. */
  readonly flags: readonly string[];
}

/** Where a model is asked. */
export interface ModelAddress {
  readonly url: string;
  readonly model: string;
  readonly apiKey?: string;
  readonly max_tokens?: number;
  /** What the address is called in error messages. */
  readonly label: string;
}

export interface EquipmentOptions extends Pick<Equipment, "prices" | "deployments" | "allow" | "remedies" | "flags"> {
  /** Files with trusted agents and tools, which are loaded into this process. */
  readonly modules: readonly string[];
  /** Files with further programs, which runs may start below themselves. */
  readonly programs: readonly string[];
  /** The model that runs may ask; null for none. */
  readonly model: ModelAddress | null;
}

/** Loads modules and programs, and opens the model. `own` is what a file that is run brings along by itself. */
export async function equip(
  options: EquipmentOptions,
  config: Configuration,
  sandbox: LazySandbox,
  own: Partial<Pick<Equipment, "programs" | "tools" | "flags">> = {},
): Promise<Equipment> {
  const programs: Program[] = [...(own.programs ?? [])];
  const tools: Tool[] = [...(own.tools ?? [])];
  for (const file of new Set(options.modules)) {
    const module = await loadModule(file);
    programs.push(...module.agents.filter((agent) => !programs.includes(agent)));
    tools.push(...module.tools.filter((tool) => !tools.includes(tool)));
  }
  for (const file of new Set(options.programs)) {
    const wish = { file, name: undefined, trusted: false, packages: [], memory_bytes: MEMORY_BYTES };
    const { program } = await findProgram({ ...wish, sandbox: sandbox.open });
    programs.push(program);
  }
  refuseTwins(programs, "program");
  refuseTwins(tools, "tool");
  const { prices, deployments, allow, remedies } = options;
  const reuse = runReuse(config);
  return {
    programs,
    tools,
    model: options.model === null ? null : await openModel(options.model, options, reuse),
    prices,
    deployments,
    allow,
    remedies,
    sandbox,
    flags: [...(own.flags ?? []), ...options.flags],
    [Symbol.asyncDispose]: async () => {
      await reuse?.settled();
      await sandbox[Symbol.asyncDispose]();
    },
  };
}

async function openModel(
  { label, ...address }: ModelAddress,
  { prices, deployments, allow, remedies }: EquipmentOptions,
  reuse: Reuse | null,
): Promise<Model> {
  // The model that a price is stated for need not be the only one that is asked. A model that has no stated price is looked up
  // in the table of prices, and refused when it is asked and not found there.
  const book = prices === null ? null : await openPrices({ prices });
  try {
    return chatModel({
      ...address,
      deployments,
      allow: allowedNames(allow, address.url),
      remedies,
      ...(book !== null && { prices: book }),
      ...(reuse !== null && { reuse }),
    });
  } catch (error) {
    throw error instanceof InputError ? new UsageError(`${label}: ${error.message}`) : error;
  }
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

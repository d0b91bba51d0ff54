import { extname, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import type { Program, Tool } from "bursar";
import { CommandError } from "../errors.js";
import { digestModule } from "./module-code.js";
import { readProgram } from "./program-file.js";

/** What a module of trusted code offers. */
export interface LoadedModule {
  readonly file: string;
  readonly agents: readonly Program[];
  readonly tools: readonly Tool[];
}

/** Loads a module into this process and takes the agents and tools out of what it exports. It may do anything. */
export async function loadModule(file: string): Promise<LoadedModule> {
  const path = resolve(file);
  // It tells better than the loader what is wrong with a file.
  await readProgram(path);
  if (/\.m?ts$/i.test(extname(path)) && !stripsTypes()) {
    throw new CommandError(
      `${file} is TypeScript, and this Node (${process.version}) does not load it; use Node 22.18 or newer, ` +
        "or compile it and name the .mjs file, with --agent when it is what is run",
    );
  }
  const exported = await importFrom(path, file);
  const offered = Object.values(exported).flatMap((value) => (Array.isArray(value) ? (value as unknown[]) : [value]));
  const code = await digestModule(path);
  const agents = unique(offered.filter(isAgent), file).map((agent) => withCode(agent, code));
  const tools = unique(offered.filter(isTool), file);
  if (agents.length + tools.length > 0) return { file: path, agents, tools };
  throw new CommandError(`${file} exports neither an agent nor a tool; make them with defineAgent and defineTool`);
}

/** Agents of modules that were loaded more than once are the same each time. */
const CODED = new WeakMap<Program, Program>();

/** The text of an agent's function is not all that it does: what stands around it in the module counts as well. */
function withCode(agent: Program, code: string | null): Program {
  if (code === null) return agent;
  const coded = CODED.get(agent) ?? { ...agent, code };
  CODED.set(agent, coded);
  return coded;
}

function stripsTypes(): boolean {
  return "typescript" in process.features && Boolean(process.features.typescript);
}

async function importFrom(path: string, file: string): Promise<Record<string, unknown>> {
  try {
    return (await import(pathToFileURL(path).href)) as Record<string, unknown>;
  } catch (error) {
    const { code = "", message = String(error) } = error as Partial<NodeJS.ErrnoException>;
    const [first = ""] = message.split("\n");
    const advice = code === "ERR_MODULE_NOT_FOUND" ? "; install it beside the module, with npm install" : "";
    throw new CommandError(`${file} cannot be loaded: ${first}${advice}`);
  }
}

/** The module may have a copy of the library of its own, so it is what a thing looks like that counts. */
function isAgent(value: unknown): value is Program {
  if (typeof value !== "object" || value === null) return false;
  const { kind, name, digest, play } = value as Partial<Program>;
  return [kind, name, digest].every((each) => typeof each === "string") && typeof play === "function";
}

function isTool(value: unknown): value is Tool {
  if (typeof value !== "object" || value === null) return false;
  const { name, description, input, run } = value as Partial<Tool>;
  return [name, description].every((each) => typeof each === "string") && !!input && typeof run === "function";
}

/** A thing may be exported twice, as a default too; two things of one name are a mistake. */
function unique<Named extends { readonly name: string }>(found: readonly Named[], file: string): readonly Named[] {
  const byName = new Map<string, Named>();
  for (const each of found) {
    const known = byName.get(each.name);
    if (known !== undefined && known !== each) {
      throw new CommandError(`${file} has two things called ${each.name}; rename one of them`);
    }
    byName.set(each.name, each);
  }
  return [...byName.values()];
}

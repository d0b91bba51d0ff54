import { relative } from "node:path";
import { guestProgram, type Program, type Sandbox, type Tool } from "bursar";
import { compilePlan, type Plan, planErrorAt } from "bursar/plans";
import { CommandError, UsageError, unknown } from "../errors.js";
import { type LoadedModule, loadModule } from "./module-file.js";
import { planFrom } from "./plan-program.js";
import { kindOf, readProgram, stemOf } from "./program-file.js";

/** What is asked for with a program. */
export interface ProgramWish {
  readonly file: string;
  readonly name: string | undefined;
  /** Whether JavaScript is loaded into this process. */
  readonly trusted: boolean;
  readonly packages: readonly string[];
  readonly memory_bytes: number;
  readonly sandbox: () => Promise<Sandbox>;
}

/** A program out of a file, with what belongs to it. */
export interface FoundProgram {
  readonly program: Program;
  /** The trusted module it comes from. */
  readonly module: LoadedModule | null;
  /** How it is executed, for people. */
  readonly description: string;
  /** Throws when it names a tool that nobody offers, where that can be known beforehand. */
  readonly checkTools: (tools: readonly Tool[]) => void;
}

const ANY = { module: null, checkTools: () => {} };

/** Makes a program of a file. */
export async function findProgram(wish: ProgramWish): Promise<FoundProgram> {
  const kind = kindOf(wish.file, wish.trusted);
  if (kind === "module") return agentIn(await loadModule(wish.file), wish);
  const code = await readProgram(wish.file);
  if (kind === "plan") return planIn(code, wish);
  const { packages, memory_bytes, sandbox } = wish;
  const name = wish.name ?? stemOf(wish.file);
  checkName(name);
  if (kind === "javascript" && /\bdefineAgent\s*\(/.test(code)) {
    throw new CommandError(
      `${wish.file} calls defineAgent, which is not there in the sandbox; ` +
        "add --agent to load it into this process, if you trust it",
    );
  }
  const program = guestProgram(name, { language: kind, code, packages, memory_bytes }, sandbox);
  return { ...ANY, program, description: `${kind} in the sandbox` };
}

function planIn(text: string, wish: ProgramWish): FoundProgram {
  const plan = compilePlan(text, { file: wish.file });
  // In a text a name may be anything; what programs are found by may not.
  const name = wish.name ?? stemOf(plan.name ?? wish.file);
  checkName(name);
  const { packages, memory_bytes } = wish;
  const program = planFrom(name, plan, { packages, memory_bytes }, wish.sandbox);
  return {
    ...ANY,
    program,
    description: "a plan in the sandbox",
    checkTools: (tools) => checkPlan(plan, new Set(tools.map((tool) => tool.name))),
  };
}

/** Throws when a plan names a tool that nobody offers, with its place in the text. */
export function checkPlan(plan: Plan, offered: ReadonlySet<string>): void {
  for (const tool of plan.tools) {
    const position = plan.mentions[tool];
    if (offered.has(tool) || position === undefined) continue;
    const hint = `give a module that has it with --module; there is ${[...offered].join(", ") || "none"}`;
    throw planErrorAt(plan, position, `nobody offers the tool ${tool}`, hint);
  }
  for (const child of plan.children) checkPlan(child, offered);
}

function agentIn(module: LoadedModule, { name, file }: ProgramWish): FoundProgram {
  const { agents } = module;
  const names = agents.map((agent) => agent.name);
  const program = name === undefined ? agents[0] : agents.find((agent) => agent.name === name);
  if (name !== undefined && program === undefined) {
    throw new UsageError(unknown(`the agent ${name} of ${file}`, name, names));
  }
  if (program === undefined) throw new CommandError(`${file} exports no agent; make one with defineAgent`);
  if (name === undefined && agents.length > 1) {
    throw new UsageError(`${file} has ${agents.length} agents; name one with --name: ${names.join(", ")}`);
  }
  const description = `trusted code of ${relative(process.cwd(), module.file) || module.file}`;
  return { ...ANY, program, module, description };
}

function checkName(name: string): void {
  if (/^[\w.-]{1,100}$/.test(name)) return;
  throw new UsageError(`--name is ${name.slice(0, 40)}; allowed: 1 to 100 letters, digits, ".", "_" and "-"`);
}

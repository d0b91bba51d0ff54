import { guestProgram, InputError, type Program } from "bursar";
import { compilePlan } from "bursar/plans";
import { checkPlan } from "../programs/find-program.js";
import { planFrom } from "../programs/plan-program.js";
import { type Equipment, MEMORY_BYTES } from "./equipment.js";

/** The languages in which a client may send a program of its own. */
export const BROUGHT_LANGUAGES = ["python", "javascript", "rtfs"] as const;

/** A program as a client sends it. */
export interface BroughtCode {
  /** Absent for a plan that has a name itself, or for one that needs none. */
  readonly name?: string | undefined;
  readonly language: string;
  readonly code: string;
}

const NAME = /^[\w.-]{1,100}$/;

/** Makes a program for the sandbox of code that a client has sent. A plan brings its own budget along. */
export function broughtProgram({ name, language, code }: BroughtCode, { sandbox, tools }: Equipment): Program {
  const known = BROUGHT_LANGUAGES.find((each) => each === language);
  if (known === undefined) {
    throw new InputError("program.language", `is ${language}; allowed: ${BROUGHT_LANGUAGES.join(", ")}`);
  }
  if (name !== undefined && !NAME.test(name)) {
    const shown = name.slice(0, 40);
    throw new InputError("program.name", `is ${shown}; allowed: 1 to 100 letters, digits, ".", "_" and "-"`);
  }
  const rest = { packages: [], memory_bytes: MEMORY_BYTES };
  if (known !== "rtfs") return guestProgram(name ?? "program", { language: known, code, ...rest }, sandbox.open);
  const plan = compilePlan(code, { file: `${name ?? "program"}.rtfs` });
  checkPlan(plan, new Set(tools.map((tool) => tool.name)));
  const own = plan.name !== null && NAME.test(plan.name) ? plan.name : "program";
  return planFrom(name ?? own, plan, rest, sandbox.open);
}

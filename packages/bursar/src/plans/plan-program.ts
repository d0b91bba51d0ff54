import type { Json, JsonObject } from "../core/chain/canonical.js";
import { STANDARD } from "../core/dimensions.js";
import type { Program } from "../ports/program.js";
import { missingFor, type OpenSandbox, playGuest } from "../runs/guest.js";
import type { ProgramRef } from "../runs/record.js";
import { sha256Hex } from "../runtime/crypto.js";
import { type CompileOptions, compilePlan } from "./compile.js";
import type { Plan } from "./plan.js";
import { planTerms } from "./plan-terms.js";

/** A guest of a plan needs little. */
const MEMORY = 64 * 1024 * 1024;

/**
 * A plan as a program that runs in the sandbox, and is saved there as it stands. What the plan says of its own budget belongs to the
 * program: an operator's run gets it, an agent's run and a child get what of it is tighter.
 *
 * @example
 * ```ts
 * const plan = compilePlan(text, { file: "interview.rtfs" });
 * const result = await bursar.run(planProgram(plan, async () => sandbox), input);
 * ```
 */
export function planProgram(plan: Plan, sandbox: OpenSandbox): Program {
  return programAt(plan, [], plan.name ?? "plan", sandbox);
}

/** The plan that a store has kept, if it is one. It names the dimensions that it was compiled with. */
export function revivePlan(
  { kind, source, name }: ProgramRef,
  sandbox: OpenSandbox,
  { dimensions = STANDARD }: Pick<CompileOptions, "dimensions"> = {},
): Program | null {
  if (kind !== "plan" || source === null) return null;
  const { text, file, place } = source as { text: string; file: string; place: readonly number[] };
  let plan = compilePlan(text, { file, dimensions });
  for (const index of place) plan = plan.children[index] as Plan;
  return programAt(plan, place, name, sandbox, { text, file });
}

function programAt(
  plan: Plan,
  place: readonly number[],
  name: string,
  sandbox: OpenSandbox,
  root: { readonly text: string; readonly file: string } = plan,
): Program {
  const source = { text: root.text, file: root.file, place: [...place] };
  const names = plan.children.map((child, index) => childProgramName(name, child, index));
  const terms = planTerms(plan);
  const guest = { language: "javascript", code: plan.code, packages: [], memory_bytes: MEMORY } as const;
  return {
    kind: "plan",
    name,
    digest: sha256Hex(`plan\n${place.join(".")}\n${root.text}`),
    source,
    children: plan.children.map((child, index) =>
      programAt(child, [...place, index], names[index] as string, sandbox, root),
    ),
    ...(terms !== null && { terms }),
    missing: (needs) => missingFor(needs, guest, sandbox),
    play: (stage, input) => playGuest(stage, input, guest, sandbox, (ask, args) => translated(ask, args, names)),
  };
}

function childProgramName(name: string, child: Plan, index: number): string {
  return `${name}/${child.name ?? "run"}.${index}`;
}

/** A plan names its children by their places in the text; a run knows programs by their names. */
function translated(ask: string, args: Json, names: readonly string[]): Json {
  if (ask !== "spawn" || typeof args !== "object" || args === null || Array.isArray(args)) return args;
  const { program, input = null, grant = null, limits = {}, policies = {} } = args as JsonObject;
  const { index = -1 } = (program ?? {}) as { index?: number };
  const { kind, fraction = 0.5 } = (grant ?? {}) as { kind?: string; fraction?: number };
  const budget: Json =
    kind === "share" ? "share" : kind === "fraction" ? { fraction, limits, policies } : { limits, policies };
  return { program: names[index] ?? null, input, budget };
}

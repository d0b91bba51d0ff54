import {
  type GuestSource,
  guestProgram,
  type Json,
  type JsonObject,
  type Program,
  type ProgramTerms,
  type Sandbox,
  type Stage,
} from "bursar";
import { type Plan, planTerms } from "bursar/plans";

/** A plan as a store keeps it: with its own budget, and with the runs that are nested in it, in the order of the text. */
interface PlanSource extends GuestSource {
  readonly plan: true;
  readonly terms?: ProgramTerms & JsonObject;
  readonly below?: readonly PlanSource[];
}

/** A plan as a program, which has the runs that are nested in it as its children. */
export function planFrom(
  name: string,
  plan: Plan,
  rest: Pick<GuestSource, "packages" | "memory_bytes">,
  sandbox: () => Promise<Sandbox>,
): Program {
  return planProgram(name, sourceOf(plan, rest), sandbox);
}

/** The same program out of what a store keeps of it. Its program names nested runs by their place; here they get names. */
export function planProgram(name: string, source: GuestSource, sandbox: () => Promise<Sandbox>): Program {
  const { terms, below = [] } = source as PlanSource;
  const program = guestProgram(name, source, sandbox);
  const ask = (stage: Stage): Stage["ask"] => {
    return (what, args, own) => stage.ask(what, what === "spawn" ? spawned(name, args) : args, own);
  };
  return {
    ...program,
    children: below.map((nested, index) => planProgram(childName(name, index), nested, sandbox)),
    ...(terms !== undefined && { terms }),
    play: (stage, input) => program.play({ ...stage, ask: ask(stage) }, input),
  };
}

function sourceOf(plan: Plan, rest: Pick<GuestSource, "packages" | "memory_bytes">): PlanSource {
  const terms = planTerms(plan);
  const below = plan.children.map((child) => sourceOf(child, rest));
  return {
    language: "javascript",
    code: plan.code,
    ...rest,
    plan: true,
    ...(terms !== null && { terms: terms as ProgramTerms & JsonObject }),
    ...(below.length > 0 && { below }),
  };
}

function childName(name: string, index: number): string {
  return `${name}.${index}`;
}

function spawned(name: string, args: Json): Json {
  const { program, input = null, grant, limits = {}, policies = {} } = args as JsonObject;
  const { index } = program as { readonly index?: number };
  const { kind, fraction = null } = grant as { readonly kind?: string; readonly fraction?: number };
  const budget =
    kind === "share" ? "share" : kind === "fraction" ? { fraction, limits, policies } : { limits, policies };
  return { program: childName(name, index ?? 0), input, budget };
}

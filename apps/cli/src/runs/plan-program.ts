import {
  type GuestSource,
  guestProgram,
  type Json,
  type JsonObject,
  type Program,
  type Sandbox,
  type Stage,
} from "bursar";
import { type Plan, planExpects } from "bursar/plans";

/** A plan as programs: itself first, then the runs that are nested in it, each under a name of its own. */
export function planPrograms(
  name: string,
  plan: Plan,
  rest: Pick<GuestSource, "packages" | "memory_bytes">,
  sandbox: () => Promise<Sandbox>,
): readonly Program[] {
  const source: GuestSource = { language: "javascript", code: plan.code, ...rest, plan: true };
  const below = plan.children.flatMap((child, index) => planPrograms(childName(name, index), child, rest, sandbox));
  const expects = planExpects(plan, name, (above, _, index) => childName(above, index));
  return [{ ...planProgram(name, source, sandbox), expects }, ...below];
}

/** A plan's program names nested runs by their place; here they get the names that they are known by. */
export function planProgram(name: string, source: GuestSource, sandbox: () => Promise<Sandbox>): Program {
  const program = guestProgram(name, source, sandbox);
  const ask = (stage: Stage): Stage["ask"] => {
    return (what, args, own) => stage.ask(what, what === "spawn" ? spawned(name, args) : args, own);
  };
  return { ...program, play: (stage, input) => program.play({ ...stage, ask: ask(stage) }, input) };
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

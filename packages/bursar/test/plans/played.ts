import type { Json, JsonObject } from "../../src/core/chain/canonical.js";
import { type Plan, planExpects } from "../../src/plans/plans.js";
import type { Program } from "../../src/ports/program.js";
import { type AgentContext, defineAgent } from "../../src/runs/agent.js";

type Play = (host: object, InternalError: typeof Error) => Promise<void>;
const AsyncFunction = Object.getPrototypeOf(async () => {}).constructor as new (...parts: readonly string[]) => Play;

/** A plan as programs that execute its code in this process, each effect through the run: itself first, then its children. */
export function playedHere(plan: Plan, name: string): readonly Program[] {
  const run = new AsyncFunction("host", "InternalError", plan.code);
  const childName = (above: string, _: Plan, index: number) => `${above}.${index}`;
  const agent = defineAgent(name, async (ctx, input: Json) => {
    let result: Json = null;
    const host = hostFor(name, ctx, input, (value) => {
      result = value;
    });
    await run(host, Error);
    return result;
  });
  const children = plan.children.flatMap((child, index) => playedHere(child, childName(name, child, index)));
  return [{ ...agent, expects: planExpects(plan, name, childName) }, ...children];
}

function hostFor(name: string, ctx: AgentContext, input: Json, done: (value: Json) => void): object {
  return {
    tool: (tool: string, args: Json) => ctx.tool(tool, args),
    llm: (request: JsonObject) => ctx.model(request),
    sleep: (ms: number) => ctx.sleep(ms),
    budget: () => ctx.budget(),
    spawn: (program: { index: number }, given: Json, options: JsonObject) => {
      const {
        grant,
        limits = {},
        policies = {},
      } = options as { grant: { kind: string; fraction?: number } } & JsonObject;
      const own = { limits: limits as JsonObject, policies: policies as JsonObject } as never;
      const part = { fraction: grant.fraction ?? 0.5, ...(own as object) };
      const budget = grant.kind === "share" ? "share" : grant.kind === "fraction" ? part : own;
      return ctx.spawn(`${name}.${program.index}`, given, budget);
    },
    call: async (what: string, args: Json) => {
      if (what === "input") return input;
      if (what === "result") done(args);
      return null;
    },
  };
}

import type { BudgetLimits, BudgetPolicies } from "bursar";
import type { Errand } from "./process.js";
import { Scene, type Seen } from "./scene.js";

export const KINDS = ["python", "javascript", "plan", "typescript"] as const;
export type Kind = (typeof KINDS)[number];

export const TURNS = 5;
export const QUESTION = "how many";
/** What every program is given: see `children/programs.mjs`. */
export const INPUT = { question: QUESTION, turns: TURNS, before: 100, bytes: 0 };
/** No limit on what these tests are not about. */
const MANY: BudgetLimits = { llm_tokens: null, cost_usd: null, fuel: null, wall_clock_ms: null, steps: null };

export type Start = NonNullable<Errand["starts"]>[number];

/** How a run is started. */
export function startOf(
  kind: Kind,
  given: {
    readonly id?: string;
    readonly input?: Partial<typeof INPUT>;
    readonly limits?: BudgetLimits;
    readonly policies?: BudgetPolicies;
  } = {},
): Start {
  const { id = `${kind}-run`, input = {}, limits = {}, policies = {} } = given;
  const options = { id, limits: { ...MANY, ...limits }, policies };
  return { program: kind, input: { ...INPUT, ...input }, options };
}

/** What comes of runs when nobody is killed, by their ids. */
export async function undisturbed(starts: readonly Start[]): Promise<ReadonlyMap<string, Seen>> {
  await using scene = await Scene.open();
  const worker = scene.start({ starts });
  await worker.until(() => worker.said.length === starts.length);
  await worker.stop();
  const ids = starts.map(({ options }) => options.id ?? "");
  return new Map(await Promise.all(ids.map(async (id) => [id, await scene.see(id)] as const)));
}

import { type BudgetAmounts, type Bursar, readRun } from "bursar";
import { z } from "zod";
import type { Driving } from "./driving.js";
import { type Offer, type Said, ToolError } from "./said.js";
import { STANDING, standings, standingText } from "./standings.js";

const EXTENSION = {
  run_id: z.string().min(1).max(300).optional().describe("The run whose budget is extended."),
  budget_id: z
    .string()
    .min(1)
    .max(300)
    .optional()
    .describe("Or a budget by its id: a session's is session:<name>, a key's is told by its list."),
  reason: z.string().max(1000).optional(),
};

/** All dimensions there are, so that a misspelt one is refused before anything is decided. */
export function extensionsOf({ store }: Bursar) {
  const amounts = store.dimensions.all.map(({ id }) => [id, z.number().positive().optional()] as const);
  return z.strictObject(Object.fromEntries(amounts));
}

/** Offers the tool that adds to a budget unasked. It is offered to operators alone. */
export function offerExtension(offer: Offer, driving: Driving): void {
  const { bursar } = driving.settings;
  offer("budget_extend", {
    title: "Extend a budget",
    description:
      "Adds to any budget without being asked: a run's, a session's, a tenant's or a key's. It is written into the chain under " +
      "your name. A run that has paused does not go on by it: answer its request with budget_approve. Extend only what the user " +
      "has told you to.",
    input: z.strictObject({
      ...EXTENSION,
      extensions: extensionsOf(bursar).describe('What to add, by dimension, as {"cost_usd": 0.5}.'),
    }),
    output: z.object({ budgets: z.array(STANDING).describe("The budget as it is now, then those above it.") }),
    annotations: { destructiveHint: false },
    run: (wish) => extend(driving, wish),
  });
}

interface Wish {
  readonly run_id?: string | undefined;
  readonly budget_id?: string | undefined;
  readonly reason?: string | undefined;
  readonly extensions: Readonly<Record<string, number | undefined>>;
}

async function extend(driving: Driving, { run_id, budget_id, reason, extensions }: Wish): Promise<Said> {
  const { bursar } = driving.settings;
  if ((run_id === undefined) === (budget_id === undefined)) {
    throw new ToolError("It is not clear which budget is meant.", "give either run_id or budget_id.");
  }
  const added = Object.fromEntries(Object.entries(extensions).filter(([, amount]) => amount !== undefined));
  if (Object.keys(added).length === 0) {
    throw new ToolError("Nothing would be added.", "name a dimension with an amount in extensions.");
  }
  const budget = run_id === undefined ? (budget_id ?? "") : await budgetOfRun(bursar, run_id);
  await standings(driving, null, budget);
  await bursar.extend(budget, added as BudgetAmounts, { by: driving.peer.principal, reason: reason ?? null });
  const budgets = await standings(driving, null, budget);
  return { structured: { budgets }, text: `Extended.\n${budgets.map(standingText).join("\n")}` };
}

async function budgetOfRun({ store }: Bursar, id: string): Promise<string> {
  const document = await store.document("run", id);
  if (document !== null) return readRun(document).budget;
  throw new ToolError(`There is no run ${JSON.stringify(id.slice(0, 80))}.`, "use the id that run_start gave.");
}

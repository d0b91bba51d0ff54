import { type Budget, Events } from "bursar";
import { heldIn, standingPath } from "bursar/views";
import { z } from "zod";
import type { Driving } from "./driving.js";
import { ToolError } from "./said.js";
import type { Workplace } from "./workplace.js";

const AMOUNTS = z.record(z.string(), z.unknown());

/** A budget as clients see it. */
export const STANDING = z.object({
  budget_id: z.string(),
  owner: z.string().describe("connection: what pays for your code; run; or shared by several."),
  limits: AMOUNTS,
  used: AMOUNTS,
  held: AMOUNTS.describe("Reserved for calls under way: neither used nor free."),
  remaining: AMOUNTS,
  exhausted: z.array(z.string()),
});

/** How a budget stands, and those above it. */
export async function standings({ settings }: Driving, workplace: Workplace | null, id: string) {
  const { store } = settings.bursar;
  const path = await standingPath(store, id);
  if (path.length === 0) {
    throw new ToolError(`There is no budget ${JSON.stringify(id.slice(0, 80))}.`, "leave budget_id out for your own.");
  }
  const events = new Events(store.dimensions);
  const time = store.clock.now();
  return path.map((budget) => ({
    budget_id: budget.id,
    owner: ownerOf(budget, workplace),
    exhausted: [...budget.exhausted],

    limits: events.limits(budget),
    used: events.consumed(budget, time),
    remaining: events.remaining(budget, time),
    held: heldIn(budget, store.dimensions),
  }));
}

function ownerOf({ id, scope }: Budget, workplace: Workplace | null): string {
  if (id === workplace?.budgetId) return "connection";
  return scope === "run" ? "run" : "shared";
}

export function standingText({
  budget_id,
  owner,
  limits,
  used,
  held,
}: Awaited<ReturnType<typeof standings>>[number]): string {
  const parts = Object.entries(limits).map(([id, limit]) => {
    const holding = held[id] === undefined ? "" : ` (and ${String(held[id])} held for calls under way)`;
    return `${id} ${String(used[id] ?? 0)} of ${String(limit)}${holding}`;
  });
  return `${budget_id} (${owner}): ${parts.join(", ") || "no limit"}`;
}

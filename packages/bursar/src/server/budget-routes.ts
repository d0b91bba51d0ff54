import { json, type Route } from "./route.js";
import { EXTENSION, extend } from "./run-routes.js";
import * as S from "./schemas.js";
import { budgetOf, type World } from "./world.js";

/** Budgets by their own ids: those of sessions, tenants and keys belong to no run. */
export function budgetRoutes(world: World): readonly Route[] {
  return [
    {
      method: "POST",
      path: "/api/v1/budgets/:id/extend",
      role: "operator",
      body: EXTENSION,
      summary: "Add to any budget: a session's, a tenant's, a key's or a run's",
      answer: { status: 200, schema: S.SCHEMAS.BudgetView },
      serve: async (asked) => {
        const { budget } = await budgetOf(world, asked.params.id ?? "");
        await extend(world, budget, asked);
        return json(await budgetOf(world, budget));
      },
    },
  ];
}

import { InputError } from "../core/errors.js";
import type { BudgetLimits, BudgetPolicies } from "../core/input.js";
import { sessionBudget } from "../runs/session-budget.js";
import { Gate } from "../runtime/gate.js";
import { newName } from "../runtime/names.js";
import { keyViews } from "../views/views.js";
import { EXTEND_SESSION, HttpError } from "./http-error.js";
import { type Asked, json, type Reply, type Route } from "./route.js";
import { principalOf } from "./run-routes.js";
import * as S from "./schemas.js";
import type { World } from "./world.js";

const { SCHEMAS } = S;
const MADE = S.object({ key: SCHEMAS.Key, secret: S.TEXT });

const WISH = S.input({
  budget: S.ID,
  limits: S.LIMITS,
  policies: S.POLICIES,
  session: S.ID,
  label: { type: "string", maxLength: 200 },
  expires: S.EXPIRES,
});

interface Wish {
  readonly budget?: string;
  readonly limits?: BudgetLimits;
  readonly policies?: BudgetPolicies;
  readonly session?: string;
  readonly label?: string;
  readonly expires?: number | null;
}

/** The keys of the gateway. */
export function keyRoutes(world: World): readonly Route[] {
  const { keys, store, settings } = world;
  return [
    {
      method: "GET",
      path: "/api/v1/keys",
      role: "viewer",
      summary:
        "The gateway's keys, oldest first, each with how its budget stands; and whether a gateway is mounted here",
      answer: { status: 200, schema: S.object({ items: S.listOf(SCHEMAS.KeyView), gateway: S.FLAG }) },
      serve: async () =>
        json({ items: await keyViews(store, await keys.list()), gateway: settings.mounts.gateway !== undefined }),
    },
    {
      method: "POST",
      path: "/api/v1/keys",
      role: "operator",
      body: WISH,
      summary: "Make a key, for a budget that is there or for a new one; its secret is shown this once",
      answer: { status: 201, schema: MADE },
      serve: (asked) => create(world, asked),
    },
    {
      method: "POST",
      path: "/api/v1/keys/:id/rotate",
      role: "operator",
      summary: "Give a key a new secret; the old one is taken for a while longer",
      body: S.input({ grace_ms: { type: "number", minimum: 0 } }),
      answer: { status: 200, schema: MADE },
      serve: async (asked) => {
        const { grace_ms } = asked.body as { grace_ms?: number };
        const by = principalOf(asked).name;
        return json(await keys.rotate(asked.params.id ?? "", { by, ...(grace_ms !== undefined && { grace_ms }) }));
      },
    },
    {
      method: "DELETE",
      path: "/api/v1/keys/:id",
      role: "operator",
      summary: "Take a key no more",
      answer: { status: 200, schema: S.object({ key: SCHEMAS.Key }) },
      serve: async (asked) => json({ key: await keys.revoke(asked.params.id ?? "", principalOf(asked).name) }),
    },
  ];
}

async function create(world: World, asked: Asked): Promise<Reply> {
  const wish = asked.body as Wish;
  const { label = "", expires = null } = wish;
  const until = expires === null ? null : new Date(expires);
  // Looked at before a budget is opened for it.
  if (until !== null && !(until.getTime() > world.store.clock.now().instant)) {
    throw new InputError("expires", `is ${expires}; allowed: an instant that is to come, in milliseconds since 1970`);
  }
  const budget = await budgetFor(world, wish);
  return json(await world.keys.create({ budget, label, expires: until, by: principalOf(asked).name }), 201);
}

/** The budget that is there, or a new one. */
async function budgetFor({ store }: World, wish: Wish): Promise<string> {
  const { budget, session, limits, policies = {} } = wish;
  if (budget !== undefined) {
    if (limits === undefined && session === undefined) return budget;
    throw new InputError("budget", "names one that is there; leave limits and session out, or the budget");
  }
  const parent = session === undefined ? null : sessionBudget(session);
  if (limits === undefined && parent !== null) return parent;
  if (limits === undefined) throw new InputError("limits", "are missing: say who pays, with limits, budget or session");
  using gate = new Gate({ store });
  const id = `key-${newName(store.clock.now().instant)}`;
  const opened = await gate.open(id, { limits, policies, scope: "shared", ...(parent !== null && { parent }) });
  if (opened.budget !== null) return id;
  const message = `session ${session} takes no further budgets: it is exhausted`;
  throw new HttpError(409, { code: "exhausted", message, hint: EXTEND_SESSION });
}

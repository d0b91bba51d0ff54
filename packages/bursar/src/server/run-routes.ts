import type { BudgetAmounts } from "../core/input.js";
import type { ExecutionHints } from "../runs/hints.js";
import type { Principal } from "../runs/principal.js";
import { hasEnded, type RunStatus } from "../runs/record.js";
import { deferred } from "../runtime/deferred.js";
import type { RunView } from "../views/shapes.js";
import { burnDown, listRuns, listSteps } from "../views/views.js";
import { HttpError } from "./http-error.js";
import type { ServerOptions } from "./options.js";
import { type Asked, json, type Reply, type Route } from "./route.js";
import type { WireSchema } from "./schemas.js";
import * as S from "./schemas.js";
import { nameOf, WANTED, wantedIn } from "./wanted.js";
import { runOf, viewOf, type World } from "./world.js";

const { SCHEMAS } = S;
const RUN = { status: 200, schema: SCHEMAS.RunView } as const;
/** A run that another process drives hears of it within moments; how long its end takes is up to its program. */
const CANCEL_MS = 10_000;

/** What is added to a budget, and why. */
export const EXTENSION: WireSchema = S.input({ extensions: S.AMOUNTS, reason: S.REASON }, ["extensions"]);
const START = S.input({ ...WANTED, id: S.ID }, ["program"]);

/** Everything about runs. */
export function runRoutes(world: World): readonly Route[] {
  const { store } = world;
  return [
    {
      method: "GET",
      path: "/api/v1/runs",
      role: "viewer",
      summary: "Runs, newest first",
      query: {
        status: S.RUN_STATUS,
        session: S.ID,
        text: { type: "string", maxLength: 200 },
        before: S.ID,
        limit: S.LIMIT,
        children: S.oneOf(["true", "false"]),
      },
      answer: { status: 200, schema: S.pageOf(SCHEMAS.RunRow) },
      serve: async ({ query: { children, status, ...query } }) =>
        json(
          await listRuns(store, {
            ...query,
            ...(status !== undefined && { status: status as RunStatus }),
            ...(children !== undefined && { children: children === "true" }),
          }),
        ),
    },
    {
      method: "POST",
      path: "/api/v1/runs",
      role: "agent",
      summary: "Start a run",
      body: START,
      answer: { status: 201, schema: SCHEMAS.RunView },
      otherwise: { status: 200, summary: "There is a run of this id already, and this is it" },
      serve: (asked) => start(world, asked),
    },
    {
      method: "GET",
      path: "/api/v1/runs/:id",
      role: "viewer",
      summary: "A run",
      answer: RUN,
      serve: async ({ params: { id = "" } }) => json(await viewOf(world, id)),
    },
    {
      method: "GET",
      path: "/api/v1/runs/:id/steps",
      role: "viewer",
      summary: "What a run has done, in order",
      query: { from: S.FROM, limit: S.LIMIT },
      answer: { status: 200, schema: S.pageOf(SCHEMAS.StepView) },
      serve: async ({ params: { id = "" }, query }) => json(await listSteps(store, await runOf(world, id), query)),
    },
    {
      method: "GET",
      path: "/api/v1/runs/:id/burndown",
      role: "viewer",
      summary: "How each dimension of a run's budget was used up",
      answer: { status: 200, schema: S.object({ items: S.listOf(SCHEMAS.BurnDown) }) },
      serve: async ({ params: { id = "" } }) => json({ items: await burnDown(store, await runOf(world, id)) }),
    },
    ...changingRoutes(world),
  ];
}

function changingRoutes(world: World): readonly Route[] {
  return [
    {
      method: "POST",
      path: "/api/v1/runs/:id/cancel",
      role: "operator",
      summary: "End a run",
      answer: RUN,
      body: S.input({ reason: S.REASON }),
      serve: async (asked) => json(await cancel(world, asked)),
    },
    {
      method: "POST",
      path: "/api/v1/runs/:id/resume",
      role: "operator",
      answer: RUN,
      body: S.input({ replay_changed: S.FLAG, hints: S.HINTS }),
      summary: "Let a run go on that stands still; what has expired is asked for anew",
      serve: async (asked) => json(await resume(world, asked)),
    },
    {
      method: "POST",
      path: "/api/v1/runs/:id/extend",
      role: "operator",
      answer: RUN,
      summary: "Add to a run's budget",
      body: EXTENSION,
      serve: async (asked) => {
        const run = await runOf(world, asked.params.id ?? "");
        await extend(world, run.budget, asked);
        return json(await viewOf(world, run.id));
      },
    },
  ];
}

/** Adds to a budget what the body says, in the name of whoever asks. */
export async function extend({ bursar }: World, budget: string, asked: Asked): Promise<void> {
  const { extensions, reason = null } = asked.body as { extensions: BudgetAmounts; reason?: string | null };
  await bursar.extend(budget, extensions, { by: principalOf(asked), reason });
}

async function start(world: World, asked: Asked): Promise<Reply> {
  const { store, settings } = world;
  const wanted = wantedIn(asked);
  const known = wanted.id !== undefined && (await store.document("run", wanted.id)) !== null;
  const { id } = await (settings.start ?? starting(world))(wanted, principalOf(asked));
  return json(await viewOf(world, id), known ? 200 : 201);
}

/** As the library does it. */
function starting({ bursar }: World): NonNullable<ServerOptions["start"]> {
  return async ({ program, input, ...options }, by) => bursar.start(nameOf(program), input, { ...options, by });
}

async function cancel(world: World, asked: Asked): Promise<RunView> {
  const { bursar, settings } = world;
  const { id } = await runOf(world, asked.params.id ?? "");
  const { reason = null } = asked.body as { reason?: string | null };
  const { promise: patience, resolve } = deferred<void>();
  using _timer = settings.timer.after(CANCEL_MS, resolve);
  const over = bursar.cancel(id, principalOf(asked), reason);
  // Whoever drives it ends it, though nobody waits for that here any more.
  over.catch(() => {});
  await Promise.race([over, patience]);
  return viewOf(world, id);
}

/** Wakes a run and leaves the driving to a worker. */
async function resume(world: World, asked: Asked): Promise<RunView> {
  const run = await runOf(world, asked.params.id ?? "");
  if (hasEnded(run)) {
    const message = `run ${run.id} is ${run.status}, and does not go on`;
    throw new HttpError(409, { code: "run_ended", message, hint: "start it anew with POST /api/v1/runs" });
  }
  const { replay_changed: replayChanged = false, hints } = asked.body as {
    replay_changed?: boolean;
    hints?: ExecutionHints;
  };
  await world.bursar.wake(run.id, principalOf(asked), { replayChanged, ...(hints !== undefined && { hints }) });
  return viewOf(world, run.id);
}

/** Whoever has come so far is known. */
export function principalOf({ visitor }: Asked): Principal {
  if (visitor === null) throw new Error("a route that serves everybody knows nobody");
  return visitor.principal;
}

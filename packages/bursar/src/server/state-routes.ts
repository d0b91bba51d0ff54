import { noted, SERVER_CHAIN } from "../runtime/server-chain.js";
import type { StoreChecks } from "../runtime/sweeper.js";
import { overview, sessionViews } from "../views/views.js";
import { HttpError, notThere } from "./http-error.js";
import { type Family, labelled, writeMetrics } from "./metrics.js";
import { describeApi } from "./openapi.js";
import { json, type Reply, type Route } from "./route.js";
import { principalOf } from "./run-routes.js";
import * as S from "./schemas.js";
import type { World } from "./world.js";

const { SCHEMAS } = S;

/** How everything stands: for people, and for those that watch over it. */
export function stateRoutes(world: World): readonly Route[] {
  const { store, settings } = world;
  return [
    {
      method: "GET",
      path: "/api/v1/overview",
      role: "viewer",
      summary: "What is running, spending and waiting",
      answer: { status: 200, schema: SCHEMAS.Overview },
      serve: async () => json(await overview(store)),
    },
    {
      method: "GET",
      path: "/api/v1/programs",
      role: "viewer",
      summary: "Programs to be started by their names",
      answer: { status: 200, schema: S.object({ items: S.listOf(S.object({ name: S.TEXT, kind: S.TEXT })) }) },
      serve: () => json({ items: settings.programs().map(({ name, kind }) => ({ name, kind })) }),
    },
    {
      method: "GET",
      path: "/api/v1/sessions",
      role: "viewer",
      summary: "What runs share: budgets, and sandboxes",
      answer: {
        status: 200,
        schema: S.object({ budgets: S.listOf(SCHEMAS.SessionBudget), sandbox: S.listOf(S.JSON_OBJECT) }),
      },
      serve: async () => json({ budgets: await sessionViews(store), sandbox: (await settings.sandbox?.list()) ?? [] }),
    },
    {
      method: "DELETE",
      path: "/api/v1/sessions/sandbox/:id",
      role: "operator",
      summary: "End a session of the sandbox, with its files and its memory",
      answer: { status: 200, schema: S.object({ ok: S.FLAG }) },
      serve: async (asked) => {
        const { id = "" } = asked.params;
        const there = (await settings.sandbox?.destroy(id)) ?? false;
        if (!there) throw notThere("session", id, "GET /api/v1/sessions lists those there are");
        await store.apply([noted("SandboxSessionDestroyed", { session: id, by: principalOf(asked).name })]);
        return json({ ok: true });
      },
    },
    {
      method: "GET",
      path: "/api/v1/config",
      role: "viewer",
      query: { program: S.ID },
      summary: "What the configuration says, and where; for the runs of one program, if one is named",
      answer: { status: 200, schema: S.JSON_OBJECT },
      serve: async ({ query: { program } }) =>
        json(await settings.config(program === undefined ? undefined : String(program))),
    },
  ];
}

/** What machines ask for; `all` gives the routes that are described. */
export function machineRoutes(world: World, all: () => readonly Route[]): readonly Route[] {
  const { settings, visitors } = world;
  return [
    {
      method: "GET",
      path: "/health",
      role: null,
      summary: "Whether the server can do its work",
      answer: { status: 200, schema: S.object({ status: S.TEXT, version: S.TEXT }) },
      serve: () => health(world),
    },
    {
      method: "GET",
      path: "/metrics",
      role: "viewer",
      summary: "Figures in the text format of Prometheus",
      answer: { status: 200, type: "text/plain; version=0.0.4; charset=utf-8" },
      serve: async () => ({
        kind: "text",
        type: "text/plain; version=0.0.4; charset=utf-8",
        text: writeMetrics(await families(world)),
      }),
    },
    {
      method: "GET",
      path: "/openapi.json",
      role: null,
      summary: "This description",
      answer: { status: 200, schema: S.JSON_OBJECT },
      serve: () => json(describeApi(all(), { version: settings.version, cookie: visitors.cookie })),
    },
  ];
}

async function health({ store, settings }: World): Promise<Reply> {
  try {
    // A read that goes to the store, whatever it finds.
    await store.budget(SERVER_CHAIN);
    return json({ status: "ok", version: settings.version });
  } catch (error) {
    settings.onError(error);
    const hint = "look at what the server has told whoever runs it";
    throw new HttpError(503, { code: "store_failed", message: "the store cannot be read", hint });
  }
}

async function families(world: World): Promise<readonly Family[]> {
  const { store, metrics, streams, settings } = world;
  const began = performance.now();
  await store.budget(SERVER_CHAIN);
  const seconds = (performance.now() - began) / 1000;
  const { runs, spending, held, saved_usd } = await overview(store);
  const { pending = 0 } = await store.counts("approval");
  const by = (label: string, counts: Readonly<Record<string, unknown>>) =>
    Object.entries(counts).flatMap(([name, value]) =>
      typeof value === "number" ? [{ labels: labelled({ [label]: name }), value }] : [],
    );
  const one = (value: number) => [{ labels: "", value }];
  const gauge = { type: "gauge" } as const;
  return [
    {
      ...gauge,
      name: "bursar_build_info",
      help: "What is running.",
      samples: [{ labels: build(settings.version), value: 1 }],
    },
    { ...gauge, name: "bursar_runs", help: "Runs by status.", samples: by("status", runs) },
    { ...gauge, name: "bursar_approvals_waiting", help: "Requests without an answer.", samples: one(pending) },
    {
      ...gauge,
      name: "bursar_active_runs_usage",
      help: "What runs that have not ended have used, in edge units.",
      samples: by("dimension", spending),
    },
    {
      ...gauge,
      name: "bursar_active_runs_held",
      help: "What is held for calls of runs that have not ended, in edge units: neither used nor free.",
      samples: by("dimension", held),
    },
    {
      ...gauge,
      name: "bursar_saved_usd",
      help: "What calls did not cost that were answered otherwise or could wait: of the latest runs and of all active keys.",
      samples: one(saved_usd),
    },
    { name: "bursar_http_requests_total", help: "Requests.", type: "counter", samples: metrics.served },
    { ...gauge, name: "bursar_event_streams", help: "Clients that listen to events.", samples: one(streams.size) },
    ...checkFamilies(settings.checks?.() ?? null),
    { ...gauge, name: "bursar_store_read_seconds", help: "How long the store took to read.", samples: one(seconds) },
  ];
}

/** What the sweeper has compared with its chains; nothing where it does not. */
function checkFamilies(checks: StoreChecks | null): readonly Family[] {
  if (checks === null) return [];
  const { budgets, differences, rounds, last } = checks;
  const counter = (name: string, help: string, value: number): Family => ({
    name: `bursar_store_check_${name}`,
    help,
    type: "counter",
    samples: [{ labels: "", value }],
  });
  return [
    counter("budgets_total", "Budgets that were compared with their chains, again and again.", budgets),
    counter("differences_total", "Differences that were found; any is worth a look: bursar store check.", differences),
    counter("rounds_total", "How often all budgets have had their turn.", rounds),
    {
      name: "bursar_store_check_last_timestamp_seconds",
      type: "gauge",
      help: "When the last budgets were compared.",
      samples: last === null ? [] : [{ labels: "", value: last / 1000 }],
    },
  ];
}

function build(version: string): string {
  return labelled({ version, node: process.version });
}

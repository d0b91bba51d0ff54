import { estimateView } from "../views/views.js";
import type { ServerOptions } from "./options.js";
import { type Asked, json, type Reply, type Route } from "./route.js";
import { principalOf } from "./run-routes.js";
import * as S from "./schemas.js";
import { nameOf, WANTED, wantedIn } from "./wanted.js";
import type { World } from "./world.js";

/** What runs would take, before they are started. */
export function estimateRoutes(world: World): readonly Route[] {
  return [
    {
      method: "POST",
      path: "/api/v1/estimates",
      role: "agent",
      body: S.input(WANTED, ["program"]),
      summary: "What a run would take, and whether that fits; nothing is started",
      answer: { status: 200, schema: S.SCHEMAS.EstimateView },
      serve: (asked) => estimate(world, asked),
    },
  ];
}

async function estimate(world: World, asked: Asked): Promise<Reply> {
  const { store, settings } = world;
  const preflight = await (settings.estimate ?? estimating(world))(wantedIn(asked), principalOf(asked));
  return json(estimateView(preflight, store.dimensions));
}

/** As the library does it. */
function estimating({ bursar }: World): NonNullable<ServerOptions["estimate"]> {
  return async ({ program, input, ...options }, by) => bursar.estimate(nameOf(program), input, { ...options, by });
}

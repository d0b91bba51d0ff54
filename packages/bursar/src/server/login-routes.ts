import { noted } from "../runtime/server-chain.js";
import { HttpError } from "./http-error.js";
import { type Asked, json, type Reply, type Route } from "./route.js";
import { principalOf } from "./run-routes.js";
import * as S from "./schemas.js";
import { tooOften } from "./too-often.js";
import type { Visitor } from "./visitors.js";
import type { World } from "./world.js";

const { SCHEMAS } = S;

/** Who somebody is to the server. */
export function loginRoutes(world: World): readonly Route[] {
  const { visitors, settings } = world;
  return [
    {
      method: "GET",
      path: "/api/v1/me",
      role: "viewer",
      summary: "Who asks, as far as the server knows",
      answer: { status: 200, schema: SCHEMAS.Me },
      serve: (asked) => json({ ...principalOf(asked), login: settings.demanding }),
    },
    {
      method: "POST",
      path: "/api/v1/login",
      role: null,
      summary: "Show a token, and get a cookie for it",
      body: S.input({ token: { type: "string", maxLength: 200 } }, ["token"]),
      answer: { status: 200, schema: SCHEMAS.Me },
      serve: (asked) => login(world, asked),
    },
    {
      method: "POST",
      path: "/api/v1/logout",
      role: null,
      summary: "Give the cookie back",
      body: S.input({}),
      answer: { status: 200, schema: S.object({ ok: S.FLAG }) },
      serve: ({ incoming }) => json({ ok: true }, 200, { "set-cookie": visitors.logout(incoming) }),
    },
  ];
}

async function login(world: World, { body, incoming }: Asked): Promise<Reply> {
  const { visitors, settings, strict } = world;
  const address = incoming.socket.remoteAddress ?? "";
  const found = await visitors.login(String(body.token).trim());
  if (found === null) {
    // Behind a proxy all have one address: only wrong tokens count, and no number of them keeps a right one out. It cannot be guessed.
    const wait_ms = strict.take(address);
    if (wait_ms > 0) throw tooOften(wait_ms);
    await world.failures.note(address);
    const message = "nobody is known by this token, or it is no longer taken";
    const hint = "ask whoever runs the server for another, or make one with `bursar tokens create`";
    throw new HttpError(401, { code: "unauthorized", message, hint });
  }
  const { principal }: Visitor = found.visitor;
  await world.store.apply([noted("LoggedIn", { name: principal.name, role: principal.role, address })]);
  return json({ ...principal, login: settings.demanding }, 200, { "set-cookie": found.cookie });
}

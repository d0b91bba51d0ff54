import { json, type Route } from "./route.js";
import { principalOf } from "./run-routes.js";
import * as S from "./schemas.js";
import type { Role } from "./tokens.js";
import type { World } from "./world.js";

const { SCHEMAS } = S;
const WISH = S.input({ name: { type: "string", minLength: 1, maxLength: 100 }, role: S.ROLE, expires: S.EXPIRES }, [
  "name",
  "role",
]);

interface Wish {
  readonly name: string;
  readonly role: Role;
  readonly expires?: number | null;
}

/** Who may use the server. */
export function tokenRoutes({ tokens }: World): readonly Route[] {
  return [
    {
      method: "GET",
      path: "/api/v1/tokens",
      role: "admin",
      summary: "The server's tokens, oldest first",
      answer: { status: 200, schema: S.object({ items: S.listOf(SCHEMAS.Token) }) },
      serve: async () => json({ items: await tokens.list() }),
    },
    {
      method: "POST",
      path: "/api/v1/tokens",
      role: "admin",
      body: WISH,
      summary: "Make a token; its secret is shown this once",
      answer: { status: 201, schema: S.object({ token: SCHEMAS.Token, secret: S.TEXT }) },
      serve: async (asked) => {
        const { name, role, expires = null } = asked.body as unknown as Wish;
        const until = expires === null ? null : new Date(expires);
        return json(await tokens.create({ name, role, expires: until, by: principalOf(asked).name }), 201);
      },
    },
    {
      method: "DELETE",
      path: "/api/v1/tokens/:id",
      role: "admin",
      summary: "Take a token no more",
      answer: { status: 200, schema: S.object({ token: SCHEMAS.Token }) },
      serve: async (asked) => json({ token: await tokens.revoke(asked.params.id ?? "", principalOf(asked).name) }),
    },
  ];
}

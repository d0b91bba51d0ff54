import type { ServerResponse } from "node:http";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { SERVER_CHAIN } from "../runtime/server-chain.js";
import { budgetChain, chainPage } from "../views/views.js";
import { HttpError, notThere } from "./http-error.js";
import { type Asked, json, type Reply, type Route, WRITTEN } from "./route.js";
import type { WireSchema } from "./schemas.js";
import * as S from "./schemas.js";
import { runOf, SEE_BUDGETS, type World } from "./world.js";

const PAGE = { status: 200, schema: S.SCHEMAS.ChainPage } as const;
const LINES = { status: 200, type: "application/jsonl" } as const;
const QUERY: Readonly<Record<string, WireSchema>> = { from: S.FROM, limit: { ...S.LIMIT, maximum: 2000 } };

/** Chains, exactly as they were hashed: of runs, of other budgets, and the server's own, which has tokens, keys and logins. */
export function chainRoutes(world: World): readonly Route[] {
  const ofRun = async ({ params: { id = "" } }: Asked) => (await runOf(world, id)).budget;
  const ofBudget = ({ params: { id = "" } }: Asked) => chainOf(world, id);
  return [
    {
      method: "GET",
      path: "/api/v1/runs/:id/chain",
      role: "viewer",
      query: QUERY,
      answer: PAGE,
      summary: "Lines of a run's chain, exactly as they were hashed",
      serve: async (asked) => page(world, await ofRun(asked), asked),
    },
    {
      method: "GET",
      path: "/api/v1/runs/:id/chain.jsonl",
      role: "viewer",
      answer: LINES,
      summary: "The whole chain of a run, for `bursar verify`",
      serve: async (asked) => pour(world, await ofRun(asked), asked.response),
    },
    {
      method: "GET",
      path: "/api/v1/budgets/:id/chain",
      role: "viewer",
      query: QUERY,
      answer: PAGE,
      summary:
        "Lines of the chain that a budget writes into: its own, else that of the nearest above it, as the head says",
      serve: async (asked) => page(world, await ofBudget(asked), asked),
    },
    {
      method: "GET",
      path: "/api/v1/budgets/:id/chain.jsonl",
      role: "viewer",
      answer: LINES,
      summary: "The whole of that chain, for `bursar verify`",
      serve: async (asked) => pour(world, await ofBudget(asked), asked.response),
    },
    {
      method: "GET",
      path: "/api/v1/server/chain",
      role: "operator",
      query: QUERY,
      answer: PAGE,
      summary: "Lines of the server's own chain: what happened to tokens, keys and logins",
      serve: (asked) => page(world, SERVER_CHAIN, asked),
    },
    {
      method: "GET",
      path: "/api/v1/server/chain.jsonl",
      role: "operator",
      answer: LINES,
      summary: "The whole of the server's own chain, for `bursar verify`",
      serve: (asked) => pour(world, SERVER_CHAIN, asked.response),
    },
  ];
}

/** The server's own chain belongs to a budget as well, and is not for everybody who may look. */
async function chainOf({ store }: World, id: string): Promise<string> {
  if (id === SERVER_CHAIN) {
    const message = `the chain ${SERVER_CHAIN} is shown to operators alone`;
    throw new HttpError(403, { code: "forbidden", message, hint: "operators ask for GET /api/v1/server/chain" });
  }
  const chain = await budgetChain(store, id);
  if (chain === null) throw notThere("budget", id, SEE_BUDGETS);
  return chain;
}

async function page({ store }: World, chain: string, { query: { from = 0, limit = 500 } }: Asked): Promise<Reply> {
  return json(await chainPage(store, { budget: chain }, Number(from), Number(limit)));
}

/** As fast as the client reads, and nothing is kept. */
async function pour({ store }: World, chain: string, response: ServerResponse): Promise<Reply> {
  const name = chain.replace(/[^\w.-]/g, "_").slice(0, 100);
  response.writeHead(200, {
    "content-type": "application/jsonl; charset=utf-8",
    "content-disposition": `attachment; filename="${name}.jsonl"`,
    "cache-control": "no-store",
  });
  await pipeline(Readable.from(linesOf(store.chain(chain))), response).catch((error: unknown) => {
    // Whoever has left wants no more of it; anything else he has to see as a chain that is not whole.
    if ((error as NodeJS.ErrnoException).code !== "ERR_STREAM_PREMATURE_CLOSE") throw error;
  });
  return WRITTEN;
}

async function* linesOf(chain: AsyncIterable<string>): AsyncIterable<string> {
  for await (const line of chain) yield `${line}\n`;
}

import type { BudgetAmounts } from "../core/input.js";
import type { ApprovalStatus } from "../runs/approval.js";
import { runOfCheckpoint } from "../runs/checkpoint.js";
import { findApproval, findNamed } from "../runs/decisions.js";
import { approvalView, listApprovals } from "../views/views.js";
import { type Asked, json, type Reply, type Route } from "./route.js";
import { principalOf } from "./run-routes.js";
import * as S from "./schemas.js";
import { stillness } from "./stillness.js";
import { viewOf, type World, withMissing } from "./world.js";

const { SCHEMAS } = S;
const DECIDED = { status: 200, schema: SCHEMAS.Decided } as const;

/** What humans are asked, and their answers. */
export function approvalRoutes(world: World): readonly Route[] {
  const { store, bursar } = world;
  return [
    {
      method: "GET",
      path: "/api/v1/approvals",
      role: "viewer",
      summary: "What humans are asked, newest first",
      query: { status: S.APPROVAL_STATUS, before: S.ID, limit: S.LIMIT },
      answer: { status: 200, schema: S.pageOf(SCHEMAS.ApprovalView) },
      serve: async ({ query: { status, ...query } }) => {
        const wanted = status === undefined ? {} : { status: status as ApprovalStatus };
        const { items, next } = await listApprovals(store, { ...query, ...wanted });
        return json({ items: await Promise.all(items.map((request) => withMissing(bursar, request))), next });
      },
    },
    {
      method: "GET",
      path: "/api/v1/approvals/:id",
      role: "viewer",
      summary: "What a human is asked",
      answer: { status: 200, schema: SCHEMAS.ApprovalView },
      serve: async ({ params: { id = "" } }) =>
        json(await withMissing(bursar, await approvalView(store, await findApproval(store, id)))),
    },
    {
      method: "POST",
      path: "/api/v1/approvals/:id/approve",
      role: "operator",
      summary: "Say yes",
      query: { wait: S.WAIT },
      body: S.input({ extensions: S.AMOUNTS, reason: S.REASON, replay_changed: S.FLAG }),
      answer: DECIDED,
      serve: (asked) => decide(world, "approve", asked),
    },
    {
      method: "POST",
      path: "/api/v1/approvals/:id/deny",
      role: "operator",
      summary: "Say no",
      query: { wait: S.WAIT },
      body: S.input({ reason: S.REASON, replay_changed: S.FLAG }),
      answer: DECIDED,
      serve: (asked) => decide(world, "deny", asked),
    },
  ];
}

interface Answer {
  readonly extensions?: BudgetAmounts;
  readonly reason?: string | null;
  readonly replay_changed?: boolean;
}

/** Decides, and leaves the driving to a worker. */
async function decide(world: World, answer: "approve" | "deny", asked: Asked): Promise<Reply> {
  const { store, bursar } = world;
  const { id = "" } = asked.params;
  const { extensions, reason = null, replay_changed: replayChanged = false } = asked.body as Answer;
  const by = principalOf(asked);
  const { id: named } = await findNamed(store, id);
  const options = { by, reason, replayChanged, ...(extensions !== undefined && { extensions }) };
  const request = await bursar.decide(named, answer, options);
  // Whoever names the checkpoint of one of the runs that wait is told of that one.
  const run = runOfCheckpoint(id) ?? request.run;
  if (run !== null) await stillness(world, run, Number(asked.query.wait ?? 0), asked.response);
  const approval = await approvalView(store, request);
  return json({ approval, run: run === null ? null : await viewOf(world, run) });
}

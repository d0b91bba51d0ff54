import type { Path } from "../core/budget.js";
import type { JsonObject } from "../core/chain/canonical.js";
import { decide } from "../core/decision.js";
import { writeAmount } from "../core/dimension.js";
import type { Dimensions } from "../core/dimensions.js";
import type { Events } from "../core/events.js";
import type { Time } from "../core/time.js";
import { lookUpRequest } from "../runs/request-needs.js";
import type { Purse } from "../runtime/purse.js";
import { type Failing, say, sayError } from "./answers.js";
import type { ClientReply } from "./client-reply.js";
import { leftOn } from "./figures.js";

const APPROVAL = /^\/bursar\/approvals\/([\w.-]{1,200})$/;

/** What the gateway tells of itself to whoever holds a key: how its budget stands, and what became of a request for more. */
export async function tellOwn(pathname: string, purse: Purse, events: Events, reply: ClientReply): Promise<void> {
  if (pathname === "/bursar/budget") return tellBudget(purse, events, reply);
  const [, approval = null] = APPROVAL.exec(pathname) ?? [];
  if (approval !== null) return tellApproval(approval, purse, reply);
  return sayError(reply, missing("no_such_page", "there are /bursar/budget and /bursar/approvals/<id> here"));
}

async function tellBudget({ store, budget: id }: Purse, events: Events, reply: ClientReply): Promise<void> {
  const time = store.clock.now();
  const path = await store.path(id);
  const [budget] = path;
  if (budget === undefined) return sayError(reply, missing("no_budget", `there is no budget ${id}`));
  const limits = events.limits(budget);
  const used = events.consumed(budget, time);
  // What is used up goes on record with the next call, and is used up before.
  const { findings } = decide(path, {}, time, store.dimensions);
  const exhausted = [
    ...new Set(findings.filter(({ refusal }) => refusal === "exhausted").map((each) => each.dimension)),
  ];
  const left = { ...leftFor(path, store.dimensions, time), held: events.held(budget) };
  say(reply, 200, { budget: id, limits, used, ...left, exhausted, ended: budget.ended });
}

/** What a call may still use at most: a budget above may have less left than the key's own, and is named then. */
function leftFor(path: Path, dimensions: Dimensions, time: Time): JsonObject {
  const remaining: Record<string, number> = {};
  const limited_by: Record<string, string> = {};
  for (const dimension of dimensions.all) {
    const { left, budget } = leftOn(path, dimension, time);
    if (!Number.isFinite(left)) continue;
    remaining[dimension.id] = writeAmount(dimension, left);
    if (budget !== path[0]?.id) limited_by[dimension.id] = budget;
  }
  return { remaining, limited_by };
}

/** A request for more is shown to those whose budget it is about, or lies below it, and to nobody else. */
async function tellApproval(id: string, { store, budget }: Purse, reply: ClientReply): Promise<void> {
  const request = await lookUpRequest(store, id);
  const path = request === null ? [] : await store.path(budget);
  if (request === null || !path.some((each) => each.id === request.budget)) {
    return sayError(reply, missing("no_such_approval", "there is no such request for approval"));
  }
  const { status, exhausted_dimension, limits, consumed, held, needs, left, message, ...rest } = request;
  const { suggested_extension, least_extension, expires, decision } = rest;
  const figures = { limits, consumed, held, needs, left, message, suggested_extension, least_extension };
  const shown = { exhausted_dimension, ...figures, expires, decision: decision === null ? null : { ...decision } };
  say(reply, 200, { id, status, budget: request.budget, ...shown });
}

function missing(code: string, message: string): Failing {
  return { status: 404, type: "not_found_error", code, message };
}

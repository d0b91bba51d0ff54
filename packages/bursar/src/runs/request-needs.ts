import { type Budget, capOf, type Path, usedOf } from "../core/budget.js";
import { type Dimension, printAmount, readAmount, writeAmount } from "../core/dimension.js";
import type { Dimensions } from "../core/dimensions.js";
import { Events } from "../core/events.js";
import { heldIn } from "../core/held.js";
import { askedTogether, leastExtension, suggestExtension } from "../core/suggestion.js";
import type { Time } from "../core/time.js";
import type { Store } from "../ports/store.js";
import { type ApprovalRequest, NO_NEEDS, type RequestNeeds, readApproval, type WaitingCalls } from "./approval.js";

type Figures = RequestNeeds & Pick<ApprovalRequest, "consumed" | "held" | "limits" | "suggested_extension">;

/**
 * How a budget stands that is asked to be extended in one dimension, what the calls that wait for it need, and what is suggested: so
 * much that all of them can go on.
 */
export function figuresOf(
  path: Path,
  dimension: string,
  waiting: readonly WaitingCalls[],
  { dimensions, time }: { readonly dimensions: Dimensions; readonly time: Time },
): Figures {
  const [budget] = path;
  const stands = {
    consumed: budget === undefined ? {} : Events.for(dimensions).consumed(budget, time),
    held: budget === undefined ? {} : heldIn(budget, dimensions),
    limits: budget === undefined ? {} : Events.for(dimensions).limits(budget),
  };
  if (budget === undefined || budget.limits[dimension] === undefined || !dimensions.has(dimension)) {
    return { ...stands, suggested_extension: {}, ...NO_NEEDS };
  }
  const about = dimensions.get(dimension);
  const asked = askedBy(waiting, about, dimensions);
  const missing = { dimension, asked: asked.together, smallest: asked.smallest };
  const suggested_extension = suggestExtension(path, missing, dimensions, time);
  return { ...stands, suggested_extension, ...needsOf(budget, about, asked, time) };
}

/** What waiting calls ask for, in ledger units. */
interface Asked {
  readonly calls: number;
  readonly name: string;
  readonly smallest: number;
  readonly largest: number;
  readonly together: number;
}

function askedBy(waiting: readonly WaitingCalls[], dimension: Dimension, dimensions: Dimensions): Asked {
  const ledger = (amount: number) => readAmount(dimension, amount, "up", dimension.id);
  return {
    calls: waiting.reduce((sum, { calls }) => sum + calls, 0),
    name: waiting[0]?.name ?? "",
    smallest: waiting.length === 0 ? 0 : Math.min(...waiting.map(({ smallest }) => ledger(smallest))),
    largest: Math.max(0, ...waiting.map(({ largest }) => ledger(largest))),
    together: askedTogether(
      dimension.id,
      waiting.map(({ together }) => ledger(together)),
      dimensions,
    ),
  };
}

function needsOf(budget: Budget, dimension: Dimension, asked: Asked, time: Time): RequestNeeds {
  const edge = (amount: number) => ({ [dimension.id]: writeAmount(dimension, amount) });
  const left = Math.max(0, Math.floor(capOf(budget, dimension.id) - usedOf(budget, dimension, time)));
  return {
    needs: edge(asked.largest),
    needs_together: edge(asked.together),
    left: edge(dimension.kind === "peak" ? capOf(budget, dimension.id) : left),
    least_extension: edge(leastExtension(budget, dimension, asked.smallest, time)),
    message: messageOf(budget, dimension, asked, left),
  };
}

function messageOf(budget: Budget, dimension: Dimension, asked: Asked, left: number): string {
  const print = (amount: number) => printAmount(dimension, amount);
  const limit = print(capOf(budget, dimension.id));
  const { calls, name, largest, together } = asked;
  if (dimension.kind === "clock") return `The running time is used up; the limit is ${limit}.`;
  const subject = calls > 1 ? `${calls} calls wait. The largest` : `The next ${nounOf(name)}`;
  if (dimension.kind === "peak") return `${subject} may need up to ${print(largest)}; the limit is ${limit}.`;
  const rest = left === 0 ? "nothing is left" : `${restText(print(left))} left`;
  // A call that needs none of it is refused only once nothing is left; an agent that asks for more need not say how much.
  if (largest === 0 && left === 0) return `The limit of ${limit} is used up.`;
  if (largest === 0) return `The request does not say how much is needed; ${rest}.`;
  const all = calls > 1 ? `, all of them together up to ${print(together)}` : "";
  return `${subject} may need up to ${print(largest)}${all}; ${rest}.`;
}

/** `485 are`, `1 is`, `$0.20 is`: the unit was said before. */
function restText(printed: string): string {
  const [amount = ""] = printed.split(" ");
  return `${amount} ${amount === "1" || amount.startsWith("$") ? "is" : "are"}`;
}

function nounOf(name: string): string {
  if (name === "") return "part of the program";
  return { llm: "model call", spawn: "child run", exec: "execution" }[name] ?? `call of ${name}`;
}

/** A request with the figures that hold now; one that is answered keeps those it was answered with. */
export async function currentRequest(store: Store, request: ApprovalRequest): Promise<ApprovalRequest> {
  const { status, kind, budget, exhausted_dimension: dimension, waiting } = request;
  if (status !== "pending" || kind !== "budget_extension" || budget === null || dimension === null) return request;
  const { dimensions, clock } = store;
  const path = await store.path(budget);
  return path.length === 0
    ? request
    : { ...request, ...figuresOf(path, dimension, waiting, { dimensions, time: clock.now() }) };
}

/** The request of this id as it stands, or null. */
export async function lookUpRequest(store: Store, id: string): Promise<ApprovalRequest | null> {
  const document = await store.document("approval", id);
  return document === null ? null : currentRequest(store, readApproval(document));
}

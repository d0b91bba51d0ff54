import { pendingRequests, readApproval, readRun, requestExtension } from "bursar";
import { z } from "zod";
import { isDeciding } from "../app/roles.js";
import { type Driving, withHuman } from "./driving.js";
import { canElicit, elicitAnswer } from "./elicitation.js";
import { REQUEST, requestText, requestView } from "./requests.js";
import { findRun, RUN_ID } from "./run-tools.js";
import { type Extra, noted, type Offer, type Said, ToolError } from "./said.js";
import { STANDING, standings, standingText } from "./standings.js";
import type { Workplace } from "./workplace.js";

const BUDGET_ID = z.string().min(1).max(300).describe("A budget's id.");
const WHOSE = {
  run_id: RUN_ID.optional().describe("The budget of this run, and those above it."),
  budget_id: BUDGET_ID.optional(),
};

const WISH = z.strictObject({
  ...WHOSE,
  dimension: z.string().max(100).describe("What is needed: fuel, wall_clock_ms, llm_tokens, cost_usd, steps …"),
  reason: z.string().min(1).max(1000).describe("Why, for the person who decides."),
  amount: z.number().positive().optional().describe("How much more you think you need, in the dimension's unit."),
});

/** Offers the tools that show budgets, and ask for more. */
export function offerBudgets(offer: Offer, driving: Driving, workplace: Workplace | null): void {
  offer("budget_status", {
    title: "Status of a budget",
    description:
      "Tells limits, usage and what remains: of this connection's budget, which pays for code, when nothing is named; of a " +
      "run's and those above it; or of any other by its id. Look before something large: what does not fit is refused.",
    input: z.strictObject(WHOSE),
    output: z.object({ budgets: z.array(STANDING).describe("The one that is meant first, then those above it.") }),
    annotations: { readOnlyHint: true },
    run: async (wish) => {
      const budgets = await standings(driving, workplace, await budgetOf(driving, workplace, wish));
      return { structured: { budgets }, text: budgets.map(standingText).join("\n") };
    },
  });
  if (workplace === null) return;
  offer("budget_request_extension", {
    title: "Ask for more budget",
    description:
      "Asks a person to extend a budget: this connection's when nothing is named, or that of a run you have started. You cannot " +
      "grant it yourself. The person is asked right here where the client can do that; else the answer names the place where " +
      "he answers: tell the user. While nobody has answered, asking again is the same request.",
    input: WISH,
    output: z.object({ request: REQUEST }),
    annotations: { idempotentHint: true },
    run: (wish, extra) => requestMore(driving, workplace, wish, extra),
  });
}

interface Whose {
  readonly run_id?: string | undefined;
  readonly budget_id?: string | undefined;
}

async function budgetOf(driving: Driving, workplace: Workplace | null, { run_id, budget_id }: Whose): Promise<string> {
  if (run_id !== undefined) return (await findRun(driving, run_id)).budget;
  if (budget_id !== undefined) return budget_id;
  if (workplace !== null) return (await workplace.budget()).id;
  throw new ToolError("No budget is named.", "give run_id or budget_id.");
}

async function requestMore(
  driving: Driving,
  workplace: Workplace,
  wish: z.output<typeof WISH>,
  extra: Extra,
): Promise<Said> {
  const { settings, peer } = driving;
  const { store } = settings.bursar;
  const { dimension, reason, amount } = wish;
  const budget = await budgetOf(driving, workplace, wish);
  await checkOwn(driving, workplace, budget);
  const limited = await store.budget(budget);
  if (limited === null || !Object.hasOwn(limited.limits, dimension)) {
    const known = Object.keys(limited?.limits ?? {}).join(", ");
    throw new ToolError(
      `${budget} has no limit of ${JSON.stringify(dimension.slice(0, 80))}.`,
      `ask for one of: ${known}.`,
    );
  }
  const waiting = await pendingOf(driving, budget, dimension);
  const action = { asked_by: peer.principal.name, reason, ...(amount !== undefined && { amount }) };
  const request = waiting ?? (await requestExtension(store, { budget, dimension, action }));
  const note = await answerHere(driving, request.id, extra);
  const document = await store.document("approval", request.id);
  const view = await requestView(document === null ? request : readApproval(document), settings);
  const text = view.status === "pending" ? requestText(view, peer) : `Request ${view.approval_id} was ${view.status}.`;
  return noted({ structured: { request: view }, text }, note);
}

/** An agent asks for what concerns it; people may be asked too often otherwise. */
async function checkOwn({ settings, peer }: Driving, workplace: Workplace, budget: string): Promise<void> {
  if (budget === workplace.budgetId || isDeciding(peer.principal)) return;
  const document = await settings.bursar.store.document("run", budget);
  if (document !== null && readRun(document).started_by === peer.principal.name) return;
  throw new ToolError(
    `Budget ${budget} is neither yours nor that of a run you have started.`,
    "tell the user what you need.",
  );
}

/** What a run that stands still has asked for itself is not asked for a second time. */
async function pendingOf({ settings }: Driving, budget: string, dimension: string) {
  const requests = await pendingRequests(settings.bursar.store, budget);
  return requests.find((request) => request.budget === budget && request.exhausted_dimension === dimension);
}

/** Lets the person at the client answer at once, if there is one, and gives what is to be said about his answer. */
async function answerHere(driving: Driving, id: string, extra: Extra): Promise<string | null> {
  const { server, settings, peer } = driving;
  const { bursar } = settings;
  if (peer.human === null || !canElicit(server)) return null;
  const document = await bursar.store.document("approval", id);
  if (document === null || document.status !== "pending") return null;
  const request = readApproval(document);
  if (request.run !== null) {
    return (await withHuman(driving, await bursar.result(await bursar.find(request.run)), extra, 0)).note;
  }
  const answer = await elicitAnswer(server, request, extra, bursar.store);
  if (answer.kind === "open") return answer.note ?? null;
  const { kind, ...options } = answer;
  await bursar.decide(id, kind, { by: peer.human, ...options });
  return null;
}

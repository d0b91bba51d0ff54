import type { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import type { ElicitRequestFormParams, ElicitResult } from "@modelcontextprotocol/sdk/types.js";
import type { ApprovalRequest, BudgetAmounts, Store } from "bursar";
import { type PredictionView, predictionIn } from "bursar/views";
import { Progress } from "./progress.js";
import { holding } from "./requests.js";
import type { Extra } from "./said.js";

/** What the person in front of the client has answered. */
export type HumanAnswer =
  /** Without extensions, what was suggested is granted. */
  | { readonly kind: "approve"; readonly extensions?: BudgetAmounts; readonly reason: string | null }
  | { readonly kind: "deny"; readonly reason: string | null }
  /** Nobody is there, or whoever is there decides later; the note says why an answer has decided nothing. */
  | { readonly kind: "open"; readonly note?: string };

const NOTHING_ADDED =
  "The person at the client said yes and added nothing, so the request stays open: it takes an amount above 0, or a no.";

const PATIENCE_MS = 600_000;
const LONGEST_REASON = 1000;

/** Whether the client can put a form in front of a person. */
export function canElicit(server: McpServer): boolean {
  return server.server.getClientCapabilities()?.elicitation?.form !== undefined;
}

/** Puts a request in front of the person at the client. */
export async function elicitAnswer(
  server: McpServer,
  request: ApprovalRequest,
  extra: Extra,
  store: Store,
): Promise<HumanAnswer> {
  using _ = new Progress(extra, "a person is asked", PATIENCE_MS);
  try {
    const options = { relatedRequestId: extra.requestId, timeout: PATIENCE_MS, signal: extra.signal };
    return answerOf(await server.server.elicitInput(formFor(request, store), options), request);
  } catch {
    // A client that cannot after all, a form that was filled in wrongly, or nobody for ten minutes: the request stays open.
    return { kind: "open" };
  }
}

function formFor(request: ApprovalRequest, store: Store): ElicitRequestFormParams {
  const amounts = Object.entries(request.suggested_extension).map(([id, amount]) => {
    const unit = store.dimensions.has(id) ? ` (${store.dimensions.get(id).unit})` : "";
    const title = `${id} to add${unit}`;
    return [id, { type: "number", title, minimum: 0, default: Number(amount) }] as const;
  });
  return {
    message: questionAbout(request),
    requestedSchema: {
      type: "object",
      properties: {
        decision: {
          type: "string",
          title: "Decision",
          oneOf: [
            { const: "approve", title: "Yes, go on" },
            { const: "deny", title: request.kind === "budget_extension" ? "No, end it" : "No" },
          ],
        },
        ...Object.fromEntries(amounts),
        reason: { type: "string", title: "Reason", maxLength: LONGEST_REASON },
      },
      required: ["decision"],
    },
  };
}

function questionAbout(request: ApprovalRequest): string {
  const { kind, run, budget, exhausted_dimension, consumed, held, limits, action } = request;
  const who = run === null ? `Budget ${budget}` : `Run ${run}`;
  const prediction = predictionIn(request);
  if (prediction !== null) return `${who} has not begun: ${unfitText(prediction)}. May it, with more?`;
  if (kind !== "budget_extension") return `${who} wants: ${JSON.stringify(action).slice(0, 500)}. May it?`;
  const id = exhausted_dimension ?? "";
  const stands = `${String(consumed[id] ?? 0)} of ${String(limits[id] ?? "?")} ${id} used${holding(held, id)}`;
  const why = typeof action.reason === "string" ? ` It says: ${JSON.stringify(action.reason.slice(0, 300))}` : "";
  const needs = request.message === "" ? "" : ` ${request.message}`;
  return `${who} has not enough ${id} (${stands}).${needs} Add to its budget?${why}`;
}

/** What does not fit, and how far it is from that. */
function unfitText({ dimensions, sources }: PredictionView): string {
  const unfit = dimensions.filter(({ missing }) => missing > 0);
  const parts = unfit.map(({ dimension, median, upper, limit }) => {
    return `${dimension} is expected to take about ${median} and up to ${upper}, of ${limit ?? "no limit"}`;
  });
  const whence = sources.map(({ about }) => about).join("; ");
  return `${parts.join(", ")}${whence === "" ? "" : ` (${whence})`}`;
}

function answerOf({ action, content = {} }: ElicitResult, request: ApprovalRequest): HumanAnswer {
  if (action !== "accept") return { kind: "open" };
  const { decision, reason: said, ...rest } = content;
  const reason = typeof said === "string" && said.trim() !== "" ? said.slice(0, LONGEST_REASON) : null;
  if (decision === "deny") return { kind: "deny", reason };
  if (decision !== "approve") return { kind: "open" };
  const given = Object.entries(rest).filter(
    ([id, amount]) => Object.hasOwn(request.suggested_extension, id) && typeof amount === "number",
  );
  // Only whoever leaves all amounts out means what was suggested; a 0 is an amount.
  if (given.length === 0) return { kind: "approve", reason };
  const added = given.filter(([, amount]) => (amount as number) > 0);
  if (added.length === 0) return { kind: "open", note: NOTHING_ADDED };
  return { kind: "approve", extensions: Object.fromEntries(added) as BudgetAmounts, reason };
}

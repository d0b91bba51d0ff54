import type { ApprovalRequest, Bursar, Execution, RunResult } from "bursar";
import { type ApprovalView, predictionIn, runView } from "bursar/views";
import { z } from "zod";
import { isDeciding } from "../app/roles.js";
import { fuelText, textsIn } from "../render/execution.js";
import { denialText } from "../render/run.js";
import type { Driving } from "./driving.js";
import type { McpSettings, Peer } from "./options.js";

/** A request as clients see it, with the places where a person can answer it. */
export const REQUEST = z.object({
  approval_id: z.string(),
  status: z.string(),
  kind: z.string(),
  run_id: z.string().nullable(),
  budget_id: z.string().nullable(),
  checkpoint_id: z.string().nullable(),
  exhausted_dimension: z.string().nullable(),
  message: z.string().describe("What the waiting calls need and what is left, in a sentence."),
  needs: z.record(z.string(), z.unknown()).describe("The most that one waiting call may need."),
  needs_together: z.record(z.string(), z.unknown()).describe("What all waiting calls may need."),
  left: z.record(z.string(), z.unknown()),
  least_extension: z
    .record(z.string(), z.unknown())
    .describe("The smallest extension that lets one go on; less is refused."),
  waiting_calls: z.number(),
  consumed: z.record(z.string(), z.unknown()),
  held: z.record(z.string(), z.unknown()).describe("Reserved in that budget when it was asked: neither used nor free."),
  limits: z.record(z.string(), z.unknown()),
  suggested_extension: z.record(z.string(), z.unknown()),
  prediction: z
    .looseObject({})
    .nullable()
    .describe("What a run is predicted to take that asks before it begins; null for all others."),
  expires: z.number().describe("Milliseconds since 1970."),
  approval_url: z.string().nullable().describe("Where a person answers it in a browser, if there is such a place."),
  command: z.string().describe("The command line with which a person says yes."),
  missing: z.array(z.string()).describe("What this process lacks to go on with the run; a worker may have it."),
});

export type RequestView = z.output<typeof REQUEST>;

export async function requestView(
  request: ApprovalRequest | ApprovalView,
  settings: McpSettings,
): Promise<RequestView> {
  const { id, status, kind, run, budget, checkpoint_id, exhausted_dimension, consumed, held, limits } = request;
  const { message, needs, needs_together, left, least_extension, waiting } = request;
  const waiting_calls = waiting.reduce((sum, { calls }) => sum + calls, 0);
  const prediction = predictionIn(request);
  return {
    approval_id: id,
    status,
    kind,
    run_id: run,
    budget_id: budget,
    checkpoint_id,
    exhausted_dimension,
    message,
    needs,
    needs_together,
    left,
    least_extension,
    waiting_calls,
    consumed,
    held,
    limits,
    suggested_extension: request.suggested_extension,
    expires: request.expires,
    prediction: prediction === null ? null : { ...prediction },
    approval_url: settings.approvalUrl?.(id) ?? null,
    command: settings.commandLine?.("approve", id) ?? `bursar approve ${id}`,
    missing: status === "pending" && run !== null ? [...(await settings.bursar.missingFor(run))] : [],
  };
}

/** What a model tells the person who has to decide; where the connection may decide itself, how. */
export function requestText(
  { approval_id, exhausted_dimension, kind, approval_url, command, ...rest }: RequestView,
  { principal }: Peer,
): string {
  const asked =
    exhausted_dimension === null
      ? kind
      : `${rest.message === "" ? `${exhausted_dimension} is exhausted` : `${exhausted_dimension}: ${rest.message.replace(/\.$/, "")}`}${holding(rest.held, exhausted_dimension)}`;
  const what = rest.prediction === null ? asked : "the run is expected not to fit, and asks to begin all the same";
  const suggested = Object.entries(rest.suggested_extension).map(([id, amount]) => `${id} +${String(amount)}`);
  const more = suggested.length === 0 ? "" : ` Suggested: ${suggested.join(", ")}.`;
  const where = approval_url === null ? "" : ` at ${approval_url}, or`;
  const how = isDeciding(principal)
    ? "Answer it with budget_approve or budget_deny once the user has decided; or a person answers it"
    : "Only a person can answer it:";
  const lacking = rest.missing.length === 0 ? "" : ` Missing here: ${rest.missing.join("; ")}.`;
  return `Request ${approval_id}: ${what}.${more} ${how}${where} with \`${command}\`.${lacking}`;
}

/** What of a dimension is held for calls under way, when something is. */
export function holding(held: Readonly<Record<string, unknown>>, dimension: string): string {
  const amount = Object.hasOwn(held, dimension) ? held[dimension] : undefined;
  return amount === undefined ? "" : `, ${String(amount)} held for calls under way`;
}

/** How a run stands, as tools answer it. */
export const RUN = z.looseObject({
  run_id: z.string(),
  status: z.enum(["queued", "running", "paused", "completed", "failed", "cancelled"]),
  usage: z.record(z.string(), z.unknown()).describe("What it has used so far."),
  held: z.record(z.string(), z.unknown()).describe("Reserved for its calls under way: neither used nor free."),
  expected: z
    .array(
      z.object({
        dimension: z.string(),
        unit: z.string(),
        median: z.number(),
        upper: z.number(),
        source: z.string(),
      }),
    )
    .describe("What it was expected to take before it began: the median, and what 95 of 100 runs do not pass."),
  outlook: z.string().nullable().describe("What lies before it while it runs."),
  saved_usd: z.number().describe("What its calls did not cost, because they were answered otherwise or could wait."),
  output: z.looseObject({ stdout: z.string(), stderr: z.string() }),
  execution: z
    .looseObject({ fuel_analysis: z.looseObject({}).nullable(), error_guidance: z.looseObject({}).nullable() })
    .nullable()
    .describe("What the sandbox says of a program that came to its end there: read it after a failure."),
  result: z.unknown().optional(),
  failure: z.unknown().optional(),
  checkpoint_id: z.string().optional(),
  cancel: z
    .looseObject({ by: z.string(), reason: z.string().nullable() })
    .nullable()
    .describe("Who wants it to end, once somebody does; it ends where it is driven."),
  requests: z.array(REQUEST).describe("What it waits for; empty unless it is paused."),
  missing: z.array(z.string()).describe("What this process lacks to go on with it; a worker may have it."),
});

const LONGEST_OUTPUT = 65_536;

export async function runAnswer(
  known: RunResult,
  { settings, peer }: Pick<Driving, "settings" | "peer">,
): Promise<{ readonly structured: Readonly<Record<string, unknown>>; readonly text: string }> {
  const { store } = settings.bursar;
  const { result, requests: waiting } = await current(known, settings.bursar);
  const requests = await Promise.all(waiting.map((request) => requestView(request, settings)));
  const { stdout, stderr } = result.output;
  const output = { stdout: stdout.slice(-LONGEST_OUTPUT), stderr: stderr.slice(-LONGEST_OUTPUT) };
  const missing = await settings.bursar.missingFor(result.run_id);
  const view = await runView(store, result.run_id);
  const { held = {}, expected = [], outlook = null, saved_usd = 0, cancel = null } = view ?? {};
  const ahead = outlook === null ? "" : ` Its outlook: ${outlook}.`;
  const ending = cancel === null || result.status !== "running" ? "" : ` It was told to end by ${cancel.by}.`;
  return {
    structured: { ...result, output, held, expected, outlook, saved_usd, cancel, requests, missing },
    text: `${runText(result, { requests, missing }, peer)}${ending}${ahead}${executionText(result.execution)}`,
  };
}

/** How a run that has paused stands by now, with all that it waits for. */
async function current(
  result: RunResult,
  bursar: Bursar,
): Promise<{ readonly result: RunResult; readonly requests: readonly ApprovalRequest[] }> {
  if (result.status !== "paused") return { result, requests: [] };
  return bursar.resultWithRequests(await bursar.find(result.run_id));
}

function capitalized(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}`;
}

function executionText(execution: Execution | null): string {
  const { fuel_analysis: fuel, error_guidance: guidance } = execution ?? { fuel_analysis: null, error_guidance: null };
  const lines = [...(fuel === null ? [] : [fuelText(fuel)]), ...textsIn(guidance?.actionable_guidance)];
  return lines.map((line) => `\n${line}`).join("");
}

function runText(
  result: RunResult,
  { requests, missing }: { readonly requests: readonly RequestView[]; readonly missing: readonly string[] },
  peer: Peer,
): string {
  const head = `Run ${result.run_id} is ${result.status}.`;
  switch (result.status) {
    case "completed":
      return `${head} Result: ${JSON.stringify(result.result).slice(0, 20_000)}`;
    case "failed":
      return `${head} ${result.failure.message}`;
    case "paused":
      return [
        head,
        ...(result.problem === null ? [] : [result.problem]),
        ...requests.map((request) => requestText(request, peer)),
      ].join("\n");
    case "cancelled":
      if (result.denied !== null) return `${head} ${capitalized(denialText(result.denied))}.`;
      return result.reason === null ? head : `${head} ${result.reason}`;
    default:
      return missing.length === 0
        ? `${head} Ask again with run_status.`
        : `${head} It waits for a worker that has what is missing here: ${missing.join("; ")}.`;
  }
}

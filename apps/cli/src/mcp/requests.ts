import { type ApprovalRequest, pendingRequests, type RunResult, type Store } from "bursar";
import type { ApprovalView } from "bursar/views";
import { z } from "zod";
import type { McpSettings } from "./options.js";

/** A request as clients see it, with the places where a person can answer it. */
export const REQUEST = z.object({
  approval_id: z.string(),
  status: z.string(),
  kind: z.string(),
  run_id: z.string().nullable(),
  budget_id: z.string().nullable(),
  checkpoint_id: z.string().nullable(),
  exhausted_dimension: z.string().nullable(),
  consumed: z.record(z.string(), z.unknown()),
  limits: z.record(z.string(), z.unknown()),
  suggested_extension: z.record(z.string(), z.unknown()),
  expires: z.number().describe("Milliseconds since 1970."),
  approval_url: z.string().nullable().describe("Where a person answers it in a browser, if there is such a place."),
  command: z.string().describe("The command line with which a person says yes."),
});

export type RequestView = z.output<typeof REQUEST>;

export function requestView(request: ApprovalRequest | ApprovalView, settings: McpSettings): RequestView {
  const { id, status, kind, run, budget, checkpoint_id, exhausted_dimension, consumed, limits } = request;
  return {
    ...{ approval_id: id, status, kind, run_id: run, budget_id: budget, checkpoint_id, exhausted_dimension },
    ...{ consumed, limits, suggested_extension: request.suggested_extension, expires: request.expires },
    approval_url: settings.approvalUrl?.(id) ?? null,
    command: settings.commandLine?.("approve", id) ?? `bursar approve ${id}`,
  };
}

/** What a model tells the person who has to decide. */
export function requestText({
  approval_id,
  exhausted_dimension,
  kind,
  approval_url,
  command,
  ...rest
}: RequestView): string {
  const what = exhausted_dimension === null ? kind : `${exhausted_dimension} is exhausted`;
  const suggested = Object.entries(rest.suggested_extension).map(([id, amount]) => `${id} +${String(amount)}`);
  const more = suggested.length === 0 ? "" : ` Suggested: ${suggested.join(", ")}.`;
  const where = approval_url === null ? "" : ` at ${approval_url}, or`;
  return `Request ${approval_id}: ${what}.${more} Only a person can answer it:${where} with \`${command}\`.`;
}

/** How a run stands, as tools answer it. */
export const RUN = z.looseObject({
  run_id: z.string(),
  status: z.enum(["queued", "running", "paused", "completed", "failed", "cancelled"]),
  usage: z.record(z.string(), z.unknown()).describe("What it has used so far."),
  output: z.looseObject({ stdout: z.string(), stderr: z.string() }),
  result: z.unknown().optional(),
  failure: z.unknown().optional(),
  checkpoint_id: z.string().optional(),
  requests: z.array(REQUEST).describe("What it waits for; empty unless it is paused."),
});

const LONGEST_OUTPUT = 65_536;

export async function runAnswer(
  result: RunResult,
  store: Store,
  settings: McpSettings,
): Promise<{ readonly structured: Readonly<Record<string, unknown>>; readonly text: string }> {
  const waiting = result.status === "paused" ? await pendingRequests(store, result.run_id) : [];
  const requests = waiting.map((request) => requestView(request, settings));
  const { stdout, stderr } = result.output;
  const output = { stdout: stdout.slice(-LONGEST_OUTPUT), stderr: stderr.slice(-LONGEST_OUTPUT) };
  return { structured: { ...result, output, requests }, text: runText(result, requests) };
}

function runText(result: RunResult, requests: readonly RequestView[]): string {
  const head = `Run ${result.run_id} is ${result.status}.`;
  switch (result.status) {
    case "completed":
      return `${head} Result: ${JSON.stringify(result.result).slice(0, 20_000)}`;
    case "failed":
      return `${head} ${result.failure.message}`;
    case "paused":
      return [head, ...requests.map(requestText)].join("\n");
    case "cancelled":
      return result.reason === null ? head : `${head} ${result.reason}`;
    default:
      return `${head} Ask again with run_status.`;
  }
}

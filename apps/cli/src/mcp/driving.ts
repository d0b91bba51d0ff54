import type { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { ApprovalError, type ApproveOptions, type RunResult } from "bursar";
import { canElicit, elicitAnswer } from "./elicitation.js";
import type { McpSettings, Peer } from "./options.js";
import { Progress } from "./progress.js";
import type { Extra } from "./said.js";

/** What somebody who drives runs for a client needs. */
export interface Driving {
  readonly server: McpServer;
  readonly settings: McpSettings;
  readonly peer: Peer;
}

/** So often the person at the client is asked in one call. */
const MOST_QUESTIONS = 10;
/** So often a run is looked at that others drive. */
export const LOOK_MS = 250;

/** Waits for a run until it stands still or has ended, but not longer than the client wants; it goes on by itself then. */
export async function waitFor(
  { settings }: Driving,
  id: string,
  work: Promise<RunResult>,
  extra: Extra,
  wait_ms: number,
): Promise<RunResult> {
  using _ = new Progress(extra, `run ${id} is under way`, wait_ms);
  let timer: NodeJS.Timeout | null = null;
  let stop = () => {};
  const late = new Promise<null>((resolve) => {
    stop = () => resolve(null);
    timer = setTimeout(stop, wait_ms);
    extra.signal.addEventListener("abort", stop, { once: true });
  });
  // Nobody may be there any more when it fails.
  work.catch(() => {});
  try {
    const result = await Promise.race([work, late]);
    const { bursar } = settings;
    return result ?? (await bursar.result(await bursar.find(id)));
  } finally {
    if (timer !== null) clearTimeout(timer);
    extra.signal.removeEventListener("abort", stop);
  }
}

/** Looks until it stands still or has ended, and drives nothing: to ask is not to act. */
export async function standing({ settings: { bursar } }: Driving, id: string, wait_ms: number): Promise<RunResult> {
  for (let waited = 0; ; waited += LOOK_MS) {
    const result = await bursar.result(await bursar.find(id));
    const isUnderWay = result.status === "queued" || result.status === "running";
    if (!isUnderWay || waited >= wait_ms) return result;
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
  }
}

/** An answer to a request that a run stands still for. */
interface RequestAnswer {
  /** The request's id, or that of the run's checkpoint. */
  readonly id: string;
  readonly kind: "approve" | "deny";
  readonly options: ApproveOptions;
}

/** Decides over a request, and waits for the run as it goes on: here, or where runs are queued. */
export async function decideAndWait(
  driving: Driving,
  run: string,
  { id, kind, options }: RequestAnswer,
  extra: Extra,
  wait_ms: number,
): Promise<RunResult> {
  const { bursar, queued } = driving.settings;
  if (queued === undefined) {
    const work = kind === "approve" ? bursar.approve(id, options) : bursar.deny(id, options);
    return waitFor(driving, run, work, extra, wait_ms);
  }
  // A run below may be the one that goes on; then the one above goes on after it.
  const { run: next } = await bursar.decide(id, kind, options);
  if (next !== null) queued(next);
  return waitFor(driving, run, standing(driving, run, wait_ms), extra, wait_ms);
}

/** How a run stands after the person at the client was asked, and what is to be said about his answer. */
interface Asked {
  readonly result: RunResult;
  readonly note: string | null;
}

/** Lets the person at the client answer what a run stands still for, as long as there is such a person and he answers. */
export async function withHuman(driving: Driving, first: RunResult, extra: Extra, wait_ms: number): Promise<Asked> {
  const { server, settings, peer } = driving;
  const { bursar } = settings;
  const { human } = peer;
  let result = first;
  if (human === null || !canElicit(server)) return { result, note: null };
  for (let turn = 0; turn < MOST_QUESTIONS && result.status === "paused" && !extra.signal.aborted; turn++) {
    // Somebody may have decided since: then he is not asked about what is settled.
    const now = await bursar.resultWithRequests(await bursar.find(result.run_id));
    result = now.result;
    const [request] = now.requests;
    if (request === undefined) break;
    const answer = await elicitAnswer(server, request, extra, bursar.store);
    if (answer.kind === "open") return { result, note: answer.note ?? null };
    const { kind, ...options } = answer;
    const given = { id: request.id, kind, options: { by: human, ...options } };
    result = await decideAndWait(driving, result.run_id, given, extra, wait_ms).catch(async (error: unknown) => {
      // Somebody else was faster: what he has decided holds.
      if (!(error instanceof ApprovalError)) throw error;
      return bursar.result(await bursar.find(first.run_id));
    });
  }
  return { result, note: null };
}

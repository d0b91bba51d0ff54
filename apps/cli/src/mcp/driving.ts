import type { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { ApprovalError, type Principal, pendingRequests, type RunResult } from "bursar";
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

/** Lets the person at the client answer what a run stands still for, as long as there is such a person and he answers. */
export async function withHuman(driving: Driving, first: RunResult, extra: Extra, wait_ms: number): Promise<RunResult> {
  const { server, settings, peer } = driving;
  const { bursar } = settings;
  const { human } = peer;
  let result = first;
  if (human === null || !canElicit(server)) return result;
  for (let turn = 0; turn < MOST_QUESTIONS && result.status === "paused" && !extra.signal.aborted; turn++) {
    const [request] = await pendingRequests(bursar.store, result.run_id);
    if (request === undefined) return result;
    const answer = await elicitAnswer(server, request, extra, bursar.store);
    if (answer.kind === "open") return result;
    const work = answered(settings, request.id, answer, human);
    result = await waitFor(driving, result.run_id, work, extra, wait_ms).catch(async (error: unknown) => {
      // Somebody else was faster: what he has decided holds.
      if (!(error instanceof ApprovalError)) throw error;
      return bursar.result(await bursar.find(first.run_id));
    });
  }
  return result;
}

function answered(
  { bursar }: McpSettings,
  id: string,
  answer: Exclude<Awaited<ReturnType<typeof elicitAnswer>>, { kind: "open" }>,
  by: Principal,
): Promise<RunResult> {
  const { reason } = answer;
  if (answer.kind === "deny") return bursar.deny(id, { by, reason });
  const { extensions } = answer;
  return bursar.approve(id, { by, reason, ...(Object.keys(extensions).length > 0 && { extensions }) });
}

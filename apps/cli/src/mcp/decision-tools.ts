import {
  ApprovalError,
  type ApproveOptions,
  type BudgetAmounts,
  findNamed,
  ProgramChangedError,
  readApproval,
  runOfCheckpoint,
} from "bursar";
import { listApprovals } from "bursar/views";
import { z } from "zod";
import { type Driving, decideAndWait, withHuman } from "./driving.js";
import { extensionsOf, offerExtension } from "./extension-tool.js";
import { REQUEST, RUN, requestView, runAnswer } from "./requests.js";
import { WAIT } from "./run-tools.js";
import { type Extra, noted, type Offer, type Said, ToolError } from "./said.js";

const WAIT_MS = 20_000;
const MOST_LISTED = 100;

const DECIDED = z.object({
  request: REQUEST.nullable(),
  run: RUN.nullable().describe("The run as it went on; null when none waits."),
});

const REPLAY_CHANGED =
  "Lets the run go on though its trusted program was changed: it is played against what the run has done, and pauses where it differs.";
const AS_SUGGESTED = "What to add, by dimension; as suggested when it is absent.";

/** What both tools are told, under the names of the specification. */
const ABOUT = {
  checkpoint_id: z.string().min(1).max(300).describe("The checkpoint that waits, or the approval's id."),
  reason: z.string().max(1000).optional(),
  wait_ms: WAIT,
};

/** Offers the tools that decide over requests. They are offered to operators alone; an agent's connection does not know them. */
export function offerDecisions(offer: Offer, driving: Driving): void {
  for (const name of ["budget_approve", "ccos_budget_approve"]) {
    offer(name, {
      title: "Approve a request",
      description:
        "Says yes to what a paused run, or a budget, has asked for: extends the budget, as suggested or by `extensions`, and lets " +
        "the run go on from its checkpoint. Returns the run's result, or its next pause. Decide only what the user has told " +
        `you to.${name === "budget_approve" ? "" : " The same as budget_approve."}`,
      input: z.strictObject({
        ...ABOUT,
        extensions: extensionsOf(driving.settings.bursar).optional().describe(AS_SUGGESTED),
        replay_changed: z.boolean().optional().describe(REPLAY_CHANGED),
      }),
      output: DECIDED,
      annotations: { destructiveHint: false },
      run: (args, extra) => decideOn(driving, "approve", args, extra),
    });
  }
  for (const name of ["budget_deny", "ccos_budget_deny"]) {
    offer(name, {
      title: "Deny a request",
      description:
        "Says no to what a paused run, or a budget, has asked for: a run that asked for more budget is cancelled, one that asked " +
        `for one action goes on without it.${name === "budget_deny" ? "" : " The same as budget_deny."}`,
      input: z.strictObject(ABOUT),
      output: DECIDED,
      annotations: { destructiveHint: true },
      run: (args, extra) => decideOn(driving, "deny", args, extra),
    });
  }
  offerExtension(offer, driving);
  offer("approvals_list", {
    title: "List what waits",
    description: `Lists the requests that wait for a person's answer, ${MOST_LISTED} at most.`,
    input: z.strictObject({}),
    output: z.object({ requests: z.array(REQUEST) }),
    annotations: { readOnlyHint: true },
    run: async () => listRequests(driving),
  });
}

interface DecisionArgs {
  readonly checkpoint_id: string;
  readonly extensions?: Readonly<Record<string, number | undefined>> | undefined;
  readonly reason?: string | undefined;
  readonly replay_changed?: boolean | undefined;
  readonly wait_ms?: number | undefined;
}

async function decideOn(
  driving: Driving,
  answer: "approve" | "deny",
  { checkpoint_id: id, extensions = {}, reason, replay_changed = false, wait_ms = WAIT_MS }: DecisionArgs,
  extra: Extra,
): Promise<Said> {
  const { settings, peer } = driving;
  const { bursar } = settings;
  const granted = Object.fromEntries(Object.entries(extensions).filter(([, amount]) => amount !== undefined));
  const options: ApproveOptions = {
    by: peer.principal,
    reason: reason ?? null,
    replayChanged: replay_changed,
    ...(Object.keys(granted).length > 0 && { extensions: granted as BudgetAmounts }),
  };
  try {
    const { id: approval, run: asking } = await findNamed(bursar.store, id);
    // Who names the checkpoint of a run above hears how that one goes on.
    const run = runOfCheckpoint(id) ?? asking;
    if (run === null) {
      const request = await requestView(await bursar.decide(approval, answer, options), settings);
      return { structured: { request, run: null }, text: `Request ${request.approval_id} is ${request.status}.` };
    }
    const next = await decideAndWait(driving, run, { id, kind: answer, options }, extra, wait_ms);
    const { result, note } = await withHuman(driving, next, extra, wait_ms);
    const { structured, text } = noted(await runAnswer(result, driving), note);
    const document = await bursar.store.document("approval", approval);
    const request = document === null ? null : await requestView(readApproval(document), settings);
    return { structured: { request, run: structured }, text: `Request ${approval} is ${request?.status}. ${text}` };
  } catch (error) {
    if (error instanceof ProgramChangedError) {
      throw new ToolError(
        `${error.message}.`,
        "bring the old program back, or set replay_changed if the user has told you to.",
      );
    }
    if (!(error instanceof ApprovalError)) throw error;
    throw new ToolError(`${error.message}.`, HINTS[error.code] ?? HINTS.decided);
  }
}

const HINTS: Readonly<Record<string, string>> & { readonly decided: string } = {
  decided: "nothing: it was decided once, and that holds. Look at the run with run_status.",
  expired: "let the run go on with `bursar resume`; it asks anew.",
  not_open: "call approvals_list for what is asked now, and name its approval_id or checkpoint_id.",
  too_little: "give at least least_extension, which approvals_list tells; leave extensions out for what is suggested.",
  ambiguous: "call approvals_list for what is asked there, and name one approval_id.",
  no_such_approval: "call approvals_list for what waits, and use its approval_id or checkpoint_id.",
};

async function listRequests({ settings }: Driving): Promise<Said> {
  const { items } = await listApprovals(settings.bursar.store, { status: "pending", limit: MOST_LISTED });
  const requests = await Promise.all(items.map((request) => requestView(request, settings)));
  const lines = requests.map(
    ({ approval_id, run_id, budget_id, exhausted_dimension, kind, message, missing }) =>
      `${approval_id}  ${run_id ?? budget_id ?? ""}  ${exhausted_dimension ?? kind}${message === "" ? "" : `  ${message}`}` +
      (missing.length === 0 ? "" : `  missing here: ${missing.join("; ")}`),
  );
  return { structured: { requests }, text: lines.join("\n") || "Nothing waits." };
}

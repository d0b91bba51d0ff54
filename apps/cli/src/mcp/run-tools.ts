import {
  type ExecutionHints,
  type Json,
  type Principal,
  type Program,
  RunError,
  type RunRecord,
  type RunResult,
  SESSION_NAME,
} from "bursar";
import { z } from "zod";
import { BROUGHT_LANGUAGES } from "../app/equipment/client-program.js";
import { isDeciding } from "../app/roles.js";
import type { RunWish } from "../app/runs/start-runs.js";
import { wholeUpTo } from "./code-schemas.js";
import { BOUNDS } from "./code-sessions.js";
import { type Driving, LOOK_MS, standing, waitFor, withHuman } from "./driving.js";
import { refused } from "./execution.js";
import { RUN, runAnswer } from "./requests.js";
import { type Extra, noted, type Offer, type Said, ToolError } from "./said.js";
import type { Workplace } from "./workplace.js";

const WAIT_MS = 20_000;
const LONGEST_WAIT_MS = 60_000;
/** A run that another process drives hears of it within moments; how long its end takes is up to its program. */
const CANCEL_MS = 10_000;
const LONGEST_INPUT = 1_048_576;

export const RUN_ID = z.string().min(1).max(300).describe("The run's id, as run_start gave it.");
export const WAIT = waiting("it stands still or has ended", WAIT_MS);

function waiting(until: string, usual: number): z.ZodOptional<z.ZodNumber> {
  return wholeUpTo(LONGEST_WAIT_MS, 0)
    .optional()
    .describe(`How long to wait until ${until}: ${usual} unless it says otherwise.`);
}

/** What is said of a run that is wanted. */
export const WISH = {
  program: z.string().max(200).optional().describe("The name of a known program."),
  code: z.string().max(BOUNDS.code_bytes).optional().describe("Or the program itself, which needs a language."),
  language: z.enum(BROUGHT_LANGUAGES).optional().describe("Of the code; rtfs is a plan, whose own budget holds too."),
  name: z
    .string()
    .regex(/^[\w.-]{1,100}$/)
    .optional()
    .describe("What the program that you send is called."),
  input: z.unknown().optional().describe("What the program is given, as JSON."),
  limits: z
    .record(z.string().max(100), z.number().nonnegative().nullable())
    .optional()
    .describe('Its budget, as {"cost_usd": 0.1, "steps": 20}; what is absent is as configured.'),
  policies: z
    .record(z.string().max(100), z.enum(["hard_stop", "approval_required", "soft_warn"]))
    .optional()
    .describe("What happens at a limit, by dimension."),
  session: z.string().regex(SESSION_NAME).optional().describe("The session whose limits it shares."),
};

const BUDGET_EXTEND = z.strictObject({ dimension: z.string().max(100), additional: z.number().positive() });

const START = z.strictObject({
  ...WISH,
  preflight: z
    .enum(["warn", "ask", "refuse"])
    .optional()
    .describe("What becomes of it when it is expected not to fit; you may only be stricter than is configured."),
  hints: z
    .strictObject({
      budget_extend: z
        .union([BUDGET_EXTEND, z.array(BUDGET_EXTEND)])
        .optional()
        .describe("What is added to its budget from the start, recorded as an extension."),
    })
    .optional()
    .describe("Execution hints, which an operator alone may give."),
  wait_ms: WAIT,
});

/** Offers the tools that start and cancel runs. */
export function offerRuns(offer: Offer, driving: Driving, workplace: Workplace): void {
  const { settings, peer } = driving;
  offer("run_start", {
    title: "Start a run",
    description: startText(driving),
    input: START,
    output: RUN,
    annotations: { openWorldHint: true },
    run: async (args, extra) => startRun(driving, workplace, args, extra),
  });
  offer("run_cancel", {
    title: "Cancel a run",
    description:
      "Ends a run, and those below it, wherever they stand. What was used stays used. Another process that drives it is told, " +
      "and ends it there; while it has not, the answer's status is running and its cancel says who wants its end. " +
      (isDeciding(peer.principal) ? "" : "You may cancel runs that you have started."),
    input: z.strictObject({
      run_id: RUN_ID,
      reason: z.string().max(1000).optional(),
      wait_ms: waiting("it has ended", CANCEL_MS),
    }),
    output: RUN,
    annotations: { destructiveHint: true, idempotentHint: true },
    run: async ({ run_id, reason = null, wait_ms = CANCEL_MS }, extra) => {
      const run = await findRun(driving, run_id);
      const work = settings.bursar.cancel(run_id, cancelling(peer.principal, run), reason);
      return runAnswer(await waitFor(driving, run_id, work, extra, wait_ms), driving);
    },
  });
}

/** Offers the tool that only looks. */
export function offerStatus(offer: Offer, driving: Driving): void {
  offer("run_status", {
    title: "Status of a run",
    description:
      "Tells how a run stands: its status, usage, output, result or failure, and what it waits for. A paused run goes on when " +
      "a person has answered its request. Its budget: budget_status. Its chain: the resource bursar://runs/{id}/chain.",
    input: z.strictObject({ run_id: RUN_ID, wait_ms: WAIT }),
    output: RUN,
    annotations: { readOnlyHint: true },
    run: async ({ run_id, wait_ms = 0 }, extra) => {
      const run = await findRun(driving, run_id);
      const work = standing(driving, run.id, wait_ms);
      return runAnswer(await waitFor(driving, run_id, work, extra, wait_ms + LOOK_MS), driving);
    },
  });
}

function startText({ settings, peer }: Driving): string {
  const names = (settings.programs ?? []).map(({ name }) => name);
  const known =
    names.length === 0 ? "No program is known here by name" : `Known programs: ${names.slice(0, 50).join(", ")}`;
  const own =
    settings.brought === undefined
      ? ""
      : "; or send Python or JavaScript with code and language, which asks with await host.llm, host.tool, host.spawn, host.budget, or a plan in rtfs";
  const may = isDeciding(peer.principal)
    ? "You may widen or tighten limits and policies."
    : "You may only tighten limits and policies: what asks for more than is configured is refused.";
  return (
    `Starts a program as a run with a budget of its own. ${known}${own}. ${may} A call that does not fit into the budget is ` +
    "refused before it is made; then the run ends, or pauses and asks a person. It returns when the run has ended or paused, " +
    "or after wait_ms; a run that is still under way goes on, ask with run_status. A paused run's answer names the request " +
    "and where a person answers it: tell the user, and do not start it again."
  );
}

async function startRun(
  driving: Driving,
  workplace: Workplace,
  args: z.output<typeof START>,
  extra: Extra,
): Promise<Said> {
  const { settings, peer } = driving;
  const { bursar } = settings;
  const { wait_ms = WAIT_MS, preflight, hints } = args;
  const said = { ...(preflight !== undefined && { preflight }), ...(hints !== undefined && { hints: hintsOf(hints) }) };
  const wish: RunWish = { ...wishOf(driving, args), ...said };
  const { program, input, ...terms } = wish;
  const start = () =>
    settings.start?.(wish, peer.principal) ?? bursar.start(program, input, { ...terms, by: peer.principal });
  const run = await paidFor(workplace, start);
  const paused = await waitFor(driving, run.id, driven(driving, run, wait_ms), extra, wait_ms);
  const { result, note } = await withHuman(driving, paused, extra, wait_ms);
  return noted(noted(await runAnswer(result, driving), notGranted(run)), note);
}

function hintsOf({ budget_extend }: NonNullable<z.output<typeof START>["hints"]>): ExecutionHints {
  return budget_extend === undefined ? {} : { budget_extend };
}

/** What the program asks for in its own budget and a run of this client does not get. */
function notGranted({ terms = {} }: RunRecord): string | null {
  const missed = Object.entries(terms).flatMap(([dimension, { not_granted }]) =>
    not_granted === undefined ? [] : [`${dimension}: ${not_granted}`],
  );
  return missed.length === 0 ? null : `Not granted, because only an operator may widen a budget: ${missed.join("; ")}.`;
}

/** The run that is asked for. */
export function wishOf(driving: Driving, args: z.output<z.ZodObject<typeof WISH>>): RunWish {
  const { limits, policies } = args;
  const session = sessionOf(driving, args.session);
  return {
    program: programOf(driving, args),
    input: inputOf(args.input),
    ...(limits !== undefined && { limits }),
    ...(policies !== undefined && { policies }),
    ...(session !== undefined && { session }),
  };
}

/** A connection that shares the limits of a session does so with its runs too: another session would be a way around them. */
function sessionOf({ settings, peer }: Driving, wanted: string | undefined): string | undefined {
  const { session: own } = settings;
  if (own === undefined || wanted === undefined || wanted === own || isDeciding(peer.principal)) return wanted ?? own;
  throw new ToolError(`This connection belongs to the session ${own}, and so do its runs.`, "leave session out.");
}

/** Each run has a budget of its own, so it is their number that the connection's bounds. */
async function paidFor(workplace: Workplace, start: () => Promise<RunRecord>): Promise<RunRecord> {
  const usage = { subcalls: 1 };
  const gated = await workplace.pay<RunRecord>({ capability_id: "run:start", asked: usage }, async () => ({
    value: await start(),
    usage,
  }));
  if (gated.kind === "refused") throw refused(gated.message, gated.decision);
  if (gated.kind === "failed") throw gated.error;
  return gated.value;
}

function programOf(
  { settings }: Driving,
  { program, code, language, name }: z.output<z.ZodObject<typeof WISH>>,
): Program {
  const { programs = [], brought } = settings;
  if (program !== undefined && code === undefined) {
    const known = programs.find((each) => each.name === program);
    if (known !== undefined) return known;
    const names = programs.map((each) => each.name).slice(0, 50);
    throw new ToolError(
      `There is no program ${JSON.stringify(program)}.`,
      names.length === 0 ? "send the program itself, with code and language." : `take one of: ${names.join(", ")}.`,
    );
  }
  if (program !== undefined || code === undefined || language === undefined) {
    throw new ToolError("It is not clear what to run.", "give either program, or code and language.");
  }
  if (brought === undefined) throw new ToolError("Programs of your own are not taken here.", "take a known program.");
  return brought({ name, language, code });
}

function inputOf(input: unknown): Json {
  const length = lengthOf(input ?? null);
  if (length <= LONGEST_INPUT) return (input ?? null) as Json;
  throw new ToolError(`The input has ${length} characters; allowed: ${LONGEST_INPUT}.`, "pass less.");
}

function lengthOf(input: unknown): number {
  try {
    return JSON.stringify(input).length;
  } catch (error) {
    // It came as JSON, so that nothing else can be wrong with it.
    if (!(error instanceof RangeError)) throw error;
    throw new ToolError("The input is nested too deeply to be written down.", "pass it flatter.");
  }
}

/** Drives it until it stands still or has ended; where that is not possible here, or not wanted, others do. */
async function driven(driving: Driving, { id }: RunRecord, wait_ms: number): Promise<RunResult> {
  const { bursar, queued } = driving.settings;
  if (queued !== undefined) {
    queued(id);
    return standing(driving, id, wait_ms);
  }
  return bursar.outcome(id).catch(async (error: unknown) => {
    if (error instanceof RunError && error.code === "unknown_program") return bursar.result(await bursar.find(id));
    throw error;
  });
}

export async function findRun({ settings: { bursar } }: Driving, id: string): Promise<RunRecord> {
  const document = await bursar.store.document("run", id);
  if (document !== null) return bursar.find(id);
  throw new ToolError(
    `There is no run ${JSON.stringify(id.slice(0, 80))}.`,
    "use the id that run_start gave you, or read the list of resources.",
  );
}

/** Whoever has started a run may end it, whatever his role: it spends what is his to spend. */
function cancelling(principal: Principal, { started_by, id }: RunRecord): Principal {
  if (isDeciding(principal)) return principal;
  if (started_by === principal.name && principal.role === "agent") return { name: principal.name, role: "operator" };
  throw new ToolError(
    `Run ${id} was started by somebody else, so it is not yours to cancel.`,
    "ask the user to cancel it.",
  );
}

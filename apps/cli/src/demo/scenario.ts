import { Events, type Finding, readAmounts, readLimits, STANDARD, suggestExtension, writeAmount } from "bursar";
import { leftOf, type Position } from "bursar/views";
import type { Answer, ApprovalRequest } from "./approval.js";
import type { RunStatus, Summary } from "./moment.js";
import { prove, tamper } from "./proof.js";
import { nanoUsd } from "./quote.js";
import {
  ANSWER,
  CHILD,
  DEEP_READ,
  LIMITS,
  PLAN,
  PROMISES,
  QUESTION,
  RACE,
  READS,
  RUN,
  SEARCH,
  SESSION,
  SHARING_CHILD,
  SKIM,
  TENANT,
} from "./script.js";
import { type Played, RunStopped, Stage, type World } from "./stage.js";
import { Tally } from "./tally.js";

/** The chain that everything below the tenant writes into. */
export const CHAIN = TENANT;

export interface Scenario extends World {
  /** Asks the person who may extend the budget. */
  readonly approve: (request: ApprovalRequest) => Promise<Answer>;
}

const COST = STANDARD.get("cost_usd");

/** How long a headline stands before anything happens, and a refusal before the next thing does. */
const HEADLINE_MS = 300;
const REFUSAL_MS = 900;

/** Plays the whole run: real budgets, the real gate, and calls that only sleep. */
export async function playScenario(scenario: Scenario): Promise<Summary> {
  const { seed, tell, approve } = scenario;
  const tally = new Tally(tell);
  using stage = new Stage({ ...scenario, tell: tally.tell }, CHAIN);
  await stage.tell({ kind: "started", simulated: true, question: QUESTION, seed, chain: CHAIN });
  const status = await run(stage, approve);
  const within_limits = (await stage.positions(RUN)).every((position) => leftOf(position) >= 0);
  const summary = tally.summary({ status, within_limits, chain: await proof(stage) });
  await stage.tell(summary);
  return summary;
}

/** Verifies the chain of the run, and a copy that somebody has been at. */
async function proof(stage: Stage): Promise<Summary["chain"]> {
  const { store } = stage.world;
  await headline(stage, 5);
  const verified = await prove(store, CHAIN);
  await stage.tell(verified);
  await stage.wait(HEADLINE_MS);
  const tampered = await tamper(store, CHAIN);
  await stage.tell(tampered);
  await stage.wait(HEADLINE_MS);
  const { verification } = verified;
  const known = verification.ok
    ? { links: verification.links, head: verification.head.hash }
    : { links: 0, head: null };
  return { id: CHAIN, ...known, verified: verification.ok, tampering_detected: !tampered.verification.ok };
}

async function run(stage: Stage, approve: Scenario["approve"]): Promise<RunStatus> {
  await openTree(stage);
  const started = await stage.record(RUN, { action_type: "RunStarted", data: { run_id: RUN, program: QUESTION } });
  const status = await work(stage, approve).catch((error: unknown): RunStatus => {
    if (error instanceof RunStopped) return "Failed";
    throw error;
  });
  await stage.end(RUN, SESSION, TENANT);
  await stage.record(TENANT, { action_type: "RunEnded", data: { run_id: RUN, status } }, started);
  return status;
}

async function openTree(stage: Stage): Promise<void> {
  const { dimensions } = stage.world.store;
  const grant = (id: keyof typeof LIMITS) => ({ kind: "limits", limits: readLimits(LIMITS[id], dimensions) }) as const;
  await stage.open(TENANT, null, "shared", grant(TENANT));
  await stage.open(SESSION, TENANT, "shared", grant(SESSION));
  await stage.open(RUN, SESSION, "run", grant(RUN));
}

async function work(stage: Stage, approve: Scenario["approve"]): Promise<RunStatus> {
  await reserveFirst(stage);
  await raiseChildren(stage);
  await race(stage);
  return writeAnswer(stage, approve);
}

async function reserveFirst(stage: Stage): Promise<void> {
  await headline(stage, 1);
  await stage.play(RUN, PLAN);
  const { kind } = await stage.play(RUN, DEEP_READ);
  if (kind !== "refused") return;
  await stage.wait(REFUSAL_MS);
  await stage.play(RUN, SKIM);
}

async function raiseChildren(stage: Stage): Promise<void> {
  await headline(stage, 2);
  // A child that shares has no budget of its own: its calls name the run's.
  await stage.record(RUN, {
    action_type: "ChildRunStarted",
    data: { run_id: SHARING_CHILD, budget: RUN, grant: "share" },
  });
  await stage.play(RUN, SEARCH);
  await stage.open(CHILD, RUN, "run", { kind: "fraction", of: 0.5 });
  try {
    await stage.wait(HEADLINE_MS);
    await together(READS.map((call) => stage.play(CHILD, call)));
    await stage.wait(HEADLINE_MS);
  } finally {
    await stage.end(CHILD);
  }
  await stage.wait(HEADLINE_MS);
}

async function race(stage: Stage): Promise<void> {
  await headline(stage, 3);
  const before = await costPosition(stage);
  const results = await together(RACE.map((call) => stage.play(RUN, call)));
  const after = await costPosition(stage);
  const asked = RACE.reduce((sum, { capability_id, asks }) => sum + nanoUsd(capability_id, asks), 0);
  await stage.tell({
    kind: "raced",
    calls: results.length,
    passed: results.filter(({ kind }) => kind === "done").length,
    dimension: COST.id,
    asked: writeAmount(COST, asked),
    left: writeAmount(COST, leftOf(before)),
    spent: writeAmount(COST, after.used - before.used),
  });
  await stage.wait(HEADLINE_MS);
}

async function writeAnswer(stage: Stage, approve: Scenario["approve"]): Promise<RunStatus> {
  await headline(stage, 4);
  const played = await stage.play(RUN, ANSWER);
  if (played.kind !== "paused") return "Completed";
  const { request, cause } = await pause(stage, played.finding);
  const answer = await approve(request);
  stage.world.signal.throwIfAborted();
  const { kind, by, reason } = answer;
  const { approval_id, checkpoint_id, exhausted_dimension } = request;
  const decided = await stage.record(
    RUN,
    { action_type: "ApprovalDecided", data: { approval_id, decision: kind, by, reason } },
    cause,
  );
  if (kind === "deny") {
    await stage.record(RUN, new Events(STANDARD).denied(exhausted_dimension, checkpoint_id, by, reason), decided);
    return "Cancelled";
  }
  await resume(stage, request, answer, decided);
  await stage.wait(HEADLINE_MS);
  await stage.play(RUN, ANSWER);
  return "Completed";
}

/** Stops the run's clock and writes down what a person has to decide. */
async function pause(stage: Stage, finding: Finding): Promise<{ request: ApprovalRequest; cause: string }> {
  const { store } = stage.world;
  await store.apply([{ op: "pause", budget: RUN }]);
  const checkpoint_id = `${RUN}/checkpoint-1`;
  const positions = await stage.positions(RUN);
  const figures = (of: "used" | "limit") =>
    Object.fromEntries(positions.map((each) => [each.dimension.id, writeAmount(each.dimension, each[of])]));
  const request: ApprovalRequest = {
    approval_id: `${RUN}/approval-1`,
    checkpoint_id,
    exhausted_dimension: finding.dimension,
    consumed: figures("used"),
    limits: figures("limit"),
    suggested_extension: suggestExtension(await store.path(RUN), finding, store.dimensions, store.clock.now()),
  };
  const { approval_id, exhausted_dimension } = request;
  const paused = { status: "paused", checkpoint_id, exhausted_dimension, policy: finding.policy, approval_id };
  const pausedAt = await stage.record(RUN, { action_type: "RunPaused", data: paused });
  const kind = "budget_extension";
  return {
    request,
    cause: await stage.record(RUN, { action_type: "ApprovalRequested", data: { kind, ...request } }, pausedAt),
  };
}

async function resume(stage: Stage, request: ApprovalRequest, { by, reason }: Answer, cause: string): Promise<void> {
  const { store } = stage.world;
  const additional = readAmounts(request.suggested_extension, store.dimensions, { field: "extension", clocks: true });
  const [{ result }] = await store.apply([
    { op: "extend", budget: RUN, additional, approved_by: by, reason, cause },
    { op: "resume", budget: RUN },
  ]);
  if (result.kind === "no_room") throw new RunStopped(`${result.budget} has no room for the extension`);
  await stage.record(
    RUN,
    { action_type: "RunResumed", data: { run_id: RUN, checkpoint_id: request.checkpoint_id } },
    cause,
  );
}

async function headline(stage: Stage, number: 1 | 2 | 3 | 4 | 5): Promise<void> {
  await stage.tell({ kind: "promise", number, text: PROMISES[number - 1] ?? "" });
  await stage.wait(HEADLINE_MS);
}

async function costPosition(stage: Stage): Promise<Position> {
  const position = (await stage.positions(RUN)).find(({ dimension }) => dimension.id === COST.id);
  if (position === undefined) throw new Error("the demo limits money, so there is a position of it");
  return position;
}

/** Waits for all of the calls, also when one of them fails, so that none is left in flight. */
async function together(calls: readonly Promise<Played>[]): Promise<readonly Played[]> {
  await Promise.allSettled(calls);
  return Promise.all(calls);
}

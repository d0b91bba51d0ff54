import {
  type ApprovalRequest,
  type Bursar,
  guestProgram,
  openBursar,
  type Principal,
  parseLine,
  type RunRecord,
  type Sandbox,
  type Store,
} from "bursar";
import { chatModel } from "bursar/models";
import { openScriptedModel } from "bursar/testing";
import { leftOf, positionsFor } from "bursar/views";
import { type Choice, driveOn } from "../app/runs/drive-run.js";
import { waitingLine } from "./program-line.js";
import { prove, tamper } from "./proof.js";
import type { RunMoment, RunSummary } from "./run-moment.js";
import { LIMITS, MEMORY_BYTES, MODEL, PRICES, PROGRAM, PROGRAM_NAME, scriptFor, TOOLS } from "./triage.js";
import { warmUp } from "./warm-up.js";

/** What the scene needs of the world. */
export interface RunScene {
  readonly store: { readonly store: Store; readonly url: string };
  readonly sandbox: () => Promise<Sandbox>;
  readonly run_id: string;
  /** Who decides, by name. */
  readonly by: Principal;
  readonly latency_ms: number;
  readonly signal: AbortSignal;
  readonly show: RunShow;
}

/** Who shows the scene, and puts its question to somebody. */
export interface RunShow {
  tell(moment: RunMoment): Promise<void>;
  /** Shows the links of the run's chain as they come, from `start` to `rest`. */
  follow(store: Store, run: RunRecord): { start(): void; rest(): Promise<void> };
  decide(request: ApprovalRequest): Promise<Choice>;
  /** Says what could not be done. */
  note(text: string): void;
}

const PROMISES = [
  "Every await goes through the gate: reserved, then made, then settled",
  "Out of tokens: the program stands still where it is, and a person decides",
  "It goes on at that line, with everything it knew",
  "The bill, and a chain that anyone can verify",
] as const;

/** Plays a real run of a Python program that hits its limit, asks, and goes on; only the model is scripted. */
export async function playRun(scene: RunScene): Promise<RunSummary> {
  const { show, signal, sandbox, run_id } = scene;
  const { store, url } = scene.store;
  await using server = await openScriptedModel({ script: scriptFor(scene.latency_ms), models: [MODEL] });
  const source = { language: "python", code: PROGRAM, packages: [], memory_bytes: MEMORY_BYTES } as const;
  const program = guestProgram(PROGRAM_NAME, source, sandbox);
  const model = chatModel({ url: server.url, model: MODEL, prices: PRICES });
  await using bursar = openBursar({ store, programs: [program], tools: TOOLS, model });
  await show.tell({
    kind: "opened",
    scripted: true,
    store: url,
    limits: limited(),
    model: { name: MODEL, url: server.url },
    program: { name: PROGRAM_NAME, code: PROGRAM },
  });
  await warmUp(await sandbox());
  signal.throwIfAborted();
  const started = await bursar.start(program, null, { id: run_id, limits: LIMITS });
  const run = await drive(started, bursar, scene).catch((error: unknown) => {
    if (signal.aborted) return started;
    throw error;
  });
  // Whoever goes away leaves no run behind that somebody would have to end.
  if (signal.aborted) await bursar.cancel(run_id, scene.by, "interrupted");
  signal.throwIfAborted();
  return conclude(run, bursar, show, server.count);
}

async function drive(started: RunRecord, bursar: Bursar, scene: RunScene): Promise<RunRecord> {
  const { show, by, signal } = scene;
  const { store } = bursar;
  let printed = 0;
  const tellPrinted = async () => {
    const { stdout } = (await bursar.find(started.id)).output;
    if (stdout.length > printed) await show.tell({ kind: "printed", text: stdout.slice(printed) });
    printed = stdout.length;
  };
  const decide = async (request: ApprovalRequest): Promise<Choice> => {
    const line = waitingLine(PROGRAM, request.action);
    await tellPrinted();
    await show.tell(headline(2));
    const checkpoint = await store.document("session", request.checkpoint_id ?? "");
    const checkpoint_bytes = Buffer.byteLength(JSON.stringify(checkpoint?.body ?? null));
    await show.tell({ kind: "stands", line, checkpoint_bytes });
    const choice = await show.decide(request);
    if (choice.kind !== "approve") return choice;
    await show.tell(headline(3));
    await show.tell({ kind: "goes_on", line });
    return choice;
  };
  await show.tell(headline(1));
  const following = show.follow(store, started);
  const run = await driveOn(started.id, {
    bursar,
    by,
    signal,
    decide,
    waits: false,
    note: show.note,
    stood: () => {},
    waiting: () => {},
    start: () => following.start(),
    rest: () => following.rest(),
  });
  await tellPrinted();
  return run;
}

async function conclude(run: RunRecord, bursar: Bursar, show: RunShow, requests: number): Promise<RunSummary> {
  const { store } = bursar;
  await show.tell(headline(4));
  const verified = await prove(store, run.id);
  const tampered = await tamper(store, run.id);
  await show.tell(verified);
  await show.tell(tampered);
  const { verification } = verified;
  const known = verification.ok
    ? { links: verification.links, head: verification.head.hash }
    : { links: 0, head: null };
  const { usage } = await bursar.result(run);
  const positions = await positionsFor(store, run);
  const summary: RunSummary = {
    kind: "summary",
    scripted: true,
    run_id: run.id,
    status: run.status,
    result: run.result,
    usage,
    limits: limited(),
    within_limits: positions.every((position) => leftOf(position) >= 0),
    model_calls: await modelCalls(store, run.id),
    model_requests: requests,
    chain: { ...known, verified: verification.ok, tampering_detected: !tampered.verification.ok },
  };
  await show.tell(summary);
  return summary;
}

/** How many calls of a model the chain says were charged. */
async function modelCalls(store: Store, chain: string): Promise<number> {
  let calls = 0;
  for await (const line of store.chain(chain)) {
    const { event, data } = parseLine(line);
    if (event === "Consumption" && String(data.capability_id).startsWith("llm:")) calls++;
  }
  return calls;
}

function headline(number: 1 | 2 | 3 | 4): RunMoment {
  return { kind: "promise", number, text: PROMISES[number - 1] ?? "" };
}

/** What is limited, without what is not. */
function limited(): Readonly<Record<string, number>> {
  const limits = Object.entries(LIMITS).filter((entry): entry is [string, number] => typeof entry[1] === "number");
  return Object.fromEntries(limits);
}

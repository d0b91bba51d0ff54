import { randomBytes } from "node:crypto";
import {
  type Bursar,
  guestProgram,
  type Model,
  type OpenSandbox,
  type Program,
  pendingRequests,
  type RunRecord,
  readRun,
  type Store,
  type Tool,
} from "bursar";
import { chatModel } from "bursar/models";
import { openScriptedModel } from "bursar/testing";
import { type Equipment, needsFrom } from "../app/equipment/equipment.js";
import { needing } from "../app/programs/program-needs.js";
import { ENDLESS, ENDLESS_FUEL } from "../demo/endless.js";
import { LIMITS, MEMORY_BYTES, MODEL, PRICES, PROGRAM, PROGRAM_NAME, scriptFor, TOOLS } from "../demo/triage.js";
import { warmUp } from "../demo/warm-up.js";

/** What the demonstration's run works with: a real program and real tools over made-up reports, and a scripted model. */
export interface DemoWorld extends AsyncDisposable {
  readonly program: Program;
  /** One that never ends. */
  readonly endless: Program;
  readonly tools: readonly Tool[];
  readonly model: Model;
  /** Makes the interpreter ready. */
  warm(): Promise<void>;
}

/** How long the scripted model takes for an answer, for somebody who watches. */
const LATENCY_MS = 150;
const PREFIX = "demo-";

export async function openDemoWorld(sandbox: OpenSandbox): Promise<DemoWorld> {
  const server = await openScriptedModel({ script: scriptFor(LATENCY_MS), models: [MODEL] });
  const source = { language: "python", code: PROGRAM, packages: [], memory_bytes: MEMORY_BYTES } as const;
  return {
    program: guestProgram(PROGRAM_NAME, source, sandbox),
    endless: guestProgram("primes", { ...source, code: ENDLESS }, sandbox),
    tools: TOOLS,
    model: chatModel({ url: server.url, model: MODEL, prices: PRICES }),
    warm: async () => warmUp(await sandbox()),
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
}

/** The run that waits for an approval: the one that is there from last time, or a new one. */
export async function demoRun(bursar: Bursar, world: DemoWorld, equipment: Equipment): Promise<RunRecord> {
  const before = await waiting(bursar.store);
  if (before !== null) return before;
  await world.warm();
  await endlessRun(bursar, world);
  // Whoever has not its tools and its model must not go on with it.
  const program = needing(world.program, needsFrom(equipment, world.program));
  const id = `${PREFIX}${randomBytes(3).toString("hex")}`;
  return bursar.drive((await bursar.start(program, null, { id, limits: LIMITS })).id);
}

/** A run that is stopped when its fuel is used up; its page says what could be done about it. */
async function endlessRun(bursar: Bursar, { endless }: DemoWorld): Promise<void> {
  const id = `${PREFIX}${randomBytes(3).toString("hex")}`;
  await bursar.drive((await bursar.start(endless, null, { id, limits: { fuel: ENDLESS_FUEL } })).id);
}

async function waiting(store: Store): Promise<RunRecord | null> {
  const { instant } = store.clock.now();
  for await (const document of store.documents("run", "paused")) {
    if (!document.id.startsWith(PREFIX)) continue;
    const requests = await pendingRequests(store, document.id);
    if (requests.some(({ expires }) => expires > instant)) return readRun(document);
  }
  return null;
}

import { answersOf, type JsonObject, type Link, parseLine, type RunRecord, type Store } from "bursar";

/** What became of one thing that a run asked for. */
export interface StoryStep {
  /** Its number within the run. */
  readonly number: number;
  readonly capability: string;
  readonly state: "in flight" | "done" | "failed" | "refused" | "released";
  readonly at: number;
  readonly duration_ms: number | null;
  /** In edge units. */
  readonly used: JsonObject;
  /** Whether a part of it is charged as reserved, because nobody has said what was used. */
  readonly estimated: boolean;
  /** Why it was not made, or how it failed. */
  readonly problem: string | null;
}

/** What else happened to a run. */
interface StoryEvent {
  readonly at: number;
  readonly what: string;
  readonly data: JsonObject;
}

/** What a run has done so far, from its chain and its journal. */
export interface Story {
  readonly steps: readonly StoryStep[];
  readonly events: readonly StoryEvent[];
  readonly links: number;
}

/** What is told of a run apart from its steps. */
const TOLD: ReadonlySet<string> = new Set([
  ...["RunStarted", "RunClaimed", "RunPaused", "RunResumed", "RunEnded", "ApprovalRequested", "ApprovalDecided"],
  ...["Warning", "Exhausted", "Extended", "Denied"],
]);

export async function readStory(store: Store, run: RunRecord): Promise<Story> {
  const steps = new Map<number, StoryStep>();
  const events: StoryEvent[] = [];
  let links = 0;
  for await (const line of store.chain(run.budget)) {
    const link = parseLine(line);
    links++;
    const what = link.event ?? link.action_type;
    if (TOLD.has(what) && isAbout(link, run)) events.push({ at: link.at, what, data: link.data });
    take(steps, link, run.id);
  }
  for (const [number, problem] of await failuresOf(store, run.id)) {
    const step = steps.get(number);
    if (step !== undefined && step.state === "done") steps.set(number, { ...step, state: "failed", problem });
  }
  return { steps: [...steps.values()].sort((a, b) => a.number - b.number), events, links };
}

/** Runs that share a budget share a chain. */
function isAbout({ data }: Link, { id, shares }: RunRecord): boolean {
  return data.run_id === undefined ? !shares : data.run_id === id;
}

function take(steps: Map<number, StoryStep>, { data, action_type, event, at }: Link, run: string): void {
  const number = numberIn(String(data.step_id), run);
  if (number === null) return;
  const before = steps.get(number);
  const capability = String(data.capability_id);
  const begun = before?.at ?? at;
  const blank: StoryStep = {
    ...{ number, capability, state: "in flight", at: begun, duration_ms: null, used: before?.used ?? {} },
    ...{ estimated: before?.estimated ?? false, problem: null },
  };
  if (action_type === "StepStarted") steps.set(number, blank);
  else if (action_type === "StepRefused") {
    steps.set(number, { ...blank, state: "refused", problem: String(data.decision) });
  } else if (action_type === "StepReleased")
    steps.set(number, { ...blank, state: "released", problem: String(data.why) });
  else if (event === "Consumption") {
    const { duration_ms } = data.metadata as { readonly duration_ms?: number };
    // A call that was tried twice is charged twice; a corrected one stands in the place of what was said before.
    const used =
      data.corrects === undefined ? sum(blank.used, data.resources as JsonObject) : (data.resources as JsonObject);
    const estimated = blank.estimated || data.estimated === true;
    steps.set(number, { ...blank, state: "done", duration_ms: duration_ms ?? null, used, estimated });
  }
}

function numberIn(step: string, run: string): number | null {
  if (!step.startsWith(`${run}/`)) return null;
  const rest = step.slice(run.length + 1);
  return /^\d{1,15}$/.test(rest) ? Number(rest) : null;
}

/** Amounts have at most nine decimals, and a sum is shown with no more. */
const DECIMALS = 9;

function sum(a: JsonObject, b: JsonObject): JsonObject {
  const all: Record<string, number> = {};
  for (const [id, value] of [...Object.entries(a), ...Object.entries(b)]) {
    all[id] = Number(((all[id] ?? 0) + Number(value)).toFixed(DECIMALS));
  }
  return all;
}

/** What the program was told of effects that failed, by their numbers. */
async function failuresOf(store: Store, run: string): Promise<ReadonlyMap<number, string>> {
  const failures = new Map<number, string>();
  for await (const { number, answered } of answersOf(store, run)) {
    if ("error" in answered) failures.set(number, `${answered.error.code}: ${answered.error.message}`);
  }
  return failures;
}

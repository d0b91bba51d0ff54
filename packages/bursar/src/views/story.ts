import type { JsonObject } from "../core/chain/canonical.js";
import { type Link, parseLine } from "../core/chain/link.js";
import type { Dimensions } from "../core/dimensions.js";
import type { Store } from "../ports/store.js";
import { answersOf } from "../runs/answers.js";
import { hasEnded, type RunRecord } from "../runs/record.js";
import { Saved } from "../runtime/saved.js";
import { Charges } from "./charges.js";
import { problemOf } from "./problems.js";
import type { StepView } from "./shapes.js";

/** What became of one thing that a run asked for, as its chain tells it. */
export type StoryStep = Omit<StepView, "execution">;

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
  /** What calls did not cost that were answered otherwise, or cost less, in USD. */
  readonly saved_usd: number;
}

/** What is told of a run apart from its steps. */
const TOLD: ReadonlySet<string> = new Set([
  "RunStarted",
  "RunClaimed",
  "RunPaused",
  "RunResumed",
  "RunEnded",
  "ApprovalRequested",
  "ApprovalDecided",
  "Warning",
  "Exhausted",
  "Extended",
  "Denied",
  "RunEstimated",
  "TierSwitched",
  "TierPinned",
  "Batched",
  "Saved",
  "CostUnknown",
  "AnswerDearer",
  "AnswerUnpriced",
]);

export async function readStory(store: Store, run: RunRecord): Promise<Story> {
  const teller = new StoryTeller(run, store.dimensions);
  for await (const line of store.chain(run.budget)) teller.take(parseLine(line));
  const problems = await problemsIn(store, run.id);
  const steps = teller.steps().map((step) => asTold(step, problems.get(step.number), run));
  return { steps, events: teller.events, links: teller.links, saved_usd: teller.saved_usd };
}

/** Makes a story of a chain, link by link. */
export class StoryTeller {
  links = 0;
  readonly events: StoryEvent[] = [];
  private readonly run: Pick<RunRecord, "id" | "shares">;
  private readonly charges: Charges;
  private readonly saved = new Saved();
  private readonly byNumber = new Map<number, StoryStep>();
  private sorted: readonly StoryStep[] | null = null;

  constructor({ id, shares }: Pick<RunRecord, "id" | "shares">, dimensions: Dimensions) {
    this.run = { id, shares };
    this.charges = new Charges(dimensions);
  }

  /** What its calls did not cost, in USD. */
  get saved_usd(): number {
    return this.saved.usd;
  }

  /** The steps by their numbers. */
  steps(): readonly StoryStep[] {
    this.sorted ??= [...this.byNumber.values()].sort((a, b) => a.number - b.number);
    return this.sorted;
  }

  take(link: Link): void {
    this.links++;
    const what = link.event ?? link.action_type;
    if (TOLD.has(what) && isAbout(link, this.run)) {
      this.events.push({ at: link.at, what, data: link.data });
      this.saved.take(link);
    }
    const step = this.told(link);
    if (step === null) return;
    this.byNumber.set(step.number, step);
    this.sorted = null;
  }

  private told(link: Link): StoryStep | null {
    const { data, action_type, event, at } = link;
    const number = numberIn(String(data.step_id), this.run.id);
    if (number === null) return null;
    const before = this.byNumber.get(number);
    const capability = String(data.capability_id);
    const blank: StoryStep = {
      number,
      capability,
      state: "in flight",
      at: before?.at ?? at,
      duration_ms: null,
      used: before?.used ?? {},
      estimated: before?.estimated ?? false,
      problem: null,
    };
    if (action_type === "StepStarted") return blank;
    if (action_type === "StepRefused") return { ...blank, state: "refused", problem: String(data.decision) };
    if (action_type === "StepReleased") return { ...blank, state: "released", problem: String(data.why) };
    if (event !== "Consumption") return null;
    const { duration_ms } = data.metadata as { readonly duration_ms?: number };
    // A call that was tried twice is charged twice.
    const used = this.charges.sum(blank.used, this.charges.added(link));
    const estimated = blank.estimated || data.estimated === true;
    return { ...blank, state: "done", duration_ms: duration_ms ?? null, used, estimated };
  }
}

const UNTOLD = "the run ended before its program was told; whether it has worked is not known";

/**
 * A step whose effect was paid for, as the program was told of it: it may have failed. What nobody was told while the run went on is
 * not known.
 */
export function asTold<Step extends StoryStep>(
  step: Step,
  problem: string | null | undefined,
  run: Pick<RunRecord, "status">,
): Step {
  if (step.state !== "done" || problem === null) return step;
  if (problem !== undefined) return { ...step, state: "failed", problem };
  return hasEnded(run) ? { ...step, state: "interrupted", problem: UNTOLD } : step;
}

/** Runs that share a budget share a chain. */
function isAbout({ data }: Link, { id, shares }: Pick<RunRecord, "id" | "shares">): boolean {
  return data.run_id === undefined ? !shares : data.run_id === id;
}

function numberIn(step: string, run: string): number | null {
  if (!step.startsWith(`${run}/`)) return null;
  const rest = step.slice(run.length + 1);
  return /^\d{1,15}$/.test(rest) ? Number(rest) : null;
}

/** How effects failed that the program was told of, by their numbers; null for those that did not. */
async function problemsIn(store: Store, run: string): Promise<ReadonlyMap<number, string | null>> {
  const problems = new Map<number, string | null>();
  for await (const { number, answered } of answersOf(store, run)) problems.set(number, problemOf(answered));
  return problems;
}

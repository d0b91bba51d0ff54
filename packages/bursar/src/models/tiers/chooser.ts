import type { Amounts } from "../../core/amount.js";
import type { Json, JsonObject } from "../../core/chain/canonical.js";
import { InputError } from "../../core/errors.js";
import { type Action, Events } from "../../core/events.js";
import { nearest } from "../../core/nearest.js";
import type { Prediction } from "../../ports/foresight.js";
import type { Choosing } from "../../ports/model.js";
import { readRun } from "../../runs/record.js";
import type { Course, Kept } from "./course.js";
import { expectedCalls } from "./expected-calls.js";
import { leftOn } from "./left.js";
import { PINNED, recallSteps, SWITCHED } from "./recall-steps.js";
import { type Candidate, type Reason, type Situation, select, stay } from "./select.js";
import { StandingsByStore } from "./standings.js";
import { listNamed, modelNamed, type Tier, type TierList, type Tiers } from "./tier-list.js";
import type { Wish } from "./wish.js";

/** What a choice goes by. Where nobody says how many steps are expected, the run itself is asked, if it is one that pays. */
export type About = Omit<Choosing, "steps"> & Partial<Pick<Choosing, "steps">>;

/** What a call would be at one tier. */
export interface Offer {
  /** The most it may use, in ledger units. */
  readonly quote: Amounts;
  /** About how many tokens it has, and how many the model takes; null when nobody knows. */
  readonly tokens: number;
  readonly window: number | null;
}

/** A call that leaves its model open. */
export interface Wanted extends Wish {
  readonly list: TierList;
  /** What it needs, as its request shows. */
  readonly shown: ReadonlySet<string>;
}

/** A tier that was chosen. */
export interface Choice {
  readonly tier: Tier;
  readonly reason: Reason;
  /** What the chain is told; null when nothing has changed. */
  readonly switched: Action | null;
  readonly unfit: "pause" | "stop" | null;
  /** Its reservation is made, or never will be. */
  entered(): void;
  /** The chain was not told of it after all: the next choice tells it. */
  untold(): void;
  /** What it has cost in the end, in billionths of a dollar. */
  cost(nano: number): void;
}

/** Chooses tiers, and keeps in mind for every budget where its calls stand. */
export class Chooser {
  private readonly tiers: Tiers;
  private readonly standings = new StandingsByStore();

  constructor(tiers: Tiers) {
    this.tiers = tiers;
  }

  get lists(): Iterable<TierList> {
    return this.tiers.lists.values();
  }

  /** The list that a model's name stands for. Null for the name of a model; it throws for a list that is not there. */
  listFor(model: unknown): TierList | null {
    const name = listNamed(model);
    if (name === null) return null;
    const found = this.tiers.lists.get(name);
    if (found !== undefined) return found;
    throw unknownList(name, [...this.tiers.lists.keys()]);
  }

  /** Chooses for one call. The offers stand as the tiers do; null where the call cannot be made. It throws when it can be made nowhere. */
  async choose(about: About, wanted: Wanted, offers: readonly (Offer | null)[]): Promise<Choice> {
    const { list, pin, step } = wanted;
    const place = pin === null ? 0 : pinnedIn(list, pin);
    if (pin !== null && offers[place] == null) throw unable({ ...wanted, shown: new Set(), needs: [] }, offers);
    if (!this.tiers.enabled) return quiet(list, needed(list.tiers[place]));
    const course = this.courseOf(about, list);
    // A run goes on elsewhere; of other budgets nobody says how long their chains are.
    if (step !== null && about.steps !== undefined) await recallSteps(course, about, list);
    if (pin !== null) return this.pinned(about, wanted, offers, place);
    const { store, budget } = about;
    const { pending } = this.standings.of(store);
    const before = pending.of(budget, store.clock.now().monotonic);
    course.expected ??= about.steps === undefined ? await stepsOfRun(about) : { steps: about.steps };
    const path = await store.path(budget);
    const time = store.clock.now();
    const left = leftOn(path, time, store.dimensions);
    pending.subtract(budget, before, left, time.monotonic);
    const calls = expectedCalls({
      calls: course.calls,
      steps: path[0]?.used.steps ?? 0,
      expected: course.expected.steps,
      left: left.steps ?? Number.POSITIVE_INFINITY,
    });
    const candidates = candidatesOf(wanted, offers, course);
    const decided = { ...left };
    forgive(decided, candidates);
    const { standing } = course;
    const situation = { candidates, left: decided, calls, standing, hysteresis: list.hysteresis };
    const selection = selected(course, situation, step);
    if (selection === null) throw unable(wanted, offers);
    return this.chosen(about, { wanted, offers, course, left, ...selection });
  }

  private async pinned(about: About, wanted: Wanted, offers: readonly (Offer | null)[], tier: number): Promise<Choice> {
    const { store, budget } = about;
    const left = leftOn(await store.path(budget), store.clock.now(), store.dimensions);
    const course = this.courseOf(about, wanted.list);
    return this.chosen(about, { wanted, offers, course, left, tier, reason: "pinned" });
  }

  private chosen(about: About, made: Made): Choice {
    const { wanted, offers, course, tier } = made;
    const { list, step } = wanted;
    const before = course.last;
    course.last = tier;
    course.calls++;
    const reason = made.reason === "stays" && before !== tier ? (course.untold ?? "back") : made.reason;
    course.untold = null;
    const kept = step === null ? null : stepAt(course, step, { tier, reason });
    const news = switchedTo(about, { ...made, reason, kept }, before);
    const isTold = kept !== null && news !== null;
    if (isTold) kept.told = true;
    const { quote = {} } = offers[tier] ?? {};
    const { monotonic } = about.store.clock.now();
    return {
      tier: needed(list.tiers[tier]),
      reason,
      switched: news,
      unfit: reason === "pinned" ? null : list.unfit,
      entered: this.standings.of(about.store).pending.add(about.budget, quote, monotonic),
      untold: once(() => {
        if (isTold) kept.told = false;
        if (course.last !== tier || before === tier) return;
        course.last = before;
        course.untold = reason;
      }),
      cost: (nano) => course.settle(offers, tier, nano),
    };
  }

  private courseOf({ store, chain, budget }: About, list: TierList): Course {
    return this.standings.of(store).courseOf(chain, budget, list);
  }
}

/** Where a call goes. One of a step that has begun goes where that is, and where the others stand is not touched by it. */
function selected(course: Course, situation: Situation, step: string | null) {
  const kept = course.kept(step);
  if (kept !== null) return stay(situation, kept.tier);
  const selection = select(situation);
  if (selection === null) return null;
  const { standing, tier, reason } = selection;
  course.standing = standing;
  return { tier, reason };
}

/**
 * The tier that a step stays at from now on. Null for a call that is an exception to it, and where not even the floor fits, because
 * more may be left for the next one.
 */
function stepAt(course: Course, step: string, { tier, reason }: Pick<Kept, "tier" | "reason">): Kept | null {
  const kept = reason === "none_fits" ? course.kept(step) : course.keep(step, { tier, reason, told: false });
  return kept?.tier === tier ? kept : null;
}

/** A choice with everything that it was made by. */
interface Made {
  readonly wanted: Wanted;
  readonly offers: readonly (Offer | null)[];
  readonly course: Course;
  readonly left: Readonly<Record<string, number>>;
  readonly tier: number;
  readonly reason: Reason;
}

/** How many steps the run is expected to take whose chain it is; null where that is no run, or nobody knows. */
async function stepsOfRun({ store, chain }: About): Promise<{ readonly steps: Prediction | null }> {
  const document = await store.document("run", chain);
  return { steps: document === null ? null : (readRun(document).estimate?.dimensions.steps ?? null) };
}

function candidatesOf(
  { list, shown, needs }: Wanted,
  offers: readonly (Offer | null)[],
  course: Course,
): readonly Candidate[] {
  const wanted = shown.size === 0 ? needs : [...shown, ...needs];
  const able = list.choosable.map(({ can }, index) => {
    const isAble = can === null || wanted.every((need) => can.has(need));
    return isAble ? (offers[index] ?? null) : null;
  });
  // How many tokens it has is only guessed, so that it is tried all the same where no model is large enough.
  const isRoomy = (offer: Offer | null) => offer !== null && (offer.window === null || offer.tokens <= offer.window);
  const some = able.some(isRoomy);
  return able.map((offer, index) => {
    const quote = offer !== null && (!some || isRoomy(offer)) ? offer.quote : null;
    // Of calls that are all under way nobody knows yet what they cost; the first one of a run has none beside it.
    const mean = course.mean(index) ?? (course.calls > 0 ? (quote?.cost_usd ?? null) : null);
    return { quote, mean };
  });
}

/** What not even the cheapest fits into is nothing to choose by: going down would not help. Money is cut to what is left in the end. */
function forgive(left: Record<string, number>, candidates: readonly Candidate[]): void {
  const lowest = candidates.findLast(({ quote }) => quote !== null)?.quote ?? {};
  for (const id in lowest) {
    if (id !== "cost_usd" && (lowest[id] as number) > (left[id] ?? Number.POSITIVE_INFINITY)) delete left[id];
  }
}

/** What the chain is told of a choice; null when it is one like the one before, and no step begins with it. */
function switchedTo(
  { store, budget }: About,
  { wanted, offers, left, tier, reason, kept }: Made & { readonly kept: Kept | null },
  before: number | null,
): Action | null {
  const isNew = before !== tier;
  if (!isNew && (kept === null || kept.told)) return null;
  const events = new Events(store.dimensions);
  const { list, step } = wanted;
  const described = (index: number): JsonObject => {
    const { name, model } = needed(list.tiers[index]);
    const offer = offers[index] ?? null;
    return { tier: name, model, quote: offer === null ? null : events.amounts(offer.quote) };
  };
  const finite = Object.entries(left).flatMap(([id, free]) => (Number.isFinite(free) ? [[id, Math.max(0, free)]] : []));
  const data: Record<string, Json> = {
    list: list.name,
    ...(kept !== null && { step, budget }),
    from: before === null ? null : described(before),
    to: described(tier),
    reason: isNew || kept === null ? reason : kept.reason,
    left: events.amounts(Object.fromEntries(finite) as Amounts),
  };
  return { action_type: isNew ? SWITCHED : PINNED, data };
}

/** Nothing is chosen and nothing told: it is switched off. */
function quiet({ unfit }: TierList, tier: Tier): Choice {
  return { tier, reason: "stays", switched: null, unfit, entered: () => {}, untold: () => {}, cost: () => {} };
}

function once(work: () => void): () => void {
  let isDone = false;
  return () => {
    if (!isDone) work();
    isDone = true;
  };
}

function pinnedIn({ name, tiers, floor }: TierList, pin: string): number {
  const index = tiers.findIndex((tier) => tier.name === pin);
  const allowed = tiers
    .slice(0, floor + 1)
    .map((tier) => tier.name)
    .join(", ");
  if (index === -1) throw new InputError("tier", `is ${JSON.stringify(pin)}; tiers of ${name}: ${allowed}`);
  if (index <= floor) return index;
  throw new InputError("tier", `is ${JSON.stringify(pin)}, which lies below the floor of ${name}; allowed: ${allowed}`);
}

function unknownList(name: string, known: readonly string[]): InputError {
  const guess = nearest(name, known);
  const all = known.map((each) => modelNamed({ name: each })).join(", ");
  const hint = guess === null ? `there is ${all}` : `did you mean ${modelNamed({ name: guess })}?`;
  return new InputError("model", `is ${JSON.stringify(modelNamed({ name }))}, which is no list of tiers; ${hint}`);
}

function unable({ list, shown, needs }: Wanted, offers: readonly (Offer | null)[]): InputError {
  const wanted = [...new Set([...shown, ...needs])];
  const model = JSON.stringify(modelNamed(list));
  if (offers.every((offer) => offer === null) || wanted.length === 0) {
    return new InputError("model", `is ${model}, and none of its tiers takes this request here; name a model instead`);
  }
  const why = `none of its tiers, down to the floor, has all of ${wanted.join(", ")}`;
  return new InputError("model", `is ${model}, and ${why}; add one to the list, or leave that out of the request`);
}

/** Places are only ever made of the list itself. */
function needed(tier: Tier | undefined): Tier {
  if (tier === undefined) throw new InputError("tier", "is none of the list");
  return tier;
}

import { type Amounts, NONE } from "../core/amount.js";
import type { Budget, Path } from "../core/budget.js";
import type { Json } from "../core/chain/canonical.js";
import type { Opening } from "../core/children.js";
import { InputError } from "../core/errors.js";
import { Events } from "../core/events.js";
import { heldIn } from "../core/held.js";
import { Pasts } from "../foresight/pasts.js";
import { PREFLIGHT_POLICIES, type Preflight, type PreflightPolicy } from "../foresight/preflight.js";
import type { Program } from "../ports/program.js";
import type { Timer } from "../ports/timer.js";
import type { BursarOptions, ForesightOptions } from "./bursar-options.js";
import type { ChildGrant } from "./deed.js";
import { estimateOf, type Sources } from "./estimating.js";
import { hintedAmounts } from "./hints.js";
import { asideOf, childOpening, notOpen, openingOf, type StartOptions } from "./opening.js";
import { type Checked, type Place, placeOf, preflightOf, restsOnFew, suggestedFor } from "./preflight.js";
import { ForbiddenError, isOperator, type Principal } from "./principal.js";
import type { Programs } from "./programs.js";
import type { RunRecord } from "./record.js";
import { sessionBudget } from "./session-budget.js";
import type { RunTerms } from "./terms.js";

/** What is to be started, as far as an estimate goes by it. */
export interface Intended {
  readonly id: string;
  readonly program: Program;
  readonly input: Json;
  /** Whether somebody has brought the program along who may not decide. */
  readonly brought: boolean;
}

/** Why a run begins that does not fit. */
const TOO_FEW = "it is not refused, because too few runs are known to be sure";

/** Looks ahead: what a run will take, and whether that fits, before it begins. */
export class Foresight {
  private readonly sources: Sources;
  private readonly policy: PreflightPolicy;

  constructor({ preflight = "warn" }: ForesightOptions, sources: Sources) {
    this.policy = preflight;
    this.sources = sources;
  }

  /** What becomes of a run that does not fit. Whoever is no operator may only make it stricter. */
  policyFor({ preflight }: StartOptions, by: Principal): PreflightPolicy {
    if (preflight === undefined || isOperator(by)) return preflight ?? this.policy;
    if (PREFLIGHT_POLICIES.indexOf(preflight) >= PREFLIGHT_POLICIES.indexOf(this.policy)) return preflight;
    const less = `preflight ${preflight} is less strict than ${this.policy}`;
    throw new ForbiddenError(`${by.name} may only tighten: ${less}; leave it out, or let an operator start the run`);
  }

  async estimate(intended: Intended, options: StartOptions, terms: RunTerms): Promise<Preflight> {
    const { dimensions } = this.sources.store;
    const place = await this.placeFor(intended, options, terms);
    const estimated = await estimateOf(this.sources, intended.program, intended.input, intended);
    const preflight = preflightOf(intended.program.name, estimated, place, dimensions);
    if (place !== null) return preflight;
    const why = `no run can be started in session ${options.session}, because it is exhausted`;
    return { ...preflight, fits: false, notes: [...preflight.notes, why] };
  }

  /** Looks at a run before it is written. Null when nobody has anything to say about it, or it cannot be written anyway. */
  async check(
    intended: Intended,
    options: StartOptions,
    terms: RunTerms,
    policy: PreflightPolicy,
  ): Promise<Checked | null> {
    const place = await this.placeFor(intended, options, terms);
    return place === null ? null : this.checked(intended, place, policy, this.sources);
  }

  /** The same for a run below another. No model is asked, because the clock of the one above goes on meanwhile. */
  async checkChild(intended: Intended, parent: RunRecord, grant: ChildGrant): Promise<Checked | null> {
    const place = await this.placeBelow(intended, parent, grant);
    const sources = { ...this.sources, predictor: null };
    return place === null ? null : this.checked(intended, place, parent.preflight ?? this.policy, sources);
  }

  private async checked(
    intended: Intended,
    place: BudgetPlace,
    policy: PreflightPolicy,
    sources: Sources,
  ): Promise<Checked | null> {
    const { dimensions } = sources.store;
    const estimated = await estimateOf(sources, intended.program, intended.input, intended);
    // Nothing may begin unseen then, and nothing has been written: it can be tried again.
    if (estimated.unread !== null && policy !== "warn") throw estimated.unread;
    if (estimated.estimate === null && estimated.notes.length === 0) return null;
    const found = preflightOf(intended.program.name, estimated, place, dimensions);
    const isSpared = policy === "refuse" && restsOnFew(found, place, dimensions);
    const preflight = isSpared ? { ...found, notes: [...found.notes, TOO_FEW] } : found;
    const suggested = suggestedFor(preflight, place, dimensions);
    const { shared } = place;
    const events = Events.for(dimensions);
    const consumed = shared === null ? {} : events.consumed(shared, place.time);
    const held = shared === null ? {} : heldIn(shared, dimensions);
    const limits = events.limits(shared ?? place.budget);
    return { preflight, policy: isSpared ? "warn" : policy, suggested, limits, consumed, held };
  }

  /** What the run could use; null when its session is exhausted. */
  private async placeFor({ id }: Intended, options: StartOptions, terms: RunTerms): Promise<BudgetPlace | null> {
    const { store } = this.sources;
    const { dimensions, clock } = store;
    const { session } = options;
    const above: Path = session === undefined ? [] : await store.path(sessionBudget(session));
    if (session !== undefined && above.length === 0) throw notOpen(session);
    const beginning = {
      opening: openingOf(id, options, terms),
      aside: asideOf(id, terms),
      extensions: hintedAmounts(options.hints, dimensions),
    };
    const place = placeOf(above, beginning, clock.now(), dimensions);
    return place === null ? null : { ...place, shared: null };
  }

  /** What a run below another could use; null when nothing is left for it. */
  private async placeBelow(
    { id, program }: Intended,
    parent: RunRecord,
    grant: ChildGrant,
  ): Promise<BudgetPlace | null> {
    const { store } = this.sources;
    const { dimensions, clock } = store;
    const path = await store.path(parent.budget);
    const { opening } = childOpening(id, grant, program, { dimensions, inherited: path[0]?.policies ?? {} });
    const beginning = { opening: opening ?? leftTo(id), aside: null, extensions: [] };
    const place = placeOf(path, beginning, clock.now(), dimensions);
    const [shared, ...above] = path;
    if (place === null || shared === undefined) return null;
    if (opening !== null) return { ...place, shared: null };
    // More would be asked for that budget itself.
    const { funding, deadline } = shared;
    const budget: Budget = { ...place.budget, limits: withoutSpawn(place.budget.limits), funding, deadline };
    return { ...place, budget, above, shared };
  }
}

/** Where a run would be. */
interface BudgetPlace extends Place {
  /** The budget of the run above, when it has none of its own. */
  readonly shared: Budget | null;
}

/** Stands for a budget that has what is left on a path. */
function leftTo(id: string): Opening {
  return { id, scope: "run", grant: { kind: "limits", limits: {}, clamp: true } };
}

/** What is left when the call is settled that starts a child, which is a step itself. */
function withoutSpawn(limits: Amounts): Amounts {
  const ids = ["steps", "subcalls"].filter((id) => limits[id] !== undefined);
  const left = ids.map((id) => [id, Math.max(0, (limits[id] ?? NONE) - 1)]);
  return { ...limits, ...Object.fromEntries(left) };
}

/** Null when it is switched off. */
export function foresightOf(options: BursarOptions, timer: Timer, programs: Programs): Foresight | null {
  const { store, foresight = {}, tools = [], model = null } = options;
  if (foresight === false) return null;
  return new Foresight(foresight, {
    store,
    timer,
    model,
    pasts: new Pasts(store),
    tools: new Map(tools.map((tool) => [tool.name, tool])),
    program: (name) => programs.find(name),
    predictor: foresight.predictor ?? null,
  });
}

export function switchedOff(field: string): InputError {
  return new InputError(field, "is of no use, because foresight is switched off here; switch it on, or leave this out");
}

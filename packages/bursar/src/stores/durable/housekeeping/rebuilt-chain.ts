import { readAmount } from "../../../core/dimension.js";
import type { Dimensions } from "../../../core/dimensions.js";
import { Bounded } from "../bounded.js";
import { SetDigest } from "./set-digest.js";

/** Amounts by dimension, in ledger units. */
export type Figures = Map<string, number>;

/** A call that a chain records as started and not settled yet. */
export interface OpenCall {
  readonly call_id: string;
  readonly step_id: string;
  readonly capability_id: string;
  readonly kind: string;
  /** In edge units, as the link says it. */
  readonly asked: Readonly<Record<string, unknown>>;
}

/** What a chain says of a budget that was opened in it. Its children's usage is not in here. */
export class RebuiltBudget {
  readonly id: string;
  readonly parent: string | null;
  /** What the link says that recorded its opening. */
  readonly opening: Written;
  /** When it was opened or its clock was last started, by the clock of who wrote the link. */
  startedAt: number;
  readonly thresholds: readonly number[] | null;
  readonly used: Figures = new Map();
  readonly peaks: Figures = new Map();
  readonly extended: Figures = new Map();
  /** Dimensions whose exhaustion was told and not ended by an extension. */
  readonly exhausted: Set<string> = new Set();
  /** How many thresholds were told, and how many of these since the last extension. */
  readonly warned: Map<string, { total: number; since: number }> = new Map();
  /** Whole milliseconds; null where an older Bursar did not say. */
  elapsed: number | null = 0;
  isRunning = true;
  isEnded = false;
  readonly open: Map<string, OpenCall> = new Map();
  /** Calls with a charge, and all of them that are settled by what they had asked for. */
  readonly charges: SetDigest;
  readonly asks: SetDigest;
  charged = 0;
  /** False when a link corrects one that is no longer there. */
  isUsageKnown = true;
  areAsksKnown: boolean;

  constructor({ at, data }: Pick<Link, "at" | "data">, salt: string) {
    this.id = String(data.run_id);
    this.opening = data;
    this.parent = typeof data.parent === "string" ? data.parent : null;
    this.startedAt = at;
    this.thresholds = Array.isArray(data.thresholds) ? data.thresholds : null;
    this.charges = new SetDigest(salt);
    this.asks = new SetDigest(salt);
    this.areAsksKnown = this.isExact;
  }

  /** Whether its links say everything: those of older versions leave some things out. */
  get isExact(): boolean {
    return this.thresholds !== null;
  }
}

/** A warning or an exhaustion of a budget that was opened in another chain. */
export interface ForeignNotice {
  readonly budget: string;
  readonly dimension: string;
  readonly kind: "Warning" | "Exhausted";
}

/** What a key or a token was, the last time that the server's chain spoke of it. */
export interface Registration {
  readonly status: "active" | "revoked";
  readonly changes: number;
  readonly said: Readonly<Record<string, unknown>>;
}

export interface RebuiltChainOptions {
  readonly dimensions: Dimensions;
  /** Told of each notice of a budget that was not opened in this chain. */
  readonly foreign: (notice: ForeignNotice) => void;
  /** Looks up links that were read long ago: their lines, in the same order, null for one that is not there. */
  readonly lookUp: (ids: readonly string[]) => Promise<readonly (string | null)[]>;
}

interface Link {
  readonly id: string;
  readonly at: number;
  readonly action_type: string;
  readonly event?: string;
  readonly data: Readonly<Record<string, unknown>>;
}

type Written = Readonly<Record<string, unknown>>;

/** What became of a call: given back or dead without a charge, or charged. */
export type Outcome = "released" | "expired" | "charged";

/** A settlement that may be corrected later. */
interface Settlement {
  readonly budget: string;
  readonly outcome: Outcome;
  readonly resources: Written;
  readonly charge: string | null;
  /** The call with what it had asked for; null where that is not known. */
  readonly call: OpenCall | null;
}

/** So many settlements are remembered, so that nearly all corrections need not look anything up. */
const REMEMBERED = 5000;
/** So many corrections of older settlements are looked up at once. */
const MOST_CORRECTIONS = 50;

const LEDGER_LINE =
  /^\{"action_type":"(?:BudgetConsumptionRecorded|StepStarted|StepReleased|ClockPaused|ClockResumed|ApprovalDecided|RunStarted|Key(?:Created|Rotated|Revoked)|Token(?:Created|Revoked))"/;

const SALT_LENGTH = 16;

/** Adds up what the links of one chain say, line by line. Its memory grows with the budgets of the chain, not with its links. */
export class RebuiltChain {
  readonly budgets: Map<string, RebuiltBudget> = new Map();
  readonly keys: Map<string, Registration> = new Map();
  readonly tokens: Map<string, Registration> = new Map();
  /** The answers to requests for approval, by the request's id. */
  readonly decisions: Map<string, Written> = new Map();
  /** The runs that began in this chain. */
  readonly runs: Map<string, Written> = new Map();
  private readonly options: RebuiltChainOptions;
  private readonly recent = new Bounded<string, Settlement>(REMEMBERED);
  private corrections: { readonly corrects: string; readonly budget: RebuiltBudget }[] = [];
  private readonly salt: string;

  constructor(options: RebuiltChainOptions, salt: string) {
    this.options = options;
    this.salt = salt.slice(0, SALT_LENGTH);
  }

  /** Whether `settle` has to be called before more lines are taken. */
  get isBehind(): boolean {
    return this.corrections.length >= MOST_CORRECTIONS;
  }

  /** Takes a line, whatever it is. One that cannot be read is found by the verification of its chain. */
  take(line: string): void {
    if (!LEDGER_LINE.test(line)) return;
    let link: Link;
    try {
      link = JSON.parse(line);
    } catch {
      return;
    }
    const { data } = link;
    if (typeof data !== "object" || data === null) return;
    if (link.action_type === "BudgetConsumptionRecorded") this.takeEvent(link);
    else if (link.action_type === "ApprovalDecided") this.decisions.set(String(data.approval_id), data);
    else if (link.action_type === "RunStarted") this.runs.set(String(data.run_id), data);
    else if (link.action_type.startsWith("Key")) register(this.keys, data.key_id, link);
    else if (link.action_type.startsWith("Token")) register(this.tokens, data.token_id, link);
    else this.takeAction(link);
  }

  /** Takes the corrections of settlements that were read long ago off what was added up. */
  async settle(): Promise<void> {
    const { corrections } = this;
    if (corrections.length === 0) return;
    this.corrections = [];
    const lines = await this.options.lookUp(corrections.map(({ corrects }) => corrects));
    for (const [at, { budget }] of corrections.entries()) {
      const line = lines[at];
      const before = line === null || line === undefined ? null : this.readSettlement(line);
      if (before === null) {
        budget.isUsageKnown = false;
        budget.areAsksKnown = false;
      } else this.replace(budget, before);
    }
  }

  private takeEvent(link: Link): void {
    const { event, data } = link;
    if (event === "Allocation") {
      const opened = new RebuiltBudget(link, this.salt);
      this.budgets.set(opened.id, opened);
      return;
    }
    const id = String(event === "RunCompleted" ? data.run_id : data.budget);
    const budget = this.budgets.get(id);
    if (event === "Warning" || event === "Exhausted") this.takeNotice(id, budget, event, String(data.dimension));
    if (budget === undefined) return;
    if (event === "Consumption") this.takeConsumption(link, budget);
    else if (event === "Extended") this.takeExtension(data, budget);
    else if (event === "RunCompleted") {
      budget.isEnded = true;
      budget.isRunning = false;
      const shown = (data.final_consumption as Written | undefined)?.wall_clock_ms;
      budget.elapsed = typeof shown === "number" ? shown : null;
    }
  }

  private takeNotice(
    id: string,
    budget: RebuiltBudget | undefined,
    kind: ForeignNotice["kind"],
    dimension: string,
  ): void {
    if (budget === undefined) this.options.foreign({ budget: id, dimension, kind });
    else if (kind === "Exhausted") budget.exhausted.add(dimension);
    else {
      const warned = budget.warned.get(dimension) ?? { total: 0, since: 0 };
      budget.warned.set(dimension, { total: warned.total + 1, since: warned.since + 1 });
    }
  }

  private takeExtension({ dimension, additional }: Written, budget: RebuiltBudget): void {
    const id = String(dimension);
    budget.exhausted.delete(id);
    const warned = budget.warned.get(id);
    if (warned !== undefined) budget.warned.set(id, { total: warned.total, since: 0 });
    budget.extended.set(id, (budget.extended.get(id) ?? 0) + this.unitsOf(id, additional));
  }

  private takeAction({ id, at, action_type, data }: Link): void {
    const budget = this.budgets.get(String(data.budget));
    if (budget === undefined) return;
    if (action_type === "ClockPaused") {
      budget.isRunning = false;
      budget.elapsed = typeof data.elapsed_ms === "number" ? data.elapsed_ms : null;
    } else if (action_type === "ClockResumed") {
      if (!budget.isRunning) budget.startedAt = at;
      budget.isRunning = true;
    } else if (action_type === "StepStarted") {
      const { step_id, capability_id } = data;
      const call_id = String(data.call_id ?? step_id);
      const asked = (data.asked ?? {}) as Written;
      const call = { call_id, step_id: String(step_id), capability_id: String(capability_id), asked };
      budget.open.set(call_id, { ...call, kind: String(data.kind ?? capability_id) });
    } else {
      const call = this.closed(budget, data.call_id ?? data.step_id, data);
      const outcome = releaseIn(data);
      if (call !== null) budget.asks.add(this.askedText(call, outcome));
      this.recent.set(id, { budget: budget.id, outcome, resources: {}, charge: null, call });
    }
  }

  private takeConsumption({ id, data }: Link, budget: RebuiltBudget): void {
    const resources = (data.resources ?? {}) as Written;
    const call_id = String(data.call_id);
    const corrects = typeof data.corrects === "string" ? data.corrects : null;
    const before = corrects === null ? null : (this.recent.get(corrects) ?? null);
    const asked = before === null ? this.closed(budget, call_id, data) : askedAgain(before);
    const call = asked === null || data.seen === undefined ? asked : { ...asked, asked: data.seen as Written };
    const charge = this.chargeText(call_id, String(data.step_id), String(data.capability_id), resources);
    const now: Settlement = { budget: budget.id, outcome: "charged", resources, charge, call };
    for (const dimension of this.options.dimensions.all) {
      const amount = resources[dimension.id];
      if (amount === undefined || dimension.kind === "clock") continue;
      const units = this.unitsOf(dimension.id, amount);
      if (dimension.kind === "sum") budget.used.set(dimension.id, (budget.used.get(dimension.id) ?? 0) + units);
      else budget.peaks.set(dimension.id, Math.max(budget.peaks.get(dimension.id) ?? 0, units));
    }
    budget.charges.add(charge);
    budget.charged++;
    if (call !== null) budget.asks.add(this.askedText(call, "charged"));
    this.recent.set(id, now);
    if (before !== null) this.replace(budget, before);
    else if (corrects !== null) this.corrections.push({ corrects, budget });
  }

  /** Takes off what an earlier settlement of the same call had said. Of peaks the highest stays. */
  private replace(budget: RebuiltBudget, before: Settlement): void {
    for (const dimension of this.options.dimensions.all) {
      const amount = before.resources[dimension.id];
      if (amount === undefined || dimension.kind !== "sum") continue;
      budget.used.set(dimension.id, (budget.used.get(dimension.id) ?? 0) - this.unitsOf(dimension.id, amount));
    }
    if (before.charge !== null) {
      budget.charges.remove(before.charge);
      budget.charged--;
    }
    // The link of a settlement that is looked up does not say what its call had asked for.
    if (before.call === null) budget.areAsksKnown = false;
    else budget.asks.remove(this.askedText(before.call, before.outcome));
  }

  /** The open call that a settlement belongs to. In links of older versions only the step is named for some. */
  private closed(budget: RebuiltBudget, id: unknown, { step_id }: Written): OpenCall | null {
    const name = String(id);
    const call = budget.open.get(name) ?? (budget.isExact ? undefined : budget.open.get(String(step_id)));
    if (call === undefined) return null;
    budget.open.delete(call.call_id);
    return call;
  }

  private readSettlement(line: string): Settlement | null {
    try {
      const { action_type, event, data } = JSON.parse(line) as Link;
      const budget = String(data.budget);
      if (action_type === "StepReleased") {
        return { budget, outcome: releaseIn(data), resources: {}, charge: null, call: null };
      }
      if (event !== "Consumption") return null;
      const resources = (data.resources ?? {}) as Written;
      const { call_id, step_id, capability_id } = data;
      const charge = this.chargeText(String(call_id), String(step_id), String(capability_id), resources);
      return { budget, outcome: "charged", resources, charge, call: null };
    } catch {
      return null;
    }
  }

  /** What a line says that a call was charged; null when it says nothing of the kind. */
  chargeIn(line: string): string | null {
    return this.readSettlement(line)?.charge ?? null;
  }

  /** A charged call as one text, the same from its link and from its row. */
  chargeText(call_id: string, step_id: string, capability_id: string, resources: Written): string {
    return JSON.stringify([call_id, step_id, capability_id, this.known(resources)]);
  }

  /** What a settled call had asked for and what became of it, likewise. */
  askedText({ call_id, step_id, capability_id, kind, asked }: OpenCall, outcome: Outcome): string {
    return JSON.stringify([call_id, step_id, capability_id, kind, outcome, this.known(asked)]);
  }

  known(amounts: Written): readonly (readonly [string, unknown])[] {
    const ids = Object.keys(amounts).filter((id) => this.options.dimensions.has(id));
    return ids.sort().map((id) => [id, amounts[id]] as const);
  }

  /** Links speak in dollars and the like; 0 for what is not known here, or is no amount. */
  private unitsOf(id: string, amount: unknown): number {
    const { dimensions } = this.options;
    if (!dimensions.has(id)) return 0;
    try {
      return readAmount(dimensions.get(id), amount, "up", id);
    } catch {
      return 0;
    }
  }
}

function releaseIn({ why }: Written): Outcome {
  return why === "released" ? "released" : "expired";
}

/** What a call asks for when its settlement is corrected: nothing any more, if it had been given back. */
function askedAgain({ call, outcome }: Settlement): OpenCall | null {
  return call !== null && outcome === "released" ? { ...call, asked: {} } : call;
}

function register(to: Map<string, Registration>, id: unknown, { action_type, data }: Link): void {
  const changes = (to.get(String(id))?.changes ?? 0) + 1;
  to.set(String(id), { status: action_type.endsWith("Revoked") ? "revoked" : "active", changes, said: data });
}

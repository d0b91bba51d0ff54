import { type Amounts, NONE } from "./amount.js";
import { type Budget, DEADLINE, limitOf, usedOf } from "./budget.js";
import { canonicalize, type Json, type JsonObject, quoteText } from "./chain/canonical.js";
import { remember } from "./chain/remember.js";
import type { Decision, Finding } from "./decision.js";
import { type Dimension, writeAmount } from "./dimension.js";
import type { Dimensions } from "./dimensions.js";
import { heldIn } from "./held.js";
import type { Notice } from "./notice.js";
import { termsByName, termsOf } from "./terms.js";
import type { Time } from "./time.js";

/** What a link of a chain records, before it is linked. */
export interface Action {
  readonly action_type: string;
  readonly event?: BudgetEventName;
  readonly data: JsonObject;
}

/** An action whose data is written as canonical JSON when it is linked, without being built first: every call has two of them. */
export interface WrittenAction extends Omit<Action, "data"> {
  readonly write: () => string;
}

export type BudgetEventName =
  | "Allocation"
  | "Consumption"
  | "Warning"
  | "Exhausted"
  | "Extended"
  | "Denied"
  | "RunCompleted";

/** Every budget event is an action of this one type. */
const BUDGET_ACTION = "BudgetConsumptionRecorded";

const EVENTS = new WeakMap<Dimensions, Events>();

/** Turns what happened into actions, in edge units: dollars, whole tokens, milliseconds. */
export class Events {
  private readonly dimensions: Dimensions;
  /** In the order in which the chain writes them. */
  private readonly byName: readonly Dimension[];
  private readonly columns: readonly Column[];
  /** Those of the metadata of a settlement, the duration among them. */
  private readonly figures: readonly Column[];

  /** The events of a table of dimensions, made once for it: they have no state. */
  static for(dimensions: Dimensions): Events {
    const known = EVENTS.get(dimensions);
    if (known !== undefined) return known;
    const made = new Events(dimensions);
    EVENTS.set(dimensions, made);
    return made;
  }

  constructor(dimensions: Dimensions) {
    this.dimensions = dimensions;
    this.byName = dimensions.all.toSorted((a, b) => (a.id < b.id ? -1 : 1));
    this.columns = this.byName.map(({ id, decimals }) => ({ id, start: `"${id}":`, scale: 10 ** decimals }));
    const told = this.columns.filter(({ id }) => FIGURES.includes(id));
    this.figures = [...told, { id: DURATION, start: `"${DURATION}":`, scale: 1 }].sort((a, b) =>
      a.id < b.id ? -1 : 1,
    );
  }

  allocation(budget: Budget): Action {
    const { id, parent, scope, funding, deadline } = budget;
    const limits = this.amounts(budget.limits);
    const policies = { ...budget.policies };
    const thresholds = [...budget.thresholds];
    return event("Allocation", { run_id: id, limits, policies, thresholds, parent, scope, funding, deadline });
  }

  /** What a call has used, what its budget has left, and what is held of that for other calls. */
  consumption(budget: Budget, time: Time, consumed: Consumed): WrittenAction {
    const write = () => this.writeConsumption(budget, time, consumed);
    // A clock that gives no number shows at once, and not when the link is made.
    const isSafe = isShort(consumed) && Number.isFinite(time.monotonic);
    return { action_type: BUDGET_ACTION, event: "Consumption", write: isSafe ? write : written(write()) };
  }

  notice({ kind, budget, dimension, percent, policy, consumed, limit }: Notice): Action {
    const figures = { consumed: this.edge(dimension, consumed), limit: this.edge(dimension, limit) };
    if (kind === "Warning") return event("Warning", { budget, dimension, percent, ...figures });
    return event("Exhausted", { budget, dimension, policy, ...figures });
  }

  extended(budget: string, dimension: string, additional: number, approved_by: string, reason: string | null): Action {
    return event("Extended", { budget, dimension, additional: this.edge(dimension, additional), approved_by, reason });
  }

  /** A human's no. */
  denied(dimension: string, checkpoint_id: string, denied_by: string, reason: string | null): Action {
    return event("Denied", { dimension, checkpoint_id, denied_by, reason });
  }

  runCompleted(budget: Budget, time: Time): Action {
    return event("RunCompleted", { run_id: budget.id, final_consumption: this.consumed(budget, time) });
  }

  /** `full` is what would have been held, had there been plenty; null where nothing was learned that was held in its place. */
  stepStarted(budget: string, call: StepCall, asked: Amounts, full: Amounts | null): WrittenAction {
    const write = () => this.writeStart(budget, call, asked, full);
    return { action_type: "StepStarted", write: isShort(call) ? write : written(write()) };
  }

  /** A call that was not made, and why; `busy` is none of these, because it only waits. */
  stepRefused(budget: string, step: Step, asked: Amounts, decision: Decision): Action {
    const findings = decision.findings.map((finding) => this.finding(finding));
    return {
      action_type: "StepRefused",
      data: { budget, ...step, asked: this.amounts(asked), decision: decision.kind, findings },
    };
  }

  /** Further calls that were not made, of one key and for one reason. The first of them has a link of its own. */
  stepsRefused(budget: string, { first_step, key_id, count, first, last }: RefusedSteps, decision: Decision): Action {
    const [worst] = decision.findings;
    const why = worst === undefined ? {} : { finding: this.finding(worst) };
    const data = { budget, key_id, first_step, decision: decision.kind, ...why, count, first, last };
    return { action_type: "StepsRefused", data };
  }

  /** A child that was not opened, and why. */
  openRefused(parent: string, child: string, decision: Decision): Action {
    const findings = decision.findings.map((finding) => this.finding(finding));
    return { action_type: "OpenRefused", data: { budget: parent, child, decision: decision.kind, findings } };
  }

  /** An extension that an ancestor has no room for. */
  extensionRefused(budget: string, dimension: string, ancestor: string, room: number): Action {
    const data = { budget, dimension, ancestor, room: this.edge(dimension, room) };
    return { action_type: "ExtensionRefused", data };
  }

  /** A reservation given back, or settled because its holder has died. */
  stepReleased(budget: string, call_id: string, step: Step, why: "released" | "expired"): Action {
    const own = call_id === step.step_id ? {} : { call_id };
    return { action_type: "StepReleased", data: { budget, ...own, ...step, why } };
  }

  /** A clock that stands still from now on, and what it shows. */
  clockPaused(budget: string, elapsed_ms: number): Action {
    return { action_type: "ClockPaused", data: { budget, elapsed_ms } };
  }

  /** The limits in force, with all extensions. */
  limits(budget: Budget): JsonObject {
    const limits: Record<string, Json> = {};
    for (const id of Object.keys(budget.limits)) limits[id] = this.edge(id, limitOf(budget, id));
    return limits;
  }

  /** Usage of every counted dimension, and of every clock that is limited. */
  consumed(budget: Budget, time: Time): JsonObject {
    const used: Record<string, Json> = {};
    for (const dimension of this.dimensions.all) {
      const value = usedOf(budget, dimension, time);
      const shown = value !== 0 || limitOf(budget, dimension.id) !== Number.POSITIVE_INFINITY;
      if (shown) used[dimension.id] = writeAmount(dimension, value);
    }
    return used;
  }

  /** The limit minus what is used, of every limited dimension: negative only where the budget is overdrawn. */
  remaining(budget: Budget, time: Time): JsonObject {
    const remaining: Record<string, Json> = {};
    for (const { id, dimension, limit } of termsOf(budget, this.dimensions)) {
      remaining[id] = writeAmount(dimension, limit - usedOf(budget, dimension, time));
    }
    return remaining;
  }

  /** What is held of it. */
  held(budget: Budget): JsonObject {
    return heldIn(budget, { all: this.byName });
  }

  amounts(amounts: Amounts): JsonObject {
    const written: Record<string, Json> = {};
    for (const id of Object.keys(amounts)) written[id] = this.edge(id, amounts[id] as number);
    return written;
  }

  // Members stand in the order of their names, as canonical JSON has them.

  private writeConsumption(budget: Budget, time: Time, consumed: Consumed): string {
    const { call_id, step_id, capability_id, charged, unreported, estimate, seen, duration_ms, corrects } = consumed;
    const call = quoteText(call_id);
    let text = `${budgetStart(budget.id)}${call}${capability(capability_id)}`;
    if (corrects !== null) text += `,"corrects":${quoteText(corrects)}`;
    if (estimate !== null) text += `,"estimate":${this.writeAmounts(estimate)}`;
    text += unreported.length > 0 ? ',"estimated":true,"held":' : ',"estimated":false,"held":';
    text += this.writeHeld(budget);
    text += `,"metadata":${this.writeMetadata(charged, duration_ms)}`;
    text += `,"remaining":${this.writeRemaining(budget, time)}`;
    text += `,"resources":${this.writeAmounts(charged)}`;
    if (seen !== undefined) text += `,"seen":${this.writeAmounts(seen)}`;
    return `${text},"step_id":${step_id === call_id ? call : quoteText(step_id)}}`;
  }

  private writeStart(
    budget: string,
    { call_id, step_id, capability_id, kind }: StepCall,
    asked: Amounts,
    full: Amounts | null,
  ) {
    let text = `{"asked":${this.writeAmounts(asked)}${ofBudget(budget)}`;
    // Most calls are steps of their own.
    if (call_id !== step_id) text += `,"call_id":${quoteText(call_id)}`;
    text += capability(capability_id);
    if (full !== null) text += `,"full":${this.writeAmounts(full)}`;
    if (kind !== capability_id) text += `,"kind":${quoteText(kind)}`;
    return `${text},"step_id":${quoteText(step_id)}}`;
  }

  private writeAmounts(amounts: Amounts): string {
    let text = "{";
    for (const { id, start, scale } of this.columns) {
      const amount = amounts[id];
      if (amount !== undefined) text += `${text === "{" ? "" : ","}${start}${scale === 1 ? amount : amount / scale}`;
    }
    return `${text}}`;
  }

  private writeHeld(budget: Budget): string {
    return holdsAny(budget.reserved) || holdsAny(budget.aside) ? canonicalize(this.held(budget)) : "{}";
  }

  private writeRemaining(budget: Budget, time: Time): string {
    let text = "{";
    for (const { id, start, scale, dimension, limit } of termsByName(budget, this.dimensions)) {
      const isClock = dimension.kind === "clock";
      const left = limit - (isClock ? usedOf(budget, dimension, time) : (budget.used[id] ?? NONE));
      const figure = scale === 1 ? left : left / scale;
      text += `${text === "{" ? "" : ","}${start}${isClock ? numeral(figure) : figure}`;
    }
    return `${text}}`;
  }

  /** The figures that people ask for first, once more and beside the duration. */
  private writeMetadata(charged: Amounts, duration_ms: number | null): string {
    let text = "{";
    for (const { id, start, scale } of this.figures) {
      const isDuration = id === DURATION;
      const amount = isDuration ? duration_ms : charged[id];
      if (amount === undefined || amount === null) continue;
      const figure = scale === 1 ? amount : amount / scale;
      text += `${text === "{" ? "" : ","}${start}${isDuration ? numeral(figure) : figure}`;
    }
    return `${text}}`;
  }

  private finding({ budget, dimension, refusal, policy, asked, used, reserved, limit }: Finding): JsonObject {
    const edge = (value: number) => this.edge(dimension, value);
    const figures = { asked: edge(asked), used: edge(used), reserved: edge(reserved), limit: edge(limit) };
    return { budget, dimension, refusal, policy, ...figures };
  }

  private edge(id: string, value: number): number {
    return id === DEADLINE ? value : writeAmount(this.dimensions.get(id), value);
  }
}

export interface Step {
  readonly step_id: string;
  readonly capability_id: string;
}

/** Calls that were refused for one reason, counted. */
export interface RefusedSteps {
  /** The step of the first of them, which has a link of its own; null where that could not be written. */
  readonly first_step: string | null;
  /** The key that they were made with; null where none was shown. */
  readonly key_id: string | null;
  readonly count: number;
  /** The instants of the first and the last that are counted here. */
  readonly first: number;
  readonly last: number;
}

/** A call that starts: its step, and what kind of call it is. */
export interface StepCall extends Step {
  readonly call_id: string;
  readonly kind: string;
}

/** The step that an operation names, or else is by itself. */
export function stepOf(operation: { step_id?: string; capability_id?: string; call: string; kind?: string }): Step {
  return {
    step_id: operation.step_id ?? operation.call,
    capability_id: operation.capability_id ?? operation.kind ?? "",
  };
}

export interface Consumed extends Step {
  readonly call_id: string;
  /** All that the call has used. With `corrects`, it stands in the place of what an earlier link said of this call. */
  readonly charged: Amounts;
  readonly unreported: readonly string[];
  readonly estimate: Amounts | null;
  /** What was seen of a call that broke off: it bounds the call from now on, in place of what was asked. */
  readonly seen?: Amounts;
  readonly duration_ms: number | null;
  readonly corrects: string | null;
}

const DURATION = "duration_ms";
const FIGURES: readonly string[] = ["cost_usd", "llm_input_tokens", "llm_output_tokens"];

/** A dimension, and its key as a member of canonical JSON. */
interface Column {
  readonly id: string;
  readonly start: string;
  /** How many of the smallest units one unit for people has. */
  readonly scale: number;
}

/** Longer texts may be more than the engine can hold once they are escaped, so they are written at once. */
const LONGEST_SHORT = 64 * 1024;

function isShort({ step_id, capability_id }: Step): boolean {
  return step_id.length <= LONGEST_SHORT && capability_id.length <= LONGEST_SHORT;
}

function written(text: string): () => string {
  return () => text;
}

function holdsAny(amounts: Amounts): boolean {
  for (const id in amounts) if ((amounts[id] as number) > 0) return true;
  return false;
}

/** A number as the chain writes it; canonical JSON refuses one that is not finite. */
function numeral(value: number): string {
  return Number.isFinite(value) ? `${value}` : canonicalize(value);
}

const ofBudget = remember((id) => `,"budget":${canonicalize(id)}`);
const budgetStart = remember((id) => `{"budget":${canonicalize(id)},"call_id":`);
const capability = remember((id) => `,"capability_id":${canonicalize(id)}`);

function event(name: BudgetEventName, data: JsonObject): Action {
  return { action_type: BUDGET_ACTION, event: name, data };
}

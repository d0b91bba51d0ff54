import type { Amount, Amounts } from "../core/amount.js";
import type { Budget } from "../core/budget.js";
import { type Dimension, printAmount } from "../core/dimension.js";
import type { Dimensions } from "../core/dimensions.js";
import { checkKeys } from "../core/fields.js";
import { type BudgetLimits, type BudgetPolicies, readAmounts, readLimits, readPolicies } from "../core/input.js";
import { type ExhaustionPolicy, type Policies, strictest } from "../core/policy.js";
import type { ProgramTerms } from "../ports/program.js";
import type { Defaults } from "./default-terms.js";
import { ForbiddenError, isOperator, type Principal } from "./principal.js";

/** Who set the limit and the policy of one dimension of a run. */
export interface TermOrigin {
  /** `default`, `given at the start`, `program (tight.rtfs)`, or what a configuration says of itself: `policy house, bursar.yaml:12`. */
  readonly limit: string;
  readonly policy: string;
  /** What the program asks for and does not get, because only an operator may widen a budget. */
  readonly not_granted?: string;
}

/** By dimension; what is absent is as in the table of dimensions. */
export type TermOrigins = Readonly<Record<string, TermOrigin>>;

/** What a run gets: the defaults, the program's own terms and what was said at its start, merged. */
export interface RunTerms {
  readonly limits: Amounts;
  readonly policies: Policies;
  /** What is set aside for the final answer; null for nothing. */
  readonly wrap_up: Amounts | null;
  readonly origins: TermOrigins;
}

/** What is said of a run when it is started, as far as it concerns its budget. */
interface SaidTerms {
  readonly limits?: BudgetLimits;
  readonly policies?: BudgetPolicies;
  readonly wrap_up?: Readonly<Record<string, number>>;
}

/** Limits that no limit of the run goes beyond, whoever starts it. */
export interface LimitClamp {
  readonly limits: Amounts;
  readonly from: string;
}

const SAID = "given at the start";
const DEFAULT = "default";

/** A program's own terms, as the ledger takes them. A null limit is kept: it asks for no limit. */
interface ReadTerms {
  readonly limits: Readonly<Record<string, Amount | null>>;
  readonly policies: Policies;
  readonly from: string;
}

interface Merging {
  readonly by: Principal;
  readonly said: SaidTerms;
  readonly program: ProgramTerms;
  readonly defaults: Defaults;
  readonly clamps: readonly LimitClamp[];
}

/**
 * The budget of a run that is started by itself. What is said at the start goes before the program's terms, and these before the
 * defaults. An operator may go in either direction, up to the ceilings. Whoever is no operator may only tighten: the program's terms
 * count as far as they are tighter than the defaults, and what is said at the start beyond that is refused.
 */
export function mergeTerms({ by, said, program, defaults, clamps }: Merging, dimensions: Dimensions): RunTerms {
  const asked = nullableLimits(said.limits, dimensions, "limits");
  const told = readPolicies(said.policies ?? {}, dimensions);
  const own = readProgramTerms(program, dimensions);
  const refused: string[] = [];
  const limits: Record<string, Amount> = {};
  const policies: Record<string, ExhaustionPolicy> = {};
  const origins: Record<string, TermOrigin> = {};
  for (const dimension of dimensions.all) {
    const { id } = dimension;
    const limit = limitOf(dimension, { by, asked: asked[id], own, defaults, refused });
    const policy = policyOf(dimension, { by, told: told[id], own, defaults, refused });
    let { value, from } = limit;
    for (const clamp of clamps) {
      const most = clamp.limits[id];
      if (most !== undefined && isAbove(value, most)) ({ value, from } = { value: most, from: clamp.from });
    }
    if (value !== null) limits[id] = value;
    if (policy.isStated) policies[id] = policy.value;
    const missed = [limit.missed, policy.missed].filter((each) => each !== null).join(", ");
    const isPlain = from === DEFAULT && policy.from === DEFAULT && missed === "";
    const origin = { limit: from, policy: policy.from, ...(missed !== "" && { not_granted: missed }) };
    if (!isPlain && (value !== null || from !== DEFAULT || missed !== "")) origins[id] = origin;
  }
  if (refused.length > 0) throw new ForbiddenError(refusal(by, refused));
  return { limits, policies, origins, wrap_up: wrapUpOf(said, defaults, limits, dimensions) };
}

interface Merged<Value> {
  readonly value: Value;
  readonly from: string;
  /** What the program asks for and does not get. */
  readonly missed: string | null;
}

interface Claims {
  readonly by: Principal;
  readonly own: ReadTerms;
  readonly defaults: Defaults;
  /** What is asked for without the authority to. */
  readonly refused: string[];
}

function limitOf(
  dimension: Dimension,
  { by, asked, own, defaults, refused }: Claims & { readonly asked: Amount | null | undefined },
): Merged<Amount | null> {
  const { id } = dimension;
  const origin = defaults.origins[id];
  const ceiling = defaults.ceilings[id] ?? null;
  const mayWiden = isOperator(by);
  const usual = lower(defaults.limits[id] ?? null, ceiling);
  const written = own.limits[id];
  const isWider = written !== undefined && isAbove(written, usual);
  const base =
    written === undefined || (isWider && !mayWiden)
      ? { value: usual, from: origin?.limit ?? DEFAULT }
      : { value: written, from: own.from };
  const { value, from } = asked === undefined ? base : { value: asked, from: SAID };
  if (!mayWiden && isAbove(value, base.value)) {
    refused.push(`${id} ${much(dimension, value)} is above ${much(dimension, base.value)}${placed(base.from)}`);
  }
  if (mayWiden && isAbove(value, ceiling)) {
    const who = from === own.from ? placed(from) : "";
    const top = `${much(dimension, ceiling)}${placed(origin?.ceiling ?? DEFAULT)}`;
    refused.push(`${id} ${much(dimension, value)}${who} is above the ceiling ${top}`);
  }
  const isMissed = isWider && !mayWiden && asked === undefined;
  return { value, from, missed: isMissed ? `${own.from} asks for ${much(dimension, written)}` : null };
}

function policyOf(
  { id, defaultPolicy }: Dimension,
  { by, told, own, defaults, refused }: Claims & { readonly told: ExhaustionPolicy | undefined },
): Merged<ExhaustionPolicy> & { readonly isStated: boolean } {
  const stated = defaults.policies[id];
  const usual = stated ?? defaultPolicy;
  const written = own.policies[id];
  const isLooser = written !== undefined && strictest(written, usual) !== written;
  const takes = written !== undefined && (isOperator(by) || !isLooser);
  const base = takes ? written : usual;
  const baseFrom = takes ? own.from : (defaults.origins[id]?.policy ?? DEFAULT);
  const value = told ?? base;
  if (!isOperator(by) && strictest(value, base) !== value) {
    refused.push(`${id} ${value} is less strict than ${base}${placed(baseFrom)}`);
  }
  const missed = isLooser && !takes && told === undefined ? `${own.from} asks for ${written}` : null;
  const from = told === undefined ? baseFrom : SAID;
  return { value, from, missed, isStated: told !== undefined || takes || stated !== undefined };
}

/** What is set aside by default is cut to the limit: where that is lower, all of it is for the final answer. */
function wrapUpOf(said: SaidTerms, defaults: Defaults, limits: Amounts, dimensions: Dimensions): Amounts | null {
  if (said.wrap_up !== undefined) return readAmounts(said.wrap_up, dimensions, { field: "wrap_up", clocks: true });
  const kept = Object.entries(defaults.wrap_up).flatMap(([id, amount]) => {
    const limit = limits[id];
    const most = limit === undefined ? 0 : Math.min(limit, amount);
    return most === 0 ? [] : [[id, most as Amount] as const];
  });
  return kept.length === 0 ? null : Object.fromEntries(kept);
}

/** What a run below another gets at most: its program's terms, laid over what its parent grants. */
export interface ChildTerms {
  readonly limits: Amounts;
  readonly policies: Policies;
  readonly origins: TermOrigins;
}

/** Of two limits the smaller, of two policies the stricter: a child may only tighten. `inherited` are the policies of the run above. */
export function childTerms(
  granted: { readonly limits: unknown; readonly policies: unknown },
  program: ProgramTerms,
  inherited: Policies,
  dimensions: Dimensions,
): ChildTerms {
  const limits: Record<string, Amount> = { ...readLimits(granted.limits, dimensions, { field: "budget.limits" }) };
  const told = readPolicies(granted.policies, dimensions, { field: "budget.policies" });
  const policies: Record<string, ExhaustionPolicy> = { ...told };
  const own = readProgramTerms(program, dimensions);
  const origins: Record<string, { limit: string; policy: string }> = {};
  const note = (id: string, part: "limit" | "policy", from: string) => {
    origins[id] = { limit: "the run above", policy: "the run above", ...origins[id], [part]: from };
  };
  const { session_limits = {} } = program;
  const clamp = sessionClamp(session_limits, fromSessionOf(program), null, dimensions);
  for (const { limits: written, from } of [own, clamp]) {
    for (const [id, limit] of Object.entries(written)) {
      if (limit === null || !isAbove(limits[id] ?? null, limit)) continue;
      limits[id] = limit;
      note(id, "limit", from);
    }
  }
  for (const [id, policy] of Object.entries(own.policies)) {
    const usual = told[id] ?? inherited[id] ?? dimensions.get(id).defaultPolicy;
    if (policy === usual || strictest(policy, usual) !== policy) continue;
    policies[id] = policy;
    note(id, "policy", own.from);
  }
  return { limits, policies, origins };
}

/** The limits of a session clamp each of its runs, less what the session has used already; null is a session of this run alone. */
export function sessionClamp(
  session_limits: BudgetLimits,
  from: string,
  session: Budget | null,
  dimensions: Dimensions,
): LimitClamp {
  const limits = readLimits(session_limits, dimensions, { field: "session_limits" });
  const left = Object.entries(limits).map(([id, limit]) => {
    const used = dimensions.get(id).kind === "sum" ? (session?.used[id] ?? 0) : 0;
    return [id, Math.max(0, limit - used) as Amount] as const;
  });
  return { limits: Object.fromEntries(left), from };
}

/** Who says so, where a program says it of its session. */
export function fromSessionOf({ from }: ProgramTerms): string {
  return `session limits of the ${programFrom(from)}`;
}

function readProgramTerms(terms: ProgramTerms, dimensions: Dimensions): ReadTerms {
  checkKeys(terms, "terms", ["limits", "policies", "session_limits", "from"]);
  return {
    limits: nullableLimits(terms.limits, dimensions, "terms.limits"),
    policies: readPolicies(terms.policies ?? {}, dimensions, { field: "terms.policies" }),
    from: programFrom(terms.from),
  };
}

function programFrom(from: string | undefined): string {
  return from === undefined ? "program" : `program (${from})`;
}

/** Limits in which null is kept as what was asked for. */
function nullableLimits(
  input: BudgetLimits = {},
  dimensions: Dimensions,
  field: string,
): Readonly<Record<string, Amount | null>> {
  const limits: Record<string, Amount | null> = readLimits(input, dimensions, { field });
  const unlimited = Object.keys(input).filter((name) => input[name] === null);
  return { ...limits, ...Object.fromEntries(unlimited.map((name) => [dimensions.resolve(name, field).id, null])) };
}

/** Null is no limit, which is above each. */
function isAbove(limit: number | null, most: number | null): boolean {
  return most !== null && (limit === null || limit > most);
}

function lower(limit: Amount | null, most: Amount | null): Amount | null {
  return isAbove(limit, most) ? most : limit;
}

function much(dimension: Dimension, limit: Amount | null): string {
  return limit === null ? "without a limit" : printAmount(dimension, limit);
}

function placed(from: string): string {
  return from === DEFAULT ? "" : ` (${from})`;
}

function refusal(by: Principal, refused: readonly string[]): string {
  const what = refused.join("; ");
  if (isOperator(by)) return `${what}; ask for less, or name another policy`;
  const who = by.run === undefined ? `${by.name} is no operator, and` : `${by.name} acts for run ${by.run}, and`;
  return `${who} may only tighten: ${what}; ask for less, or let an operator start the run`;
}

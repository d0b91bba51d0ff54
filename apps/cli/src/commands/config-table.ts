import { basename } from "node:path";
import { printAmount, writeAmount } from "bursar";
import { type Configuration, type EffectiveBudget, type EffectiveLimit, type Origin, printOrigin } from "bursar/config";
import { number } from "../render/quantities.js";
import { facts } from "../render/report.js";
import { harmless, pad, type Style, wrap } from "../render/style.js";
import { shortName } from "./common/config-notice.js";

/** What a run gets, for programs. */
export function budgetReport(budget: EffectiveBudget): object {
  return {
    policy: budget.policy?.name ?? null,
    agent: budget.agent,
    session: budget.session,
    dimensions: budget.dimensions.map(({ dimension, limit, policy, reserve }) => ({
      dimension: dimension.id,
      limit: limit.value === null ? null : writeAmount(dimension, limit.value),
      limit_from: limit.origin,
      exhaustion_policy: policy.value,
      exhaustion_policy_from: policy.origin,
      wrap_up_reserve: reserve === null ? null : writeAmount(dimension, reserve.value),
    })),
    thresholds: budget.thresholds.value,
    approval_expiry_ms: budget.approval_expiry_ms.value,
  };
}

/** The same for people, in so many columns. */
export function budgetText(config: Configuration, budget: EffectiveBudget, columns: number, style: Style): string {
  const limited = budget.dimensions.filter(({ limit }) => limit.value !== null);
  const free = budget.dimensions.filter(({ limit }) => limit.value === null).map(({ dimension }) => dimension.id);
  // Files of several folders have the same name.
  const placed: Placed =
    config.tightenedBy.length > 0
      ? ({ file, line }) => `${shortName(file)}:${line}`
      : ({ file, line }) => `${basename(file)}:${line}`;
  return [
    facts(heading(config, budget, placed), style),
    "\n",
    table(limited, placed, columns, style),
    "\n",
    facts(closing(budget, free, placed), style),
  ].join("");
}

/** Says where something stands. */
type Placed = (place: { readonly file: string; readonly line: number | null }) => string;
type Fact = readonly [string, string];

function heading(config: Configuration, { policy, agent, session }: EffectiveBudget, placed: Placed): Fact[] {
  const { file, tightenedBy, agents, sessions } = config;
  const source = ({ kind, place }: Origin, otherwise: string): string => {
    if (place !== null) return tightenedBy.length > 0 ? placed(place) : `line ${place.line}`;
    return kind === "preset" ? "shipped" : otherwise;
  };
  const named = (name: string, from: Origin | undefined) =>
    from === undefined ? name : `${name} (${source(from, "default")})`;
  const rows: Fact[] = [["file", file ?? "none, so the defaults count"]];
  for (const each of tightenedBy) rows.push(["tightened", `by ${each.file ?? ""}`]);
  if (policy !== null)
    rows.push(["policy", `${policy.name} (${source(policy.origin, "the dimensions' own defaults")})`]);
  if (policy?.description) rows.push(["", policy.description]);
  if (agent !== null) rows.push(["agent", named(agent, agents.get(agent)?.origin)]);
  if (session !== null)
    rows.push(["session", named(session, (sessions.get(session) ?? sessions.get("default"))?.origin)]);
  return rows;
}

function closing(
  { thresholds, approval_expiry_ms: expiry, dimensions }: EffectiveBudget,
  free: readonly string[],
  placed: Placed,
): Fact[] {
  const rows: Fact[] = [];
  if (free.length > 0) rows.push(["no limit", free.join(", ")]);
  const percentages = thresholds.value.map((each) => `${each} %`);
  rows.push(["warns at", `${percentages.join(", ") || "no threshold"} (${origin(thresholds.origin, placed)})`]);
  for (const { dimension, reserve } of dimensions) {
    if (reserve === null) continue;
    const amount = printAmount(dimension, reserve.value);
    rows.push(["reserve", `${dimension.id} ${amount} for the final answer (${origin(reserve.origin, placed)})`]);
  }
  rows.push(["approvals", `expire after ${duration(expiry.value)} (${origin(expiry.origin, placed)})`]);
  return rows;
}

const HEAD = ["dimension", "limit", "when exhausted", "from"] as const;
const GAP = "  ";
const LEAST_ORIGIN = 16;
const WIDEST = 120;
const WITHOUT_SCREEN = 80;

/** The last column takes what is left, and breaks its lines. */
function table(limits: readonly EffectiveLimit[], placed: Placed, columns: number, style: Style): string {
  const rows = limits.map(({ dimension, limit, policy }) => {
    const amount = dimension.unit === "USD" ? printAmount(dimension, limit.value ?? 0) : number(limit.value ?? 0);
    return {
      cells: [dimension.id, amount, policy.value] as const,
      origins: origins(limit.origin, policy.origin, placed),
    };
  });
  const widths = [0, 1, 2].map((at) =>
    Math.max(HEAD[at]?.length ?? 0, ...rows.map(({ cells }) => cells[at]?.length ?? 0)),
  );
  const [first = 0, second = 0, third = 0] = widths;
  const room = Math.max(LEAST_ORIGIN, widthIn(columns) - first - second - third - 4 * GAP.length);
  const line = ([a, b, c]: readonly string[], from: string) =>
    `${GAP}${[pad(a ?? "", first), (b ?? "").padStart(second), pad(c ?? "", third), from].join(GAP)}`.trimEnd();
  const lines = rows.flatMap(({ cells, origins: all }) => {
    const [from = "", ...more] = all.flatMap((each) => wrap(harmless(each), room));
    return [line(cells, from), ...more.map((each) => line(["", "", ""], each))];
  });
  return `${[style.dim(line(HEAD, HEAD[3])), ...lines].join("\n")}\n`;
}

/** What is wrapped stays readable: lines do not grow with the screen, nor without one. */
function widthIn(columns: number): number {
  return columns === Number.POSITIVE_INFINITY ? WITHOUT_SCREEN : Math.min(columns, WIDEST);
}

/** Who set the limit; and who set what happens there, where somebody did. */
function origins(limit: Origin, policy: Origin, placed: Placed): readonly string[] {
  const isShipped = policy.kind === "default" || policy.kind === "preset";
  return isShipped ? [origin(limit, placed)] : [origin(limit, placed), `exhausted: ${origin(policy, placed)}`];
}

/** The heading tells the whole path, and the names of policy, agent and session. */
function origin(from: Origin, placed: Placed): string {
  const { kind, place } = from;
  if (place === null || place.line === null) return printOrigin(from);
  return `${kind}, ${placed(place)}`;
}

const UNITS: readonly (readonly [string, number])[] = [
  ["hour", 3_600_000],
  ["minute", 60_000],
  ["second", 1000],
];

/** A time in its largest unit that does not lose any of it. */
function duration(ms: number): string {
  const [unit, length] = UNITS.find(([, each]) => ms % each === 0) ?? ["ms", 1];
  const count = ms / length;
  return `${number(count)} ${unit}${count === 1 || unit === "ms" ? "" : "s"}`;
}

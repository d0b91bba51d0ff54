import { type Dimension, type JsonObject, printAmount, readAmount, STANDARD } from "bursar";

/** The dimensions the demo speaks of, in the order in which it names them. */
export const NAMED: readonly string[] = ["steps", "llm_tokens", "cost_usd", "wall_clock_ms"];

/** An amount in ledger units, for people: time in seconds, everything else with its own unit. */
function figure(dimension: Dimension, value: number): string {
  if (dimension.kind === "clock") return seconds(value);
  if (dimension.id === "steps") return value === 1 ? "1 step" : `${value.toLocaleString("en-US")} steps`;
  return printAmount(dimension, value);
}

/** The same without its unit, where the unit stands elsewhere; money keeps its sign. */
export function bareFigure(dimension: Dimension, value: number): string {
  return dimension.unit === "USD" || dimension.kind === "clock"
    ? figure(dimension, value)
    : value.toLocaleString("en-US");
}

/** An amount in edge units, as links carry it. */
export function edgeFigure(id: string, value: unknown): string {
  const dimension = STANDARD.get(id);
  return figure(dimension, ledger(dimension, value));
}

export function bareEdgeFigure(id: string, value: unknown): string {
  const dimension = STANDARD.get(id);
  return bareFigure(dimension, ledger(dimension, value));
}

/** Amounts by dimension, in edge units: `2,500 tokens, $0.10`. A policy is named where it is not the usual one. */
export function edgeFigures(amounts: JsonObject, policies: JsonObject = {}): string {
  const figures = NAMED.filter((id) => amounts[id] !== undefined).map((id) => {
    const policy = policies[id] ?? "hard_stop";
    return `${edgeFigure(id, amounts[id])}${policy === "hard_stop" ? "" : ` (${policy})`}`;
  });
  return figures.join(", ");
}

/** What is left of the first amounts after the second, in edge units of the first. */
export function rest(limits: JsonObject, used: JsonObject): string {
  const figures = NAMED.flatMap((id) => {
    const dimension = STANDARD.get(id);
    if (limits[id] === undefined || dimension.kind === "clock") return [];
    return [figure(dimension, ledger(dimension, limits[id]) - ledger(dimension, used[id] ?? 0))];
  });
  return figures.join(", ");
}

function ledger(dimension: Dimension, value: unknown): number {
  return readAmount(dimension, value, "up", dimension.id);
}

function seconds(ms: number): string {
  return `${(Math.floor(ms / 100) / 10).toFixed(ms % 1000 === 0 ? 0 : 1)} s`;
}

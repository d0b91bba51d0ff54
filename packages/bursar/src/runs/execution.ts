import type { Json, JsonObject } from "../core/chain/canonical.js";
import type { Execution } from "../ports/program.js";
import type { RunRecord } from "./record.js";

// What a sandbox says is for people, and kept with a run: whoever says too much is cut short.
const LONGEST_TEXT = 1000;
const MOST_ITEMS = 20;
const MOST_MEMBERS = 20;
const DEEPEST = 3;

/** What a sandbox says in the metadata of a result; null when it says nothing. */
export function executionIn(metadata: unknown): Execution | null {
  const { fuel_analysis, error_guidance } = (objectIn(metadata) ?? {}) as Readonly<Record<string, unknown>>;
  const [fuel, guidance] = [short(fuel_analysis), short(error_guidance)].map(objectIn);
  if (!fuel && !guidance) return null;
  return { fuel_analysis: fuel ?? null, error_guidance: guidance ?? null };
}

/** The same for a program that is a run, whose fuel is the run's; `limited` tells whether that has an end. */
export function guestExecution(
  metadata: { readonly trap_reason: string | null },
  { limited }: { readonly limited: boolean },
): Execution | null {
  const said = executionIn(metadata);
  if (said === null) return null;
  const { fuel_analysis, error_guidance } = said;
  if (limited) {
    const isOut = metadata.trap_reason === "out_of_fuel";
    return { fuel_analysis, error_guidance: isOut ? withLimit(error_guidance, fuel_analysis?.budget) : error_guidance };
  }
  // What bounds a sandbox that nobody limits is no limit that anybody has set.
  const free = fuel_analysis === null ? null : { ...fuel_analysis, budget: null, utilization_percent: null };
  return { fuel_analysis: free, error_guidance };
}

/** What is to be shown of a run: not what was said before it went on. */
export function executionOfRun({ status, execution }: Pick<RunRecord, "status" | "execution">): Execution | null {
  return status === "queued" || status === "running" ? null : execution;
}

/** The sandbox knows sessions; how a run is given more it does not. */
function withLimit(guidance: JsonObject | null, budget: Json | undefined): JsonObject | null {
  const advice = guidance?.actionable_guidance;
  if (guidance === null || !Array.isArray(advice) || typeof budget !== "number") return guidance;
  const limit = `For a run: raise its limit, for example with --budget fuel=${budget * 2}`;
  return { ...guidance, actionable_guidance: [...advice, limit] };
}

function objectIn(value: unknown): JsonObject | null {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as JsonObject) : null;
}

function short(value: unknown, depth = 0): Json {
  if (typeof value === "string") return value.slice(0, LONGEST_TEXT).replace(/\p{Surrogate}/gu, "\ufffd");
  if (typeof value === "number") return Number.isFinite(value) ? value : null;
  if (typeof value === "boolean") return value;
  if (depth === DEEPEST || typeof value !== "object" || value === null) return null;
  if (Array.isArray(value)) return value.slice(0, MOST_ITEMS).map((item) => short(item, depth + 1));
  const members = Object.entries(value).slice(0, MOST_MEMBERS);
  return Object.fromEntries(members.map(([name, member]) => [name, short(member, depth + 1)]));
}

import { BursarError } from "../../core/errors.js";
import { HINTS, isRefusalCode, type RefusalReport } from "./refusal.js";

const DEPTH = 6;
/** Where SDKs keep what they were answered, as it came before as they understood it, what went wrong before, and why they failed. */
const PLACES = ["bursar", "error", "body", "responseBody", "data", "lastError", "cause", "errors", "response"];

/**
 * A call was refused by its budget. SDKs throw errors of their own when they are refused, and frameworks wrap those again:
 * `BudgetExceededError.from` finds the refusal in whatever was thrown.
 *
 * @example
 * ```ts
 * try {
 *   await client.chat.completions.create(request);
 * } catch (error) {
 *   const refused = BudgetExceededError.from(error);
 *   if (refused !== null) console.log(refused.report.dimension, refused.report.remaining);
 *   else throw error;
 * }
 * ```
 */
export class BudgetExceededError extends BursarError {
  override readonly name: string = "BudgetExceededError";
  readonly report: RefusalReport;

  constructor(report: RefusalReport, options?: ErrorOptions) {
    super(report.code, `${report.message}; ${report.hint}`, options);
    this.report = report;
  }

  /** The refusal behind an error; null when it is something else. */
  static from(error: unknown): BudgetExceededError | null {
    if (error instanceof BudgetExceededError) return error;
    const report = find(error, DEPTH, new Set());
    return report === null ? null : new BudgetExceededError(report, { cause: error });
  }
}

function find(value: unknown, depth: number, seen: Set<unknown>): RefusalReport | null {
  if (typeof value === "string") return findInText(value, depth, seen);
  if (typeof value !== "object" || value === null || depth < 0 || seen.has(value)) return null;
  seen.add(value);
  if (value instanceof BudgetExceededError) return value.report;
  if (isReport(value)) return value;
  for (const place of PLACES) {
    const inside: unknown = (value as Record<string, unknown>)[place];
    const each = Array.isArray(inside) ? inside : [inside];
    for (const one of each) {
      const found = find(one, depth - 1, seen);
      if (found !== null) return found;
    }
  }
  return isBroken(value) ? { code: "budget_exceeded", message: value.message, hint: HINTS.budget_exceeded } : null;
}

/** Some SDKs keep a body as the text it came as, and some frameworks keep nothing but the message. */
function findInText(text: string, depth: number, seen: Set<unknown>): RefusalReport | null {
  if (!text.startsWith("{") || !text.includes('"bursar"')) return null;
  try {
    return find(JSON.parse(text), depth, seen);
  } catch {
    return null;
  }
}

function isReport(value: object): value is RefusalReport {
  const { code, message, hint } = value as Partial<RefusalReport>;
  return isRefusalCode(code) && typeof message === "string" && typeof hint === "string";
}

/** A stream that a budget has broken off ends with an event that has room for no more than this. */
function isBroken(value: object): value is { readonly message: string } {
  const { type, code, message } = value as { type?: unknown; code?: unknown; message?: unknown };
  return type === "budget_exceeded" && code === "budget_exceeded" && typeof message === "string";
}

import type { PlanBudget, PlanLimits } from "./budget.js";
import type { PlanInput } from "./inputs.js";
import { PlanError, type Position } from "./plan-error.js";

/** A plan that has been compiled: what a host has to know before it runs it, and the program itself. */
export interface Plan {
  readonly file: string;
  readonly text: string;
  readonly name: string | null;
  /** What it wants to be given; empty when it says nothing about it. */
  readonly inputs: readonly PlanInput[];
  /** Null when the plan leaves its budget to whoever starts it. */
  readonly budget: PlanBudget | null;
  readonly session: PlanLimits | null;
  /** JavaScript for the sandbox's guest. */
  readonly code: string;
  /** The places of the text by the numbers that the code has for them. */
  readonly positions: readonly Position[];
  /** Every tool it names, in the order of the text. Its children's are theirs. */
  readonly tools: readonly string[];
  /** What it uses of the host that is no tool, such as `llm/ask`. */
  readonly effects: readonly string[];
  /** Where each tool and each effect is named first. */
  readonly mentions: Readonly<Record<string, Position>>;
  /** The nested runs; the program names them by their place in this list. */
  readonly children: readonly Plan[];
}

/** An error about a plan that only its host can find, such as a tool that nobody offers; it points at the text. */
export function planErrorAt(
  plan: Pick<Plan, "file" | "text">,
  position: Position,
  problem: string,
  hint: string | null = null,
): PlanError {
  return new PlanError({ file: plan.file, text: plan.text, position, problem, hint });
}

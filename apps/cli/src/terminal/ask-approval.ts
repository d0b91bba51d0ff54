import { type ApprovalRequest, type BudgetAmounts, systemClock } from "bursar";
import { UsageError } from "../app/errors.js";
import type { Choice } from "../app/runs/drive-run.js";
import { amountsOf } from "../arguments/run-flags.js";
import { approvalText } from "../render/approval.js";
import { runFigures } from "../render/run-figures.js";
import type { Style } from "../render/style.js";

/** Puts a question to whoever is at the keyboard; null when nobody is any more. */
export type Ask = (question: string) => Promise<string | null>;

/** So often something that is no answer is asked again. */
const TRIES = 10;

/** Shows a request to whoever is at the keyboard, and takes the answer. */
export async function askPerson(
  request: ApprovalRequest,
  ask: Ask,
  write: (text: string) => void,
  style: Style,
): Promise<Choice> {
  write(`${approvalText(request, systemClock.now().instant, style)}${choices(request, style)}`);
  for (let turn = 0; turn < TRIES; turn++) {
    const answer = (await ask("  approve? "))?.trim() ?? null;
    if (answer === null) return { kind: "leave" };
    const choice = await choiceOf(answer, request, ask, write);
    if (choice !== null) return choice;
  }
  return { kind: "leave" };
}

function choices(request: ApprovalRequest, style: Style): string {
  const { kind, suggested_extension } = request;
  const key = (name: string, what: string) => `  ${style.bold(name)} ${what}\n`;
  const [[dimension = "llm_tokens", amount] = []] = Object.entries(suggested_extension);
  const other = `${dimension}=+${2 * Number(amount ?? 1)}`;
  const isBudget = kind === "budget_extension";
  const more = runFigures(suggested_extension);
  const yes = more === "" ? "yes, with the limits as they are" : `yes, ${more} more, as suggested`;
  return [
    key("y", isBudget ? yes : "yes, this once"),
    ...(isBudget ? [key("…", `yes, with other amounts, such as ${other}`)] : []),
    key("n", isBudget ? "no; the run is cancelled" : "no; the program is told so"),
    key("l", "leave it paused, and decide later"),
  ].join("");
}

async function choiceOf(
  answer: string,
  { kind, suggested_extension }: ApprovalRequest,
  ask: Ask,
  write: (text: string) => void,
): Promise<Choice | null> {
  if (/^(y|yes)$/i.test(answer)) {
    // What was shown is granted, also where more calls have come to wait meanwhile.
    const shown = kind === "budget_extension" && Object.keys(suggested_extension).length > 0;
    const extensions = suggested_extension as BudgetAmounts;
    return { kind: "approve", reason: null, ...(shown && { extensions }) };
  }
  if (/^(l|leave|q|quit)$/i.test(answer)) return { kind: "leave" };
  if (/^(n|no)$/i.test(answer)) {
    const reason = (await ask("  why (may be empty)? "))?.trim() ?? null;
    return reason === null ? { kind: "leave" } : { kind: "deny", reason: reason === "" ? null : reason };
  }
  if (kind === "budget_extension" && answer.includes("=")) {
    try {
      return { kind: "approve", extensions: amountsOf(answer, "the answer"), reason: null };
    } catch (error) {
      if (!(error instanceof UsageError)) throw error;
      write(`  ${error.message.replaceAll("\n", "\n  ")}\n`);
      return null;
    }
  }
  write(`  that is no answer; allowed: y, n, l${kind === "budget_extension" ? ", or amounts" : ""}\n`);
  return null;
}
